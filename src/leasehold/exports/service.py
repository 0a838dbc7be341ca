"""Everything of one kind that an organisation has, line by line: read from one moment, never held in memory."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any, LiteralString

import orjson
from psycopg.rows import scalar_row

from leasehold.accounts import AccountFilter, AccountOut, Accounts
from leasehold.caller import Caller
from leasehold.db import Conn, Database, queries
from leasehold.sites import Reference, Sites

SQL = queries("leasehold.exports")
_AT_ONCE = 500


class Exported(StrEnum):
    """What can be exported."""

    ACCOUNTS = "accounts"
    AUDIT = "audit"
    CAPTURES = "captures"
    ENTITIES = "entities"
    ITEMS = "items"
    JOBS = "jobs"
    RECORDS = "records"
    RUNS = "runs"
    SEEDS = "seeds"
    SITES = "sites"


_STATEMENTS: Mapping[Exported, LiteralString] = {
    Exported.AUDIT: SQL["audit"],
    Exported.CAPTURES: SQL["captures"],
    Exported.ENTITIES: SQL["entities"],
    Exported.ITEMS: SQL["items"],
    Exported.JOBS: SQL["jobs"],
    Exported.RECORDS: SQL["records"],
    Exported.RUNS: SQL["runs"],
    Exported.SITES: SQL["sites"],
}


class Exports:
    """Lines of JSON without their ends."""

    def __init__(self, db: Database, accounts: Accounts, sites: Sites) -> None:
        self._db = db
        self._accounts = accounts
        self._sites = sites

    def lines(self, caller: Caller, what: Exported, *, with_secrets: bool = False) -> AsyncIterator[bytes]:
        """With secrets an account is as `import` takes it, and each is in the audit before it leaves."""
        if what is Exported.ACCOUNTS:
            return self._secrets(caller) if with_secrets else self._accounts_shown(caller)
        if what is Exported.SEEDS:
            return self._seeds(caller)
        return self._rows(caller, _STATEMENTS[what])

    async def _rows(self, caller: Caller, statement: LiteralString) -> AsyncIterator[bytes]:
        # A cursor of the server's: it gives some rows at a time, however many there are.
        async with self._reading(caller) as conn, conn.cursor(name="export", row_factory=scalar_row) as rows:
            rows.itersize = _AT_ONCE
            await rows.execute(statement, {"organisation": caller.organisation})
            async for line in rows:
                yield line.encode()

    async def _seeds(self, caller: Caller) -> AsyncIterator[bytes]:
        registry = await self._sites.registry(caller.organisation)
        async for line in self._rows(caller, SQL["seeds"]):
            seed: dict[str, Any] = orjson.loads(line)
            url = registry.render(Reference(seed["site"], seed.pop("sub"), seed.pop("rest")))
            # At an address that has no place for it, it is called what it was called first.
            yield orjson.dumps(seed | ({"url": url} if isinstance(url, str) else {}))

    async def _accounts_shown(self, caller: Caller) -> AsyncIterator[bytes]:
        async for account in self._each_account(caller):
            yield AccountOut.model_validate(account).model_dump_json().encode()

    async def _secrets(self, caller: Caller) -> AsyncIterator[bytes]:
        async for account in self._each_account(caller):
            named = {"site": account.site, "username": account.username, "priority": account.priority}
            secret = await self._accounts.reveal(caller, account.id)
            yield orjson.dumps(named | {"labels": dict(account.labels), "secret": dict(secret)})

    async def _each_account(self, caller: Caller) -> AsyncIterator[Any]:
        """Page by page: they may be in either store."""
        after: tuple[str, str] | None = None
        while some := await self._accounts.page(caller, AccountFilter(), after, _AT_ONCE):
            for account in some:
                yield account
            after = (some[-1].site, some[-1].username)

    @asynccontextmanager
    async def _reading(self, caller: Caller) -> AsyncIterator[Conn]:
        async with self._db.transaction(caller.organisation) as conn:
            # Whoever reads what we write may take its time.
            await conn.execute("SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0")
            yield conn
