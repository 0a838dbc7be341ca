"""What an upload says: which entries it wrote, which it only echoed, which it proves to be gone. No I/O.

`derive` looks at the upload and at the base it names, and at nothing else. So what an upload means cannot depend on
what else has arrived, and the same upload always means the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from leasehold.sessions import cookies, slots
from leasehold.sessions.canonical import Canonical, Entry
from leasehold.sessions.register import digest, is_same

EXPIRY_MARGIN_S: Final = 1  # a cookie that ends within a second of the capture ended by itself
# A localStorage key that is also a property of every Storage: restored by Playwright, but not captured again.
_NEVER_CAPTURED: Final = frozenset({"length"})
_ROUNDING_S: Final = 0.001  # browsers keep microseconds, not floats


class Source(StrEnum):
    CONTEXT = "context"  # a browser context: what is absent from it is not there
    PERSISTENT = "persistent"  # a profile on disk: loses session cookies, lists visited origins only
    API = "api"  # a request context without a browser: echoes storage, knows no partitions
    MANUAL = "manual"  # a person, or a converter


class Health(StrEnum):
    OK = "ok"  # somebody checked that the account is signed in
    LOGGED_OUT = "logged_out"  # the run ended on the login page
    UNKNOWN = "unknown"


class Start(StrEnum):
    """A base that is no state."""

    FRESH = "fresh"  # the context started empty
    UNKNOWN = "unknown"  # nobody knows what it started from


Base = Start | Canonical


@dataclass(frozen=True, slots=True)
class Upload:
    """One captured state and what is known about how it came to be."""

    id: str
    t: int  # milliseconds, see capture_time
    state: Canonical
    source: Source = Source.CONTEXT
    health: Health = Health.UNKNOWN
    lease: str | None = None
    handed_out: float | None = None  # seconds; when the base was given to the context
    entry_times: Mapping[str, int] = field(default_factory=dict)  # by slot, milliseconds: when it was really written


def capture_time(received: float, sent: float | None, captured: float | None, lease_start: float | None = None) -> int:
    """When a state was captured, in milliseconds of the server's clock, whatever the sender's clock says."""
    took = sent - captured if sent is not None and captured is not None else 0.0
    t = min(received - max(took, 0.0), received)
    if lease_start is not None and t <= lease_start:
        t = min(lease_start + 0.001, received)
    return round(t * 1000)


Group = frozenset[str]  # names of cookies or localStorage keys that only make sense together


@dataclass(slots=True)
class Operations:
    """What an upload does to a history. Positions divide the entries of one upload."""

    upload: str
    t: int
    lease: str | None
    source: str
    base: str  # fresh, unknown or known
    sets: list[tuple[str, Entry, int, int, int | str]] = field(default_factory=list)  # slot, entry, t, position, proof
    deletions: list[tuple[str, int, int]] = field(default_factory=list)  # slot, t, position
    echoes: dict[str, Entry] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    expired: list[str] = field(default_factory=list)
    absent_kept: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """To be put aside: what is needed to apply it later."""
        return {
            "upload": [self.upload, self.t, self.lease, self.source, self.base],
            "sets": [list(one) for one in self.sets],
            "deletions": [list(one) for one in self.deletions],
            "echoes": {slot: entry for slot, entry in self.echoes.items() if slot[0] == slots.COOKIE},
            "counters": self.counters,
        }

    @classmethod
    def from_document(cls, found: Mapping[str, Any]) -> Self:
        upload, t, lease, source, base = found["upload"]
        return cls(
            upload,
            t,
            lease,
            source,
            base,
            sets=[tuple(one) for one in found["sets"]],
            deletions=[tuple(one) for one in found["deletions"]],
            echoes=found["echoes"],
            counters=found["counters"],
        )


def derive(upload: Upload, base: Base, key: bytes, groups: Sequence[Group] = ()) -> Operations:
    """What this upload means, given what its context started from. `key` is the session's own."""
    kind = base.value if isinstance(base, Start) else "known"
    found = Operations(upload.id, upload.t, upload.lease, upload.source.value, kind)
    entries = upload.state.entries
    known = base.entries if isinstance(base, Canonical) else {}
    if upload.source is Source.API and known:
        entries = _with_partitions(entries, known)
    _write(found, upload, entries, known)
    if isinstance(base, Canonical):
        _remove(found, upload, entries, base)
    _keep_together(found, upload, entries, groups)
    for place, (slot, entry, t, position, _) in enumerate(found.sets):
        if kind != Start.UNKNOWN:
            old = known.get(slot)
            found.sets[place] = (slot, entry, t, position, 1 if old is None else digest(key, slot, old))
    found.counters = {slot: count for slot, count in upload.state.counters.items() if slot in entries}
    return found


