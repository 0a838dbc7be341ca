"""The way to PostgreSQL: one pool, one transaction per use case, one organisation per transaction."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import resources
from typing import Any, LiteralString, Self, TypeVar, cast
from uuid import UUID

from psycopg import AsyncConnection, AsyncCursor, OperationalError, sql
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from leasehold import arrays

Conn = AsyncConnection[tuple[Any, ...]]
T = TypeVar("T")

# The role every request works as: it owns nothing and row-level security binds it.
APP_ROLE = "leasehold_app"
# The role for what crosses organisations (who is this token, sweeping): only what it is granted, table by table.
SYSTEM_ROLE = "leasehold_system"
# How long an answer may take: PostgreSQL itself gives up on a statement a little sooner.
ANSWER_S = 35.0
# What PostgreSQL lists our connections as.
APPLICATION_NAME = "leasehold"

_SESSION = {
    "role": APP_ROLE,
    "timezone": "UTC",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    # A process that was stopped in the middle of something must not keep the others from going on for long.
    "idle_in_transaction_session_timeout": "8s",
}


_ROLE = """
SELECT rolname, rolsuper OR rolbypassrls,
       EXISTS (SELECT FROM pg_class WHERE relowner = pg_roles.oid AND relkind = 'r')
  FROM pg_roles
 WHERE rolname = current_user
"""


class RollBack(Exception):
    """Raised inside a transaction to take it back and go on after it, as a dry run does."""


class WallMissing(Exception):
    """The role requests work as is not bound by row-level security; nothing would keep organisations apart."""


# What every named statement is called, for whoever tells of it without telling what is in it.
_NAMES: dict[str, str] = {}


def name_of(query: object) -> str | None:
    """The name of a statement, or its first word; None for one that was put together from values."""
    if not isinstance(query, str):
        return None
    return _NAMES.get(query) or query.split(None, 1)[0].rstrip(";").upper()


def queries(package: str) -> Mapping[str, LiteralString]:
    """The named statements of a feature's `queries.sql`."""
    text = resources.files(package).joinpath("queries.sql").read_text(encoding="utf-8")
    found: dict[str, LiteralString] = {}
    for block in re.split(r"^-- name: ", text, flags=re.MULTILINE)[1:]:
        name, _, statement = block.partition("\n")
        if name in found:
            raise ValueError(f"{package}/queries.sql names {name!r} twice")
        found[name] = cast("LiteralString", statement.strip())
        _NAMES[found[name]] = f"{package.rpartition('.')[2]}.{name}"
    return found


class NoAnswer(OperationalError):
    """PostgreSQL, or something on the way to it, takes what is asked and answers nothing. The connection is closed."""


class _Line(AsyncConnection[tuple[Any, ...]]):
    """A connection that does not wait for ever. TCP does not notice one that takes everything and answers nothing."""

    answer_s = ANSWER_S

    async def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        try:
            return await super().wait(gen, interval, self.answer_s if timeout is None else timeout)
        except OperationalError as error:
            if timeout is None and self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.pgconn.finish()
                raise NoAnswer(f"no answer in {self.answer_s:g} s") from error
            raise


