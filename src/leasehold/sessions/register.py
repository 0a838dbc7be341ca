"""The history of one slot: which values it has shown, who proved them, and which of them stands. No I/O.

A register only ever grows, by union with the smallest stamp for each value. So it does not matter in which order, or
how often, uploads arrive; and a value that was seen before and replaced cannot win again by being seen again.
"""

import hmac
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from leasehold.sessions import cookies, slots
from leasehold.sessions.canonical import Entry

SIGHTINGS: Final = 3  # a value set once and seen by two later captures is taken to be given once only
_DIGEST_BYTES: Final = 12

# A register at rest. Nearly all have one value: a list `[entry, t, upload, position, proof]`, and for a cookie that was
# seen again `seen, sightings`. `proof` is 0 for none, 1 for proven, or the digest of what the value replaced. Any other
# is an object: `s` values, `d` deletions, `e` sightings, `z` last seen, `c` counter.
Raw = list[Any] | dict[str, Any]


class Stamp(NamedTuple):
    """When something was captured, and by which upload: a total order that knows no ties between uploads."""

    t: int  # milliseconds
    upload: int  # its place among the uploads of the history, which are sorted by id
    position: int


class Proof(NamedTuple):
    stamp: Stamp
    replaced: str | None  # digest of the base's value


@dataclass(slots=True)
class Appearance:
    """One value a slot has had."""

    entry: Entry | None  # None once it is only remembered by its digest
    digest: str | None
    first: Stamp  # its first sighting, by anybody
    proofs: dict[int, Proof] = field(default_factory=dict)  # by upload: it was written there, not echoed

    def stands_at(self, distrusted: Container[int]) -> Stamp:
        proven = [proof.stamp for upload, proof in self.proofs.items() if upload not in distrusted]
        return max(proven, default=self.first)

    def stamps(self) -> Iterator[Stamp]:
        yield self.first
        yield from (proof.stamp for proof in self.proofs.values())


class Elected(NamedTuple):
    """What a slot shows."""

    entry: Entry
    stamp: Stamp
    created: Stamp  # since when the slot is there without a break


def digest(key: bytes, slot: str, entry: Entry) -> str:
    """Keyed, so that a short value cannot be found by trying."""
    return hmac.digest(key, slot.encode() + b"\0" + _stable(slot, entry), "sha256")[:_DIGEST_BYTES].hex()


def _stable(slot: str, entry: Entry) -> bytes:
    if not isinstance(entry, str):
        return orjson.dumps(entry)
    if slot[0] == slots.DATABASE:
        return orjson.dumps(orjson.loads(entry), option=orjson.OPT_SORT_KEYS)
    return entry.encode()


def is_same(slot: str, one: Entry, other: Entry) -> bool:
    if one == other:
        return True
    # The order of members is the writer's business, not the database's.
    return slot[0] == slots.DATABASE and orjson.loads(str(one)) == orjson.loads(str(other))


