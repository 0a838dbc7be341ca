"""Whoever sweeps sources in this process: takes up what nobody drives, and lets go of everything at its end."""

import asyncio
from collections.abc import Callable

from pydantic import SecretStr

from leasehold import logs
from leasehold.db import Conn, Database
from leasehold.ids import uuid7
from leasehold.sources import store
from leasehold.sources.catalogue import Catalogue, KeyMissing
from leasehold.sources.declared import Kind, Source
from leasehold.sources.driver import LEASE_S, Driver
from leasehold.sources.models import Fetcher, Outlet
from leasehold.sources.stashbox import StashBox
from leasehold.sources.store import Driving, Which
from leasehold.sources.theporndb import ThePornDb

log = logs.get(__name__)

LOOK_EVERY_S = 0.5
SCHEDULE_EVERY_S = 20.0
_MOST_SOURCES = 200
_FETCHERS: dict[Kind, Callable[[Source, SecretStr], Fetcher]] = {Kind.STASHBOX: StashBox, Kind.THEPORNDB: ThePornDb}


class Sweepers:
    """The drivers of one process, a task each."""

    def __init__(self, db: Database, catalogue: Catalogue, outlet: Outlet, high_water_bytes: int) -> None:
        self._db = db
        self._catalogue = catalogue
        self._outlet = outlet
        self._high_water_bytes = high_water_bytes
        self._process = uuid7()
        self._driven: dict[Which, asyncio.Task[None]] = {}
        self._is_closed = False

    async def look(self) -> None:
        """Take up what nobody drives."""
        async with self._db.system() as conn:
            found = await store.live(conn, _MOST_SOURCES)
        for which in found:
            source = self._catalogue.get(which.name)
            if source and source.enabled and not self._is_closed:
                async with self._db.transaction(which.organisation) as conn:
                    driving = await self.claim(conn, which)
                if driving:
                    self.drive(source, driving)

    async def due(self) -> list[tuple[Which, bool]]:
        """What is to be swept again by now, as its file says, and whether all of it."""
        every = self._catalogue.sources.values()
        declared = [one for one in every if one.enabled and (one.sweep_every_hours or one.full_every_hours)]
        if not declared or self._is_closed:
            return []
        async with self._db.system() as conn:
            return await store.due(conn, declared, _MOST_SOURCES)

    async def claim(self, conn: Conn, which: Which) -> Driving | None:
        """Ours to drive from now on, unless somebody does."""
        return await store.claim(conn, which, self._process, LEASE_S)

    def drive(self, source: Source, driving: Driving) -> asyncio.Task[None]:
        for which in [which for which, task in self._driven.items() if task.done()]:
            del self._driven[which]
        task = asyncio.create_task(self._drive(source, driving), name=f"source-{source.name}")
        self._driven[driving.which] = task
        return task

    async def close(self) -> None:
        """Let go of everything, so that another may go on at once."""
        self._is_closed = True
        for task in self._driven.values():
            task.cancel()
        await asyncio.gather(*self._driven.values(), return_exceptions=True)
        self._driven.clear()

    async def _drive(self, source: Source, driving: Driving) -> None:
        try:
            fetcher = _FETCHERS[source.kind](source, self._catalogue.key(source))
        except KeyMissing as error:
            async with self._db.transaction(driving.which.organisation) as conn:
                await store.fail(conn, driving, str(error))
                await store.let_go(conn, driving)
            return
        await Driver(self._db, source, fetcher, self._outlet, self._high_water_bytes, driving).drive()
