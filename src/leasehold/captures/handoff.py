"""The hand-off: consumers claim captures on leases, oldest first, and say what became of them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from leasehold import audit, leases
from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.captures import claims, store
from leasehold.captures.answers import shown
from leasehold.captures.claims import Candidate, Settled
from leasehold.captures.machine import CaptureState, Outcome, after, event
from leasehold.captures.models import PREFIX, Capture
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import show
from leasehold.leases import (
    Ask,
    BoundLeases,
    Claim,
    Counter,
    Deal,
    Ended,
    Grant,
    How,
    KeptLeases,
    Kind,
    NewLease,
    Offer,
    Report,
    Timekeeper,
    Waiting,
    Wanted,
    deal_out,
    new_id,
)
from leasehold.metrics import Metrics
from leasehold.problems import fault, invalid
from leasehold.sites import SiteUnknown

_OUTCOMES = ", ".join(Outcome)
# When nothing tells how long, ask again after this; a claim may end long before it would run out.
_UNKNOWN_S = 30
_SOON_S = 10


class ClaimedCaptures:
    """Captures as rows that are held on leases."""

    kind = Kind.CAPTURE
    prefix = PREFIX
    permission = Permission.CAPTURES_CONSUME

    def read(self, report: Mapping[str, Any]) -> Report:
        if report["outcome"] not in set(Outcome):
            raise invalid(fault("body", "/outcome", f"A capture is given back with one of {_OUTCOMES}."))
        if strangers := sorted(set(report) - {"outcome", "reason"}):
            raise invalid(*(fault("body", f"/{name}", "This does not go with a capture.") for name in strangers))
        return Report(report["outcome"], report.get("reason"))

    async def hold(self, conn: Conn, organisation: UUID, resources: Sequence[UUID]) -> None:
        await claims.hold(conn, organisation, resources)

    async def settle(self, conn: Conn, caller: Caller, ended: Sequence[Ended], _report: Report | None) -> None:
        organisation, captures = caller.organisation, [one.resource for one in ended]
        failures = await claims.failures(conn, organisation, captures)
        await claims.settle(conn, organisation, [_left(one, failures[one.resource]) for one in ended])
        # What each end did to a capture is an event of its life.
        left = await store.get(conn, organisation, captures)
        await audit.record_many(conn, [_note(caller, one, left[one.resource]) for one in ended])

    async def shown(self, conn: Conn, organisation: UUID, resource: UUID) -> Mapping[str, Any]:
        found = (await store.get(conn, organisation, [resource])).get(resource)
        return shown(found).model_dump(mode="json") if found else {}


def _left(ended: Ended, failures: int) -> Settled:
    """How the end of a claim leaves its capture. What an operator took back, or nobody ever got, is no failure."""
    if ended.outcome is None and ended.how is not How.EXPIRED:
        return Settled(ended.resource, CaptureState.RECEIVED, failures, None)
    state, failed = after(Outcome(ended.outcome) if ended.outcome else None, failures)
    return Settled(ended.resource, state, failed, None if state is CaptureState.RECEIVED else ended.reason)


def _note(caller: Caller, ended: Ended, capture: Capture) -> audit.Note:
    detail = {
        "lease": show(leases.PREFIX, ended.id),
        "owner": ended.owner,
        "how": str(ended.how),
        "outcome": ended.outcome,
        "reason": ended.reason,
        "failures": capture.failures,
    }
    return audit.Note(caller, f"capture.{event(capture.state)}", show(PREFIX, capture.id), detail)


class CaptureStock:
    """What waits to be handed on."""

    def __init__(self, kept: KeptLeases) -> None:
        self._kept = kept

    async def deal(self, conn: Conn, organisation: UUID, wishes: Sequence[Claim]) -> Deal[Capture]:
        deal: Deal[Capture] = Deal()
        deal.expired = await self.settle(conn, organisation)
        served = [wish for wish in wishes if await self._is_possible(conn, organisation, wish, deal)]
        shares = deal_out(
            served, await _candidates(conn, organisation, served), lambda wish, one: wish.fits(one.site, {})
        )
        for wish, found in shares:
            if wish.ask is None:
                deal.left_at.update(one.site for one in found)
        given = {wish.ask: found for wish, found in shares if wish.ask is not None and found}
        await self._grant(conn, organisation, given, deal)
        return deal

    async def settle(self, conn: Conn, organisation: UUID) -> list[Ended]:
        """Book the claims that ran out."""
        found = await claims.ran_out(conn, organisation)
        return await self._kept.expire(conn, organisation, found) if found else []

    async def granted(self, conn: Conn, organisation: UUID, ids: Sequence[UUID]) -> Mapping[UUID, Grant[Capture]]:
        held = await claims.claimed_on(conn, organisation, ids)
        found = await leases.find(conn, organisation, held)
        captures = await store.get(conn, organisation, list(held.values()))
        return {lease: Grant(found[lease], captures[capture]) for lease, capture in held.items() if lease in found}

    async def waiting(self, conn: Conn, organisation: UUID, wanted: Wanted) -> Waiting:
        seen = await claims.look(conn, organisation, wanted.site)
        where = f" of {wanted.site}" if wanted.site else ""
        counts = {"received": seen.received, "claimed": seen.claimed}
        if seen.received or seen.claimed:
            detail = f"No capture{where} waits for a consumer: {seen.claimed} claimed by others."
            soon = _SOON_S if seen.in_s is None else max(1, min(_SOON_S, int(seen.in_s) + 1))
            return Waiting("all_leased", detail, seen.next_at, soon, counts)
        return Waiting("none_match", f"No capture{where} waits for a consumer.", None, _UNKNOWN_S, counts)

    async def next_in_s(self, conn: Conn, organisation: UUID, site: str | None) -> float | None:
        seen = await claims.look(conn, organisation, site)
        return None if seen.in_s is None else max(0.0, seen.in_s)

    async def _is_possible(self, conn: Conn, organisation: UUID, wish: Claim, deal: Deal[Capture]) -> bool:
        if wish.site is None or await store.has_site(conn, organisation, wish.site):
            return True
        if wish.ask is not None:
            deal.refused[wish.ask] = SiteUnknown("No site of your organisation has this slug.")
        return False

    async def _grant(
        self, conn: Conn, organisation: UUID, given: Mapping[Ask, Sequence[Candidate]], deal: Deal[Capture]
    ) -> None:
        taken = {one.id: new_id(Kind.CAPTURE) for found in given.values() for one in found}
        if not taken:
            return
        fences = await claims.claim(conn, organisation, taken)
        new = [_lease(ask, one, taken[one.id], fences[one.id]) for ask, found in given.items() for one in found]
        granted = await self._kept.grant(conn, organisation, new)
        captures = await store.get(conn, organisation, list(taken))
        for ask, found in given.items():
            deal.given[ask] = [Grant(granted[one.id], captures[one.id]) for one in found]
            await audit.record_many(conn, [_claimed(ask, one.lease) for one in deal.given[ask]])


async def _candidates(conn: Conn, organisation: UUID, wishes: Sequence[Claim]) -> list[Candidate]:
    """The oldest of what anybody wants, each once. Enough for all: one may take what another would have."""
    most = sum(wish.limit for wish in wishes)
    found: dict[UUID, Candidate] = {}
    for site in dict.fromkeys(wish.site for wish in wishes):
        found |= {one.id: one for one in await claims.waiting(conn, organisation, site, most)}
    return sorted(found.values(), key=lambda one: (one.received_at, one.id))


def _lease(ask: Ask, candidate: Candidate, lease: UUID, fence: int) -> NewLease:
    wanted = ask.wanted
    return NewLease(
        id=lease,
        resource=candidate.id,
        site=candidate.site,
        fence=fence,
        owner=wanted.owner,
        token=ask.caller.token,
        job_id=wanted.job_id,
        ttl_seconds=wanted.ttl_seconds,
    )


def _claimed(ask: Ask, lease: leases.Lease) -> audit.Note:
    detail = {"lease": show(leases.PREFIX, lease.id), "owner": lease.owner, "fence": lease.fence}
    return audit.Note(ask.caller, "capture.claimed", show(PREFIX, lease.resource), detail)


class Handoff:
    """All that consumers ask for."""

    def __init__(self, db: Database, clock: Timekeeper, metrics: Metrics, max_age_s: int, bound: BoundLeases) -> None:
        self._bound = bound
        self.leases = KeptLeases(db, clock, ClaimedCaptures(), metrics, max_age_s)
        self._stock = CaptureStock(self.leases)
        self.counter: Counter[Capture] = Counter(db, self.leases, self._stock, metrics)

    async def acquire(self, caller: Caller, wanted: Wanted, once: Once | None = None) -> Offer[Capture]:
        """Captures that wait, as many as there are up to the limit; waits as long as the caller said it would."""
        acquire = partial(self.counter.acquire, caller, wanted, once)
        return await self._bound.taken(caller, wanted.job_id, once, acquire, self.counter.take_back)

    async def settle(self, conn: Conn, organisation: UUID) -> None:
        """Book what ran out, inside somebody else's transaction, which `leases.steadily` runs."""
        await self._stock.settle(conn, organisation)

    async def reap(self, organisations: Sequence[UUID]) -> None:
        """Book what ran out everywhere. Claims do not depend on it; states, audit and metrics come sooner."""
        for organisation in organisations:
            ended = await self.leases.steadily(organisation, partial(self._stock.settle, organisation=organisation))
            self.leases.ended(organisation, ended)

    def arrived(self, organisation: UUID, site: str) -> None:
        """Something waits for a consumer now, and that is committed."""
        self.counter.room.freed(organisation, [site])