@dataclass(slots=True)
class Register:
    values: list[Appearance] = field(default_factory=list)
    deletions: dict[int, Stamp] = field(default_factory=dict)  # by upload
    sightings: list[tuple[int, int]] = field(default_factory=list)  # the earliest (t, upload), a few; cookies only
    seen: int = 0  # the latest; cookies only
    counter: int | None = None  # passkeys only

    def add(self, slot: str, entry: Entry, stamp: Stamp, key: bytes, proof: int | str) -> None:
        found = self.find(slot, entry, key)
        if found is None:
            found = Appearance(entry, None, stamp)
            self.values.append(found)
        elif found.entry is None or stamp < found.first:
            found.entry = entry
        elif stamp == found.first and orjson.dumps(entry) < orjson.dumps(found.entry):
            found.entry = entry  # one upload, two spellings: any rule will do, if all follow it
        found.first = min(found.first, stamp)
        if proof:
            new = Proof(stamp, proof if isinstance(proof, str) else None)
            old = found.proofs.get(stamp.upload, new)
            found.proofs[stamp.upload] = min(new, old, key=lambda one: (one.stamp, one.replaced or ""))

    def find(self, slot: str, entry: Entry, key: bytes) -> Appearance | None:
        name = None
        for value in self.values:
            if value.entry is not None:
                if is_same(slot, value.entry, entry):
                    return value
            elif value.digest:
                name = name or digest(key, slot, entry)
                if value.digest == name:
                    return value
        return None

    def delete(self, stamp: Stamp) -> None:
        self.deletions[stamp.upload] = min(stamp, self.deletions.get(stamp.upload, stamp))

    def sight(self, t: int, upload: int) -> None:
        self.seen = max(self.seen, t)
        earliest = {other: at for at, other in reversed(self.sightings)}
        earliest[upload] = min(t, earliest.get(upload, t))
        self.sightings = sorted((at, other) for other, at in earliest.items())[:SIGHTINGS]

    def is_once_only(self) -> bool:
        """Set once, never deleted, and still there in every capture that would show it."""
        if len(self.values) != 1 or self.deletions or len(self.values[0].proofs) > 1:
            return False
        return len(self.sightings) >= SIGHTINGS

    def elect(self, slot: str, distrusted: Container[int] = ()) -> Elected | None:
        """The value with the greatest stamp; None where a deletion has it."""
        standing = _without_echoes(slot, self.values, distrusted)
        if not standing:
            return None
        stamp, best = max(standing, key=lambda pair: (pair[0], orjson.dumps(pair[1].entry)))
        if any(gone > stamp for gone in self.deletions.values()):
            return None
        entry = best.entry
        assert entry is not None  # noqa: S101 - echoes and digests are not among the standing
        if slot[0] == slots.COOKIE and None in entry:
            others = sorted(standing, key=lambda pair: pair[0], reverse=True)
            entry = cookies.completed(
                list(entry), [list(value.entry or ()) for _, value in others if value is not best]
            )
        return Elected(entry, stamp, self._created(stamp))

    def _created(self, stamp: Stamp) -> Stamp:
        before = max((gone for gone in self.deletions.values() if gone < stamp), default=None)
        sets = (one for value in self.values for one in value.stamps())
        return min((one for one in sets if before is None or one > before), default=stamp)

    def is_entangled(self, slot: str, distrusted: Container[int]) -> bool:
        """Whether what stands depends on values that do not: then none of them can be forgotten."""
        if any(upload in distrusted for value in self.values for upload in value.proofs):
            return True
        if slot[0] != slots.COOKIE:
            return False
        kept = [value for value in self.values if value.entry is not None]
        unsure = any(None in value.entry for value in kept if value.entry is not None)
        return unsure or len(_without_echoes(slot, kept, distrusted)) < len(kept)

    def forget_deletions(self, keep_from: int) -> None:
        """Drop old deletions, and with each what came before it: the slot began anew then."""
        old = [stamp for stamp in self.deletions.values() if stamp.t < keep_from]
        self.deletions = {upload: stamp for upload, stamp in self.deletions.items() if stamp.t >= keep_from}
        for value in self.values if old else ():
            value.proofs = {upload: proof for upload, proof in value.proofs.items() if proof.stamp > max(old)}
            if value.first < max(old) and value.proofs:
                value.first = min(proof.stamp for proof in value.proofs.values())

    def doubts(self, fresh: Container[int]) -> Iterator[int]:
        """Uploads that claim to have started from nothing, yet repeat a value that had been replaced before."""
        for value in self.values:
            for upload, proof in value.proofs.items():
                if upload in fresh and value.first < proof.stamp and self._replaced(value, proof.stamp):
                    yield upload

    def _replaced(self, value: Appearance, until: Stamp) -> bool:
        others = (stamp for other in self.values if other is not value for stamp in other.stamps())
        return any(value.first < stamp < until for stamp in others)


def _without_echoes(slot: str, values: list[Appearance], distrusted: Container[int]) -> list[tuple[Stamp, Appearance]]:
    """Each value with its stamp, but for those that only repeat another in the words of a lesser source."""
    standing = [(value.stands_at(distrusted), value) for value in values if value.entry is not None]
    if slot[0] != slots.COOKIE or len(standing) < 2:
        return standing
    echoes = [
        (value, original)
        for _, value in standing
        if not value.proofs
        for _, original in standing
        if original is not value and _is_echo(value, original)
    ]
    lowered = {id(original): min(original.first, value.first) for value, original in echoes}
    gone = {id(value) for value, _ in echoes}
    return [
        (stamp if value.proofs else lowered.get(id(value), stamp), value)
        for stamp, value in standing
        if id(value) not in gone
    ]


def _is_echo(value: Appearance, original: Appearance) -> bool:
    new, old = value.entry, original.entry
    if new is None or old is None or not cookies.agrees(list(new), list(old)):
        return False
    if new[cookies.EXPIRES] == old[cookies.EXPIRES]:
        return None in new and None not in old
    # A browser shortened it: seen no earlier than the original, which no browser at that time would have kept as it is.
    first, last = original.first.t / 1000, value.first.t / 1000
    return float(old[cookies.EXPIRES]) > last + cookies.LIFETIME and cookies.is_capped(
        float(new[cookies.EXPIRES]), float(old[cookies.EXPIRES]), first, last
    )


