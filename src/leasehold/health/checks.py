"""What readiness means: the database takes writes, its schema is ours, and every background task is well."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from psycopg import Error
from psycopg.rows import scalar_row
from psycopg_pool import PoolTimeout

from leasehold.background import Background
from leasehold.db import Database, queries
from leasehold.migrate import missing

SQL = queries("leasehold.health")
_PROBE_TIMEOUT_S = 1.0

OK = "ok"


class Health:
    """Answers /readyz. Says what is wrong in a word or two, and nothing a stranger could use."""

    def __init__(self, db: Database, background: Background) -> None:
        self._db = db
        self._background = background
        self.is_draining = False
        self._began = time.monotonic()

    async def checks(self) -> dict[str, str]:
        return {
            "server": "stopping" if self.is_draining else OK,
            "database": await _in_time(self._probe, "no write"),
            "migrations": await _in_time(self._migrations, "unknown"),
            "tasks": self._tasks(),
        }

    @property
    def up_s(self) -> float:
        """How long this process has been there."""
        return time.monotonic() - self._began

    async def schema(self) -> tuple[str, str]:
        """The version of PostgreSQL, and the last step of the schema that was made."""
        async with self._db.system() as conn:
            ((postgres, last),) = await (await conn.execute(SQL["schema"])).fetchall()
        return postgres, last

    async def _probe(self) -> str:
        async with self._db.system() as conn:
            await conn.execute(SQL["probe"])
        return OK

    async def _migrations(self) -> str:
        async with self._db.system() as conn:
            cur = conn.cursor(row_factory=scalar_row)
            await cur.execute(SQL["marks"])
            marks = set(await cur.fetchall())
        return f"{len(missing(marks))} missing" if missing(marks) else OK

    def _tasks(self) -> str:
        ill = sorted(task.name for task in self._background.tasks if not task.is_well)
        return f"failing: {', '.join(ill)}" if ill else OK


async def _in_time(check: Callable[[], Awaitable[str]], otherwise: str) -> str:
    try:
        async with asyncio.timeout(_PROBE_TIMEOUT_S):
            return await check()
    except (Error, PoolTimeout, TimeoutError):
        return otherwise
