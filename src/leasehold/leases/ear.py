"""The ear of a process: hears what other processes say has come free, for all of its waiting rooms."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from leasehold.db import Database
from leasehold.leases.models import Kind
from leasehold.leases.waiting import WaitingRoom

CHANNEL = "leasehold_wake"
_LISTEN_FOR_S = 5.0


class Ear:
    """One connection that listens, however many kinds of resource are waited for."""

    def __init__(self, db: Database, rooms: Sequence[WaitingRoom[Any]]) -> None:
        self._db = db
        self._rooms = {room.kind: room for room in rooms}
        self._conn: AsyncConnection[Any] | None = None

    async def listen(self) -> None:
        """Hear for a while. A connection that was lost may have missed something."""
        if self._conn is None or self._conn.closed:
            self._conn = await self._db.listen(CHANNEL)
            for room in self._rooms.values():
                room.call_all()
        try:
            async for note in self._conn.notifies(timeout=_LISTEN_FOR_S):
                self._hear(note.payload)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        conn, self._conn = self._conn, None
        if conn is not None:
            await conn.close()

    def _hear(self, payload: str) -> None:
        whose, site, kind, *_ = [*payload.split(" "), "", ""]
        # What names no kind speaks of accounts: those had this channel to themselves once.
        room = self._rooms.get(Kind(kind or Kind.ACCOUNT))
        if room is not None:
            room.call(UUID(whose), site)
