"""What makes a browser refuse a state or drop a part of it, written down a second time, in other words."""

import re
from typing import Any
from urllib.parse import urlsplit

SAME_SITE = ("Strict", "Lax", "None")
PREFIX = re.compile(r"__(host-http|host|secure|http)-", re.IGNORECASE)


def faults(state: dict[str, Any], now: float) -> list[str]:
    """Everything a browser would not take; empty when the state loads whole."""
    found = [fault for cookie in state["cookies"] for fault in _cookie(cookie, now)]
    identities = [_identity(cookie) for cookie in state["cookies"]]
    if len(set(identities)) < len(identities):
        found.append("one cookie twice")
    sites: dict[tuple[Any, ...], int] = {}
    for cookie in state["cookies"]:
        # In these tests a site is the last two labels.
        site = ".".join(cookie["domain"].split(".")[-2:])
        jar = (site, cookie.get("partitionKey"), cookie.get("_crHasCrossSiteAncestor"))
        sites[jar] = sites.get(jar, 0) + 1
    if any(count > 180 for count in sites.values()) or len(state["cookies"]) > 3300:
        found.append("too many cookies")
    origins = [origin["origin"] for origin in state["origins"]]
    if len(set(origins)) < len(origins):
        found.append("one origin twice")
    return found + [fault for origin in state["origins"] for fault in _origin(origin)]


def _identity(cookie: dict[str, Any]) -> tuple[Any, ...]:
    parts = ("name", "domain", "path", "partitionKey", "_crHasCrossSiteAncestor")
    return tuple(cookie.get(part) for part in parts)


def _cookie(cookie: dict[str, Any], now: float) -> list[str]:
    name, value, expires = cookie["name"], cookie["value"], cookie["expires"]
    prefix = PREFIX.match(name)
    kind = prefix[1].lower() if prefix else ""
    wrong = {
        "empty": not name and not value,
        "chars": any(ord(sign) < 32 or sign in ";\x7f" for sign in name + value) or "=" in name,
        "space": name.strip(" ") != name or value.strip(" ") != value,
        "size": len((name + value).encode("utf-8", "replace")) > 4096,
        "path": not cookie["path"].startswith("/") or len(cookie["path"]) > 1024,
        "domain": not cookie["domain"] or cookie["domain"] != cookie["domain"].lower() or " " in cookie["domain"],
        "expires": expires != -1 and not now < expires <= 253402300799,
        "flags": type(cookie["httpOnly"]) is not bool or type(cookie["secure"]) is not bool,
        "samesite": cookie["sameSite"] not in SAME_SITE,
        "insecure": cookie["sameSite"] == "None" and not cookie["secure"],
        "host": kind.startswith("host") and (cookie["domain"][:1] == "." or cookie["path"] != "/"),
        "prefix": bool(kind) and not cookie["secure"],
        "http": kind.endswith("http") and not cookie["httpOnly"],
        "partition": "partitionKey" in cookie and not cookie["secure"],
        "bit": ("partitionKey" in cookie) != (type(cookie.get("_crHasCrossSiteAncestor")) is bool),
    }
    return [f"{name!r}: {fault}" for fault, is_so in wrong.items() if is_so]


def _origin(origin: dict[str, Any]) -> list[str]:
    parts = urlsplit(origin["origin"])
    names = [item["name"] for item in origin["localStorage"]]
    units = sum(len((item["name"] + item["value"]).encode("utf-16-le")) // 2 for item in origin["localStorage"])
    databases = [database["name"] for database in origin.get("indexedDB", [])]
    wrong = {
        "scheme": parts.scheme not in ("http", "https") or parts.path not in ("",),
        "key twice": len(set(names)) < len(names),
        "quota": units > 5_242_880,
        "database twice": len(set(databases)) < len(databases),
    }
    return [f"{origin['origin']}: {fault}" for fault, is_so in wrong.items() if is_so]
