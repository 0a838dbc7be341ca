"""The account pool in MongoDB: every grant and every end is one atomic update of one document, many in one write.

The queue of waiters, the audit and idempotency keys are in PostgreSQL; its transaction stays open around the writes to
MongoDB. If it cannot commit, what was granted meanwhile is given back, and if even that fails, it runs out.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from psycopg.errors import DeadlockDetected
from pymongo import AsyncMongoClient, UpdateOne

from leasehold import audit, idempotency, leases, logs, sites
from leasehold.accounts import documents, machine, notes, queueing, repeats, store
from leasehold.accounts.batch import elsewhere, places, put_back
from leasehold.accounts.documents import Document
from leasehold.accounts.machine import Tally
from leasehold.accounts.models import Ask, GivenBack, Grant, Ground
from leasehold.accounts.mongo_ends import ROUNDS, Books
from leasehold.accounts.mongo_grants import MongoGrants
from leasehold.accounts.mongo_shelf import reachable
from leasehold.accounts.pool import Batch, Done
from leasehold.accounts.records import unknown_site
from leasehold.accounts.share import Claim, Shares, share
from leasehold.db import Conn, Database
from leasehold.leases import Lease, Timekeeper
from leasehold.problems import Problem
from leasehold.vault import Vault

log = logs.get(__name__)

_ATTEMPTS = 3
_REMEMBERED = 50_000


class MongoPool(MongoGrants):
    """Accounts whose every document, lease and end are in MongoDB."""

    def __init__(
        self,
        db: Database,
        vault: Vault,
        clock: Timekeeper,
        client: AsyncMongoClient[Document],
        name: str,
        process: UUID,
        max_age_s: int,
    ) -> None:
        super().__init__(db, vault, clock, client, name, max_age_s)
        self._process = process
        # Where the leases this process granted are, so that a release need not ask twice. Forgotten without harm.
        self._granted_at: OrderedDict[UUID, str] = OrderedDict()
        self._to_carry: set[UUID] = set()
        self._carrying: asyncio.Task[None] | None = None

    async def work(self, organisation: UUID, batch: Batch) -> Done:
        return await self._clock.steadily(partial(self._tried, organisation, batch))

    async def _tried(self, organisation: UUID, batch: Batch) -> Done:
        before, attempts = places(batch.asks), 0
        while True:
            attempts += 1
            work = Books(organisation, replace(batch, ends=list(batch.ends)))
            try:
                await self._work(work)
            except BaseException as error:
                put_back(before)
                await self._undo(work)
                # Nothing was written yet: two batches that wait for each other in a circle may simply go again.
                if work.has_begun or not isinstance(error, DeadlockDetected) or attempts == _ATTEMPTS:
                    raise
            else:
                self._carry_soon(work.after.values())
                return work.done

    async def _work(self, work: Books) -> None:
        organisation, batch = work.organisation, work.batch
        async with self._db.transaction(organisation) as conn, reachable():
            await self._look(conn, work)
            work.has_begun = True
            early = self._prepare(work)
            endings, settled = await self._settle(work)
            await repeats.withdraw(conn, work, settled)
            await self._answer_renewals(work)
            await self._answer_ends(work, settled)
            work.notes = list(notes.of_ends(organisation, endings, settled, batch.ends))
            await self._serve(conn, work, early)
            await self._trip(conn, work)
            work.is_noted = True

    def _remember(self, granted: Iterable[Lease]) -> None:
        for lease in granted:
            if lease.site is not None:
                self._granted_at[lease.id] = lease.site
        while len(self._granted_at) > _REMEMBERED:
            self._granted_at.popitem(last=False)

    def _sites_of(self, ended: Iterable[UUID]) -> Iterator[str]:
        """Where these leases were granted, as far as it is remembered. It is asked once, when they end."""
        for lease in ended:
            if site := self._granted_at.pop(lease, None):
                yield site

    async def close(self) -> None:
        if self._carrying is not None:
            await asyncio.wait({self._carrying})
        await super().close()

    async def _look(self, conn: Conn, work: Books) -> None:
        """Find out what has to be known before anything is decided. Both databases are asked at once."""
        await repeats.hang_up(conn, work)
        async with _beside(self._look_ahead(work)):
            expected = await self._look_here(conn, work)
        if others := sorted({held.site for held in work.held.values()}.difference(expected)):
            work.grounds |= await store.read_grounds(await store.grounds(conn, work.organisation, others))
        await self._count_live(work.organisation, work.grounds)
        was_changed = await self._look_at_keys(conn, work)
        await self._look_at_free(work, is_stale=was_changed)
        work.due = [held for held in work.due if held.site in work.grounds]
        work.held = {lease: held for lease, held in work.held.items() if held.site in work.grounds}
        await self._make_sure(conn, work)

    async def _look_ahead(self, work: Books) -> None:
        """What MongoDB has to say whatever PostgreSQL says."""
        await asyncio.gather(self._look_at_ends(work), self._look_at_due(work), self._look_for_free(work))

    async def _look_here(self, conn: Conn, work: Books) -> set[str]:
        """What PostgreSQL has to say; returns the sites it was asked about."""
        organisation, at, keyed = work.organisation, work.sites, work.keyed
        expected = {*at, *self._sites_of(end.lease for end in work.batch.ends)}
        async with conn.pipeline():
            placed = await store.asked_where(conn)
            grounds = await store.grounds(conn, organisation, sorted(expected))
            if at:
                queue = await leases.queue(conn, organisation, at, work.tickets)
            if keyed:
                claimed = await idempotency.claim_many(conn, organisation, keyed)
            if problem := elsewhere(*await store.read_where(placed), "mongo"):
                raise problem
            work.grounds = await store.read_grounds(grounds)
            if at:
                work.others = await store.read_queue(queue)
            if keyed:
                work.repeats = dict(await idempotency.repeated(claimed, keyed))
        return expected

    async def _look_at_due(self, work: Books) -> None:
        if at := work.sites:
            self._read_due(work, await self._find_due(work.organisation, at))

    async def _serve(self, conn: Conn, work: Books, early: Shares[Ask]) -> None:
        """Divide what is free, and see to those who got nothing."""
        await self._repeat(conn, work)
        unmet: list[Ask] = [*work.at_paused_sites(), *await self._take_up(work, early)]
        for round_ in range(ROUNDS):
            if all(ask in work.done.granted or ask in unmet for ask in work.batch.asks):
                break
            claims = [claim for claim in work.claims() if _is_open(work, claim, unmet)]
            if all(claim.holder is None for claim in claims):
                break
            shares = share(claims, await self._pick(work, claims), work.grounds)
            beaten = await self._grant(work, shares.given)
            shares.given = [one for one in shares.given if one[0] not in beaten]
            work.count(shares)
            if not beaten or round_ == ROUNDS - 1:
                unmet += [*shares.unmet, *beaten]
                break
        await self._note(conn, work, unmet)
        await self._keep_waiting(conn, work, [ask for ask in unmet if ask not in work.batch.last])
        last = [ask for ask in unmet if ask in work.batch.last]
        await queueing.explain(work, last, partial(self._outlook, work.organisation))

    async def _held(self, organisation: UUID, ids: Sequence[UUID]) -> dict[UUID, Grant]:
        where = {"organisation": organisation, "lease.id": {"$in": list(ids)}, "moved": False}
        found = await self._seen(where, documents.WITHOUT_ENDS)
        return {document["lease"]["id"]: documents.read_grant(document) for document in found if document["is_live"]}

    async def _note(self, conn: Conn, work: Books, unmet: Sequence[Ask]) -> None:
        """What must be committed in PostgreSQL before anybody is told anything."""
        organisation = work.organisation
        served = [(ask, found) for ask, found in work.done.granted.items() if isinstance(found, list)]
        shown = [notes.disclosed(ask, grant.account.id, grant.lease.id) for ask, found in served for grant in found]
        await audit.record_many(conn, [*work.notes, *shown])
        self._remember(grant.lease for _, found in served for grant in found)
        kept = {ask.once: " ".join(grant.lease.id.hex for grant in found) for ask, found in served if ask.once}
        if kept:
            await idempotency.keep_many(conn, organisation, kept)
        if forgotten := [ask.once for ask in unmet if ask.once]:
            await idempotency.forget_many(conn, organisation, forgotten)
        tickets = [ask.ticket for ask in (*work.batch.last, *(ask for ask, _ in served)) if ask.ticket]
        if left := [*tickets, *work.batch.left]:
            await leases.leave(conn, organisation, left)

    async def _keep_waiting(self, conn: Conn, work: Books, waiting: Sequence[Ask]) -> None:
        if not waiting:
            return
        look = partial(self._outlook, work.organisation)
        await queueing.take_places(conn, work, self._process, waiting, look)
        for site in {ask.site for ask in waiting}:
            where = {"organisation": work.organisation, "site": site, "back_at": {"$type": "date"}, "moved": False}
            for next_ in await self._seen(where, {"$sort": {"back_at": 1}}, limit=1):
                work.done.next_back_s[site] = max(0.0, (next_["back_at"] - next_["now"]).total_seconds())

    async def _repeat(self, conn: Conn, work: Books) -> None:
        """Answer those who asked before from what they were given then, and those who ask for a site there is not."""
        for ask in work.batch.asks:
            if ask.once and ask.once in work.repeats:
                await self._recall(work, ask, work.repeats[ask.once])
            elif ask.site not in work.grounds:
                work.done.granted[ask] = unknown_site()
                if ask.once:
                    await idempotency.forget_many(conn, work.organisation, [ask.once])

    async def _recall(self, work: Books, ask: Ask, made: str | Problem) -> None:
        """Tell what an earlier request made, as it is by now."""
        if isinstance(made, Problem):
            return work.recalled(ask, made)
        ids = [UUID(hex=lease) for lease in made.split()]
        found = await self._held(work.organisation, ids)
        ended = [lease for lease in ids if lease not in found]
        why = await self._why_not(work.organisation, ended)
        if over := [problem for problem in why.values() if problem]:
            work.recalled(ask, over[0])
        elif ended:
            work.ask_again(ask, ended)
        else:
            work.recalled(ask, [found[lease] for lease in ids])
        return None

    async def _trip(self, conn: Conn, work: Books) -> None:
        """When most accounts of a site fail, the site is at fault: it is paused and they are forgiven."""
        for site in work.failed_at():
            ground = work.grounds[site]
            tally = await self._tally(work.organisation, ground)
            # What still comes in from a site that was just found to be at fault is its fault, too.
            if not ground.has_tripped and (ground.is_paused or not ground.breaker.trips(tally)):
                continue
            forgiven = await self._forgive(work.organisation, ground)
            if not ground.has_tripped:
                await sites.trip(conn, work.organisation, site, ground.breaker.reason(tally), forgiven)
            await self._show_again(work)

    async def _tally(self, organisation: UUID, ground: Ground) -> Tally:
        recent = _within(ground.breaker.window_seconds)
        failing = {"$and": [recent, {"$ne": ["$before_penalty", None]}]}
        usable = {"$or": [failing, {"$eq": ["$standing", machine.Standing.ACTIVE]}]}
        counts = {"failing": failing, "used": recent, "accounts": usable}
        group = {name: {"$sum": {"$cond": [condition, 1, 0]}} for name, condition in counts.items()}
        where = {"organisation": organisation, "site": ground.slug, "moved": False}
        rows = await self._seen(where, {"$group": {"_id": None, **group}})
        return Tally(*(rows[0][name] for name in counts)) if rows else Tally(0, 0, 0)

    async def _forgive(self, organisation: UUID, ground: Ground) -> int:
        recent = {"$expr": _within(ground.breaker.window_seconds), "before_penalty": {"$ne": None}, "moved": False}
        found = await self._accounts.find({"organisation": organisation, "site": ground.slug, **recent}).to_list()
        writes = [
            UpdateOne(
                {"_id": document["_id"], "rev": document["rev"], "moved": False},
                documents.mend(machine.forgiven(documents.read_health(document))),
            )
            for document in found
        ]
        if writes:
            await self._accounts.bulk_write(writes, ordered=False)
        return len(found)

    async def _show_again(self, work: Books) -> None:
        """The answers speak of accounts as they are after all of it."""
        told = {end: back for end, back in work.done.ended.items() if isinstance(back, GivenBack) and back.account}
        accounts = await self._accounts_now(work, [back.account.id for back in told.values() if back.account])
        for end, back in told.items():
            if back.account and back.account.id in accounts:
                work.done.ended[end] = GivenBack(back.already_released, accounts[back.account.id])

    async def _undo(self, work: Books) -> None:
        """Nobody will be told of what was granted: give it back, or let it run out if that fails, too.

        If only the answer to the COMMIT is missing, keys may stand for what was granted under them, and be asked for
        again: that is left for the repeat, which finds it whether its key was noted or not.
        """
        kept = set(_under_keys(work)) if work.is_noted else set()
        with suppress(Problem):
            async with reachable():
                undone = [lease for lease in work.granted if lease not in kept]
                await self._give_back(work.organisation, undone, adopted=False)


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do it while the block runs; it is over when the block is left."""
    task = asyncio.create_task(work)
    try:
        yield
    except BaseException:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)  # looked at, so that nobody is told of it later
        raise
    await task


def _under_keys(work: Books) -> Iterator[UUID]:
    """The leases that were granted to those who can ask for them again."""
    for ask, found in work.done.granted.items():
        if ask.once and isinstance(found, list):
            yield from (grant.lease.id for grant in found)


def _within(seconds: int) -> Document:
    return {"$gt": ["$last_outcome_at", {"$subtract": ["$$NOW", seconds * 1000]}]}


def _is_open(work: Books, claim: Claim[Ask], unmet: Sequence[Ask]) -> bool:
    """Whether somebody has still to be served."""
    return claim.holder is None or (claim.holder not in work.done.granted and claim.holder not in unmet)
