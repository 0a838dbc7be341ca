"""The right to drive a run: a lease with a fence, proven first by each transaction of whoever holds it."""

import asyncio
from uuid import UUID

from leasehold.db import Conn, Database
from leasehold.runs import store
from leasehold.runs.machine import Status
from leasehold.runs.models import Run

# A driver that says nothing for so long is taken for dead.
LEASE_S = 10.0
# Who waits for something says so this often.
BEAT_S = LEASE_S / 4


class NotTheDriver(Exception):
    """Somebody else drives this run, or it is over."""


class Grip:
    """What one driver holds a run by."""

    def __init__(self, db: Database, organisation: UUID, run: UUID, process: UUID, fence: int) -> None:
        self.db = db
        self.organisation = organisation
        self.run = run
        self._as_driver = {"driver": process, "fence": fence}

    async def held(self, conn: Conn) -> Run:
        """The run, if it is still ours to drive. Nobody else changes it until this is committed."""
        given = {"organisation": self.organisation, "run": self.run, **self._as_driver, "lease_s": LEASE_S}
        if await (await conn.execute(store.SQL["hold_as_driver"], given)).fetchone() is None:
            raise NotTheDriver
        return await store.get(conn, self.organisation, self.run)

    async def let_go(self) -> None:
        """Another may drive it from now on."""
        async with self.db.transaction(self.organisation) as conn:
            await store.change(conn, store.SQL["let_go"], self.organisation, self.run, **self._as_driver)

    async def rest(self, seconds: float, status: Status) -> None:
        """Wait, and hold the run meanwhile; whoever steers it is heard."""
        while seconds > 0:
            await asyncio.sleep(min(seconds, BEAT_S))
            seconds -= BEAT_S
            async with self.db.transaction(self.organisation) as conn:
                if (await self.held(conn)).status is not status:
                    return
