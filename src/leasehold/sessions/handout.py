"""What a browser is given: a StorageState made from a history and a time, sound enough to load. No I/O.

It is a pure function, so the base of a lease need not be stored: the same version at the same time is the same state.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from leasehold.sessions import cookies, slots
from leasehold.sessions.canonical import QUOTA_UNITS, Canonical, Entry, utf16_units
from leasehold.sessions.history import History, is_once_only, last_seen
from leasehold.sessions.register import Stamp

COOKIES_PER_SITE: Final = 180  # and partition; one more, and Chromium throws away 31, the earliest listed first
BYTES_PER_PARTITION: Final = 10 * 1024  # of a partitioned site
COOKIES_IN_ALL: Final = 3_300
HEADER_WARNING_BYTES: Final = 8 * 1024  # a `Cookie:` header that many servers refuse


class StorageFull(ValueError):
    """An origin's localStorage is larger than a browser takes; cutting it would break the site in secret."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"The localStorage of {origin} is larger than a browser takes. Roll the session back, or sign in afresh."
        )
        self.origin = origin


class Kept(NamedTuple):
    """One entry to be handed out, and what is known of it."""

    slot: str
    entry: Entry
    stamp: Stamp
    created: Stamp
    seen: int = 0
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class Wish:
    """What a lease asks for, and what its account and site say about it."""

    databases: bool = False
    files: bool = False
    credentials: bool = False
    markers: frozenset[str] = frozenset()  # cookies that show somebody is signed in
    session_cookie_max_age_s: float | None = None

    def wants(self, kind: str) -> bool:
        """Whether things of this kind are asked for; cookies are chosen one by one."""
        if kind in (slots.LOCAL, slots.COOKIE):
            return kind == slots.LOCAL
        return {slots.DATABASE: self.databases, slots.FILE: self.files, slots.CREDENTIAL: self.credentials}[kind]


@dataclass(frozen=True, slots=True)
class HandOut:
    state: dict[str, Any]  # as Playwright's `storage_state=` takes it
    over_cap: list[str]  # slots that were left out for want of room
    header_bytes: dict[str, int]  # the longest `Cookie:` header of each host
    auth_expires: float | None  # seconds; when the first cookie that shows a sign-in ends
    has_auth: bool  # whether any such cookie is there
    cookies: int = 0
    origins: int = 0

    @property
    def heavy_hosts(self) -> list[str]:
        """Hosts whose servers may refuse the request for its `Cookie:` header."""
        return sorted(host for host, size in self.header_bytes.items() if size > HEADER_WARNING_BYTES)


# Moves what is to be handed out; it is told too what was deleted, and when.
Place = Callable[[Sequence[Kept], Mapping[str, Stamp]], Sequence[Kept]]


def hand_out(history: History, now: float, wish: Wish | None = None, place: Place | None = None) -> HandOut:
    """The state of a session at a time (seconds); raises StorageFull. `place` may move entries, see projection."""
    wish = wish or Wish()
    chosen, over, stored = _choose(history, now, wish, place)
    state: dict[str, Any] = {
        "cookies": [render_cookie(one.slot, one.entry) for one in chosen],
        "origins": _origins(stored),
    }
    if wish.credentials:
        passkeys = sorted(slot for slot in stored if slot[0] == slots.CREDENTIAL)
        state["credentials"] = [_credential(slot, stored[slot], history) for slot in passkeys]
    ends = [one.entry[cookies.EXPIRES] for one in chosen if slots.cookie_of(one.slot).name in wish.markers]
    return HandOut(
        state,
        [one.slot for one in over],
        header_sizes(chosen),
        min((float(end) for end in ends if end != cookies.SESSION), default=None),
        bool(ends),
        len(chosen),
        len(state["origins"]),
    )


def handed_out(history: History, now: float, wish: Wish | None = None, place: Place | None = None) -> Canonical:
    """What `hand_out` gave for the same arguments, as the base of what its context uploads."""
    wish = wish or Wish()
    if place is None and wish.session_cookie_max_age_s is None and not may_crowd(history.registers):
        return Canonical(_all_wanted(history.entries(), wish, now))
    chosen, _, stored = _choose(history, now, wish, place)
    return Canonical({one.slot: one.entry for one in chosen} | stored)


