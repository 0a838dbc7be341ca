"""The account pool in PostgreSQL: one transaction for a whole batch, sent in as few trips as the questions allow."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from leasehold import audit, idempotency, leases, sites
from leasehold.accounts import machine, notes, outlook, store
from leasehold.accounts.machine import Health
from leasehold.accounts.models import Ask, Candidate, End, GivenBack, Ground, Outlook, Wish
from leasehold.accounts.pool import Batch, Done
from leasehold.accounts.problems import PoolsMoving
from leasehold.accounts.records import Records
from leasehold.accounts.share import Claim, needs, share
from leasehold.accounts.store import Ending, Held, Settled
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import uuid7
from leasehold.leases import Ended, How, Kind, Lease, Place, lost, new_id, unknown
from leasehold.problems import Problem
from leasehold.sites import SiteUnknown
from leasehold.vault import Vault

# How many accounts of a site are looked at again in one batch.
_DUE_AT_ONCE = 100


@dataclass(slots=True)
class _Desk:
    """One batch at work: what is known so far."""

    conn: Conn
    organisation: UUID
    batch: Batch
    done: Done = field(default_factory=Done)
    grounds: dict[str, Ground] = field(default_factory=dict)
    held: dict[UUID, Held] = field(default_factory=dict)
    due: list[Held] = field(default_factory=list)
    others: list[Wish] = field(default_factory=list)
    # Asks whose key was used before, with what the first request made.
    repeats: dict[Once, str | Problem] = field(default_factory=dict)


class PostgresPool(Records):
    """Accounts whose every row, lease and end are in PostgreSQL."""

    def __init__(self, db: Database, vault: Vault, process: UUID, max_age_s: int) -> None:
        super().__init__(db, vault, max_age_s)
        self._process = process

    async def work(self, organisation: UUID, batch: Batch) -> Done:
        async with self._db.transaction(organisation) as conn:
            desk = _Desk(conn, organisation, batch)
            await self._look(desk)
            settled = await self._settle(desk)
            candidates = await self._pick(desk)
            await self._answer_ends(desk, settled)
            await self._serve(desk, candidates)
            await self._trip(desk)
        return desk.done

    async def settle(self, organisation: UUID, site: str | None) -> int:
        settled = 0
        while True:
            async with self._db.transaction(organisation) as conn:
                at = [site] if site is not None else await store.sites(conn, organisation)
                desk = _Desk(conn, organisation, Batch())
                desk.grounds = await store.read_grounds(await store.grounds(conn, organisation, at))
                desk.due = await store.read_due(await store.due(conn, organisation, at, _DUE_AT_ONCE))
                await self._settle(desk)
            settled += desk.done.expired
            if len(desk.due) < _DUE_AT_ONCE:
                return settled

    # What has to be known before anything is decided.
    async def _look(self, desk: _Desk) -> None:
        conn, organisation, batch = desk.conn, desk.organisation, desk.batch
        at = sorted({ask.site for ask in batch.asks})
        keyed = [ask.once for ask in batch.asks if ask.once]
        async with conn.pipeline():
            if batch.ends:
                held = await store.held(conn, organisation, [end.lease for end in batch.ends])
            if batch.renewals:
                ttls = {renewal.lease: renewal.ttl_seconds for renewal in batch.renewals}
                beaten = await leases.renew(conn, organisation, ttls, self._max_age_s)
            if batch.asks:
                await store.guard(conn, organisation, at)
                grounds = await store.grounds(conn, organisation, at)
                queue = await leases.queue(conn, organisation, self._process, at)
                due = await store.due(conn, organisation, at, _DUE_AT_ONCE)
            if keyed:
                repeats = await idempotency.claim_many(conn, organisation, keyed)
            if batch.ends:
                desk.held = await store.read_held(held)
            if batch.renewals:
                await self._answer_renewals(desk, await leases.renewed(beaten))
            if batch.asks:
                desk.grounds = await store.read_grounds(grounds)
                desk.others = [
                    Wish(site, priority, count, labels, account, since, is_waiting=True)
                    for site, priority, count, labels, account, since in await queue.fetchall()
                ]
                desk.due = await store.read_due(due)
            if keyed:
                desk.repeats = dict(await idempotency.repeated(repeats, keyed))
        if batch.ends:
            missing = sorted({held.site for held in desk.held.values()} - set(desk.grounds))
            if missing:
                desk.grounds |= await store.read_grounds(await store.grounds(conn, organisation, missing))

    async def _settle(self, desk: _Desk) -> dict[UUID, Settled]:
        """End what is given back, taken away or run out, and put back what has rested."""
        endings = [*self._endings(desk), *_run_out(desk)]
        rested = {
            held.account: machine.on_probation(held.health) if held.health.blocked_reason else held.health
            for held in desk.due
            if held.lease is None
        }
        still_held = [held.account for held in desk.due if held.lease is not None and not held.ran_out]
        settled: dict[UUID, Settled] = {}
        if endings:
            settled = await store.read_settled(await store.settle(desk.conn, desk.organisation, endings))
        if rested:
            await store.mend(desk.conn, desk.organisation, rested)
        if still_held:
            await store.defer(desk.conn, desk.organisation, still_held)
        desk.done.freed |= {one.site for one in settled.values() if one.is_free}
        desk.done.freed |= {held.site for held in desk.due if held.account in rested}
        expired = [ending for ending in endings if ending.how is How.EXPIRED and ending.lease in settled]
        desk.done.expired = len(expired)
        await audit.record_many(desk.conn, list(notes.of_ends(desk.organisation, endings, settled, desk.batch.ends)))
        return settled

    def _endings(self, desk: _Desk) -> Iterable[Ending]:
        for end in desk.batch.ends:
            held = desk.held.get(end.lease)
            if held is None:
                continue
            rules = desk.grounds[held.site].rules
            if held.ran_out:
                yield Ending(end.lease, How.EXPIRED, machine.expired(held.health, rules))
            elif end.how is How.REVOKED:
                yield Ending(end.lease, How.REVOKED, machine.revoked(held.health, rules))
            elif end.report is None:
                verdict = machine.undelivered(held.health)
                yield Ending(end.lease, How.RELEASED, verdict, reason="never delivered")
            else:
                verdict = machine.released(held.health, rules, end.report)
                yield Ending(end.lease, How.RELEASED, verdict, end.report.outcome, end.report.reason)

    async def _pick(self, desk: _Desk) -> dict[str, list[Candidate]]:
        wanted = [(wish, count) for kinds in needs(_claims(desk)).values() for wish, count in kinds]
        if not wanted:
            return {}
        return await store.read_picked(await store.pick(desk.conn, desk.organisation, wanted))

    async def _answer_renewals(self, desk: _Desk, renewed: Mapping[UUID, Lease]) -> None:
        missing = [renewal.lease for renewal in desk.batch.renewals if renewal.lease not in renewed]
        why = await self._why_not(desk, missing) if missing else {}
        for renewal in desk.batch.renewals:
            desk.done.renewed[renewal] = renewed.get(renewal.lease) or why[renewal.lease]

    async def _answer_ends(self, desk: _Desk, settled: Mapping[UUID, Settled]) -> None:
        if not desk.batch.ends:
            return
        ours = {lease for lease in settled if lease in desk.held and not desk.held[lease].ran_out}
        missing = [end.lease for end in desk.batch.ends if end.lease not in ours]
        past = await leases.past(desk.conn, desk.organisation, missing) if missing else {}
        why = await self._why_not(desk, missing) if missing else {}
        ids = {one.account for one in settled.values()} | {ended.resource for ended in past.values()}
        accounts = await store.read_accounts(await store.by_ids(desk.conn, desk.organisation, ids))
        for end in desk.batch.ends:
            desk.done.ended[end] = _given_back(end, settled, ours, past, accounts) or why[end.lease]

    async def _why_not(self, desk: _Desk, missing: Sequence[UUID]) -> dict[UUID, Problem]:
        """Why these leases cannot do anything."""
        past = await leases.past(desk.conn, desk.organisation, missing)
        present = await leases.find(desk.conn, desk.organisation, missing)
        moved = await self._moved(desk.conn)
        return {lease: _why(lease, past.get(lease), lease in present, moved) for lease in missing}

    async def _serve(self, desk: _Desk, candidates: Mapping[str, Sequence[Candidate]]) -> None:
        """Divide what is free, and see to those who got nothing."""
        conn, organisation, done = desk.conn, desk.organisation, desk.done
        await self._repeat(desk)
        shares = share(_claims(desk), candidates, desk.grounds)
        given = [(ask, found.id, new_id(Kind.ACCOUNT)) for ask, all_found in shares.given for found in all_found]
        unmet = [*shares.unmet, *_at_closed_sites(desk)]
        waiting = [ask for ask in unmet if ask not in desk.batch.last]
        gone = [ask.ticket for ask in (*desk.batch.last, *(ask for ask, _ in shares.given)) if ask.ticket]
        done.left_for_others = shares.left_for_others
        grants = None
        async with conn.pipeline():
            if given:
                grants = await store.grant(conn, organisation, given)
                await audit.record_many(conn, [notes.disclosed(*one) for one in given])
                kept = {
                    ask.once: " ".join(lease.hex for asker, _, lease in given if asker is ask)
                    for ask, _ in shares.given
                    if ask.once
                }
                if kept:
                    await idempotency.keep_many(conn, organisation, kept)
            if forgotten := [ask.once for ask in unmet if ask.once]:
                await idempotency.forget_many(conn, organisation, forgotten)
            if places := [*gone, *desk.batch.left]:
                await leases.leave(conn, organisation, places)
            if grants is not None:
                found = await store.read_grants(grants)
                for ask, _ in shares.given:
                    done.granted[ask] = [found[lease] for asker, _, lease in given if asker is ask]
        if waiting:
            done.queued = await self._queue(desk, [ask for ask in waiting if ask.ticket is None])
            done.waiting = [ask for ask in waiting if ask not in done.queued]
            at = sorted({ask.site for ask in waiting})
            done.next_back_s = await store.next_back(conn, organisation, at)
        await self._explain(desk, [ask for ask in unmet if ask in desk.batch.last])

    async def _queue(self, desk: _Desk, newcomers: Sequence[Ask]) -> list[Ask]:
        """Give newcomers a place in the queue; returns those who have one now.

        Who wants more than there can ever be gets none: it would keep everything from those behind it.
        """
        asks = [ask for ask in newcomers if ask.count == 1 or await self._is_possible(desk, ask)]
        if not asks:
            return []
        places = [Place(uuid7(), ask.site, ask.priority, ask.count, ask.labels, ask.account) for ask in asks]
        since = await leases.enqueue(desk.conn, desk.organisation, self._process, places)
        for ask, place in zip(asks, places, strict=True):
            ask.ticket, ask.since = place.id, since[place.id]
        return asks

    async def _is_possible(self, desk: _Desk, ask: Ask) -> bool:
        there = await store.read_outlook(await store.outlook(desk.conn, desk.organisation, ask.wish))
        cap = desk.grounds[ask.site].cap
        return ask.count <= there.usable and (cap is None or ask.count <= cap)

    async def _explain(self, desk: _Desk, asks: Sequence[Ask]) -> None:
        known: dict[Any, Outlook] = {}
        for ask in asks:
            kind = (ask.site, tuple(sorted(ask.labels.items())), ask.account)
            if kind not in known:
                known[kind] = await store.read_outlook(await store.outlook(desk.conn, desk.organisation, ask.wish))
            desk.done.empty[ask] = outlook.waiting(desk.grounds[ask.site], ask.wish, known[kind])

    async def _repeat(self, desk: _Desk) -> None:
        """Answer those who asked before from what they were given then."""
        asks = {ask: desk.repeats[ask.once] for ask in desk.batch.asks if ask.once in desk.repeats}
        for ask, made in asks.items():
            if isinstance(made, Problem):
                desk.done.granted[ask] = made
                continue
            ids = [UUID(hex=lease) for lease in made.split()]
            found = await store.read_grants(await store.granted(desk.conn, desk.organisation, ids))
            ended = [lease for lease in ids if lease not in found]
            if ended:
                why = await self._why_not(desk, ended)
                desk.done.granted[ask] = why[ended[0]]
            else:
                grants = [found[lease] for lease in ids]
                await audit.record_many(
                    desk.conn, [notes.disclosed(ask, grant.account.id, grant.lease.id) for grant in grants]
                )
                desk.done.granted[ask] = grants
        for ask in desk.batch.asks:
            if ask not in asks and ask.site not in desk.grounds:
                desk.done.granted[ask] = SiteUnknown("No site of your organisation has this slug.")
                if ask.once:
                    await idempotency.forget_many(desk.conn, desk.organisation, [ask.once])

    async def _trip(self, desk: _Desk) -> None:
        """When most accounts of a site fail, the site is at fault: it is paused and they are forgiven."""
        bad = {
            desk.held[end.lease].site
            for end in desk.batch.ends
            if end.lease in desk.held and end.report is not None and end.report.outcome != machine.Outcome.OK
        }
        for site in sorted(bad):
            ground = desk.grounds[site]
            tally = await store.tally(desk.conn, desk.organisation, ground)
            # What still comes in from a site that was just found to be at fault is its fault, too.
            if not ground.has_tripped and (ground.is_paused or not ground.breaker.trips(tally)):
                continue
            failing = await store.failing(desk.conn, desk.organisation, ground)
            healths: dict[UUID, Health] = {account: machine.forgiven(health) for account, health in failing.items()}
            await store.mend(desk.conn, desk.organisation, healths)
            if not ground.has_tripped:
                await sites.trip(desk.conn, desk.organisation, site, ground.breaker.reason(tally), len(healths))
            await _show_again(desk)

    async def _moved(self, conn: Conn) -> str | None:
        """The store the pools are in or on their way to, when that is not this one."""
        now, moving_to = await store.where(conn)
        return moving_to or (now if now != "postgres" else None)


async def _show_again(desk: _Desk) -> None:
    """The answers speak of accounts as they are after all of it."""
    given = {end: back for end, back in desk.done.ended.items() if isinstance(back, GivenBack) and back.account}
    ids = {back.account.id for back in given.values() if back.account}
    accounts = await store.read_accounts(await store.by_ids(desk.conn, desk.organisation, ids))
    for end, back in given.items():
        if back.account and back.account.id in accounts:
            desk.done.ended[end] = GivenBack(back.already_released, accounts[back.account.id])


def _claims(desk: _Desk) -> list[Claim[Ask]]:
    """Who may be served: at sites that are there and open, and not those that were answered already."""
    own = [
        Claim(ask.wish, ask)
        for ask in desk.batch.asks
        if ask.site in desk.grounds and not desk.grounds[ask.site].is_paused and ask.once not in desk.repeats
    ]
    served = {claim.wish.site for claim in own}
    return [*own, *(Claim(wish, None) for wish in desk.others if wish.site in served)]


def _at_closed_sites(desk: _Desk) -> list[Ask]:
    return [
        ask
        for ask in desk.batch.asks
        if ask.site in desk.grounds and desk.grounds[ask.site].is_paused and ask.once not in desk.repeats
    ]


def _run_out(desk: _Desk) -> Iterable[Ending]:
    given_back = {end.lease for end in desk.batch.ends}
    for held in desk.due:
        if held.lease is not None and held.ran_out and held.lease not in given_back:
            yield Ending(held.lease, How.EXPIRED, machine.expired(held.health, desk.grounds[held.site].rules))


def _given_back(
    end: End, settled: Mapping[UUID, Settled], ours: set[UUID], past: Mapping[UUID, Ended], accounts: Mapping[UUID, Any]
) -> GivenBack | None:
    if end.lease in ours:
        return GivenBack(already_released=False, account=accounts.get(settled[end.lease].account))
    ended = past.get(end.lease)
    if ended is not None and ended.how is How.RELEASED and end.how is How.RELEASED:
        return GivenBack(already_released=True, account=accounts.get(ended.resource))
    return None


def _why(lease: UUID, ended: Ended | None, is_present: bool, moved: str | None) -> Problem:
    if ended is not None:
        return lost(lease, ended.how)
    if is_present:
        return lost(lease, How.EXPIRED)
    if moved is not None:
        return moving(moved)
    return unknown()


def moving(to: str) -> PoolsMoving:
    return PoolsMoving(f"The accounts are moving to {to}.", store=to, headers={"Retry-After": "5"})
