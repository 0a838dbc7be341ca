"""One cookie of an upload, as a browser would read it, or the reason why a browser would refuse it. No I/O."""

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ada_url import normalize_url

from leasehold.sessions import slots
from leasehold.sessions.slots import CookieSlot

# value, expires, httpOnly, secure, sameSite. A list, because that is how it comes back from JSON; never changed in
# place. The last three are None where a lossy source did not know them.
Entry = list[Any]
VALUE, EXPIRES, HTTP_ONLY, SECURE, SAME_SITE = range(5)

SESSION: Final = -1  # the `expires` of a cookie that ends with its browser
LATEST: Final = 253402300799  # the last second of the year 9999; a browser refuses more
LIFETIME: Final = 400 * 86400  # the longest life a browser gives a cookie, in seconds
_TWENTY_YEARS: Final = 20 * 365.25 * 86400
_LARGEST: Final = 4096  # bytes of name and value together
_LONGEST_PATH: Final = 1024

_PLAIN_TEXT: Final = re.compile(r"[!-:<>-~]*")  # of a name or a value that nobody could object to
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f;]")
_PLAIN_PATH: Final = re.compile(r"/(?:(?!.*/\.)[A-Za-z0-9/._~!$&'()*+,=:@-])*")
_SAME_SITE: Final = {
    "strict": "Strict",
    "lax": "Lax",
    "none": "None",
    "no_restriction": "None",
    "unspecified": "Lax",
    "": "Lax",
}


