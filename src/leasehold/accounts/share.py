"""Who gets which of the free accounts: first come first served within a priority, all or nothing. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Generic, TypeVar
from uuid import UUID

from leasehold.accounts.models import Candidate, Ground, Wish

T = TypeVar("T")
_JUST_CAME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Claim(Generic[T]):
    """A wish and who has it; None for somebody who waits in another process."""

    wish: Wish
    holder: T | None


@dataclass(slots=True)
class Shares(Generic[T]):
    """How the free accounts were divided."""

    given: list[tuple[T, list[Candidate]]] = field(default_factory=list)
    unmet: list[T] = field(default_factory=list)
    # Sites where something was left for somebody in another process.
    left_for_others: set[str] = field(default_factory=set)


def share(
    claims: Iterable[Claim[T]], candidates: Mapping[str, Sequence[Candidate]], grounds: Mapping[str, Ground]
) -> Shares[T]:
    """Serve the claims in order. Who waits and cannot be served yet keeps what there is from those behind."""
    taken: set[UUID] = set()
    room = {slug: ground.cap - ground.live for slug, ground in grounds.items() if ground.cap is not None}
    shares: Shares[T] = Shares()
    for claim in sorted(claims, key=_turn):
        wish = claim.wish
        here = candidates.get(wish.site, ())
        found = _first(here, taken, wish, min(wish.count, max(0, room.get(wish.site, wish.count))))
        is_enough = len(found) == wish.count
        if is_enough or wish.is_waiting:
            taken.update(candidate.id for candidate in found)
            if wish.site in room:
                room[wish.site] -= len(found)
        if claim.holder is None:
            if is_enough:
                shares.left_for_others.add(wish.site)
        elif is_enough:
            shares.given.append((claim.holder, found))
        else:
            shares.unmet.append(claim.holder)
    return shares


def _turn(claim: Claim[T]) -> tuple[int, datetime]:
    return -claim.wish.priority, claim.wish.since or _JUST_CAME


def _first(candidates: Sequence[Candidate], taken: set[UUID], wish: Wish, count: int) -> list[Candidate]:
    found: list[Candidate] = []
    for candidate in candidates:
        if len(found) == count:
            break
        if candidate.id not in taken and wish.fits(candidate):
            found.append(candidate)
    return found


def needs(claims: Iterable[Claim[T]]) -> dict[str, list[tuple[Wish, int]]]:
    """For each site, each kind of account that is wanted and how many to look at.

    One kind may take from another (an account without a filter may be anyone's), so each looks far enough for all.
    """
    kinds: dict[str, dict[tuple[frozenset[tuple[str, str]], object], Wish]] = {}
    totals: dict[str, int] = {}
    for claim in claims:
        wish = claim.wish
        kinds.setdefault(wish.site, {}).setdefault((frozenset(wish.labels.items()), wish.account), wish)
        totals[wish.site] = totals.get(wish.site, 0) + wish.count
    return {site: [(wish, totals[site]) for wish in found.values()] for site, found in kinds.items()}
