"""Which seeds are handed out: found through the beds, within the limits of their sites, and granted together.

In this order everywhere: the guards of sites, seeds, leases, beds. What waits holds nothing that comes after.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from leasehold.db import Conn
from leasehold.leases import Claim, Deal, Ended, Grant, KeptLeases, Kind, Lease, NewLease, Waiting, Wanted, new_id
from leasehold.seeds import outlook, store
from leasehold.seeds.gathering import Bed, Candidate, Gathering, Scope, scopes, share
from leasehold.seeds.models import Seed
from leasehold.sites import Sites, SiteUnknown

# However the due seeds are spread over beds, what is wanted is found in far fewer looks.
_LOOKS = 100


class SeedStock:
    """What there is to give of seeds."""

    def __init__(self, kept: KeptLeases, sites: Sites) -> None:
        self._kept = kept
        self._sites = sites

    async def deal(self, conn: Conn, organisation: UUID, claims: Sequence[Claim]) -> Deal[Seed]:
        deal: Deal[Seed] = Deal()
        wanted = scopes(claims)
        await _refuse_unknown(conn, organisation, claims, wanted, deal)
        deal.expired, _ = await self.settle(conn, organisation)
        if deal.expired:
            return deal  # everybody looks again, at what is free now
        beds = await _beds(conn, organisation, wanted)
        rooms: Mapping[str, int] = {}
        if limited := sorted({bed.site for bed in beds if bed.is_limited}):
            await store.guard(conn, organisation, limited)
            rooms = await store.rooms(conn, organisation, limited)
        candidates, looked = await _gather(conn, organisation, wanted, beds, rooms)
        placed = await self._placed(conn, organisation, candidates)
        given = _given(share(claims, [one for one in placed if one.seed.url], rooms), deal)
        await self._grant(conn, organisation, given, deal)
        # From here on beds are touched, all of them held first and in one order.
        await store.hold_beds(conn, organisation, {bed.name for bed in looked})
        if homeless := [one.seed.id for one in placed if one.seed.url is None]:
            await store.skip(conn, organisation, homeless)
        served = {one.bed for _, one in given}
        await store.serve_beds(conn, organisation, {bed: bed in served for bed in looked})
        return deal

    async def settle(self, conn: Conn, organisation: UUID) -> tuple[list[Ended], bool]:
        """Book what ran out, and whether that was all; what was renewed is looked at when that has passed."""
        held = await store.run_out(conn, organisation)
        if renewed := [one.id for one in held if not one.ran_out]:
            await store.defer(conn, organisation, renewed)
        ran_out = [one for one in held if one.ran_out]
        if not ran_out:
            return [], store.is_all(held)
        await store.hold_beds(conn, organisation, {one.bed for one in ran_out})
        return await self._kept.expire(conn, organisation, [one.lease for one in ran_out]), store.is_all(held)

    async def granted(self, conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> Mapping[UUID, Grant[Seed]]:
        found = await store.granted(conn, organisation, leases)
        seeds = await store.by_ids(conn, organisation, [lease.resource for lease in found])
        registry = await self._sites.registry_in(conn, organisation)
        return {lease.id: Grant(lease, seeds[lease.resource].placed(registry)) for lease in found}

    async def waiting(self, conn: Conn, organisation: UUID, wanted: Wanted) -> Waiting:
        ground = await store.ground(conn, organisation, wanted.site)
        there = await store.outlook(conn, organisation, wanted.site, wanted.labels)
        return outlook.waiting(wanted.site, ground, there)

    async def next_in_s(self, conn: Conn, organisation: UUID, site: str | None) -> float | None:
        return await store.next_in_s(conn, organisation, site)

    async def _placed(self, conn: Conn, organisation: UUID, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Each with its URL at the address its site has now, if that has a place for it."""
        if not candidates:
            return []
        registry = await self._sites.registry_in(conn, organisation)
        return [replace(one, seed=one.seed.placed(registry)) for one in candidates]

    async def _grant(
        self, conn: Conn, organisation: UUID, given: Sequence[tuple[Claim, Candidate]], deal: Deal[Seed]
    ) -> None:
        if not given:
            return
        leases = await self._kept.grant(conn, organisation, [_new_lease(*one) for one in given])
        taken = await store.take(conn, organisation, [lease.id for lease in leases.values()])
        if taken != len(given):
            raise RuntimeError(f"{len(given)} seeds were kept from others and {taken} could be taken")
        for claim, one in given:
            if claim.ask is not None:
                lease = leases[one.seed.id]
                deal.given.setdefault(claim.ask, []).append(Grant(lease, _held(one.seed, lease)))


