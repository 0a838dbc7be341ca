"""The waiting room: who found nothing free is called again when that may have changed, without asking all the time.

Three things call: something was freed in this process, another process says so (`NOTIFY`), or the clock reaches the
time when the next rest or lease of the site ends. Everybody has a place in a queue in PostgreSQL, so that the order
holds across processes; a process that stops saying it is alive loses its places. There is a room for each kind of
resource, and one ear for all rooms of a process.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from psycopg import OperationalError
from psycopg_pool import PoolClosed, PoolTimeout

from leasehold.db import Database
from leasehold.ids import uuid7
from leasehold.leases import store
from leasehold.leases.models import ANYWHERE, Kind

TICK_S = 1.0
# Nobody should have to be called by this; it is there for a lost NOTIFY and a process that died in its turn.
_CALL_ALL_EVERY = 3
_CALLED_AT_ONCE = 256


class Parked(Protocol):
    """Somebody who waits."""

    @property
    def site(self) -> str: ...
    @property
    def priority(self) -> int: ...
    @property
    def since(self) -> datetime | None: ...
    @property
    def calls(self) -> int: ...
    @property
    def deadline(self) -> float: ...
    @property
    def future(self) -> asyncio.Future[Any]: ...


P = TypeVar("P", bound=Parked)
_Where = tuple[UUID, str]


class WaitingRoom(Generic[P]):
    """Those who wait in this process for one kind. `again` sends one back to the desk."""

    def __init__(self, db: Database, again: Callable[[UUID, P], None], kind: Kind = Kind.ACCOUNT) -> None:
        self.process = uuid7()
        self.kind = kind
        self.is_closed = False
        self._db = db
        self._again = again
        self._calls: dict[_Where, int] = {}
        self._parked: dict[_Where, dict[P, asyncio.TimerHandle]] = {}
        self._alarms: dict[_Where, asyncio.TimerHandle] = {}
        self._errands: set[asyncio.Task[None]] = set()
        self._ticks = 0

    def __len__(self) -> int:
        return sum(len(here) for here in self._parked.values())

    def park(self, organisation: UUID, slip: P) -> None:
        where = (organisation, slip.site)
        # Called while it was at the desk: what it learned there may be old already.
        if self.is_closed or slip.calls != self._calls.get(where, 0):
            self._again(organisation, slip)
            return
        timer = asyncio.get_running_loop().call_at(slip.deadline, self._time_is_up, where, slip)
        self._parked.setdefault(where, {})[slip] = timer

    def leave(self, organisation: UUID, slip: P) -> None:
        """It does not wait any more."""
        self._take((organisation, slip.site), slip)

    def call(self, organisation: UUID, site: str) -> None:
        """Something may be free at the site: everybody there tries again, in turn, and who waits for any site."""
        here: list[P] = []
        for where in {(organisation, site), (organisation, ANYWHERE)}:
            self._calls[where] = self._calls.get(where, 0) + 1
            here += self._parked.get(where, ())
        turn = sorted(here, key=lambda slip: (-slip.priority, str(slip.since)))
        for slip in turn[:_CALLED_AT_ONCE]:
            if self._take((organisation, slip.site), slip):
                self._again(organisation, slip)

    def call_all(self) -> None:
        """Something may have been missed: everybody tries again."""
        for organisation, site in list(self._parked):
            self.call(organisation, site)

    def calls(self, organisation: UUID, site: str) -> int:
        """How often those at the site were called so far."""
        return self._calls.get((organisation, site), 0)

    def call_in(self, organisation: UUID, site: str, seconds: float) -> None:
        """Call when the clock gets there; a nearer alarm that is set already stands."""
        where = (organisation, site)
        if where not in self._parked:
            return
        loop = asyncio.get_running_loop()
        at = loop.time() + seconds + 0.005  # the database's clock has to be past it, not at it
        alarm = self._alarms.get(where)
        if alarm is not None and not alarm.cancelled() and loop.time() < alarm.when() <= at:
            return
        if alarm is not None:
            alarm.cancel()
        self._alarms[where] = loop.call_at(at, self._alarm, where)

    def freed(self, organisation: UUID, sites: Iterable[str]) -> None:
        """Something came free and that is committed: call here, and in the other processes."""
        found = list(sites)
        for site in found:
            self.call(organisation, site)
        self.nudge(organisation, found)

    def nudge(self, organisation: UUID, sites: Iterable[str]) -> None:
        """Let the other processes know."""
        if found := list(sites):
            errand = asyncio.create_task(self._nudge(organisation, found), name="nudge")
            self._errands.add(errand)
            errand.add_done_callback(self._ran)

    def close(self) -> None:
        """The server stops: everybody is sent back to the desk for a last answer."""
        self.is_closed = True
        for where in list(self._parked):
            for slip in list(self._parked.get(where, ())):
                if self._take(where, slip):
                    self._again(where[0], slip)
        for alarm in self._alarms.values():
            alarm.cancel()
        self._alarms.clear()

    async def tick(self) -> None:
        """Say that this process is alive, and from time to time call everybody in case something was missed."""
        self._ticks += 1
        if not self._parked:
            return
        async with self._db.system() as conn:
            await store.refresh(conn, self.process)
            await store.bury(conn)
        if self._ticks % _CALL_ALL_EVERY == 0:
            self.call_all()

    async def leave_all(self) -> None:
        """Give up every place of this process."""
        await asyncio.gather(*self._errands, return_exceptions=True)
        # Where the database is gone, the others will find out by themselves that this process is.
        with suppress(OperationalError, PoolClosed, PoolTimeout, TimeoutError):
            async with asyncio.timeout(2.0), self._db.system() as conn:
                await store.forsake(conn, self.process)

    async def _nudge(self, organisation: UUID, sites: list[str]) -> None:
        async with self._db.transaction(organisation) as conn:
            await store.nudge(conn, organisation, self, [*sites, ANYWHERE])

    def _ran(self, errand: asyncio.Task[None]) -> None:
        self._errands.discard(errand)
        if not errand.cancelled():
            errand.exception()  # a lost nudge is made up for by the others' next tick

    def _alarm(self, where: _Where) -> None:
        self._alarms.pop(where, None)
        self.call(*where)

    def _time_is_up(self, where: _Where, slip: P) -> None:
        if self._take(where, slip):
            self._again(where[0], slip)

    def _take(self, where: _Where, slip: P) -> bool:
        here = self._parked.get(where, {})
        timer = here.pop(slip, None)
        if not here:
            self._parked.pop(where, None)
        if timer is None:
            return False
        timer.cancel()
        return True
