"""Sessions in PostgreSQL: a version is a row, and which of them is the session stands with its account."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from leasehold import audit
from leasehold.accounts import PREFIX, unknown_account
from leasehold.caller import Caller
from leasehold.db import Conn, Database, queries
from leasehold.ids import show
from leasehold.sessions.drawer import VERSIONS_KEPT
from leasehold.sessions.models import Change, Listed, Look, Start, Stored, Tenancy
from leasehold.sessions.rows import facts_row, making_row, note_row, read_facts, read_making, read_note

SQL = queries("leasehold.sessions")


class PostgresDrawer:
    """The tables `session_version` and `session_base`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def open(self) -> None:
        """Nothing to make: the migrations did."""

    async def close(self) -> None:
        """Nothing to give back: the database is the house's."""

    async def look(self, organisation: UUID, account: UUID, lease: UUID | None) -> Look:
        async with self._db.transaction(organisation) as conn:
            which = {"organisation": organisation, "account": account, "lease": lease}
            row = await (await conn.execute(SQL["look"], which)).fetchone()
        if row is None:
            raise unknown_account()
        site, rev, version, *kept, owner, since, now = row
        tenancy = Tenancy(lease, owner, since) if lease is not None and owner is not None else None
        return Look(account, site, rev, version, now, _stored((rev, version, *kept)), tenancy)

    async def looks(self, organisation: UUID, accounts: Sequence[UUID]) -> dict[UUID, Look]:
        async with self._db.transaction(organisation) as conn:
            which = {"organisation": organisation, "accounts": list(accounts)}
            rows = await (await conn.execute(SQL["looks"], which)).fetchall()
        return {
            account: Look(account, site, rev, version, now, _stored((rev, version, *kept)))
            for account, site, rev, version, *kept, now in rows
        }

    async def keep(self, caller: Caller, change: Change, action: str) -> bool:
        row = _row(caller.organisation, change)
        async with self._db.transaction(caller.organisation) as conn:
            await conn.execute(SQL["hold"], {"organisation": caller.organisation, "account": change.account})
            pointed = await conn.execute(SQL["point"], {**row, "rev": change.rev - 1, "has_session": True})
            if not pointed.rowcount:
                return False
            await conn.execute(SQL["keep"], row)
            if change.start is not None and change.lease is not None:
                await _put_base(conn, caller.organisation, change.account, change.lease, change.start)
            await conn.execute(SQL["shed"], {**row, "most": VERSIONS_KEPT})
            detail = {"version": change.version, "upload": change.making.upload, **change.making.counts}
            await audit.record(conn, caller, action, show(PREFIX, change.account), detail)
            return True

    async def forget(self, caller: Caller, look: Look) -> bool:
        which = {"organisation": caller.organisation, "account": look.account, "rev": look.rev, "lease": None}
        async with self._db.transaction(caller.organisation) as conn:
            gone = await conn.execute(SQL["point"], {**which, "version": look.version, "has_session": False})
            if not gone.rowcount:
                return False
            await conn.execute(SQL["empty"], which)
            await audit.record(conn, caller, "session.deleted", show(PREFIX, look.account), {"version": look.version})
            return True

    async def version(self, organisation: UUID, account: UUID, version: int) -> Stored | None:
        async with self._db.transaction(organisation) as conn:
            which = {"organisation": organisation, "account": account, "version": version}
            row = await (await conn.execute(SQL["version"], which)).fetchone()
        return _stored(row) if row else None

    async def versions(self, organisation: UUID, account: UUID, before: int | None, limit: int) -> list[Stored]:
        async with self._db.transaction(organisation) as conn:
            which = {"organisation": organisation, "account": account, "before": before, "limit": limit}
            rows = await (await conn.execute(SQL["versions"], which)).fetchall()
        return [stored for row in rows if (stored := _stored(row))]

    async def page(
        self, organisation: UUID, site: str | None, after: tuple[str, str] | None, limit: int
    ) -> list[Listed]:
        place = {"after_site": after[0] if after else None, "after_username": after[1] if after else None}
        which = {"organisation": organisation, "site": site, **place, "limit": limit}
        async with self._db.transaction(organisation) as conn:
            rows = await (await conn.execute(SQL["page"], which)).fetchall()
        return [
            Listed(account, where, username, version, read_facts(facts), read_making(making), at)
            for account, where, username, version, facts, making, at in rows
        ]

    async def count(self, conn: Conn, organisation: UUID, site: str) -> int:
        cur = conn.cursor(row_factory=scalar_row)
        await cur.execute(SQL["count"], {"organisation": organisation, "site": site})
        return int(await cur.fetchone() or 0)

    async def start(self, organisation: UUID, account: UUID, lease: UUID) -> Start | None:
        async with self._db.transaction(organisation) as conn:
            cur = await conn.execute(SQL["base"], {"organisation": organisation, "lease": lease})
            row = await cur.fetchone()
        return Start(row[0], read_note(row[1]), row[2], row[3]) if row else None

    async def hand_over(self, caller: Caller, account: UUID, lease: UUID | None, start: Start) -> bool:
        async with self._db.transaction(caller.organisation) as conn:
            if lease is not None and not await _put_base(conn, caller.organisation, account, lease, start):
                return False
            await audit.record(conn, caller, "session.disclosed", show(PREFIX, account), {"version": start.version})
            return True

    async def sweep(self, organisation: UUID) -> None:
        async with self._db.transaction(organisation) as conn:
            await conn.execute(SQL["drop_bases"], {"organisation": organisation})


async def _put_base(conn: Conn, organisation: UUID, account: UUID, lease: UUID, start: Start) -> bool:
    row = {"organisation": organisation, "account": account, "lease": lease, "version": start.version}
    sealed = {"key_id": start.key_id, "sealed": start.sealed}
    put = await conn.execute(SQL["put_base"], {**row, **sealed, "note": Jsonb(note_row(start.note))})
    return bool(put.rowcount)


def _stored(row: Sequence[Any]) -> Stored | None:
    rev, version, key_id, sealed, facts, making, at = row
    if key_id is None:
        return None
    return Stored(rev, version, key_id, bytes(sealed), read_facts(facts), read_making(making), at)


def _row(organisation: UUID, change: Change) -> dict[str, Any]:
    return {
        "organisation": organisation,
        "account": change.account,
        "rev": change.rev,
        "version": change.version,
        "lease": change.lease,
        "key_id": change.key_id,
        "sealed": change.sealed,
        "facts": Jsonb(facts_row(change.facts)),
        "made": Jsonb(making_row(change.made)),
        "made_at": change.made_at,
    }
