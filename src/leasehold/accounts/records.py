"""Accounts in PostgreSQL as operators see them: made, imported, changed, read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

import orjson
from psycopg.errors import ForeignKeyViolation, UniqueViolation

from leasehold import audit, idempotency, leases
from leasehold.accounts import machine, store
from leasehold.accounts.batch import elsewhere
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
from leasehold.accounts.notes import PREFIX
from leasehold.accounts.pool import Imported
from leasehold.accounts.problems import AccountExists, AccountInUse, AccountUnknown, PoolsMoving
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import show, uuid7
from leasehold.leases import PREFIX as LEASE
from leasehold.leases import Beaten, Ended, Holding, Kind, Lease, LeaseFilter, Timekeeper
from leasehold.sites import SiteUnknown
from leasehold.vault import Place, Vault

FIELD = "account.secret"


def seal(vault: Vault, organisation: UUID, account: UUID, version: int, secret: Mapping[str, object]) -> SealedSecret:
    sealed = vault.seal(orjson.dumps(secret), Place(organisation, account, FIELD, version))
    return SealedSecret(version, sealed.key_id, sealed.blob)


def unknown_account() -> AccountUnknown:
    return AccountUnknown("No account of your organisation has this id.")


def unknown_site() -> SiteUnknown:
    return SiteUnknown("No site of your organisation has this slug.")


def name_taken(site: str, account: UUID) -> AccountExists:
    return AccountExists(f"{site} has an account with this username already.", account=show(PREFIX, account))


def in_use(account: Account) -> AccountInUse:
    lease = show(LEASE, account.lease_id) if account.lease_id else None
    return AccountInUse(f"{account.username} is in use by {account.holder}.", lease=lease)


async def refuse_moved(conn: Conn, here: str) -> None:
    """Make no account in a store that is left, and hold it still while one is made."""
    if problem := elsewhere(*await store.hold_store(conn), here):
        raise problem


class Records:
    """The part of the PostgreSQL pool that grants nothing."""

    def __init__(self, db: Database, vault: Vault, clock: Timekeeper, max_age_s: int) -> None:
        self._db = db
        self._vault = vault
        self._clock = clock
        self._max_age_s = max_age_s

    async def open(self) -> None:
        """Nothing to make: the migrations did."""

    async def close(self) -> None:
        """Nothing to give back: the database and its clock are the house's."""

    async def insist(self, organisation: UUID) -> None:
        async def look() -> None:
            async with self._db.transaction(organisation) as conn:
                if problem := await self.moved(conn):
                    raise problem
                await self._clock.look(conn)

        await self._clock.steadily(look)

    async def moved(self, conn: Conn) -> PoolsMoving | None:
        """The refusal when the pools are in another store, or on their way there."""
        return elsewhere(*await store.where(conn), "postgres")

    async def create(self, caller: Caller, new: NewAccount, once: Once | None) -> Account:
        async with self._db.transaction(caller.organisation) as conn:
            if once and (made := await idempotency.claim(conn, once)):
                return await _found(conn, caller.organisation, UUID(hex=made))
            await refuse_moved(conn, "postgres")
            taken = await store.named(conn, caller.organisation, new.site, [new.username])
            if taken:
                raise name_taken(new.site, taken[new.username][0])
            account = uuid7()
            try:
                await self._insert(conn, caller.organisation, account, new)
            except UniqueViolation as error:
                raise AccountExists(f"{new.site} has an account with this username already.") from error
            except ForeignKeyViolation as error:
                raise unknown_site() from error
            if once:
                await idempotency.keep(conn, once, account.hex)
            detail = {"site": new.site, "username": new.username, "labels": new.labels, "priority": new.priority}
            await audit.record(conn, caller, "account.created", show(PREFIX, account), detail)
            return await _found(conn, caller.organisation, account)

    async def _insert(self, conn: Conn, organisation: UUID, account: UUID, new: NewAccount) -> None:
        await store.create(conn, organisation, account, new)
        await store.put_secret(conn, organisation, account, seal(self._vault, organisation, account, 1, new.secret))

    async def import_(self, caller: Caller, site: str, new: Sequence[NewAccount]) -> Imported:
        """Make or update accounts of one site, all of them in one transaction; names must not repeat."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            await refuse_moved(conn, "postgres")
            if not await store.hold_sites(conn, organisation, [site]):
                raise unknown_site()
            await store.import_turn(conn, organisation, site)
            taken = await store.named(conn, organisation, site, [one.username for one in new])
            for one in new:
                if known := taken.get(one.username):
                    account, version = known
                    await store.describe(conn, organisation, account, one.labels, one.priority)
                    sealed = seal(self._vault, organisation, account, version + 1, one.secret)
                    await store.put_secret(conn, organisation, account, sealed)
                else:
                    await self._insert(conn, organisation, uuid7(), one)
            counts = Imported(created=len(new) - len(taken), updated=len(taken))
            await audit.record(conn, caller, "accounts.imported", site, asdict(counts))
        return counts

    async def get(self, organisation: UUID, account: UUID) -> Account | None:
        async with self._db.transaction(organisation) as conn:
            return await _find(conn, organisation, account)

    async def page(
        self, organisation: UUID, which: AccountFilter, after: tuple[str, str] | None, limit: int
    ) -> list[Account]:
        async with self._db.transaction(organisation) as conn:
            return await store.page(conn, organisation, which, after, limit)

    async def change(self, caller: Caller, account: UUID, change: AccountChange) -> Account:
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            health = await store.lock(conn, organisation, account)
            if health is None:
                raise unknown_account()
            before = await _found(conn, organisation, account)
            if change.standing is not None:
                wanted = machine.set_by_operator(health, change.standing, change.reason)
                await store.mend(conn, organisation, {account: wanted})
            await store.describe(conn, organisation, account, change.labels, change.priority)
            if change.secret is not None:
                current = await store.secret(conn, organisation, account)
                version = current.version + 1 if current else 1
                sealed = seal(self._vault, organisation, account, version, change.secret)
                await store.put_secret(conn, organisation, account, sealed)
            after = await _found(conn, organisation, account)
            await audit.record(
                conn, caller, "account.changed", show(PREFIX, account), difference(before, after, change)
            )
            return after

    async def delete(self, caller: Caller, account: UUID) -> None:
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            if await store.lock(conn, organisation, account) is None:
                raise unknown_account()
            found = await _found(conn, organisation, account)
            if not await store.delete(conn, organisation, account):
                raise in_use(await _found(conn, organisation, account))
            detail = {"site": found.site, "username": found.username}
            await audit.record(conn, caller, "account.deleted", show(PREFIX, account), detail)

    async def secret(self, caller: Caller, account: UUID) -> SealedSecret:
        """The sealed secret; that it was asked for is in the audit before it is given."""
        async with self._db.transaction(caller.organisation) as conn:
            found = await store.secret(conn, caller.organisation, account)
            if found is None or await _find(conn, caller.organisation, account) is None:
                raise unknown_account()
            await audit.record(conn, caller, "account.revealed", show(PREFIX, account), {"version": found.version})
            return found

    async def stats(self, organisation: UUID, site: str | None) -> Mapping[str, Mapping[str, int]]:
        async with self._db.transaction(organisation) as conn:
            return await store.stats(conn, organisation, site)

    async def look(self, organisation: UUID, wish: Wish) -> tuple[Ground, Outlook]:
        async with self._db.transaction(organisation) as conn:
            grounds = await store.read_grounds(await store.grounds(conn, organisation, [wish.site]))
            if wish.site not in grounds:
                raise unknown_site()
            return grounds[wish.site], await store.read_outlook(await store.outlook(conn, organisation, wish))

    async def known_sites(self, organisation: UUID, slugs: Collection[str]) -> set[str]:
        async with self._db.transaction(organisation) as conn:
            return set(await store.read_grounds(await store.grounds(conn, organisation, list(slugs))))

    async def count(self, conn: Conn, organisation: UUID, site: str) -> int:
        return await store.count(conn, organisation, site)

    async def renew_owner(self, caller: Caller, owner: str, ttl_seconds: int | None) -> Beaten:
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            holding = Holding(organisation, caller.token, owner, Kind.ACCOUNT)
            renewed = await leases.renew_owner(conn, holding, ttl_seconds, self._max_age_s)
            return Beaten(renewed, await leases.lost_of(conn, holding), await leases.overdue(conn, holding))

    async def held_by(self, organisation: UUID, owner: str) -> list[UUID]:
        async with self._db.transaction(organisation) as conn:
            return await store.held_by(conn, organisation, owner)

    async def held_for(self, organisation: UUID, jobs: Sequence[str]) -> list[UUID]:
        async with self._db.transaction(organisation) as conn:
            return await leases.taken_for(conn, organisation, Kind.ACCOUNT, jobs)

    async def live(self, organisation: UUID, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]:
        async with self._db.transaction(organisation) as conn:
            only = LeaseFilter(Kind.ACCOUNT, which.site, which.owner)
            return await leases.live(conn, organisation, only, after, limit)

    async def history(self, organisation: UUID, account: UUID, before: int | None, limit: int) -> list[Ended]:
        async with self._db.transaction(organisation) as conn:
            return await leases.history(conn, organisation, account, before, limit)


def difference(before: Account, after: Account, change: AccountChange) -> dict[str, object]:
    """What an operator's change did, for the audit; of a secret only that it was changed."""
    shown = ("standing", "blocked_reason", "labels", "priority")
    old, new = ({name: getattr(account, name) for name in shown} for account in (before, after))
    changed: dict[str, object] = {
        name: {"from": old[name], "to": new[name]} for name in shown if old[name] != new[name]
    }
    if change.secret is not None:
        changed["secret"] = {"changed": True}
    return changed


async def _find(conn: Conn, organisation: UUID, account: UUID) -> Account | None:
    return (await store.read_accounts(await store.by_ids(conn, organisation, [account]))).get(account)


async def _found(conn: Conn, organisation: UUID, account: UUID) -> Account:
    found = await _find(conn, organisation, account)
    if found is None:
        raise unknown_account()
    return found
