"""How leases on accounts end in MongoDB: each by one conditional update, computed from what was read."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from uuid import UUID

from pymongo import UpdateMany, UpdateOne

from leasehold import audit, logs
from leasehold.accounts import documents, machine, notes, store
from leasehold.accounts.batch import NEVER_DELIVERED, Ending, Held, Settled, Work, elsewhere, given_back, why_not
from leasehold.accounts.documents import Document
from leasehold.accounts.models import Account, Ask, Candidate, Grant
from leasehold.accounts.mongo_records import MongoRecords
from leasehold.accounts.mongo_shelf import reachable
from leasehold.accounts.pool import Batch, Done
from leasehold.accounts.problems import PoolsMoving
from leasehold.accounts.share import Claim
from leasehold.db import Conn
from leasehold.ids import uuid7
from leasehold.leases import Ended, How, Lease
from leasehold.problems import Problem

log = logs.get(__name__)

DUE_AT_ONCE = 100
# How often a batch starts again because somebody else was quicker; then the rest is told that nothing was free.
ROUNDS = 4
# Ends are carried some at a time.
_CARRY_AFTER_S = 0.5

# The accounts somebody is to have, each with the lease it is to have it by.
Tries = dict[Ask, list[tuple[UUID, UUID]]]


@dataclass(slots=True)
class Books(Work):
    """A batch at work, with what MongoDB needs to know besides."""

    id: UUID = field(default_factory=uuid7)
    # The revision each account was read at.
    revs: dict[UUID, int] = field(default_factory=dict)
    # Accounts as they are after their leases ended.
    after: dict[UUID, Document] = field(default_factory=dict)
    # Who may be served before any lease ends, and with what.
    claimed: list[Claim[Ask]] = field(default_factory=list)
    free: dict[str, list[Candidate]] = field(default_factory=dict)
    # The grants that are tried along with the ends, and those that came true.
    tries: Tries = field(default_factory=dict)
    slips: list[Document] = field(default_factory=list)
    won: dict[UUID, Grant] = field(default_factory=dict)
    # Every lease that may have been granted.
    granted: list[UUID] = field(default_factory=list)
    # What is to go into the audit.
    notes: list[audit.Note] = field(default_factory=list)
    # By when the clock was to be asked again that says what ran out.
    sure_until: datetime = documents.NEVER
    # Something may have been written.
    has_begun: bool = False
    # All is noted but for the COMMIT: what fails from here on may have come true all the same.
    is_noted: bool = False


class MongoEnds(MongoRecords):
    """The part of the MongoDB pool that ends leases and books how."""

    _to_carry: set[UUID]
    _carrying: asyncio.Task[None] | None

    async def settle(self, organisation: UUID, site: str | None) -> int:
        settled = 0
        due = documents.due(organisation, None if site is None else [site])
        while True:
            work = await self._clock.steadily(partial(self._settle_some, organisation, due))
            settled += work.done.expired
            if len(work.due) < DUE_AT_ONCE:
                await self._carry_pending(organisation)
                return settled

    async def book(self, organisation: UUID, leases: Collection[UUID]) -> Done:
        overdue = {"organisation": organisation, "lease.id": {"$in": list(leases)}, "moved": False}
        work = await self._clock.steadily(partial(self._settle_some, organisation, overdue))
        self._carry_soon(work.after.values())
        return work.done

    async def _settle_some(self, organisation: UUID, which: Document) -> Books:
        work = Books(organisation, Batch())
        async with self._db.transaction(organisation) as conn, reachable():
            await self._refuse_moved(conn)
            self._read_due(work, await self._seen(which, limit=DUE_AT_ONCE))
            at = sorted({held.site for held in work.due})
            work.grounds = await store.read_grounds(await store.grounds(conn, organisation, at))
            await self._make_sure(conn, work)
            endings, ended = await self._settle(work)
            await audit.record_many(conn, list(notes.of_ends(organisation, endings, ended, ())))
        return work

    async def _make_sure(self, conn: Conn, work: Books) -> None:
        """Nothing is booked as run out but by a clock that was looked at, and that has not jumped since."""
        if any(held.ran_out for held in (*work.held.values(), *work.due)):
            work.sure_until = await self._clock.look(conn)

    async def _find_due(self, organisation: UUID, at: Sequence[str] | None) -> list[Document]:
        return await self._seen(documents.due(organisation, at), documents.PLAIN, limit=DUE_AT_ONCE)

    def _read_due(self, work: Books, found: Iterable[Document]) -> None:
        for document in found:
            work.due.append(documents.read_held(document))
            work.revs[document["_id"]] = document["rev"]

    async def _settle(self, work: Books) -> tuple[list[Ending], dict[UUID, Settled]]:
        """Renew what is to be renewed, end what is given back, taken away or run out, put back what has rested."""
        organisation = work.organisation
        rested = work.rested()
        writes: list[UpdateOne | UpdateMany] = [*self._renewals(work)]
        if work.slips:
            writes.append(UpdateMany(*documents.grants(organisation, work.slips), hint="_id_"))
        writes += [
            UpdateOne(_as_read(work, account) | {"lease": None}, documents.mend(health))
            for account, health in rested.items()
        ]
        writes += [
            UpdateOne(_as_read(work, account), [{"$set": {"back_at": "$lease.expires_at"}}])
            for account in work.renewed_meanwhile()
        ]
        endings: dict[UUID, Ending] = {}
        settled: dict[UUID, Settled] = {}
        for _ in range(ROUNDS):
            open_ = {ending.lease: ending for ending in work.endings() if ending.lease not in settled}
            holders = {held.lease: held for held in (*work.held.values(), *work.due) if held.lease in open_}
            if open_:
                slips = [
                    documents.slip(holders[lease], work.revs[holders[lease].account], ending, work.id)
                    for lease, ending in open_.items()
                ]
                writes.append(UpdateMany(*documents.ends(organisation, slips, work.sure_until), hint="_id_"))
            if writes:
                await self._accounts.bulk_write(writes, ordered=False)
            writes = []
            endings |= open_
            done = await self._read_back(work, holders)
            settled |= done
            if len(done) == len(open_) or not await self._read_again(work, [*open_.keys() - done.keys()]):
                break
        work.note(endings.values(), settled, rested)
        return list(endings.values()), settled

    def _renewals(self, work: Books) -> Iterable[UpdateOne]:
        for renewal in work.batch.renewals:
            yield UpdateOne(
                documents.renewable(work.organisation, renewal.lease),
                documents.renewal(renewal.ttl_seconds, self._max_age_s),
            )

    async def _read_back(self, work: Books, holders: Mapping[UUID, Held]) -> dict[UUID, Settled]:
        """Which of the leases this very batch has ended; and which of those it tried are there."""
        accounts = {held.account: lease for lease, held in holders.items()}
        tried = {slip["account"]: slip["id"] for slip in work.slips if slip["id"] not in work.won}
        if not accounts and not tried:
            return {}
        where = {"_id": {"$in": [*accounts, *tried]}, "organisation": work.organisation}
        found = await self._seen(where, *documents.ended_by(work.id))
        work.won |= self._read_won([document for document in found if document["_id"] in tried], tried)
        done = {}
        for document in found:
            lease = accounts.get(document["_id"])
            if lease is not None and lease in document["ended"]:
                done[lease] = Settled(lease, document["_id"], document["site"], document["free"])
                work.after[document["_id"]] = document
        # Somebody else may have carried the end into the history already.
        missing = [lease for lease in holders if lease not in done]
        if not missing:
            return done
        async for end in self._ends.find({"_id": {"$in": missing}, "by": work.id}):
            done[end["_id"]] = Settled(end["_id"], end["resource"], end["site"], is_free=True)
            work.after |= {document["_id"]: document for document in found if document["_id"] == end["resource"]}
        return done

    def _read_won(self, found: Iterable[Document], tried: Mapping[UUID, UUID]) -> dict[UUID, Grant]:
        """Of the leases that were tried for these accounts, those that are there."""
        won = {}
        for document in found:
            lease = tried[document["_id"]]
            if document["is_live"] and document["lease"]["id"] == lease:
                won[lease] = documents.read_grant(document)
        return won

    async def _look_at_ends(self, work: Books) -> None:
        """What is held by the leases that are to end. Read anew: of two leases on one account at most one is there."""
        if not work.batch.ends:
            return
        wanted = {"organisation": work.organisation, "lease.id": {"$in": [end.lease for end in work.batch.ends]}}
        for document in await self._seen({**wanted, "moved": False}, documents.HELD):
            work.held[document["lease"]["id"]] = documents.read_held(document)
            work.revs[document["_id"]] = document["rev"]

    async def _read_again(self, work: Books, unsettled: Sequence[UUID]) -> bool:
        """Somebody changed these accounts meanwhile: read them anew. False when none of the leases is left."""
        found = await self._seen(
            {"organisation": work.organisation, "lease.id": {"$in": list(unsettled)}, "moved": False}, documents.PLAIN
        )
        again = {document["lease"]["id"]: document for document in found}
        for lease, document in again.items():
            work.revs[document["_id"]] = document["rev"]
            if lease in work.held:
                work.held[lease] = documents.read_held(document)
        work.due = [
            documents.read_held(again[held.lease]) if held.lease in again else held
            for held in work.due
            if held.lease not in unsettled or held.lease in again
        ]
        work.held = {lease: held for lease, held in work.held.items() if lease not in unsettled or lease in again}
        return bool(again)

    async def _answer_renewals(self, work: Books) -> None:
        if not work.batch.renewals:
            return
        wanted = [renewal.lease for renewal in work.batch.renewals]
        where = {"organisation": work.organisation, "lease.id": {"$in": wanted}, "moved": False}
        found = await self._seen(where, documents.PLAIN)
        live = {document["lease"]["id"]: documents.read_lease(document) for document in found if document["is_live"]}
        why = await self._why_not(work.organisation, [lease for lease in wanted if lease not in live])
        for renewal in work.batch.renewals:
            if told := live.get(renewal.lease) or why[renewal.lease]:
                work.done.renewed[renewal] = told
            else:
                work.ask_again(renewal, [renewal.lease])

    async def _answer_ends(self, work: Books, settled: Mapping[UUID, Settled]) -> None:
        if not work.batch.ends:
            return
        ours = work.ended_by_us(settled)
        missing = [end.lease for end in work.batch.ends if end.lease not in ours]
        past = await self._past(work.organisation, missing)
        why = await self._why_not(work.organisation, missing)
        accounts = {account: documents.read_account(document) for account, document in work.after.items()}
        accounts |= await self._accounts_now(work, [ended.resource for ended in past.values()])
        for end in work.batch.ends:
            by_us = settled[end.lease].account if end.lease in ours else None
            if told := given_back(end, past.get(end.lease), accounts, by_us=by_us) or why[end.lease]:
                work.done.ended[end] = told
            else:
                work.ask_again(end, [end.lease])

    async def _accounts_now(self, work: Books, ids: Sequence[UUID]) -> dict[UUID, Account]:
        if not ids:
            return {}
        where = {"_id": {"$in": list(ids)}, "organisation": work.organisation, "moved": False}
        found = await self._seen(where, documents.PLAIN)
        return {document["_id"]: documents.read_account(document) for document in found}

    async def _past(self, organisation: UUID, missing: Sequence[UUID]) -> dict[UUID, Ended]:
        """How these ended, as the history has it or as their accounts still carry it."""
        if not missing:
            return {}
        # The accounts first: what is carried in between is in the history then.
        ended: list[Ended] = []
        carried = {"organisation": organisation, "ended.id": {"$in": list(missing)}}
        async for carrier in self._accounts.find(carried):
            ended += [documents.read_ended(end) for end in documents.booked(carrier)]
        where = {"_id": {"$in": list(missing)}, "organisation": organisation}
        ended += [documents.read_ended(document) async for document in self._ends.find(where)]
        return {one.id: one for one in ended if one.id in missing}

    async def find_lease(self, organisation: UUID, lease: UUID) -> Lease | None:
        where = {"organisation": organisation, "lease.id": lease, "moved": False}
        found = [document for document in await self._seen(where, documents.PLAIN) if document["is_live"]]
        if found:
            return documents.read_lease(found[0])
        if why := (await self._why_not(organisation, [lease]))[lease]:
            raise why
        return None

    async def _why_not(self, organisation: UUID, missing: Sequence[UUID]) -> dict[UUID, Problem | None]:
        if not missing:
            return {}
        # What ends in between is in the second, if not in the first.
        where = {"organisation": organisation, "lease.id": {"$in": list(missing)}}
        found = await self._accounts.find(where, {"lease.id": 1, "moved": 1}).to_list()
        present = {document["lease"]["id"] for document in found if not document["moved"]}
        moved = {document["lease"]["id"]: _moving() for document in found if document["moved"]}
        past = await self._past(organisation, missing)
        return {
            lease: why_not(lease, past.get(lease), moved.get(lease), is_present=lease in present) for lease in missing
        }

    async def _give_back(self, organisation: UUID, granted: Sequence[UUID], *, adopted: bool = True) -> None:
        """As if these leases had not been: nobody ever learned of them. `adopted`: also if a repeat took them over."""
        slips = []
        where: Document = {"organisation": organisation, "lease.id": {"$in": list(granted)}}
        if not adopted:
            where["lease.adopted"] = {"$ne": True}
        for document in await self._seen(where, documents.PLAIN):
            held = documents.read_held(document)
            verdict = machine.undelivered(held.health)
            ending = Ending(document["lease"]["id"], How.RELEASED, verdict, reason=NEVER_DELIVERED)
            slips.append(documents.slip(held, document["rev"], ending, uuid7()))
        if slips:
            await self._accounts.update_many(*documents.ends(organisation, slips))

    def _carry_soon(self, carriers: Iterable[Document]) -> None:
        """Ends go into the history behind the answers' back; until then their accounts carry them."""
        self._to_carry |= {
            document["_id"]
            for document in carriers
            if document["pending"] or document["carries"] >= documents.ENDS_CARRIED
        }
        if self._to_carry and (self._carrying is None or self._carrying.done()):
            self._carrying = asyncio.create_task(self._carry_on(), name="carry-ends")

    async def _carry_on(self) -> None:
        while self._to_carry:
            await asyncio.sleep(_CARRY_AFTER_S)
            carriers, self._to_carry = list(self._to_carry), set()
            try:
                await self._carry_found({"_id": {"$in": carriers}, "ended.id": {"$exists": True}})
            except Problem as problem:
                # The reaper finds what is left behind.
                log.warning("pool.not_carried", accounts=len(carriers), problem=problem.slug())


def _moving() -> PoolsMoving | None:
    """What is marked as moved is on its way to the other store."""
    return elsewhere("mongo", "postgres", "mongo")


def _as_read(work: Books, account: UUID) -> Document:
    return {"_id": account, "organisation": work.organisation, "rev": work.revs[account], "moved": False}
