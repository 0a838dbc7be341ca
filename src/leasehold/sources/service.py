"""Sources: shown, started and stopped; and swept, where this process has that duty."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from leasehold import logs
from leasehold.background import Background
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.duties import Duty
from leasehold.ids import uuid7
from leasehold.sources import store
from leasehold.sources.catalogue import LOOK_EVERY_S as FILES_EVERY_S
from leasehold.sources.catalogue import Catalogue
from leasehold.sources.declared import Kind, Source
from leasehold.sources.machine import Mode, Phase, Place, Status, Waiting
from leasehold.sources.models import DeadLetter, Outlet, State
from leasehold.sources.problems import SourceOff, unknown_source
from leasehold.sources.store import Which
from leasehold.sources.sweepers import LOOK_EVERY_S, SCHEDULE_EVERY_S, Sweepers

log = logs.get(__name__)

# What runs of ours have found is a source, too: nothing is fetched for it.
RUNS = "runs"


@dataclass(frozen=True, slots=True)
class Standing:
    """A source, how far it is in an organisation, and what became of its records."""

    name: str
    source: Source | None  # None for what runs have found
    state: State | None  # None where it was never started
    queued_bytes: int
    links: int

    @property
    def word(self) -> str:
        """Where it is, in one word."""
        if self.state is None:
            return Status.IDLE
        return "waiting" if self.state.waiting_for else self.state.status

    @property
    def next_step(self) -> str:
        """What happens next, or what to do for it to happen."""
        if self.source is None:
            return "Its records come with each run of a collector."
        if not self.source.enabled:
            return "Its file switches it off; say `enabled: true` there to sweep it."
        return _NEVER if self.state is None else _next_step(self.state, self.next_sweep_at)

    @property
    def next_sweep_at(self) -> datetime | None:
        """When it is swept again by itself; while one is under way that is not known."""
        if self.source is None or self.state is None or self.state.status is not Status.IDLE:
            return None
        return self.source.next_sweep(self.state.last_sweep)


_NEVER = "Start it: everything it has is read once."
_WAITS = {
    Waiting.RATE: "It was asked too often, and waits before it is asked again.",
    Waiting.RETRY: "It does not answer; it is asked again soon.",
    Waiting.QUEUE: "The writer has enough to do; it is asked again when that is less.",
}


def _next_step(state: State, next_at: datetime | None) -> str:
    where = _where(state.place)
    match state.status:
        case Status.SWEEPING:
            now = "It" if state.driven_until else "As soon as a process has time for it, it"
            return _WAITS[state.waiting_for] if state.waiting_for else f"{now} goes on {where}."
        case Status.PAUSED:
            return f"Start it: it goes on {where}."
        case Status.FAILED:
            return f"Put right what the last error says, then start it: it goes on {where}."
    if state.last_sweep is None:
        return _NEVER
    return "It is swept again by itself." if next_at else "Start it to read what has changed since the last sweep."


def _where(place: Place | None) -> str:
    if place is None:
        return "from the beginning"
    if place.phase is Phase.ASK:
        return "with those that its list did not show, one by one"
    return f"at page {place.page}" + (f" of pass {place.number}" if place.number > 1 else "")


class Sources:
    """All that is done with sources."""

    def __init__(self, db: Database, catalogue: Catalogue, outlet: Outlet, high_water_bytes: int) -> None:
        self._db = db
        self._outlet = outlet
        self.catalogue = catalogue
        self.sweepers = Sweepers(db, catalogue, outlet, high_water_bytes)

    def add_to(self, background: Background) -> None:
        background.add("source-files", self.catalogue.look, FILES_EVERY_S)
        background.add("sources", self.sweepers.look, LOOK_EVERY_S, Duty.SOURCES)
        background.add("source-schedule", self.begin_due, SCHEDULE_EVERY_S, Duty.SOURCES)

    async def all(self, caller: Caller) -> list[Standing]:
        async with self._db.transaction(caller.organisation) as conn:
            states = await store.states(conn, caller.organisation)
            queued = await self._outlet.queued_bytes(conn, caller.organisation)
            names = [*self.catalogue.sources, RUNS]
            return [await self._standing(conn, caller.organisation, name, states.get(name), queued) for name in names]

    async def get(self, caller: Caller, name: str) -> Standing:
        if name != RUNS and self.catalogue.get(name) is None:
            raise unknown_source(name)
        async with self._db.transaction(caller.organisation) as conn:
            states = await store.states(conn, caller.organisation, name)
            queued = await self._outlet.queued_bytes(conn, caller.organisation)
            return await self._standing(conn, caller.organisation, name, states.get(name), queued)

    async def start(self, caller: Caller, name: str, *, is_full: bool) -> Standing:
        """Begin a sweep, or go on with the one that was stopped; nothing when one is under way."""
        source = self._swept(name)
        async with self._db.transaction(caller.organisation) as conn:
            await self._begin(conn, Which(caller.organisation, name), source, is_full=is_full)
        return await self.get(caller, name)

    async def begin_due(self) -> None:
        """Begin the sweeps that are due by what their files say."""
        for which, is_full in await self.sweepers.due():
            if source := self.catalogue.get(which.name):
                async with self._db.transaction(which.organisation) as conn:
                    state = (await store.states(conn, which.organisation, which.name))[which.name]
                    if state.status is Status.IDLE:  # nobody has started or stopped it meanwhile
                        await self._begin(conn, which, source, is_full=is_full)
                        log.info("source.due", source=which.name, is_full=is_full)

    async def stop(self, caller: Caller, name: str) -> Standing:
        """Read no further page; how far it came is kept."""
        self._swept(name)
        async with self._db.transaction(caller.organisation) as conn:
            await store.stop(conn, Which(caller.organisation, name))
        return await self.get(caller, name)

    async def take_up(self, caller: Caller, name: str, *, is_full: bool) -> "asyncio.Task[None] | None":
        """Begin a sweep or go on with it, and drive it in this very process; None while another drives it."""
        source, which = self._swept(name), Which(caller.organisation, name)
        async with self._db.transaction(caller.organisation) as conn:
            await self._begin(conn, which, source, is_full=is_full)
            driving = await self.sweepers.claim(conn, which)
        return self.sweepers.drive(source, driving) if driving else None

    async def letters(self, caller: Caller, name: str, before: UUID | None, limit: int) -> list[DeadLetter]:
        if name != RUNS and self.catalogue.get(name) is None:
            raise unknown_source(name)
        async with self._db.transaction(caller.organisation) as conn:
            return await store.letters(conn, Which(caller.organisation, name), before, limit)

    def _swept(self, name: str) -> Source:
        source = self.catalogue.get(name)
        if source is None and name != RUNS:
            raise unknown_source(name)
        if source is None or not source.enabled:
            why = "Its records come with runs." if source is None else "Its file says `enabled: false`."
            raise SourceOff(f"{name} is not swept. {why}", source=name)
        return source

    async def _begin(self, conn: Conn, which: Which, source: Source, *, is_full: bool) -> None:
        await store.settle(conn, which)
        state = (await store.states(conn, which.organisation, which.name))[which.name]
        is_other = is_full and state.place is not None and state.place.mode is not Mode.FULL
        new = None
        if state.place is None or is_other:
            has_changes = source.kind is Kind.STASHBOX and state.watermark is not None
            mode = Mode.INCREMENTAL if has_changes and not is_full else Mode.FULL
            new = Place.begin(uuid7(), mode, source.batch_size, state.watermark)
        await store.start(conn, which, new)

    async def _standing(self, conn: Conn, organisation: UUID, name: str, state: State | None, queued: int) -> Standing:
        links = await self._outlet.links(conn, organisation, name) if self._outlet.links else 0
        return Standing(name, self.catalogue.get(name), state, queued, links)