def _all_wanted(entries: dict[str, Entry], wish: Wish, now: float) -> dict[str, Entry]:
    """Where nothing has to be chosen, only what ended or was not asked for is left out."""
    for slot, entry in list(entries.items()):
        kind = slot[0]
        if kind == slots.LOCAL:
            continue
        if cookies.is_expired(list(entry), now) if kind == slots.COOKIE else not wish.wants(kind):
            del entries[slot]
    return entries


def _choose(
    history: History, now: float, wish: Wish, place: Place | None
) -> tuple[list[Kept], list[Kept], dict[str, Entry]]:
    """The cookies in their order, those there is no room for, and all else."""
    kept = [one for one in living(history, wish.markers) if _is_wanted(one, wish, now)]
    stored = {slot: entry for slot, entry in history.entries().items() if wish.wants(slot[0])}
    if place is not None:
        every = [*kept, *(Kept(slot, *found) for slot, found in history.elected() if slot in stored)]
        placed = place(every, history.deleted())
        kept = [one for one in placed if one.slot[0] == slots.COOKIE]
        stored = {one.slot: one.entry for one in placed if one.slot[0] != slots.COOKIE}
    chosen, over = cap(kept)
    return sorted(chosen, key=lambda one: one.created), over, stored


def living(history: History, markers: frozenset[str]) -> Iterable[Kept]:
    """Every cookie that was not deleted, pinned or not."""
    for slot, found in history.elected(slots.COOKIE):
        yield Kept(slot, *found, last_seen(history.registers[slot]), is_pinned(history, slot, markers))


def is_pinned(history: History, slot: str, markers: frozenset[str]) -> bool:
    """A cookie that must not be lost: the site's policy names it, or it was given once only."""
    raw = history.registers.get(slot)
    return slots.cookie_of(slot).name in markers or (raw is not None and is_once_only(raw))


def _is_wanted(one: Kept, wish: Wish, now: float) -> bool:
    if one.entry[cookies.EXPIRES] == cookies.SESSION:
        age = wish.session_cookie_max_age_s
        return age is None or one.seen / 1000 + age > now
    return not cookies.is_expired(list(one.entry), now)


def cap(found: Sequence[Kept]) -> tuple[list[Kept], list[Kept]]:
    """The cookies a browser will keep, and those that have to go so that it throws away none by itself."""
    jars: dict[tuple[str, str | None, bool | None], list[Kept]] = {}
    for one in found:
        cookie = slots.cookie_of(one.slot)
        jars.setdefault((slots.site_of(cookie.host), cookie.partition, cookie.ancestor), []).append(one)
    kept: list[Kept] = []
    over: list[Kept] = []
    for (_, partition, _), jar in jars.items():
        stay, go = _fit(jar, COOKIES_PER_SITE, BYTES_PER_PARTITION if partition else None)
        kept += stay
        over += go
    kept, more = _fit(kept, COOKIES_IN_ALL, None)
    return kept, over + more


def may_crowd(registers: Iterable[str]) -> bool:
    """Whether there are so many cookies that some may have to go; a cheap look at how many there ever were."""
    sites: dict[str, int] = {}
    every = [slot.split("\t") for slot in registers if slot[0] == slots.COOKIE]
    for _, _, domain, _, partition, _ in every:
        if partition:
            return True  # they have a limit in bytes, which this look does not know
        site = slots.site_of(domain.removeprefix("."))
        sites[site] = sites.get(site, 0) + 1
    return len(every) > COOKIES_IN_ALL or max(sites.values(), default=0) > COOKIES_PER_SITE


def _fit(jar: list[Kept], most: int, most_bytes: int | None) -> tuple[list[Kept], list[Kept]]:
    if len(jar) <= most and most_bytes is None:
        return jar, []
    ranked = sorted(jar, key=_worth, reverse=True)
    stay, go = ranked[:most], ranked[most:]
    while most_bytes is not None and stay and sum(_size(one) for one in stay) > most_bytes:
        go.append(stay.pop())
    return stay, go


