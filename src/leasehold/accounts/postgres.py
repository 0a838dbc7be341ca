"""The account pool in PostgreSQL: one transaction for a whole batch, sent in as few trips as the questions allow."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from psycopg.errors import DeadlockDetected

from leasehold import audit, idempotency, leases, sites
from leasehold.accounts import machine, notes, queueing, repeats, store
from leasehold.accounts.batch import Settled, Work, given_back, places, put_back, why_not
from leasehold.accounts.models import Ask, Candidate, GivenBack, Outlook, Wish
from leasehold.accounts.pool import Batch, Done
from leasehold.accounts.records import Records, unknown_site
from leasehold.accounts.share import needs, share
from leasehold.db import Conn, Database
from leasehold.leases import Kind, Lease, Timekeeper, new_id
from leasehold.problems import Problem
from leasehold.vault import Vault

# How many accounts of a site are looked at again in one batch.
_DUE_AT_ONCE = 100
_ATTEMPTS = 3


class PostgresPool(Records):
    """Accounts whose every row, lease and end are in PostgreSQL."""

    def __init__(self, db: Database, vault: Vault, clock: Timekeeper, process: UUID, max_age_s: int) -> None:
        super().__init__(db, vault, clock, max_age_s)
        self._process = process

    async def work(self, organisation: UUID, batch: Batch) -> Done:
        return await self._clock.steadily(partial(self._tried, organisation, batch))

    async def _tried(self, organisation: UUID, batch: Batch) -> Done:
        before, attempts = places(batch.asks), 0
        while True:
            attempts += 1
            try:
                return await self._work(organisation, replace(batch, ends=list(batch.ends)))
            except BaseException as error:
                put_back(before)
                # Nothing of it happened: two batches that wait for each other in a circle may simply go again.
                if not isinstance(error, DeadlockDetected) or attempts == _ATTEMPTS:
                    raise

    async def _work(self, organisation: UUID, batch: Batch) -> Done:
        work = Work(organisation, batch)
        async with self._db.transaction(organisation) as conn:
            await self._look(conn, work)
            settled = await _settle(conn, work)
            await repeats.withdraw(conn, work, settled)
            candidates = await _pick(conn, work)
            await self._answer_ends(conn, work, settled)
            await self._serve(conn, work, candidates)
            await _trip(conn, work)
            await self._make_sure(conn, work)
        return work.done

    async def settle(self, organisation: UUID, site: str | None) -> int:
        settled = 0
        while True:
            work = await self._clock.steadily(partial(self._settle_some, organisation, site))
            settled += work.done.expired
            if len(work.due) < _DUE_AT_ONCE:
                return settled

    async def _settle_some(self, organisation: UUID, site: str | None) -> Work:
        work = Work(organisation, Batch())
        async with self._db.transaction(organisation) as conn:
            at = [site] if site is not None else await store.sites(conn, organisation)
            work.grounds = await store.read_grounds(await store.grounds(conn, organisation, at))
            work.due = await store.read_due(await store.due(conn, organisation, at, _DUE_AT_ONCE))
            await _settle(conn, work)
            await self._make_sure(conn, work)
        return work

    async def book(self, organisation: UUID, leases: Collection[UUID]) -> Done:
        return await self._clock.steadily(partial(self._book, organisation, list(leases)))

    async def _book(self, organisation: UUID, overdue: Sequence[UUID]) -> Done:
        work = Work(organisation, Batch())
        async with self._db.transaction(organisation) as conn:
            held = await store.read_held(await store.held(conn, organisation, overdue))
            await leases.hold(conn, organisation, overdue, ())
            work.due = list(held.values())
            at = sorted({one.site for one in work.due})
            work.grounds = await store.read_grounds(await store.grounds(conn, organisation, at))
            await _settle(conn, work)
            await self._make_sure(conn, work)
        return work.done

    async def _make_sure(self, conn: Conn, work: Work) -> None:
        """Whatever was booked as run out was judged before this look: by a clock that jumped, none of it may stand."""
        if work.done.expired:
            await self._clock.look(conn)

    async def _look(self, conn: Conn, work: Work) -> None:
        """Find out what has to be known before anything is decided."""
        organisation, batch, at, keyed = work.organisation, work.batch, work.sites, work.keyed
        ending = [end.lease for end in batch.ends]
        ttls = {renewal.lease: renewal.ttl_seconds for renewal in batch.renewals}
        # In this order everywhere: sites, accounts, leases, keys. What waits holds nothing that comes after.
        async with conn.pipeline():
            if batch.asks:
                await store.guard(conn, organisation, at)
            if ending:
                held = await store.held(conn, organisation, ending)
            if ending or ttls:
                await leases.hold(conn, organisation, ending, list(ttls))
            if ttls:
                beaten = await leases.renew(conn, organisation, ttls, self._max_age_s)
            if batch.asks:
                grounds = await store.grounds(conn, organisation, at)
                queue = await leases.queue(conn, organisation, at, work.tickets)
                due = await store.due(conn, organisation, at, _DUE_AT_ONCE)
            await repeats.hang_up(conn, work)
            if keyed:
                claimed = await idempotency.claim_many(conn, organisation, keyed)
            if ending:
                still = {end.lease for end in batch.ends}
                work.held = {lease: one for lease, one in (await store.read_held(held)).items() if lease in still}
            if ttls:
                await self._answer_renewals(conn, work, await leases.renewed(beaten))
            if batch.asks:
                work.grounds = await store.read_grounds(grounds)
                work.others = await store.read_queue(queue)
                work.due = await store.read_due(due)
            if keyed:
                work.repeats = dict(await idempotency.repeated(claimed, keyed))
        if missing := sorted({held.site for held in work.held.values()} - set(work.grounds)):
            work.grounds |= await store.read_grounds(await store.grounds(conn, organisation, missing))

    async def _answer_renewals(self, conn: Conn, work: Work, renewed: Mapping[UUID, Lease]) -> None:
        missing = [renewal.lease for renewal in work.batch.renewals if renewal.lease not in renewed]
        why = await self._why_not(conn, work.organisation, missing) if missing else {}
        for renewal in work.batch.renewals:
            if told := renewed.get(renewal.lease) or why[renewal.lease]:
                work.done.renewed[renewal] = told
            else:
                work.ask_again(renewal, [renewal.lease])

    async def _answer_ends(self, conn: Conn, work: Work, settled: Mapping[UUID, Settled]) -> None:
        if not work.batch.ends:
            return
        ours = work.ended_by_us(settled)
        missing = [end.lease for end in work.batch.ends if end.lease not in ours]
        past = await leases.past(conn, work.organisation, missing) if missing else {}
        why = await self._why_not(conn, work.organisation, missing) if missing else {}
        ids = {one.account for one in settled.values()} | {ended.resource for ended in past.values()}
        accounts = await store.read_accounts(await store.by_ids(conn, work.organisation, ids))
        for end in work.batch.ends:
            by_us = settled[end.lease].account if end.lease in ours else None
            if told := given_back(end, past.get(end.lease), accounts, by_us=by_us) or why[end.lease]:
                work.done.ended[end] = told
            else:
                work.ask_again(end, [end.lease])

    async def find_lease(self, organisation: UUID, lease: UUID) -> Lease | None:
        async with self._db.transaction(organisation) as conn:
            found = await store.lease(conn, organisation, lease)
            if found is None and (why := (await self._why_not(conn, organisation, [lease]))[lease]):
                raise why
            return found

    async def _why_not(self, conn: Conn, organisation: UUID, missing: Sequence[UUID]) -> dict[UUID, Problem | None]:
        # What ends in between is in the second, if not in the first.
        present = await leases.find(conn, organisation, missing)
        past = await leases.past(conn, organisation, missing)
        moved = await self.moved(conn)
        return {lease: why_not(lease, past.get(lease), moved, is_present=lease in present) for lease in missing}

    async def _serve(self, conn: Conn, work: Work, candidates: Mapping[str, Sequence[Candidate]]) -> None:
        """Divide what is free, and see to those who got nothing."""
        organisation, done = work.organisation, work.done
        await self._repeat(conn, work)
        shares = share(work.claims(), candidates, work.grounds)
        work.count(shares)
        given = [(ask, one.id, new_id(Kind.ACCOUNT)) for ask, found in shares.given for one in found]
        unmet = [*shares.unmet, *work.at_paused_sites()]
        served = [ask for ask, _ in shares.given]
        kept = {
            ask.once: " ".join(lease.hex for asker, _, lease in given if asker is ask) for ask in served if ask.once
        }
        forgotten = [ask.once for ask in unmet if ask.once]
        left = [*(ask.ticket for ask in (*work.batch.last, *served) if ask.ticket), *work.batch.left]
        async with conn.pipeline():
            if given:
                grants = await store.grant(conn, organisation, given)
                await audit.record_many(conn, [notes.disclosed(*one) for one in given])
            if kept:
                await idempotency.keep_many(conn, organisation, kept)
            if forgotten:
                await idempotency.forget_many(conn, organisation, forgotten)
            if left:
                await leases.leave(conn, organisation, left)
            if given:
                made = await store.read_grants(grants)
                for ask in served:
                    done.granted[ask] = [made[lease] for asker, _, lease in given if asker is ask]
        if unmet and (problem := await self.moved(conn)):
            done.granted |= dict.fromkeys(unmet, problem)
            return
        await self._keep_waiting(conn, work, [ask for ask in unmet if ask not in work.batch.last])
        last = [ask for ask in unmet if ask in work.batch.last]
        await queueing.explain(work, last, _look_with(conn, work))

    async def _keep_waiting(self, conn: Conn, work: Work, waiting: Sequence[Ask]) -> None:
        if not waiting:
            return
        await queueing.take_places(conn, work, self._process, waiting, _look_with(conn, work))
        at = sorted({ask.site for ask in waiting})
        work.done.next_back_s = await store.next_back(conn, work.organisation, at)

    async def _repeat(self, conn: Conn, work: Work) -> None:
        """Answer those who asked before from what they were given then, and those who ask for a site there is not."""
        for ask in work.batch.asks:
            if ask.once and ask.once in work.repeats:
                await self._recall(conn, work, ask, work.repeats[ask.once])
            elif ask.site not in work.grounds:
                work.done.granted[ask] = unknown_site()
                if ask.once:
                    await idempotency.forget_many(conn, work.organisation, [ask.once])

    async def _recall(self, conn: Conn, work: Work, ask: Ask, made: str | Problem) -> None:
        """Tell what an earlier request made, as it is by now."""
        if isinstance(made, Problem):
            return work.recalled(ask, made)
        ids = [UUID(hex=lease) for lease in made.split()]
        found = await store.read_grants(await store.granted(conn, work.organisation, ids))
        ended = [lease for lease in ids if lease not in found]
        why = await self._why_not(conn, work.organisation, ended) if ended else {}
        if over := [problem for problem in why.values() if problem]:
            work.recalled(ask, over[0])
        elif ended:
            work.ask_again(ask, ended)
        else:
            grants = [found[lease] for lease in ids]
            shown = [notes.disclosed(ask, grant.account.id, grant.lease.id) for grant in grants]
            await audit.record_many(conn, shown)
            work.recalled(ask, grants)
        return None


def _look_with(conn: Conn, work: Work) -> queueing.Look:
    async def look(wish: Wish) -> Outlook:
        return await store.read_outlook(await store.outlook(conn, work.organisation, wish))

    return look


async def _settle(conn: Conn, work: Work) -> dict[UUID, Settled]:
    """End what is given back, taken away or run out, and put back what has rested."""
    endings, rested, renewed = list(work.endings()), work.rested(), work.renewed_meanwhile()
    settled: dict[UUID, Settled] = {}
    if endings:
        settled = await store.read_settled(await store.settle(conn, work.organisation, endings))
    if rested:
        await store.mend(conn, work.organisation, rested)
    if renewed:
        await store.defer(conn, work.organisation, renewed)
    work.note(endings, settled, rested)
    await audit.record_many(conn, list(notes.of_ends(work.organisation, endings, settled, work.batch.ends)))
    return settled


async def _pick(conn: Conn, work: Work) -> dict[str, list[Candidate]]:
    wanted: list[tuple[Wish, int]] = [kind for kinds in needs(work.claims()).values() for kind in kinds]
    if not wanted:
        return {}
    return await store.read_picked(await store.pick(conn, work.organisation, wanted))


async def _trip(conn: Conn, work: Work) -> None:
    """When most accounts of a site fail, the site is at fault: it is paused and they are forgiven."""
    for site in work.failed_at():
        ground = work.grounds[site]
        tally = await store.tally(conn, work.organisation, ground)
        # What still comes in from a site that was just found to be at fault is its fault, too.
        if not ground.has_tripped and (ground.is_paused or not ground.breaker.trips(tally)):
            continue
        failing = await store.failing(conn, work.organisation, ground)
        healths = {account: machine.forgiven(health) for account, health in failing.items()}
        await store.mend(conn, work.organisation, healths)
        if not ground.has_tripped:
            await sites.trip(conn, work.organisation, site, ground.breaker.reason(tally), len(healths))
        await _show_again(conn, work)


async def _show_again(conn: Conn, work: Work) -> None:
    """The answers speak of accounts as they are after all of it."""
    told = {end: back for end, back in work.done.ended.items() if isinstance(back, GivenBack) and back.account}
    ids = {back.account.id for back in told.values() if back.account}
    accounts = await store.read_accounts(await store.by_ids(conn, work.organisation, ids))
    for end, back in told.items():
        if back.account and back.account.id in accounts:
            work.done.ended[end] = GivenBack(back.already_released, accounts[back.account.id])
