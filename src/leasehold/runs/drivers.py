"""Whoever drives runs in this process: takes up what nobody drives, and lets go of everything at its end."""

import asyncio
from uuid import UUID

from leasehold import logs
from leasehold.db import Database
from leasehold.ids import show, uuid7
from leasehold.jobs import Jobs
from leasehold.runs import store
from leasehold.runs.driver import Driver
from leasehold.runs.grip import LEASE_S
from leasehold.runs.ledger import settle_listings
from leasehold.runs.machine import Status
from leasehold.runs.models import RUN
from leasehold.runs.service import Collectors

log = logs.get(__name__)

LOOK_EVERY_S = 0.5
_MOST_RUNS = 100


class Drivers:
    """The drivers of one process."""

    def __init__(self, db: Database, jobs: Jobs, collectors: Collectors) -> None:
        self._db = db
        self._jobs = jobs
        self._collectors = collectors
        self._process = uuid7()
        self._driven: dict[UUID, asyncio.Task[None]] = {}
        self._is_closed = False

    async def look(self) -> None:
        """Give slots to those who wait, and take up what nobody drives."""
        async with self._db.system() as conn:
            found = await (await conn.execute(store.SQL["live"], {"limit": _MOST_RUNS})).fetchall()
        for run in [run for run, task in self._driven.items() if task.done()]:
            del self._driven[run]
        for organisation, run in found:
            if run not in self._driven and not self._is_closed:
                await self._claim(organisation, run)

    async def close(self) -> None:
        """Let go of everything, so that another may go on at once."""
        self._is_closed = True
        for task in self._driven.values():
            task.cancel()
        await asyncio.gather(*self._driven.values(), return_exceptions=True)
        self._driven.clear()

    async def _claim(self, organisation: UUID, run: UUID) -> None:
        async with self._db.transaction(organisation) as conn:
            given = {"organisation": organisation, "run": run, "driver": self._process, "lease_s": LEASE_S}
            row = await (await conn.execute(store.SQL["claim"], given)).fetchone()
            if row is None:
                return
            fence, is_orphan = row
            await settle_listings(conn, organisation, run)
            now = await store.get(conn, organisation, run)
            if is_orphan and now.status is Status.RUNNING:
                told = {"reason": "server_restart", "in_flight": now.in_flight}
                await store.tell(conn, organisation, run, [("resumed", told)])
        collector = self._collectors(organisation).get(now.collector)
        if collector is None:
            log.error("run.without_collector", run=show(RUN, run), collector=now.collector)
            return
        driver = Driver(
            self._db, self._jobs, collector, self._jobs.writing.documents, organisation, run, self._process, fence
        )
        if self._is_closed:  # while we claimed it
            await driver.grip.let_go()
        else:
            self._driven[run] = asyncio.create_task(driver.drive(), name=f"run-{run.hex}")