class Refused(Exception):
    """This entry would make a browser refuse the whole state; `reason` is the rule it breaks."""

    def __init__(self, reason: str, slot: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.slot = slot  # known when only the content was at fault


class Reading(NamedTuple):
    """How the cookies of one upload are to be read."""

    t: float  # seconds; when the state was captured
    is_lossy: bool = False  # the source cannot know every attribute; what it leaves out stays as it was


class Read(NamedTuple):
    slot: str
    entry: Entry
    notes: tuple[str, ...]  # what was put right


def read_cookie(raw: object, how: Reading) -> Read:
    """Raises Refused."""
    if not isinstance(raw, Mapping):
        raise Refused("type")
    notes: list[str] = []
    slot = _identity(raw, notes)
    text = slot.text
    try:
        entry = _entry(raw, slot, how, notes)
    except Refused as refused:
        raise Refused(refused.reason, text) from None
    return Read(text, entry, tuple(notes))


def _identity(raw: Mapping[str, Any], notes: list[str]) -> CookieSlot:
    name, domain, path = raw.get("name"), raw.get("domain"), raw.get("path", "/")
    if not isinstance(name, str) or not isinstance(domain, str) or not isinstance(path, str):
        raise Refused("type")
    if not _PLAIN_TEXT.fullmatch(name) and (_CONTROL.search(name) or "=" in name or not _is_clean(name)):
        raise Refused("chars")
    canonical = _domain(domain)
    if canonical is None:
        raise Refused("domain")
    partition, ancestor = _partition(raw, notes) if raw.get("partitionKey") else (None, None)
    return CookieSlot(name, canonical, path if path == "/" else _path(path), partition, ancestor)


def _is_clean(text: str) -> bool:
    return text == text.strip(" ") and slots.is_transportable(text)


@lru_cache(maxsize=4096)
def _domain(text: str) -> str | None:
    host = slots.canonical_host(text.removeprefix("."))
    if host is None:
        return None
    return f".{host}" if text.startswith(".") and not slots.is_shared(host) else host


def _path(text: str) -> str:
    if _PLAIN_PATH.fullmatch(text):
        path = text
    elif not text.startswith("/") or ";" in text or not slots.is_transportable(text):
        raise Refused("path")
    else:
        # A browser takes it for the path of a URL; a query or a fragment it takes for more path.
        quoted = "".join(f"%{ord(sign):02X}" if sign in "?#" or sign < " " else sign for sign in text)
        path = normalize_url("https://h" + quoted).removeprefix("https://h")
    if len(path) > _LONGEST_PATH:
        raise Refused("path")
    return path


def _partition(raw: Mapping[str, Any], notes: list[str]) -> tuple[str | None, bool | None]:
    key, ancestor = raw.get("partitionKey"), raw.get("_crHasCrossSiteAncestor")
    if isinstance(key, Mapping):  # as the browser's own protocol writes it
        ancestor = key.get("hasCrossSiteAncestor", ancestor)
        key = key.get("topLevelSite")
        notes.append("partition")
    site = slots.partition_site(key) if isinstance(key, str) else None
    if site is None or not isinstance(ancestor, bool | None):
        raise Refused("partition")
    return site, ancestor is not False


def _entry(raw: Mapping[str, Any], slot: CookieSlot, how: Reading, notes: list[str]) -> Entry:
    value = raw.get("value")
    if not isinstance(value, str):
        raise Refused("type")
    if not slot.name and not value:
        raise Refused("empty")
    _refuse_odd_text(slot.name, value)
    expires = _expires(raw.get("expires", SESSION), how.t, notes)
    secure = _flag(raw, "secure", how)
    http_only = _flag(raw, "httpOnly", how)
    same_site = _same_site(raw.get("sameSite"), how, notes)
    if secure is None and (slot.partition or slot.name[:2] == "__" or same_site == "None"):
        secure = True  # it could not be there otherwise
    _refuse_broken_promises(slot, (value, http_only, secure, same_site))
    return [value, expires, http_only, secure, same_site]


def _refuse_odd_text(name: str, value: str) -> None:
    if not _PLAIN_TEXT.fullmatch(value) and (_CONTROL.search(value) or not _is_clean(value)):
        raise Refused("chars")
    if not name and ("=" in value or value.lower().startswith(("__host-", "__secure-", "__http-"))):
        raise Refused("chars")  # it would be sent as a cookie of another name
    if len(name) + len(value) > _LARGEST // 4 and len(name.encode()) + len(value.encode()) > _LARGEST:
        raise Refused("size")


def _expires(given: object, t: float, notes: list[str]) -> float:
    if given is None:
        return SESSION
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Refused("type")
    try:
        seconds = float(given)
    except OverflowError:
        raise Refused("expires") from None
    if seconds == SESSION:
        return SESSION
    if seconds == 0:
        notes.append("expires")  # converters write 0; no browser does
        return SESSION
    if seconds > LATEST and abs(seconds / 1000 - t) <= _TWENTY_YEARS:
        notes.append("expires")
        seconds /= 1000
    if not 0 < seconds <= LATEST or math.isnan(seconds):
        raise Refused("expires")
    return int(seconds) if seconds.is_integer() else round(seconds, 6)


def _flag(raw: Mapping[str, Any], name: str, how: Reading) -> bool | None:
    given = raw.get(name)
    if given is None:
        return None if how.is_lossy else False
    if not isinstance(given, bool):
        raise Refused("type")
    return given


def _same_site(given: object, how: Reading, notes: list[str]) -> str | None:
    if given == "Lax" or given == "None" or given == "Strict":
        return str(given)
    if given is None:
        return None if how.is_lossy else "Lax"
    found = _SAME_SITE.get(given.lower()) if isinstance(given, str) else None
    if found is None:
        raise Refused("samesite")
    notes.append("samesite")
    return found


def _refuse_broken_promises(slot: CookieSlot, entry: tuple[str, bool | None, bool | None, str | None]) -> None:
    _, http_only, secure, same_site = entry
    if same_site == "None" and secure is False:
        raise Refused("samesite-none-insecure")
    if slot.partition and secure is False:
        raise Refused("partition-insecure")
    if slot.name[:2] != "__":
        return
    name = slot.name.lower()
    if name.startswith("__host-") and (slot.domain[0] == "." or slot.path != "/" or secure is False):
        raise Refused("host-prefix")
    if name.startswith("__secure-") and secure is False:
        raise Refused("secure-prefix")
    if name.startswith(("__http-", "__host-http-")) and (http_only is False or secure is False):
        raise Refused("http-prefix")


def is_expired(entry: Entry, now: float) -> bool:
    return bool(0 < entry[EXPIRES] <= now)


def is_capped(new: float, old: float, first: float, last: float) -> bool:
    """Whether `new` is what a browser makes of the expiry `old`, when the state was loaded between two times."""
    return old > first + LIFETIME and first + LIFETIME - 1 <= new <= last + LIFETIME + 1


def agrees(new: Entry, old: Entry) -> bool:
    """Whether two entries are the same but for their expiry, as far as the new one knows."""
    if new[VALUE] != old[VALUE]:
        return False
    return all(new[part] is None or new[part] == old[part] for part in (HTTP_ONLY, SECURE, SAME_SITE))


def completed(entry: Entry, others: list[Entry]) -> Entry:
    """The entry with what its source could not know, taken from the first of the others that knows it."""
    if None not in entry:
        return entry
    full = list(entry)
    for part, unknown in ((HTTP_ONLY, False), (SECURE, False), (SAME_SITE, "Lax")):
        if full[part] is None:
            full[part] = next((other[part] for other in others if other[part] is not None), unknown)
    if full[SAME_SITE] == "None" and not full[SECURE]:
        full[SAME_SITE] = "Lax"
    return full
