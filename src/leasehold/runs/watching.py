"""News of runs, for those who wait for them in this process: PostgreSQL calls, and they look."""

import asyncio
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from leasehold.db import Database
from leasehold.runs.store import CHANNEL

# Looks all the same after so long: a word may get lost with a connection.
TICK_S = 5.0


class News(asyncio.Event):
    """Set with each news of what is watched, and says of which runs."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: set[UUID] = set()
        self.is_unsure = False  # something may have been said that nobody heard

    def take(self) -> tuple[set[UUID], bool]:
        """What was said since the last time; do it before looking."""
        told = self.runs, self.is_unsure
        self.runs, self.is_unsure = set(), False
        self.clear()
        return told


class Watchers:
    """Who waits for news of which run."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._waiting: dict[UUID, set[News]] = {}  # by organisation, and by run: ids never meet
        self._conn: AsyncConnection[Any] | None = None

    async def listen(self) -> None:
        """Hear for a while. A connection that was lost may have missed something."""
        if self._conn is None or self._conn.closed:
            self._conn = await self._db.listen(CHANNEL)
            self.call_all()
        try:
            async for note in self._conn.notifies(timeout=TICK_S):
                self._hear(note.payload)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        conn, self._conn = self._conn, None
        if conn is not None:
            await conn.close()

    def join(self, key: UUID) -> News:
        """An event that is set with each news of a run, or of any run of an organisation; clear it before looking."""
        event = News()
        self._waiting.setdefault(key, set()).add(event)
        return event

    def leave(self, key: UUID, event: News) -> None:
        waiting = self._waiting.get(key, set())
        waiting.discard(event)
        if not waiting:
            self._waiting.pop(key, None)

    def _hear(self, payload: str) -> None:
        organisation, run = (UUID(word) for word in payload.split(" "))
        for key in (organisation, run):
            for event in self._waiting.get(key, ()):
                event.runs.add(run)
                event.set()

    def call_all(self) -> None:
        """Let everybody look: something may have been said that nobody heard."""
        for events in self._waiting.values():
            for event in events:
                event.is_unsure = True
                event.set()
