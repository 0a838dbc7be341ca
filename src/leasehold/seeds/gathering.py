"""Which due seeds are looked at, and who gets which: by priority, by who waits longest, fair between sites. No I/O.

A bed is the seeds of one site and priority. Its turn is counted from when its first seed fell due or from when it was
last served, whichever is later: so a site with a day's backlog does not keep the others waiting.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from uuid import UUID

from leasehold.leases import Claim
from leasehold.seeds.models import Seed

# For those who wait in other processes no more than this is looked at: they look for themselves.
_FOR_OTHERS = 256


@dataclass(frozen=True, slots=True)
class Bed:
    """Where something is due."""

    site: str
    priority: int
    # Since its first seed fell due, or since it was last served.
    waits_since: datetime
    served_at: datetime | None
    is_limited: bool

    @property
    def name(self) -> tuple[str, int]:
        return self.site, self.priority

    @property
    def turn(self) -> tuple[int, datetime, str]:
        return -self.priority, self.waits_since, self.site


@dataclass(frozen=True, slots=True)
class Candidate:
    """A due seed, kept from others, that could be given to somebody."""

    seed: Seed
    fence: int
    bed: Bed
    # How many of its bed come before it.
    rank: int

    @property
    def turn(self) -> tuple[int, int, datetime, datetime, UUID]:
        due = self.seed.next_due_at
        waits_since = max(due, self.bed.served_at or due)
        return -self.bed.priority, self.rank, waits_since, due, self.seed.id


@dataclass(frozen=True, slots=True)
class Scope:
    """What several claims ask for alike: of one site or any, with these labels."""

    site: str | None
    labels: tuple[tuple[str, str], ...]


def scopes(claims: Iterable[Claim]) -> dict[Scope, int]:
    """Each scope, and how many seeds are wanted of it."""
    wanted: dict[Scope, int] = {}
    others = 0
    for claim in claims:
        limit = claim.limit
        if claim.ask is None:
            limit = min(limit, _FOR_OTHERS - others)
            others += limit
        scope = Scope(claim.site, tuple(sorted(claim.labels.items())))
        wanted[scope] = wanted.get(scope, 0) + limit
    return wanted


@dataclass(frozen=True, slots=True)
class Look:
    """So many seeds of a bed to be looked at."""

    scope: Scope
    bed: Bed
    count: int


@dataclass(slots=True)
class Gathering:
    """The looks it takes to find what a scope wants: an equal share of each bed, then more of those that have more.

    Beds of a lower priority are looked at only when the higher ones are exhausted.
    """

    scope: Scope
    wanted: int
    rooms: Mapping[str, int]
    later: list[list[Bed]]  # by priority
    open: list[Bed] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)  # by site

    @classmethod
    def of(cls, scope: Scope, wanted: int, beds: Iterable[Bed], rooms: Mapping[str, int]) -> "Gathering":
        fitting = sorted((bed for bed in beds if scope.site in (None, bed.site)), key=lambda bed: bed.turn)
        groups = [list(group) for _, group in groupby(fitting, key=lambda bed: bed.priority)]
        return cls(scope, wanted, rooms, groups)

    def looks(self) -> list[Look]:
        """What to look at next; nothing when it is enough or there is no more."""
        need = self.wanted - sum(self.found.values())
        while need > 0:
            self.open = [bed for bed in self.open if self._room(bed) > 0]
            if self.open:
                now, self.open = self.open[:need], self.open[need:]
                share = math.ceil(need / len(now))
                return [Look(self.scope, bed, min(share, self._room(bed))) for bed in now]
            if not self.later:
                break
            self.open = self.later.pop(0)
        return []

    def saw(self, look: Look, count: int) -> None:
        """What a look found; a bed that gave all it was asked for may have more."""
        self.found[look.bed.site] = self.found.get(look.bed.site, 0) + count
        if count == look.count:
            self.open.append(look.bed)

    def _room(self, bed: Bed) -> int:
        room = self.rooms.get(bed.site, self.wanted)
        return room - self.found.get(bed.site, 0)


def share(
    claims: Sequence[Claim], candidates: Iterable[Candidate], rooms: Mapping[str, int]
) -> list[tuple[Claim, list[Candidate]]]:
    """Each claim in turn takes the first that fit it, as far as their sites have room."""
    left, room = sorted(candidates, key=lambda one: one.turn), dict(rooms)
    shared: list[tuple[Claim, list[Candidate]]] = []
    for claim in claims:
        if not left:
            break
        taken: list[Candidate] = []
        others: list[Candidate] = []
        for one in left:
            site = one.seed.site
            fits = len(taken) < claim.limit and room.get(site, 1) > 0 and claim.fits(site, one.seed.labels)
            (taken if fits else others).append(one)
            if fits and site in room:
                room[site] -= 1
        shared.append((claim, taken))
        left = others
    return shared
