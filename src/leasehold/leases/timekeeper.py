"""Keeps a store's clock from ending leases by jumping: who was told of no end goes on holding for a fresh term.

Whoever books that a lease ran out looks at the clock here, in the same transaction and after it judged. A clock that is
more than a minute ahead of what our monotonic clock says has jumped: the transaction is taken back, what was held
before the jump is given new time, once for all servers, and the work is done again.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from leasehold import logs
from leasehold.db import Conn, Database
from leasehold.leases import store
from leasehold.leases.models import LONGEST_S
from leasehold.leases.watch import JUMP_S, ClockWatch, Jump, Look
from leasehold.metrics import Metrics
from leasehold.problems import Unavailable

log = logs.get(__name__)

T = TypeVar("T")

_ATTEMPTS = 3


class Jumped(Exception):
    """The clock jumped; nothing that was judged by it may stand."""


class Face(Protocol):
    """The clock of a store, and the leases that run by it."""

    @property
    def store(self) -> str: ...

    async def read(self) -> datetime | None:
        """What it shows; None when it is PostgreSQL's, which is read with the question itself."""

    async def keep(self, conn: Conn, jump: Jump) -> int:
        """Give what was held before the jump new time; returns how many leases that were."""


class PostgresFace:
    """PostgreSQL's own clock, and the leases it keeps."""

    store = "postgres"

    async def read(self) -> datetime | None:
        return None

    async def keep(self, conn: Conn, jump: Jump) -> int:
        return await store.keep(conn, jump.unjumped, jump.seconds, LONGEST_S)


class Timekeeper:
    """The one of this process that watches the clock of the store its leases are in."""

    def __init__(self, db: Database, face: Face, metrics: Metrics) -> None:
        self._db = db
        self._face = face
        self._metrics = metrics
        self._watch = ClockWatch()
        self._keeping = asyncio.Lock()

    async def begin(self) -> None:
        """Believe the clock as it goes now: of what was before we came we know nothing."""
        async with self._db.system() as conn:
            self._watch.believe(await self._look(conn))

    async def watch(self) -> None:
        """Look, and see to a jump if there was one. The fresher the memory, the less can happen unseen."""

        async def look() -> None:
            async with self._db.system() as conn:
                await self.look(conn)

        await self.steadily(look)

    async def look(self, conn: Conn) -> datetime:
        """Make sure that the clock may be believed; raises Jumped. Returns by when it should be asked again."""
        look = await self._look(conn)
        if self._watch.seen(look):
            raise Jumped
        return look.now + timedelta(seconds=JUMP_S)

    async def steadily(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do it, and once more when the clock turns out to have jumped."""
        for _ in range(_ATTEMPTS):
            try:
                return await work()
            except Jumped:
                await self._see_to()
        raise Unavailable("The clock of the database jumps all the time. Try again.", headers={"Retry-After": "2"})

    async def _look(self, conn: Conn) -> Look:
        asked = time.monotonic()
        known, shown = await store.clock(conn, self._face.store)
        now = await self._face.read() or shown
        return Look(now, asked, time.monotonic(), known)

    async def _see_to(self) -> None:
        """Give those who held something new time, unless another server has done so for this very jump."""
        async with self._keeping:
            async with self._db.system() as conn:
                await store.jump_turn(conn, self._face.store)
                look = await self._look(conn)
                if jump := self._watch.seen(look):
                    look = replace(look, known=await self._keep(conn, jump))
            # Not before it is committed: who asks us meanwhile must not believe the clock.
            self._watch.believe(look)

    async def _keep(self, conn: Conn, jump: Jump) -> int:
        """Returns the number under which the jump was seen to, by us or by somebody else."""
        self._metrics.clock_jumps.labels(self._face.store).inc()
        if await store.is_seen_to(conn, self._face.store, jump):
            return jump.after.known
        kept = await self._face.keep(conn, jump)
        log.warning("clock.jumped", store=self._face.store, seconds=round(jump.seconds, 1), leases=kept)
        return await store.note_jump(conn, self._face.store, jump, kept)