def _write(found: Operations, upload: Upload, entries: Mapping[str, Entry], known: Mapping[str, Entry]) -> None:
    t, now, times = upload.t, upload.t / 1000, upload.entry_times
    echoes = {slot: entry for slot, entry in entries.items() if known.get(slot) == entry} if known else {}
    found.echoes = echoes
    for position, (slot, entry) in enumerate(entries.items()):
        if slot in echoes:
            continue
        old = known.get(slot)
        if old is not None and _is_unchanged(slot, entry, old, upload):
            echoes[slot] = entry
            continue
        if slot[0] == slots.COOKIE and cookies.is_expired(list(entry), now):
            found.expired.append(slot)  # an old file, neither a write nor a deletion
            continue
        written = min(times.get(slot, t), t) if times else t
        found.sets.append((slot, entry, written, position, 0))


def _is_unchanged(slot: str, entry: Entry, old: Entry, upload: Upload) -> bool:
    if slot[0] != slots.COOKIE:
        return slot[0] == slots.DATABASE and is_same(slot, entry, old)
    new = list(entry)
    if not cookies.agrees(new, list(old)):
        return False
    now, was = float(new[cookies.EXPIRES]), float(old[cookies.EXPIRES])
    if abs(now - was) < _ROUNDING_S:
        return True
    given = upload.handed_out
    return given is not None and cookies.is_capped(now, was, given, upload.t / 1000)


def _remove(found: Operations, upload: Upload, entries: Mapping[str, Entry], base: Canonical) -> None:
    position = len(entries)
    for slot, old in base.entries.items():
        if slot in entries:
            continue
        if slot[0] == slots.COOKIE and 0 < old[cookies.EXPIRES] < upload.t / 1000 + EXPIRY_MARGIN_S:  # type: ignore[operator]
            found.expired.append(slot)
        elif _proves_absence(upload, slot, old):
            found.deletions.append((slot, upload.t, position))
            position += 1
        else:
            found.absent_kept.append(slot)


def _proves_absence(upload: Upload, slot: str, old: Entry) -> bool:
    state, kind = upload.state, slot[0]
    if upload.source in (Source.API, Source.MANUAL) or slot in state.left_out:
        return False
    if kind in (slots.COOKIE, slots.CREDENTIAL):
        lost = upload.source is Source.PERSISTENT and kind == slots.COOKIE and old[cookies.EXPIRES] == cookies.SESSION
        return kind in state.covered and not lost
    origin, name = slots.stored_of(slot)
    if kind == slots.LOCAL and name in _NEVER_CAPTURED:
        return False
    if origin in state.obscured or slots.stored_slot(slots.LOCAL, origin, "") in state.left_out:
        return False
    area = f"{kind}\t{origin}"
    if upload.source is Source.PERSISTENT:
        return area in state.covered and (kind == slots.LOCAL or area not in state.emptied)
    # An origin without anything in it is not listed at all, so its absence says that localStorage was cleared.
    return state.has_origins if kind == slots.LOCAL else area in state.covered


def _with_partitions(entries: Mapping[str, Entry], known: Mapping[str, Entry]) -> dict[str, Entry]:
    """A request context forgets partitions. What it lists without one is the partitioned cookie it was given."""
    partitioned: dict[tuple[str, str, str], list[str]] = {}
    for slot in known:
        if slot[0] == slots.COOKIE and not slot.endswith("\t\t"):
            partitioned.setdefault(slots.cookie_of(slot)[:3], []).append(slot)
    found = {}
    for slot, entry in entries.items():
        asked = partitioned.get(slots.cookie_of(slot)[:3]) if partitioned and slot.endswith("\t\t") else None
        if asked is None or slot in known:
            found[slot] = entry
            continue
        same = [one for one in asked if known[one][cookies.VALUE] == entry[cookies.VALUE]]
        if len(same or asked) == 1:
            found[(same or asked)[0]] = entry
    return found


def _keep_together(found: Operations, upload: Upload, entries: Mapping[str, Entry], groups: Sequence[Group]) -> None:
    """Where one of a group was written or is gone, all of it was: halves of two workers must never meet."""
    if not groups:
        return
    touched: dict[tuple[int, str], int] = {}
    for slot, t, *_ in [(one[0], one[2]) for one in found.sets] + [(one[0], one[1]) for one in found.deletions]:
        for team in _teams(slot, groups):
            touched[team] = max(t, touched.get(team, 0))
    moved: dict[str, int] = {}
    for slot in [*entries, *(one[0] for one in found.deletions)]:
        for team in _teams(slot, groups):
            if team in touched:
                moved[slot] = max(touched[team], moved.get(slot, 0))
    places = {slot: position for position, slot in enumerate(entries)}
    for slot in moved:
        entry = found.echoes.pop(slot, None)
        if entry is not None:
            found.sets.append((slot, entry, 0, places[slot], 0))
    found.sets = [(slot, entry, moved.get(slot, t), place, proof) for slot, entry, t, place, proof in found.sets]


def _teams(slot: str, groups: Sequence[Group]) -> Iterable[tuple[int, str]]:
    if slot[0] not in (slots.COOKIE, slots.LOCAL):
        return
    name = slots.cookie_of(slot).name if slot[0] == slots.COOKIE else slots.stored_of(slot)[1]
    for number, group in enumerate(groups):
        if name in group:
            yield number, slots.site_of(slots.host_of(slot))