async def _refuse_unknown(
    conn: Conn, organisation: UUID, claims: Iterable[Claim], wanted: Iterable[Scope], deal: Deal[Seed]
) -> None:
    named = {scope.site for scope in wanted if scope.site is not None}
    if not named:
        return
    known = await store.sites(conn, organisation, named)
    for claim in claims:
        if claim.ask is not None and claim.site is not None and claim.site not in known:
            deal.refused[claim.ask] = SiteUnknown("No site of your organisation has this slug.")


async def _beds(conn: Conn, organisation: UUID, wanted: Mapping[Scope, int]) -> list[Bed]:
    """Where something is due: all beds of the sites that are named, and the first ones of all others."""
    named = sorted({scope.site for scope in wanted if scope.site is not None})
    found = await store.beds(conn, organisation, named) if named else []
    anywhere = {scope: count for scope, count in wanted.items() if scope.site is None}
    if anywhere:
        # With labels nobody knows which bed has a match, so all are looked through.
        few = None if any(scope.labels for scope in anywhere) else sum(anywhere.values())
        found += await store.beds(conn, organisation, None, few)
    return list({bed.name: bed for bed in found}.values())


async def _gather(
    conn: Conn, organisation: UUID, wanted: Mapping[Scope, int], beds: Sequence[Bed], rooms: Mapping[str, int]
) -> tuple[list[Candidate], set[Bed]]:
    """Candidates for all that is wanted, and the beds that were looked at for them."""
    gatherings = {scope: Gathering.of(scope, count, beds, rooms) for scope, count in wanted.items()}
    candidates: dict[UUID, Candidate] = {}
    ranks: dict[Bed, int] = {}
    for _ in range(_LOOKS):
        looks = [look for gathering in gatherings.values() for look in gathering.looks()]
        if not looks:
            break
        found = await store.pick(conn, organisation, looks, candidates)
        for look, seen in found.items():
            gatherings[look.scope].saw(look, len(seen))
            ranks.setdefault(look.bed, 0)
            for one in seen:
                if one.seed.id not in candidates:
                    candidates[one.seed.id] = replace(one, rank=ranks[look.bed])
                    ranks[look.bed] += 1
    return list(candidates.values()), set(ranks)


def _given(shared: Iterable[tuple[Claim, list[Candidate]]], deal: Deal[Seed]) -> list[tuple[Claim, Candidate]]:
    """What goes to somebody here; the rest is left for those who wait in other processes."""
    given: list[tuple[Claim, Candidate]] = []
    for claim, taken in shared:
        if claim.ask is None:
            deal.left_at |= {one.seed.site for one in taken}
        else:
            given += [(claim, one) for one in taken]
    return given


def _new_lease(claim: Claim, one: Candidate) -> NewLease:
    ask = claim.ask
    if ask is None:
        raise ValueError("nobody here asked for this")
    wanted, token = ask.wanted, ask.caller.token
    id_, seed = new_id(Kind.SEED), one.seed
    return NewLease(id_, seed.id, seed.site, one.fence + 1, wanted.owner, token, wanted.job_id, wanted.ttl_seconds)


def _held(seed: Seed, lease: Lease) -> Seed:
    return replace(seed, holder=lease.owner, lease_id=lease.id, expires_at=lease.expires_at)
