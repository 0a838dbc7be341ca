"""One reader for all who watch the same: what is new is read once, and everybody is sent the same text.

A feed keeps the latest in a ring, numbered by itself. Who watches knows only the number it has come to, and whoever
falls behind the ring reads for itself or begins anew. So neither a feed nor a socket grows with what happens.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from websockets.frames import Frame, Opcode

from leasehold import logs
from leasehold.leases import nobody
from leasehold.runs import Event, News, Run, RunFilter, Runs, RunUnknown, Watchers, event_out, snapshot

log = logs.get(__name__)

# At most four bursts a second.
BURST_S = 0.25
# Looks all the same after so long.
TICK_S = 5.0
PAGE = 100
# How much a feed keeps for those who are not quite so quick, and for how many bursts.
_RING_BYTES = 1024 * 1024
_RING_BURSTS = 40
# So many runs are told of to who watches all of them.
_MOST_RUNS = 200
# Snapshots are shared by those who come together.
_SHARED_S = 0.25
_AFTER_A_FAILURE_S = 1.0


@dataclass(frozen=True, slots=True)
class Entry:
    """An event as it is sent."""

    run: UUID
    seq: int
    is_progress: bool
    framed: bytes


@dataclass(frozen=True, slots=True)
class Start:
    """Where somebody begins: what is told first, and what comes after it."""

    at: int  # the number within the feed
    seen: dict[UUID, int]  # the number of the latest event that is in it, by run
    framed: bytes


@dataclass
class _Ring:
    """The latest entries. `floor` is the number of the last one that was let go."""

    floor: int = 0
    entries: list[Entry] = field(default_factory=list)
    size_bytes: int = 0
    bursts: list[int] = field(default_factory=list)  # where each ended

    @property
    def top(self) -> int:
        return self.floor + len(self.entries)

    def add(self, entries: Sequence[Entry]) -> None:
        """A burst, or the passing of time when there is none."""
        self.entries += entries
        self.size_bytes += sum(len(entry.framed) for entry in entries)
        self.bursts.append(self.top)
        # A whole burst stays, however large: those who are up to date must find it here.
        while len(self.bursts) > 1 and (self.size_bytes > _RING_BYTES or len(self.bursts) > _RING_BURSTS):
            gone = self.bursts.pop(0) - self.floor
            self.size_bytes -= sum(len(entry.framed) for entry in self.entries[:gone])
            del self.entries[:gone]
            self.floor += gone


class Feed:
    """The news of one run, or of all runs of an organisation."""

    def __init__(self, runs: Runs, watchers: Watchers, organisation: UUID, run: UUID | None) -> None:
        self._runs = runs
        self._watchers = watchers
        self._caller = nobody(organisation)
        self.run = run
        self._ring = _Ring()
        self._positions: dict[UUID, int] = {}  # what was read, by run
        # Of those that were there before the feed, and are not told of unless they change: where they stood.
        self._stood: dict[UUID, int] = {}
        self._newest: datetime | None = None
        self._joined: dict[int, bytes] = {}
        self._changed = asyncio.Event()
        self._opening = asyncio.Lock()
        self._shared: tuple[float, Start] | None = None
        self._reading: asyncio.Task[None] | None = None
        self.watched_by = 0

    async def open(self) -> None:
        """Begin to read, unless somebody has made it begin. Raises RunUnknown."""
        async with self._opening:
            if self._reading is not None:
                return
            key = self.run or self._caller.organisation
            news = self._watchers.join(key)
            try:
                await self._begin()
            except BaseException:
                self._watchers.leave(key, news)
                raise
            self._reading = asyncio.create_task(self._read_on(news), name=f"live-{key.hex}")
            self._reading.add_done_callback(lambda _done: self._watchers.leave(key, news))

    async def _begin(self) -> None:
        if self.run is None:
            there = await self._runs.page(self._caller, RunFilter(), None, _MOST_RUNS)
            self._stood = {run.id: run.last_seq for run in there}
            self._newest = there[0].created_at if there else None
        self._positions = {run.id: run.last_seq for run in await self._live_ones(set())}

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def start(self, since: int = 0) -> Start:
        """Where things are, for somebody who comes now and knows of so many events of the run. Those who come
        together share it."""
        async with self._opening:
            now = asyncio.get_running_loop().time()
            if self._shared is None or self._shared[0] < now or not self._is_good(self._shared[1], since):
                self._shared = (now + _SHARED_S, await self._start(set()))
            return self._shared[1]

    async def restart(self) -> Start:
        """Where things are, for somebody who knows not how the runs ended that were live."""
        return await self._start(set(self._positions))

    async def _start(self, known: set[UUID]) -> Start:
        at = self._ring.top  # before it is looked: whatever comes after this is told, or is in it already
        found = await self._live_ones(known)
        framed = b"".join(framed_as_text(snapshot(run)) for run in found)
        return Start(at, {run.id: run.last_seq for run in found}, framed)

    def _is_good(self, start: Start, since: int) -> bool:
        return start.at >= self._ring.floor and (self.run is None or start.seen[self.run] >= since)

    @property
    def top(self) -> int:
        return self._ring.top

    def after(self, at: int) -> list[Entry] | None:
        """What came after a number; None when that is not known here any more."""
        if at < self._ring.floor:
            return None
        return self._ring.entries[at - self._ring.floor :]

    def joined(self, at: int) -> bytes:
        """All of what came after a number, as it is sent: the same bytes for all who are there."""
        if at not in self._joined:
            self._joined[at] = b"".join(entry.framed for entry in collapsed(self.after(at) or (), {}))
        return self._joined[at]

    async def page(self, since: int) -> list[Entry]:
        """What came after an event of the run, out of the database."""
        if self.run is None:
            return []
        found = await self._runs.news(self._caller, {self.run: since}, PAGE)
        return [_entry(event) for event in found]

    async def changed(self) -> None:
        """Wait until there is more."""
        await self._changed.wait()

    async def _live_ones(self, known: set[UUID]) -> list[Run]:
        if self.run is not None:
            return [await self._runs.get(self._caller, self.run)]
        return await self._runs.live_ones(self._caller, known, _MOST_RUNS)

    async def _read_on(self, news: News) -> None:
        while True:
            try:
                is_more = await self._read(news)
                await asyncio.sleep(BURST_S)
                if not is_more:
                    await _wait(news)
            except Exception:
                log.exception("live.cannot_read")
                news.is_unsure = True
                await asyncio.sleep(_AFTER_A_FAILURE_S)

    async def _read(self, news: News) -> bool:
        """What is new, into the ring; whether there may be more."""
        runs, is_unsure = news.take()
        if self.run is not None:
            runs = {self.run}
        elif is_unsure:
            runs |= {run.id for run in await self._live_ones(set())} | self._positions.keys()
        old = await self._unknown_old_ones(runs)
        since = {run: self._positions.get(run, self._stood.get(run, 0)) for run in runs - old.keys()}
        found = await self._runs.news(self._caller, since, PAGE) if since else []
        for event in found:
            self._positions[event.run] = event.seq
        self._positions |= {run.id: run.last_seq for run in old.values()}
        self._ring.add([*(_whole(run) for run in old.values()), *(_entry(event) for event in found)])
        self._joined.clear()
        if old or found:
            told, self._changed = self._changed, asyncio.Event()
            told.set()
        if len(found) < PAGE:
            return False
        news.runs |= runs
        return True

    async def _unknown_old_ones(self, runs: Iterable[UUID]) -> dict[UUID, Run]:
        """Runs from before the feed of which nothing is known: what was is history, so it is told where they are."""
        old: dict[UUID, Run] = {}
        for run in runs:
            if run not in self._positions and run not in self._stood:
                with suppress(RunUnknown):
                    found = await self._runs.get(self._caller, run)
                    if self._newest is not None and found.created_at <= self._newest:
                        old[run] = found
        return old


async def _wait(news: News) -> None:
    try:
        async with asyncio.timeout(TICK_S):
            await news.wait()
    except TimeoutError:
        return


def collapsed(entries: Sequence[Entry], seen: dict[UUID, int]) -> Iterator[Entry]:
    """What is sent of a burst: nothing that was seen, and of the progress of a run the latest alone."""
    latest = {entry.run: entry.seq for entry in entries if entry.is_progress}
    for entry in entries:
        if entry.seq > seen.get(entry.run, 0) and (not entry.is_progress or latest[entry.run] == entry.seq):
            yield entry


def _entry(event: Event) -> Entry:
    return Entry(event.run, event.seq, event.type == "progress", framed_as_text(event_out(event)))


def _whole(run: Run) -> Entry:
    return Entry(run.id, run.last_seq, False, framed_as_text(snapshot(run)))


def framed_as_text(message: dict[str, Any]) -> bytes:
    """A message as it goes over the wire to everybody."""
    return Frame(Opcode.TEXT, orjson.dumps(message)).serialize(mask=False)
