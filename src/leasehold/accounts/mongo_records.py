"""Accounts in MongoDB as operators see them: made, imported, changed, read.

What must be true together with the rest of the house (sites, audit, idempotency keys) is in PostgreSQL; each use case
keeps its PostgreSQL transaction open while it writes to MongoDB, and the document is written before that commits.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

from pymongo import AsyncMongoClient, UpdateOne
from pymongo.errors import DuplicateKeyError

from leasehold import audit, idempotency
from leasehold.accounts import documents, machine, store
from leasehold.accounts.batch import elsewhere
from leasehold.accounts.documents import Document
from leasehold.accounts.machine import State
from leasehold.accounts.models import (
    Account,
    AccountChange,
    AccountFilter,
    Ground,
    NewAccount,
    Outlook,
    SealedSecret,
    Wish,
)
from leasehold.accounts.mongo_shelf import MongoShelf, reachable
from leasehold.accounts.notes import PREFIX
from leasehold.accounts.pool import Imported
from leasehold.accounts.problems import PoolsMoving
from leasehold.accounts.records import difference, in_use, name_taken, refuse_moved, seal, unknown_account, unknown_site
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import show, uuid7
from leasehold.leases import Beaten, Ended, Lease, LeaseFilter, Timekeeper
from leasehold.problems import Unavailable
from leasehold.vault import Vault

_TRIES = 20
_LOST_WITHIN_MS = 3_600_000


class MongoRecords(MongoShelf):
    """The part of the MongoDB pool that grants nothing."""

    def __init__(
        self,
        db: Database,
        vault: Vault,
        clock: Timekeeper,
        client: AsyncMongoClient[Document],
        name: str,
        max_age_s: int,
    ) -> None:
        super().__init__(client, name)
        self._db = db
        self._vault = vault
        self._clock = clock
        self._max_age_s = max_age_s

    async def open(self) -> None:
        await super().open()
        await self._clock.begin()

    async def insist(self, organisation: UUID) -> None:
        async def look() -> None:
            async with self._db.transaction(organisation) as conn:
                await self._refuse_moved(conn)
                await self._clock.look(conn)

        await self._clock.steadily(look)

    async def create(self, caller: Caller, new: NewAccount, once: Once | None) -> Account:
        organisation, account = caller.organisation, uuid7()
        async with self._db.transaction(organisation) as conn:
            if once and (made := await idempotency.claim(conn, once)):
                return await self._found(organisation, UUID(hex=made))
            await refuse_moved(conn, "mongo")
            if not await store.hold_sites(conn, organisation, [new.site]):
                raise unknown_site()
            if once:
                await idempotency.keep(conn, once, account.hex)
            detail = {"site": new.site, "username": new.username, "labels": new.labels, "priority": new.priority}
            await audit.record(conn, caller, "account.created", show(PREFIX, account), detail)
            async with reachable():
                await self._insert(organisation, account, new, await store.first_fence(conn))
            return await self._found(organisation, account)

    async def _insert(self, organisation: UUID, account: UUID, new: NewAccount, fence: int) -> None:
        sealed = seal(self._vault, organisation, account, 1, new.secret)
        document = documents.new(organisation, account, new, sealed, fence)
        try:
            await self._accounts.update_one(_absent(document), _insertion(document), upsert=True)
        except DuplicateKeyError as error:
            name = {"organisation": organisation, "site": new.site, "username": new.username}
            taken = await self._accounts.find_one(name, {"_id": 1})
            raise name_taken(new.site, taken["_id"] if taken else account) from error

    async def import_(self, caller: Caller, site: str, new: Sequence[NewAccount]) -> Imported:
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            await refuse_moved(conn, "mongo")
            if not await store.hold_sites(conn, organisation, [site]):
                raise unknown_site()
            await store.import_turn(conn, organisation, site)
            fence = await store.first_fence(conn)
            async with reachable():
                taken = await self._named(organisation, site, [one.username for one in new])
                writes = [self._import(organisation, one, taken.get(one.username), fence) for one in new]
                if writes:
                    await self._accounts.bulk_write(writes, ordered=False)
            counts = Imported(created=len(new) - len(taken), updated=len(taken))
            await audit.record(conn, caller, "accounts.imported", site, asdict(counts))
        return counts

    async def _named(self, organisation: UUID, site: str, usernames: Sequence[str]) -> dict[str, Document]:
        where = {"organisation": organisation, "site": site, "username": {"$in": list(usernames)}, "moved": False}
        return {found["username"]: found async for found in self._accounts.find(where, {"username": 1, "secret": 1})}

    def _import(self, organisation: UUID, one: NewAccount, known: Document | None, fence: int) -> UpdateOne:
        if known is None:
            account = uuid7()
            sealed = seal(self._vault, organisation, account, 1, one.secret)
            document = documents.new(organisation, account, one, sealed, fence)
            return UpdateOne(_absent(document), _insertion(document), upsert=True)
        version = known["secret"]["version"] + 1
        sealed = seal(self._vault, organisation, known["_id"], version, one.secret)
        change = {"secret": asdict(sealed)} | _described(one.labels, one.priority)
        return UpdateOne({"_id": known["_id"], "organisation": organisation}, _set(change))

    async def get(self, organisation: UUID, account: UUID) -> Account | None:
        found = await self._seen({"_id": account, "organisation": organisation, "moved": False}, limit=1)
        return documents.read_account(found[0]) if found else None

    async def _found(self, organisation: UUID, account: UUID) -> Account:
        found = await self.get(organisation, account)
        if found is None:
            raise unknown_account()
        return found

    async def page(
        self, organisation: UUID, which: AccountFilter, after: tuple[str, str] | None, limit: int
    ) -> list[Account]:
        where: Document = {"organisation": organisation, "moved": False}
        if which.site is not None:
            where["site"] = which.site
        if which.labels:
            where["labels"] = {"$all": documents.labels(which.labels)}
        if which.query is not None:
            where["username"] = {"$regex": re.escape(which.query), "$options": "i"}
        if after is not None:
            later = {"$or": [{"site": {"$gt": after[0]}}, {"site": after[0], "username": {"$gt": after[1]}}]}
            where = {"$and": [where, later]}
        steps: list[Document] = [{"$match": {"state": which.state}}] if which.state else []
        found = await self._seen(where, *steps, {"$sort": {"site": 1, "username": 1}}, limit=limit)
        return [documents.read_account(document) for document in found]

    async def change(self, caller: Caller, account: UUID, change: AccountChange) -> Account:
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            await self._refuse_moved(conn)
            before = await self._found(organisation, account)
            async with reachable():
                await self._change(organisation, account, change)
            after = await self._found(organisation, account)
            await audit.record(
                conn, caller, "account.changed", show(PREFIX, account), difference(before, after, change)
            )
            return after

    async def _change(self, organisation: UUID, account: UUID, change: AccountChange) -> None:
        """Computed from what was read and written only onto that; somebody who was quicker makes it start again."""
        for _ in range(_TRIES):
            found = await self._accounts.find_one({"_id": account, "organisation": organisation, "moved": False})
            if found is None:
                raise unknown_account()
            wanted: Document = _described(change.labels, change.priority)
            if change.secret is not None:
                version = found["secret"]["version"] + 1
                wanted["secret"] = asdict(seal(self._vault, organisation, account, version, change.secret))
            update = _set(wanted)
            if change.standing is not None:
                health = machine.set_by_operator(documents.read_health(found), change.standing, change.reason)
                update = documents.mend(health, **wanted)
            where = {"_id": account, "organisation": organisation, "rev": found["rev"], "moved": False}
            if (await self._accounts.update_one(where, update)).matched_count:
                return
        raise Unavailable("This account is changed all the time. Try again.", headers={"Retry-After": "1"})

    async def delete(self, caller: Caller, account: UUID) -> None:
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            found = await self._found(organisation, account)
            detail = {"site": found.site, "username": found.username}
            await audit.record(conn, caller, "account.deleted", show(PREFIX, account), detail)
            async with reachable():
                where = {"_id": account, "organisation": organisation, "lease": None, "moved": False}
                gone = await self._accounts.find_one_and_delete(where)
                if gone is None:
                    raise in_use(await self._found(organisation, account))
                await self._carry([gone])

    async def secret(self, caller: Caller, account: UUID) -> SealedSecret:
        async with self._db.transaction(caller.organisation) as conn:
            found = await self._seen({"_id": account, "organisation": caller.organisation, "moved": False}, limit=1)
            if not found:
                raise unknown_account()
            sealed = documents.read_secret(found[0])
            await audit.record(conn, caller, "account.revealed", show(PREFIX, account), {"version": sealed.version})
            return sealed

    async def stats(self, organisation: UUID, site: str | None) -> Mapping[str, Mapping[str, int]]:
        where: Document = {"organisation": organisation, "moved": False} | ({"site": site} if site is not None else {})
        found: dict[str, dict[str, int]] = {}
        group = {"$group": {"_id": {"site": "$site", "state": "$state"}, "count": {"$sum": 1}}}
        for row in await self._seen(where, group):
            found.setdefault(row["_id"]["site"], {})[row["_id"]["state"]] = row["count"]
        return found

    async def look(self, organisation: UUID, wish: Wish) -> tuple[Ground, Outlook]:
        async with self._db.transaction(organisation) as conn:
            grounds = await self._grounds(conn, organisation, [wish.site])
        if wish.site not in grounds:
            raise unknown_site()
        return grounds[wish.site], await self._outlook(organisation, wish)

    async def _grounds(self, conn: Conn, organisation: UUID, at: Sequence[str]) -> dict[str, Ground]:
        """As PostgreSQL has them, with the live leases of sites that have a cap counted here."""
        grounds = await store.read_grounds(await store.grounds(conn, organisation, list(at)))
        await self._count_live(organisation, grounds)
        return grounds

    async def _count_live(self, organisation: UUID, grounds: dict[str, Ground]) -> None:
        for slug, ground in grounds.items():
            if ground.cap is not None:
                grounds[slug] = ground.with_live(await self._live_at(organisation, slug))

    async def _live_at(self, organisation: UUID, site: str) -> int:
        """Leases at a site. One that looks run out counts until it is settled: it may have been renewed just now."""
        where = {"organisation": organisation, "site": site, "lease.id": {"$exists": True}, "moved": False}
        async with reachable():
            return await self._accounts.count_documents(where)

    async def _outlook(self, organisation: UUID, wish: Wish) -> Outlook:
        back = {
            "$switch": {
                "branches": [
                    {"case": {"$eq": ["$state", State.USING]}, "then": "$lease.expires_at"},
                    {"case": {"$eq": ["$state", State.COOLING]}, "then": "$cooling_until"},
                ],
                "default": None,
            }
        }
        holder = {"$cond": [{"$eq": ["$state", State.USING]}, "$lease.owner", "$$REMOVE"]}
        group = {
            "_id": "$state",
            "count": {"$sum": 1},
            "next": {"$min": back},
            "holders": {"$addToSet": holder},
            "now": {"$first": "$now"},
        }
        rows = await self._seen(documents.wanted(organisation, wish), {"$group": group})
        return Outlook(
            counts={State(row["_id"]): row["count"] for row in rows},
            next_at=min((row["next"] for row in rows if row["next"]), default=None),
            now=rows[0]["now"] if rows else None,
            holders=sorted(holder for row in rows for holder in row["holders"])[:20],
        )

    async def known_sites(self, organisation: UUID, slugs: Collection[str]) -> set[str]:
        async with self._db.transaction(organisation) as conn:
            return set(await store.read_grounds(await store.grounds(conn, organisation, list(slugs))))

    async def count(self, _conn: Conn, organisation: UUID, site: str) -> int:
        async with reachable():
            return await self._accounts.count_documents({"organisation": organisation, "site": site, "moved": False})

    async def renew_owner(self, caller: Caller, owner: str, ttl_seconds: int | None) -> Beaten:
        held = {"organisation": caller.organisation, "lease.owner": owner, "lease.token": caller.token}
        async with reachable():
            found = await self._seen({**held, "moved": False})
            live = [document["lease"]["id"] for document in found if document["is_live"]]
            writes = [
                UpdateOne(
                    documents.renewable(caller.organisation, lease), documents.renewal(ttl_seconds, self._max_age_s)
                )
                for lease in live
            ]
            if writes:
                await self._accounts.bulk_write(writes, ordered=False)
            after = await self._seen({**held, "moved": False})
            renewed = [document["lease"]["id"] for document in after if document["is_live"]]
            overdue = [document["lease"]["id"] for document in after if not document["is_live"]]
            lost = {ended.id for ended in await self._lost(caller, owner)}
        return Beaten(renewed, sorted(lost), overdue)

    async def _lost(self, caller: Caller, owner: str) -> list[Ended]:
        await self._carry_pending(caller.organisation)
        how = {"how": {"$in": ["expired", "revoked", "superseded"]}}
        where = {"organisation": caller.organisation, "owner": owner, "token": caller.token, **how}
        recent = {"$expr": {"$gt": ["$ended_at", {"$subtract": ["$$NOW", _LOST_WITHIN_MS]}]}}
        found = self._ends.find({**where, **recent}).limit(1000)
        return [documents.read_ended(document) async for document in found]

    async def held_by(self, organisation: UUID, owner: str) -> list[UUID]:
        found = await self._seen({"organisation": organisation, "lease.owner": owner, "moved": False})
        return [document["lease"]["id"] for document in found if document["is_live"]]

    async def held_for(self, organisation: UUID, jobs: Sequence[str]) -> list[UUID]:
        found = await self._seen({"organisation": organisation, "lease.job_id": {"$in": list(jobs)}, "moved": False})
        return [document["lease"]["id"] for document in found if document["is_live"]]

    async def live(self, organisation: UUID, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]:
        where: Document = {"organisation": organisation, "moved": False, "lease.id": {"$exists": True}, **_LIVE}
        where |= {"site": which.site} if which.site is not None else {}
        where |= {"lease.owner": which.owner} if which.owner is not None else {}
        if after is not None:
            where = {"$and": [where, {"lease.id": {"$gt": after}}]}
        async with reachable():
            found = self._accounts.find(where).sort("lease.id", 1).limit(limit)
            return [documents.read_lease(document) async for document in found]

    async def history(self, organisation: UUID, account: UUID, before: int | None, limit: int) -> list[Ended]:
        await self._carry_found({"_id": account, "organisation": organisation, "ended.id": {"$exists": True}})
        where: Document = {"organisation": organisation, "resource": account}
        where |= {"fence": {"$lt": before}} if before is not None else {}
        async with reachable():
            found = self._ends.find(where).sort("fence", -1).limit(limit)
            return [documents.read_ended(document) async for document in found]

    async def _refuse_moved(self, conn: Conn) -> None:
        if problem := await self.moved(conn):
            raise problem

    async def moved(self, conn: Conn) -> PoolsMoving | None:
        """The refusal when the pools are in another store, or on their way there."""
        return elsewhere(*await store.where(conn), "mongo")


_LIVE: Document = {"$expr": {"$gt": ["$lease.expires_at", "$$NOW"]}}


def _absent(document: Document) -> Document:
    return {"_id": document["_id"]}


def _insertion(document: Document) -> list[Document]:
    """The whole document as it is, with times that are the server's."""
    literal = {name: {"$literal": value} for name, value in document.items() if name != "_id"}
    return [{"$set": {**literal, "created_at": "$$NOW", "updated_at": "$$NOW"}}]


def _described(labels: Mapping[str, str] | None, priority: int | None) -> Document:
    wanted: Document = {}
    if labels is not None:
        wanted["labels"] = documents.labels(labels)
    if priority is not None:
        wanted["priority"] = priority
    return wanted


def _set(change: Document) -> list[Document]:
    literal = {name: {"$literal": value} for name, value in change.items()}
    return [{"$set": {**literal, "updated_at": "$$NOW", "rev": {"$add": ["$rev", 1]}}}]