class Database:
    """A pool of connections that work as the bound role, and the two kinds of transaction there are."""

    def __init__(self, url: str, pool_size: int, cursors: type[AsyncCursor[Any]] | None = None) -> None:
        own = conninfo_to_dict(url).get("options") or ""
        options = " ".join([str(own), *(f"-c {name}={value}" for name, value in _SESSION.items())]).strip()
        self._conninfo = make_conninfo(url, options=options, application_name=APPLICATION_NAME, tcp_user_timeout=15000)
        self.pool: AsyncConnectionPool[Conn] = AsyncConnectionPool(
            self._conninfo,
            connection_class=_Line,
            kwargs={"autocommit": True, "context": arrays.ADAPTERS, "cursor_factory": cursors or AsyncCursor},
            min_size=min(4, pool_size),
            max_size=pool_size,
            timeout=5.0,
            max_waiting=1000,
            reconnect_timeout=2.0,  # then the next request tries anew, instead of waiting out a long backoff
            open=False,
            name="leasehold",
        )
        self._returning: set[asyncio.Task[None]] = set()

    async def listen(self, channel: str) -> AsyncConnection[Any]:
        """A connection of its own that hears what is said on a channel; whoever asks for it closes it."""
        conn = await AsyncConnection.connect(self._conninfo, autocommit=True)
        try:
            await conn.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        except BaseException:
            await conn.close()
            raise
        return conn

    async def vacuum(self, table: str) -> None:
        """Give back what deleted rows still hold. It is the owner's to do, and never part of a transaction."""
        async with await AsyncConnection.connect(self._conninfo, autocommit=True) as conn:
            await conn.execute("SET ROLE NONE; SET statement_timeout = 0")
            await conn.execute(sql.SQL("VACUUM {}").format(sql.Identifier(*table.split("."))))

    async def open(self) -> None:
        await self.pool.open(wait=True, timeout=15.0)
        if problem := await self.role_problem():
            await self.close()
            raise WallMissing(problem)

    async def close(self) -> None:
        await self.pool.close(timeout=5.0)

    async def role_problem(self) -> str | None:
        """Why row-level security would not hold for the role we work as; None when it does."""
        async with self.pool.connection() as conn:
            row = await (await conn.execute(_ROLE, prepare=False)).fetchone()
        name, may_bypass, owns_tables = row or ("nobody", True, True)
        if name != APP_ROLE:
            return f"connections work as {name} instead of {APP_ROLE}; something between drops the `options` we send"
        if may_bypass or owns_tables:
            return f"{APP_ROLE} is a superuser, may bypass row security, or owns tables; take that from it"
        return None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.close()

    @asynccontextmanager
    async def transaction(self, organisation: UUID) -> AsyncIterator[Conn]:
        """A transaction that sees and writes the rows of one organisation alone."""
        start = sql.SQL("BEGIN; SET LOCAL leasehold.organisation = {}").format(sql.Literal(str(organisation)))
        async with self._run(start) as conn:
            yield conn

    @asynccontextmanager
    async def system(self) -> AsyncIterator[Conn]:
        """A transaction across organisations, for the few things that must be; `test_house.py` lists who may."""
        start = sql.SQL("BEGIN; SET LOCAL ROLE {}").format(sql.Identifier(SYSTEM_ROLE))
        async with self._run(start) as conn:
            yield conn

    @asynccontextmanager
    async def _run(self, start: sql.Composed) -> AsyncIterator[Conn]:
        # BEGIN and the setting travel together: half of what row-level security costs is that second round trip.
        async with AsyncExitStack() as stack:
            conn = await self._begun(stack, start)
            try:
                yield conn
            except RollBack:
                await _roll_back(conn)
            except BaseException:
                await _roll_back(conn)
                raise
            else:
                await conn.execute("COMMIT", prepare=False)

    @asynccontextmanager
    async def _borrowed(self) -> AsyncIterator[Conn]:
        """A connection of the pool, given back to the end whoever stops waiting: half given back, it would be lost."""
        conn = await self.pool.getconn()
        try:
            yield conn
        finally:
            returning = asyncio.create_task(self.pool.putconn(conn), name="give-back")
            self._returning.add(returning)
            returning.add_done_callback(self._returning.discard)
            await asyncio.shield(returning)

    async def _begun(self, stack: AsyncExitStack, start: sql.Composed) -> Conn:
        """A connection with a transaction begun. One that died in the pool, as all do when the server restarts, is
        dropped for another: nothing was asked of it yet."""
        for _ in range(self.pool.max_size):
            conn = await stack.enter_async_context(self._borrowed())
            try:
                await conn.execute(start, prepare=False)
            except OperationalError as error:
                if not conn.broken or isinstance(error, NoAnswer):
                    raise
                await stack.aclose()
            else:
                return conn
        raise PoolTimeout("no connection of the pool is alive")


async def _roll_back(conn: Conn) -> None:
    # A connection that broke or still runs a statement has nothing to roll back here; the pool throws it away.
    if conn.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        await conn.execute("ROLLBACK", prepare=False)
