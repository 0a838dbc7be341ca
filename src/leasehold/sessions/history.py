"""A session's history: every slot with its register, and the uploads they speak of. Joined, never overwritten. No I/O.

Joining is commutative, associative and idempotent, so two servers that saw the same uploads in another order hold the
same bytes. A history is never changed in place: what was handed to somebody stays as it was.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

import orjson

from leasehold.sessions import cookies, slots
from leasehold.sessions.canonical import Entry
from leasehold.sessions.merge import Operations, Start
from leasehold.sessions.register import (
    SIGHTINGS,
    Appearance,
    Elected,
    Raw,
    Register,
    Stamp,
    digest,
    doubled,
    dump,
    elect_plain,
    has_heirs,
    is_repeated,
    load,
    sighted,
)

FORMAT: Final = 1


class HistoryUnreadable(ValueError):
    """These bytes are no history that this version can read."""


class Writer(NamedTuple):
    """An upload, as a history remembers it."""

    id: str
    t: int
    lease: str | None
    source: str
    base: str


class Aside(NamedTuple):
    """An upload that is kept but not merged."""

    kind: str  # `held` until somebody decides, or a `branch` of a run that was logged out
    operations: Operations


class Fork(NamedTuple):
    """Two leases that replaced the same value of one slot: a rotating token cannot be shared."""

    slot: str
    leases: tuple[str, ...]
    uploads: tuple[str, ...]


@dataclass(frozen=True)
class History:
    uploads: list[Writer] = field(default_factory=list)  # sorted by id, so that numbers order as ids do
    registers: dict[str, Raw] = field(default_factory=dict)
    aside: dict[str, Aside] = field(default_factory=dict)  # by upload id
    undone: frozenset[str] = frozenset()  # upload ids that shall not come back

    def elected(self, kind: str = "") -> Iterator[tuple[str, Elected]]:
        """What each slot shows, or each slot of a kind, for all that show anything."""
        for slot, raw in self.registers.items():
            if not slot.startswith(kind):
                continue
            found = elect(slot, raw, self.distrusted)
            if found is not None:
                yield slot, found

    def entries(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for slot, raw in self.registers.items():
            if isinstance(raw, list) and (slot[0] != slots.COOKIE or None not in raw[0]):
                found[slot] = raw[0]  # nearly all; the long way would make three objects of each
                continue
            shown = elect(slot, raw, self.distrusted)
            if shown is not None:
                found[slot] = shown.entry
        return found

    def deleted(self) -> dict[str, Stamp]:
        """Slots that show nothing because they were deleted, and when."""
        many = ((slot, raw) for slot, raw in self.registers.items() if isinstance(raw, dict) and raw["d"])
        return {
            slot: max(Stamp(*gone) for gone in raw["d"])
            for slot, raw in many
            if elect(slot, raw, self.distrusted) is None
        }

    @cached_property
    def distrusted(self) -> frozenset[int]:
        """Uploads whose claim to have started from nothing is not believed."""
        fresh = {number for number, upload in enumerate(self.uploads) if upload.base == Start.FRESH}
        if not fresh:
            return frozenset()
        return frozenset(
            upload
            for raw in self.registers.values()
            if isinstance(raw, dict) and is_repeated(raw, fresh)
            for upload in load(raw).doubts(fresh)
        )

    def number(self, upload: str) -> int | None:
        place = bisect_left(self.uploads, upload, key=lambda one: one.id)
        return place if place < len(self.uploads) and self.uploads[place].id == upload else None


def elect(slot: str, raw: Raw, distrusted: frozenset[int] = frozenset()) -> Elected | None:
    if isinstance(raw, list) and (slot[0] != slots.COOKIE or None not in raw[0]):
        stamp = Stamp(raw[1], raw[2], raw[3])
        return Elected(raw[0], stamp, stamp)
    if isinstance(raw, dict) and not (raw["d"] or distrusted or slot[0] == slots.COOKIE):
        return elect_plain(raw)
    return load(raw).elect(slot, distrusted)


def is_once_only(raw: Raw) -> bool:
    if isinstance(raw, list):
        return len(raw) > 5 and len(raw[6]) >= SIGHTINGS
    return load(raw).is_once_only()


def last_seen(raw: Raw) -> int:
    if isinstance(raw, list):
        return int(raw[5] if len(raw) > 5 else raw[1])
    return int(raw["z"])


def join(history: History, done: Operations, key: bytes) -> History:
    """The history with what an upload did."""
    if done.upload in history.undone:
        return history
    history, number = _with_upload(history, Writer(done.upload, done.t, done.lease, done.source, done.base))
    registers = dict(history.registers)
    for slot, entry, t, position, proof in done.sets:
        raw = registers.get(slot)
        if raw is None and slot[0] != slots.CREDENTIAL:
            registers[slot] = [entry, t, number, position, proof]
            continue
        if not proof and isinstance(raw, list) and raw[0] == entry and raw[1] < t:
            if slot[0] == slots.COOKIE:
                registers[slot] = sighted(raw, t, number)
            continue  # an echo of its only value, seen later: it tells nothing new
        if slot[0] == slots.LOCAL and isinstance(raw, list) and raw[0] != entry and raw[1] != t:
            registers[slot] = doubled(raw, entry, [t, number, position], proof)
            continue
        register = load(raw) if raw is not None else Register()
        register.add(slot, entry, Stamp(t, number, position), key, proof)
        if slot[0] == slots.COOKIE:
            register.sight(t, number)
        registers[slot] = dump(slot, register)
    for slot, t, position in done.deletions:
        register = _loaded(registers, slot)
        register.delete(Stamp(t, number, position))
        registers[slot] = dump(slot, register)
    _sight(registers, done, number)
    for slot, count in done.counters.items():
        register = _loaded(registers, slot)
        register.counter = max(count, register.counter or 0)
        registers[slot] = dump(slot, register)
    return replace(history, registers=registers)


def _loaded(registers: dict[str, Raw], slot: str) -> Register:
    raw = registers.get(slot)
    return load(raw) if raw is not None else Register()


def _sight(registers: dict[str, Raw], done: Operations, number: int) -> None:
    for slot in done.echoes:
        if slot[0] != slots.COOKIE:
            continue  # nobody asks when another thing was last seen
        raw = registers.get(slot)
        if isinstance(raw, list) and raw[1] < done.t:
            registers[slot] = sighted(raw, done.t, number)
            continue
        register = load(raw) if raw is not None else Register()  # what it echoes may still be on its way
        register.sight(done.t, number)
        registers[slot] = dump(slot, register)


def _with_upload(history: History, writer: Writer) -> tuple[History, int]:
    place = bisect_left(history.uploads, writer.id, key=lambda one: one.id)
    uploads = list(history.uploads)
    if place < len(uploads) and uploads[place].id == writer.id:
        uploads[place] = min(uploads[place], writer, key=lambda one: (one.t, str(one)))
        return replace(history, uploads=uploads), place
    uploads.insert(place, writer)
    if place == len(uploads) - 1:  # ids made in order of time come last, and number nobody anew
        return replace(history, uploads=uploads), place
    shifted = _renumbered(history.registers, lambda number: number + (number >= place))
    return replace(history, uploads=uploads, registers=shifted), place


def _renumbered(registers: dict[str, Raw], to: Callable[[int], int]) -> dict[str, Raw]:
    return {slot: _renumber(raw, to) for slot, raw in registers.items()}


def _renumber(raw: Raw, to: Callable[[int], int]) -> Raw:
    if isinstance(raw, list):
        moved = [raw[0], raw[1], to(raw[2]), *raw[3:]]
        if len(raw) > 5:
            moved[6] = [[t, to(upload)] for t, upload in raw[6]]
        return moved
    values = [
        [entry, name, [first[0], to(first[1]), first[2]], [[to(proof[0]), *proof[1:]] for proof in proofs]]
        for entry, name, first, proofs in raw["s"]
    ]
    gone = [[t, to(upload), position] for t, upload, position in raw["d"]]
    return {**raw, "s": values, "d": gone, "e": [[t, to(upload)] for t, upload in raw["e"]]}


def put_aside(history: History, done: Operations, kind: str) -> History:
    return replace(history, aside={**history.aside, done.upload: Aside(kind, done)})


def take_in(history: History, upload: str, key: bytes) -> History:
    """Merge an upload that was put aside. One that is not there changes nothing."""
    if upload not in history.aside:
        return history
    aside = {name: one for name, one in history.aside.items() if name != upload}
    return join(replace(history, aside=aside), history.aside[upload].operations, key)


def drop_aside(history: History, upload: str) -> History:
    return replace(history, aside={name: one for name, one in history.aside.items() if name != upload})


def undo(history: History, upload: str) -> History:
    """The history without what one upload wrote, deleted and showed first; it cannot come back by being sent again."""
    history = replace(drop_aside(history, upload), undone=history.undone | {upload})
    number = history.number(upload)
    if number is None:
        return history
    registers = {}
    for slot, raw in history.registers.items():
        kept = raw if isinstance(raw, list) and raw[2] != number and len(raw) == 5 else _without(slot, raw, number)
        if kept is not None:
            registers[slot] = kept
    return replace(history, registers=registers)


def _without(slot: str, raw: Raw, number: int) -> Raw | None:
    register = load(raw)
    for value in register.values:
        value.proofs.pop(number, None)
        if value.first.upload == number and value.proofs:
            value.first = min(proof.stamp for proof in value.proofs.values())
    register.values = [value for value in register.values if value.first.upload != number]
    register.deletions.pop(number, None)
    register.sightings = [one for one in register.sightings if one[1] != number]
    return dump(slot, register) if register.values or register.deletions else None


def blame(history: History) -> dict[str, Writer]:
    """Which upload wrote what each slot shows."""
    return {slot: history.uploads[found.stamp.upload] for slot, found in history.elected()}


def forks(history: History, key: bytes, among: Iterable[str] | None = None) -> list[Fork]:
    found: list[Fork] = []
    for slot in history.registers if among is None else among:
        raw = history.registers.get(slot)
        if isinstance(raw, dict) and has_heirs(raw):
            found += _forks(history, slot, load(raw), key)
    return found


def _forks(history: History, slot: str, register: Register, key: bytes) -> Iterator[Fork]:
    heirs: dict[str, dict[str, tuple[str, str]]] = {}  # replaced value -> lease -> (its value, its upload)
    for value in register.values:
        name = value.digest or (digest(key, slot, value.entry) if value.entry is not None else "")
        for number, proof in value.proofs.items():
            upload = history.uploads[number]
            if proof.replaced and proof.replaced != name and upload.lease:
                heirs.setdefault(proof.replaced, {})[upload.lease] = (name, upload.id)
    for leases in heirs.values():
        if len(leases) > 1 and len({name for name, _ in leases.values()}) > 1:
            yield Fork(slot, tuple(sorted(leases)), tuple(sorted(upload for _, upload in leases.values())))


def prune(history: History, key: bytes, keep_from: int, values: int = 3, asides: int = 10) -> History:
    """Forget what nobody can need: `keep_from` (ms) is the older of 35 days ago and the oldest open lease's base.

    Values that were replaced are kept for the last few (a late upload can bring one back), then by digest alone.
    """
    distrusted = history.distrusted
    registers: dict[str, Raw] = {}
    for slot, raw in history.registers.items():
        kept = _pruned(slot, raw, key, (keep_from, values), distrusted)
        if kept is not None:
            registers[slot] = kept
    recent = sorted(history.aside.items(), key=lambda item: (item[1].operations.t, item[0]), reverse=True)
    return _without_strangers(replace(history, registers=registers, aside=dict(recent[:asides])), keep_from)


def _pruned(slot: str, raw: Raw, key: bytes, keep: tuple[int, int], distrusted: frozenset[int]) -> Raw | None:
    keep_from, values = keep
    found = elect(slot, raw, distrusted)
    if found is not None and slot[0] == slots.COOKIE and cookies.is_expired(list(found.entry), keep_from / 1000):
        return None
    if isinstance(raw, list):
        return raw
    register = load(raw)
    if register.is_entangled(slot, distrusted):
        return raw
    ranked = sorted(register.values, key=lambda value: value.stands_at(distrusted), reverse=True)
    register.values = []
    for rank, value in enumerate(ranked):
        stands = found is not None and value.stands_at(distrusted) == found.stamp
        if stands or max(value.stamps()).t >= keep_from:
            if not stands and rank > values and value.entry is not None:
                value.digest, value.entry = digest(key, slot, value.entry), None
            register.values.append(value)
    register.forget_deletions(keep_from)
    if found is not None and min(stamp for value in register.values for stamp in value.stamps()) > found.created:
        register.values.append(Appearance(None, None, found.created))
    if found is None and not register.deletions:
        return None  # the tombstone has done its work
    return dump(slot, register)


def _without_strangers(history: History, keep_from: int) -> History:
    """Uploads that no register speaks of any more are forgotten."""
    needed = {number for raw in history.registers.values() for number in _numbers(raw)}
    kept = [number for number, one in enumerate(history.uploads) if number in needed or one.t >= keep_from]
    if len(kept) == len(history.uploads):
        return history
    places = {number: place for place, number in enumerate(kept)}
    return replace(
        history,
        uploads=[history.uploads[number] for number in kept],
        registers=_renumbered(history.registers, places.__getitem__),
    )


def _numbers(raw: Raw) -> Iterator[int]:
    if isinstance(raw, list):
        yield raw[2]
        yield from (upload for _, upload in raw[6]) if len(raw) > 5 else ()
        return
    for _, _, first, proofs in raw["s"]:
        yield first[1]
        yield from (proof[0] for proof in proofs)
    yield from (upload for _, upload, _ in raw["d"])
    yield from (upload for _, upload in raw["e"])


def encode(history: History) -> bytes:
    """One history, one text: neither order of arrival nor of keys shows."""
    document = {
        "format": FORMAT,
        "uploads": [list(upload) for upload in history.uploads],
        "registers": history.registers,
        "aside": {name: [one.kind, one.operations.document()] for name, one in history.aside.items()},
        "undone": sorted(history.undone),
    }
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def decode(data: bytes) -> History:
    """Raises HistoryUnreadable."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise HistoryUnreadable("A session's history is damaged.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise HistoryUnreadable("A session's history was written by another version of leasehold.")
    return History(
        [Writer(*upload) for upload in found["uploads"]],
        found["registers"],
        {name: Aside(kind, Operations.from_document(one)) for name, (kind, one) in found["aside"].items()},
        frozenset(found["undone"]),
    )