def _worth(one: Kept) -> tuple[bool, bool, int, Stamp]:
    """What goes first: not pinned, not secure, longest unseen, oldest."""
    return one.is_pinned, bool(one.entry[cookies.SECURE]), one.seen, one.created


def _size(one: Kept) -> int:
    return len(slots.cookie_of(one.slot).name.encode()) + len(one.entry[cookies.VALUE].encode())


def render_cookie(slot: str, entry: Entry) -> dict[str, Any]:
    cookie = slots.cookie_of(slot)
    found = {
        "name": cookie.name,
        "value": entry[cookies.VALUE],
        "domain": cookie.domain,
        "path": cookie.path,
        "expires": entry[cookies.EXPIRES],
        "httpOnly": entry[cookies.HTTP_ONLY],
        "secure": entry[cookies.SECURE],
        "sameSite": entry[cookies.SAME_SITE],
    }
    if cookie.partition:
        # Without the bit a browser assumes another site's frame in between, which is wrong for a first-party partition.
        found |= {"partitionKey": cookie.partition, "_crHasCrossSiteAncestor": cookie.ancestor}
    return found


def _origins(stored: Mapping[str, Entry]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    room: dict[str, int] = {}
    for slot in sorted(stored):
        kind, origin, name = slot.split("\t", 2)
        if kind == slots.CREDENTIAL:
            continue
        entry, place = stored[slot], found.get(origin)
        if place is None:
            place = found[origin] = {"origin": origin, "localStorage": []}
        if kind == slots.LOCAL:
            place["localStorage"].append({"name": name, "value": entry})
            room[origin] = room.get(origin, QUOTA_UNITS) - utf16_units(name) - utf16_units(str(entry))
        elif kind == slots.DATABASE:
            place.setdefault("indexedDB", []).append(orjson.loads(str(entry)))
        else:
            place.setdefault("opfs", []).append(_file(name, entry))
    for origin, left in room.items():
        if left < 0:
            raise StorageFull(origin)
    for place in found.values():
        if "opfs" in place:
            place["opfs"] = _without_blocked(place["opfs"])
    return [found[origin] for origin in sorted(found)]


def _file(path: str, entry: Entry) -> dict[str, Any]:
    found = {"path": path, "type": entry[0]}
    return found if entry[1] is None else {**found, "base64": entry[1]}


def _without_blocked(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Two captures can make one path a file and a folder. The folder stays: it has more below it."""
    folders = {
        "/".join(steps[:end]) for file in files for steps in [file["path"].split("/")] for end in range(1, len(steps))
    }
    return [file for file in files if file["type"] == "directory" or file["path"] not in folders]


def _credential(slot: str, entry: Entry, history: History) -> dict[str, Any]:
    party, ident = slots.stored_of(slot)
    raw = history.registers[slot]
    count = raw.get("c", 0) if isinstance(raw, dict) else 0
    handle, private, public = list(entry)
    return {
        "id": ident,
        "rpId": party,
        "userHandle": handle,
        "privateKey": private,
        "publicKey": public,
        "signCount": count,
    }


def header_sizes(chosen: Iterable[Kept]) -> dict[str, int]:
    """The `Cookie:` header of each host at its longest: every path, and the largest of its partitions."""
    weights: list[tuple[slots.CookieSlot, int]] = [(slots.cookie_of(one.slot), _size(one) + 3) for one in chosen]
    found = {}
    for host in {cookie.host for cookie, _ in weights}:
        sums: dict[tuple[str | None, bool | None], int] = {}
        for cookie, weight in weights:
            is_domain = cookie.domain[0] == "."
            if cookie.host == host or (is_domain and host.endswith(cookie.domain)):
                jar = (cookie.partition, cookie.ancestor)
                sums[jar] = sums.get(jar, 0) + weight
        plain = sums.pop((None, None), 0)
        found[host] = max(plain + max(sums.values(), default=0) - 2, 0)  # "; " stands between, not after
    return found