def elect_plain(raw: dict[str, Any]) -> Elected | None:
    """`Register.elect` where nothing was deleted, distrusted or put in other words: the usual case, by its raw form."""
    best, top = None, [-1, -1, -1]
    for entry, _, first, proofs in raw["s"]:
        stamp = max(([t, upload, position] for upload, t, position, _ in proofs), default=first)
        if entry is not None and (stamp > top or (stamp == top and orjson.dumps(entry) > orjson.dumps(best))):
            best, top = entry, stamp
    return None if best is None else Elected(best, Stamp(*top), Stamp(*raw["s"][0][2]))


def sighted(raw: list[Any], t: int, upload: int) -> list[Any]:
    """A register of one value, seen again later than it was first seen."""
    seen, sightings = (raw[5], raw[6]) if len(raw) > 5 else (raw[1], [raw[1:3]])
    if len(sightings) < SIGHTINGS or [t, upload] < sightings[-1]:
        others = [one for one in sightings if one[1] != upload]
        same = [one for one in sightings if one[1] == upload]
        sightings = sorted([*others, min([[t, upload], *same])])[:SIGHTINGS]
    return [*raw[:5], max(seen, t), sightings]


def doubled(raw: list[Any], entry: Entry, stamp: list[int], proof: int | str) -> dict[str, Any]:
    """A register of one value, of a kind that needs no sightings, with another value: `add`, by its raw form."""
    old = [raw[0], None, raw[1:4], _raw_proofs(raw[1:4], raw[4])]
    new = [entry, None, stamp, _raw_proofs(stamp, proof)]
    return {"s": [old, new] if raw[1:4] < stamp else [new, old], "d": [], "e": [], "z": 0}


def _raw_proofs(stamp: list[int], proof: int | str) -> list[list[Any]]:
    t, upload, position = stamp
    return [[upload, t, position, proof if isinstance(proof, str) else None]] if proof else []


def has_heirs(raw: dict[str, Any]) -> bool:
    """Whether one value was replaced twice: the cheap half of finding forks."""
    replaced = [proof[3] for value in raw["s"] for proof in value[3] if proof[3]]
    return len(replaced) > len(set(replaced))


def is_repeated(raw: dict[str, Any], fresh: Container[int]) -> bool:
    """Whether any such upload wrote a value that had been seen before: the cheap half of `doubts`."""
    return any(
        proof[0] in fresh and [proof[1], proof[0], proof[2]] > first
        for _, _, first, proofs in raw["s"]
        for proof in proofs
    )


def load(raw: Raw) -> Register:
    if isinstance(raw, list):
        entry, t, upload, position, proof = raw[:5]
        first = Stamp(t, upload, position)
        proofs = {upload: Proof(first, proof if isinstance(proof, str) else None)} if proof else {}
        seen, sightings = raw[5:7] if len(raw) > 5 else (t, [(t, upload)])
        return Register([Appearance(entry, None, first, proofs)], {}, [tuple(one) for one in sightings], seen)
    return Register(
        [_appearance(value) for value in raw["s"]],
        {upload: Stamp(t, upload, position) for t, upload, position in raw["d"]},
        [tuple(one) for one in raw["e"]],
        raw["z"],
        raw.get("c"),
    )


def _appearance(raw: list[Any]) -> Appearance:
    entry, name, first, proofs = raw
    found = {upload: Proof(Stamp(t, upload, position), replaced) for upload, t, position, replaced in proofs}
    return Appearance(entry, name, Stamp(*first), found)


def dump(slot: str, register: Register) -> Raw:
    """At rest, in one form only: equal registers are equal bytes."""
    values, is_cookie = register.values, slot[0] == slots.COOKIE
    if len(values) == 1 and not register.deletions and register.counter is None and values[0].entry is not None:
        only = values[0]
        mine = only.proofs.get(only.first.upload)
        if len(only.proofs) == (mine is not None) and (mine is None or mine.stamp == only.first):
            proof: int | str = 0 if mine is None else mine.replaced or 1
            raw: list[Any] = [only.entry, *only.first, proof]
            if is_cookie and (register.seen, register.sightings) != (only.first.t, [only.first[:2]]):
                raw += [register.seen, [list(one) for one in register.sightings]]
            return raw
    found: dict[str, Any] = {
        "s": [_raw_appearance(value) for value in sorted(values, key=_order)],
        "d": [list(stamp) for stamp in sorted(register.deletions.values())],
        "e": [list(one) for one in register.sightings] if is_cookie else [],
        "z": register.seen if is_cookie else 0,
    }
    if register.counter is not None:
        found["c"] = register.counter
    return found


def _order(value: Appearance) -> tuple[Stamp, bytes]:
    return value.first, orjson.dumps([value.entry, value.digest])


def _raw_appearance(value: Appearance) -> list[Any]:
    proofs = [
        [upload, proof.stamp.t, proof.stamp.position, proof.replaced] for upload, proof in sorted(value.proofs.items())
    ]
    return [value.entry, value.digest, list(value.first), proofs]
