"""Why two records belong together, or do not: evidence in bits, part by part."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from leasehold.linking.epochs import NAME, Epoch
from leasehold.linking.features import Features
from leasehold.linking.names import LEVELS, NONE, SOME
from leasehold.linking.policy import Policy
from leasehold.linking.tables import CENT, Field, Tables, tables_of

EXPLICIT_ID, EXTERNAL_URL, NAME_METADATA = "explicit_id", "external_url", "name_metadata"
_OTHER_NAMES = "shared under different names"


@dataclass(frozen=True, slots=True)
class Part:
    field: str  # an attribute, or: prior, name, ids, urls, curated
    outcome: str  # how the two values compare
    bits: float
    left: str = ""
    right: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    bits: float  # log2 of the odds that the two are one thing, rounded to hundredths
    step: str  # the strongest kind of reason: an id, an address, or name and attributes
    parts: tuple[Part, ...]  # they add up to the bits
    conflicts: tuple[str, ...]  # what speaks clearly against it

    def to_json(self) -> dict[str, Any]:
        return {
            "bits": self.bits,
            "step": self.step,
            "parts": [
                {"field": p.field, "outcome": p.outcome, "bits": p.bits, "left": p.left, "right": p.right}
                for p in self.parts
            ],
            "conflicts": list(self.conflicts),
        }


def compare(a: Features, b: Features, epoch: Epoch) -> Evidence:
    """All there is to say of two records; symmetric but for left and right."""
    tables = tables_of(epoch)
    parts = list(_parts(a, b, tables))
    cents = sum(round(CENT * part.bits) for part in parts)
    step = EXPLICIT_ID if a.ids & b.ids else EXTERNAL_URL if a.urls & b.urls else NAME_METADATA
    conflicts = tuple(sorted(set(_conflicts(parts, tables))))
    return Evidence(bits=cents / CENT, step=step, parts=tuple(parts), conflicts=conflicts)


def is_worth_telling(bits: float, parts: Iterable[tuple[str, float]], policy: Policy) -> bool:
    """Whether two are tied: by what is said of them, or by what would join them if nothing spoke against it."""
    without_no = sum(worth for field, worth in parts if worth > 0 or field == "prior")
    return bits >= policy.keep or without_no >= policy.join


def share_an_id_or_address(a: Features, b: Features, policy: Policy) -> bool:
    """Whether there is a reason to join two that is worth telling even where something speaks against it.

    That a curated source gives one address to two is no news: it has each thing once, and they are two.
    """
    if not a.ids.isdisjoint(b.ids):
        return True
    return not a.urls.isdisjoint(b.urls) and not (a.source == b.source and a.source in policy.curated)


def weigher(epoch: Epoch) -> Callable[[Features, Features], float | None]:
    """Tells the bits alone, and only if they reach `keep`: what most pairs need, at a fraction of the cost."""
    tables, floor = tables_of(epoch), round(CENT * epoch.policy.keep)

    def weigh(a: Features, b: Features) -> float | None:
        cents = weigh_cents(a, b, tables, floor)
        return None if cents is None else cents / CENT

    return weigh


def weigh_cents(a: Features, b: Features, tables: Tables, floor: int) -> int | None:
    """As `compare`, in hundredths of a bit; gives up as soon as the floor is out of reach."""
    cents = tables.odds + _linked(a, b, tables)
    if a.extra and b.extra:
        cents += sum(worth for _, _, _, worth in _extras(a, b, tables))
    left, right = a.values, b.values
    for at, outcomes, reach in tables.steps:
        mine = left[at]
        if mine is not None:
            theirs = right[at]
            if theirs is not None:
                cents += outcomes[mine, theirs][1]
                if cents + reach < floor:
                    return None
    worth, level, _, _ = _best_name(a, b, tables)
    cents += worth
    if level >= SOME and a.urls and b.urls and a.urls & b.urls:
        cents += round(CENT * tables.epoch.policy.url_conflict_bits)
    return cents if cents >= floor else None


def _linked(a: Features, b: Features, tables: Tables) -> int:
    """What ids, addresses and curated sources say."""
    cents = 0
    policy = tables.epoch.policy
    if a.ids and b.ids:
        if a.ids & b.ids:
            cents += round(CENT * policy.id_bits)
        if policy.exclusive and _differing(a, b, tables):
            cents += round(CENT * policy.id_conflict_bits)
    if a.urls and b.urls and a.urls & b.urls:
        cents += round(CENT * policy.url_bits)
    if a.source == b.source and a.source in policy.curated:
        cents += round(CENT * policy.curated_bits)
    return cents


def _differing(a: Features, b: Features, tables: Tables) -> list[str]:
    """Exclusive namespaces in which both have ids and share none."""
    spaces = {space for space, _ in a.ids} & {space for space, _ in b.ids} & tables.epoch.policy.exclusive
    shared = {space for space, _ in a.ids & b.ids}
    return sorted(spaces - shared)


def _extras(a: Features, b: Features, tables: Tables) -> Iterator[tuple[str, Field, int, int]]:
    """Keys that the epoch does not know, by the type both values show."""
    for key in sorted(a.extra.keys() & b.extra.keys()):
        (shown, mine), (other, theirs) = a.extra[key], b.extra[key]
        if {shown, other} == {"category", "text"}:
            shown = other = "text"
        if shown == other:
            field = tables.types[shown]
            yield key, field, *field.outcomes[mine, theirs]


def _best_name(a: Features, b: Features, tables: Tables) -> tuple[int, int, str, str]:
    """The best of all pairs of names, as cents, level and the two. What many tries find by chance is taken off."""
    if len(a.names) == 1 and len(b.names) == 1:
        level, cents, _ = tables.alike[a.names[0], b.names[0]]
        return cents, level, a.names[0].text, b.names[0].text
    best: tuple[int, int, str, str] | None = None
    for mine in a.names:
        for theirs in b.names:
            level, cents, _ = tables.alike[mine, theirs]
            if level >= 0 and (best is None or (cents, -level) > (best[0], -best[1])):
                best = (cents, level, mine.text, theirs.text)
    if best is None:
        return 0, -1, "", ""
    tries = len(a.names) * len(b.names)
    if tries > 1 and best[0] > 0:
        best = (max(0, best[0] - round(CENT * math.log2(tries))), *best[1:])
    return best


def _parts(a: Features, b: Features, tables: Tables) -> Iterator[Part]:
    policy = tables.epoch.policy
    yield Part("prior", "before anything is known", tables.odds / CENT)
    shared = sorted(a.ids & b.ids)
    if shared:
        text = ":".join(shared[0])
        yield Part("ids", "shared", policy.id_bits, text, text)
    for space in _differing(a, b, tables)[:1]:
        mine, theirs = (min(one for other, one in side.ids if other == space) for side in (a, b))
        yield Part("ids", "different", policy.id_conflict_bits, f"{space}:{mine}", f"{space}:{theirs}")
    cents, level, mine, theirs = _best_name(a, b, tables)
    urls = sorted(a.urls & b.urls)
    if urls:
        yield Part("urls", "shared", policy.url_bits, urls[0], urls[0])
        if level >= SOME and policy.url_conflict_bits:
            # The page of a studio, an agency or a couple: it is true of both, and does not make them one.
            yield Part("urls", _OTHER_NAMES, policy.url_conflict_bits, mine, theirs)
    if a.source == b.source and a.source in policy.curated:
        yield Part("curated", "one source that holds each thing once", policy.curated_bits, a.source, b.source)
    if level >= 0:
        yield Part(NAME, LEVELS[level], cents / CENT, mine, theirs)
    for field, left, right in zip(tables.fields, a.values, b.values, strict=True):
        if left is not None and right is not None:
            level, cents = field.outcomes[left, right]
            yield Part(field.key, field.weights.levels[level], cents / CENT, ", ".join(left), ", ".join(right))
    for key, field, level, cents in _extras(a, b, tables):
        outcome, bits = field.weights.levels[level], cents / CENT
        yield Part(key, outcome, bits, ", ".join(a.extra[key][1]), ", ".join(b.extra[key][1]))


def _conflicts(parts: list[Part], tables: Tables) -> Iterator[str]:
    attributes = tables.epoch.policy.attributes
    for part in parts:
        if part.field == "ids" and part.outcome == "different":
            yield "ids-differ"
        elif part.field == "curated":
            yield "same-curated-source"
        elif (part.field, part.outcome) in ((NAME, LEVELS[NONE]), ("urls", _OTHER_NAMES)):
            yield "name-differs"
        elif part.outcome == "different" and part.field in attributes and attributes[part.field].conflict:
            yield f"{part.field}-differs"
