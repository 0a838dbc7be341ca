"""The cookies of a state as a jar for httpx or requests, and back. What a jar cannot carry is kept from the state."""

from collections.abc import Iterable, Mapping
from http.cookiejar import Cookie, CookieJar
from typing import Any

import httpx

_SESSION = -1
_SAME_SITE = {"strict": "Strict", "lax": "Lax", "none": "None"}

Identity = tuple[str, str, str]


def jar_from(state: Mapping[str, Any]) -> httpx.Cookies:
    """The cookies of a state. Partitioned ones stay out: no jar knows in which page they would be sent."""
    found = httpx.Cookies()
    for one in state.get("cookies", ()):
        if "partitionKey" not in one:
            found.jar.set_cookie(_to_jar(one))
    return found


def with_jar(state: Mapping[str, Any], jar: httpx.Cookies | CookieJar) -> dict[str, Any]:
    """The state with the cookies as they are in the jar now; everything else of it stays.

    An unchanged cookie stays exactly as it was. A changed one takes its value and its end from the jar, and what the
    jar does not say from the cookie it replaces. One that is gone from the jar is gone.
    """
    cookies = [dict(one) for one in state.get("cookies", ())]
    before = {_identity(one): one for one in cookies if "partitionKey" not in one}
    in_jar = list(jar.jar if isinstance(jar, httpx.Cookies) else jar)
    now = {_from_jar_identity(one): _from_jar(one, before.get(_from_jar_identity(one))) for one in in_jar}
    kept = [one if "partitionKey" in one else now.pop(_identity(one), None) for one in cookies]
    return {**state, "cookies": [one for one in kept if one is not None] + list(now.values())}


def _identity(cookie: Mapping[str, Any]) -> Identity:
    return str(cookie["name"]), str(cookie["domain"]).lower(), str(cookie.get("path", "/"))


def _from_jar_identity(cookie: Cookie) -> Identity:
    return cookie.name, cookie.domain.lower(), cookie.path


def _to_jar(one: Mapping[str, Any]) -> Cookie:
    domain, expires = str(one["domain"]), _ends(one)
    rest: dict[str, str] = {"SameSite": str(one["sameSite"])} if "sameSite" in one else {}
    rest |= {"HttpOnly": ""} if one.get("httpOnly") else {}
    return Cookie(
        version=0,
        name=str(one["name"]),
        value=str(one["value"]),
        port=None,
        port_specified=False,
        domain=domain,
        domain_specified=domain.startswith("."),
        domain_initial_dot=domain.startswith("."),
        path=str(one.get("path", "/")),
        path_specified=True,
        secure=bool(one.get("secure")),
        expires=expires,
        discard=expires is None,
        comment=None,
        comment_url=None,
        rest=rest,
    )


def _from_jar(cookie: Cookie, before: dict[str, Any] | None) -> dict[str, Any]:
    value = cookie.value or ""
    if before is not None and before["value"] == value and _ends(before) == cookie.expires:
        return before
    rest = {name.lower(): str(told) for name, told in _attributes(cookie)}
    plain = {"httpOnly": "httponly" in rest, "sameSite": _SAME_SITE.get(rest.get("samesite", "").lower(), "Lax")}
    place = {"name": cookie.name, "value": value, "domain": cookie.domain, "path": cookie.path}
    ends = _SESSION if cookie.expires is None else cookie.expires
    if before is not None:
        told = {name: plain[name] for name in plain if name.lower() in rest}
        return {**before, **told, "value": value, "expires": ends, "secure": cookie.secure}
    return {**place, "expires": ends, "secure": cookie.secure, **plain}


def _attributes(cookie: Cookie) -> Iterable[tuple[str, Any]]:
    """What a `Set-Cookie` said beyond what the jar has fields for; there is no other way to list it."""
    rest: dict[str, Any] = vars(cookie).get("_rest", {})
    return rest.items()


def _ends(one: Mapping[str, Any]) -> int | None:
    expires = float(one.get("expires", _SESSION))
    return None if expires <= 0 else int(expires)
