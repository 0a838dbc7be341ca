"""What goes wrong: servers, clients and databases are killed, stopped and cut off, in an order that a seed decides."""

import asyncio
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from tests.faults.history import HEALED, Recorder
from tests.parts.nursery import Process
from tests.parts.process import PATIENCE_S, Leasehold
from tests.parts.weather import Sky, Weather

# Shorter than a lease lives, and longer.
SHORT_S = (0.3, 1.5)
LONG_S = (0.8, 2.2)
# Between two faults of a lane. All depend on the database: it is left alone for longer.
PAUSE_S = (0.3, 1.2)
LULL_S = (0.8, 2.0)


@dataclass(slots=True)
class Server:
    """A place where a server runs, or is to run again after it was killed."""

    name: str
    port: int
    start: Callable[[], Leasehold]
    running: Leasehold

    def revive(self) -> None:
        self.running.kill()
        self.running = self.start()
        self.running.ready()


@dataclass(slots=True)
class Crowd:
    """A process of clients. After a kill another takes its place under another name."""

    name: str
    process: Process


class Mortal(Protocol):
    """A database that comes back with what it had."""

    def kill(self) -> None: ...
    def start(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Victims:
    """To whom things are done. Crowds are exchanged as they die."""

    crowds: list[Crowd]
    another: Callable[[], Crowd]
    servers: list[Server]
    # Returns when every server can do its work again.
    recover: Callable[[], None]
    database: Mortal | None = None
    # Over the way to the database.
    sky: Sky | None = None


class Nemesis:
    """Lanes of faults, one for each kind of victim; each is healed before the next of its lane."""

    def __init__(self, seed: str, ttl_s: int, log: Recorder) -> None:
        self._rng = random.Random(f"{seed}/nemesis")  # noqa: S311
        self._ttl_s = ttl_s
        self._log = log
        # A server does not start without its database: they are not killed at the same time.
        self._killing = asyncio.Lock()

    async def torment(self, victims: Victims, seconds: float) -> None:
        """Break things for so long; returns when all is whole again."""
        until = time.monotonic() + seconds
        lanes = [self._lane(until, self._of_clients(victims.crowds, victims.another))]
        if victims.servers:
            lanes.append(self._lane(until, self._of_servers(victims.servers)))
        if victims.database:
            faults = self._of_database(victims.database, victims.sky)
            lanes.append(self._lane(until, faults, LULL_S, at_least=len(Weather) if victims.sky else 1))
        await asyncio.gather(*lanes)
        await asyncio.to_thread(victims.recover)
        self._log.fault(HEALED, "all", time.monotonic())

    async def _lane(
        self,
        until: float,
        faults: Iterator[Callable[[], Awaitable[None]]],
        pause_s: tuple[float, float] = PAUSE_S,
        at_least: int = 0,
    ) -> None:
        for number, fault in enumerate(faults):
            await asyncio.sleep(self._rng.uniform(*pause_s))
            if number >= at_least and time.monotonic() >= until:
                return
            await fault()

    def _of_servers(self, servers: list[Server]) -> Iterator[Callable[[], Awaitable[None]]]:
        for what in self._deck("kill", "kill", "stop", "stop", "stop", "stop long"):
            server = self._rng.choice(servers)
            if what == "kill":
                yield partial(self._kill_server, server)
            else:
                stop_s = self._stop_s(is_long=what == "stop long")
                yield partial(self._stop_server, server, stop_s)

    def _of_clients(self, crowds: list[Crowd], another: Callable[[], Crowd]) -> Iterator[Callable[[], Awaitable[None]]]:
        for what in self._deck("kill", "stop long"):
            place = self._rng.randrange(len(crowds))
            if what == "kill":
                yield partial(self._kill_crowd, crowds, place, another)
            else:
                stop_s = self._stop_s(is_long=True)
                yield partial(self._stop_crowd, crowds[place], stop_s)

    def _of_database(self, database: Mortal, sky: Sky | None) -> Iterator[Callable[[], Awaitable[None]]]:
        if sky is None:
            yield from (partial(self._kill_database, database) for _ in iter(int, 1))
            return
        for what in self._deck("kill", *(weather for weather in Weather if weather is not Weather.FAIR)):
            if what == "kill":
                yield partial(self._kill_database, database)
            else:
                yield partial(self._weather, sky, Weather(what), self._rng.uniform(*LONG_S))

    def _deck(self, *cards: str) -> Iterator[str]:
        """Every card comes before any comes again."""
        while True:
            yield from self._rng.sample(cards, len(cards))

    def _stop_s(self, *, is_long: bool) -> float:
        return self._ttl_s + self._rng.uniform(*LONG_S) if is_long else self._rng.uniform(*SHORT_S)

    async def _kill_server(self, server: Server) -> None:
        async with self._killing:
            began = time.monotonic()
            await asyncio.to_thread(server.revive)
            self._log.fault("server kill", server.name, began)

    async def _kill_database(self, database: Mortal) -> None:
        async with self._killing:
            began = time.monotonic()
            await asyncio.to_thread(database.kill)
            await asyncio.to_thread(database.start)
            self._log.fault("database kill", "database", began)

    async def _weather(self, sky: Sky, weather: Weather, seconds: float) -> None:
        began, felt = time.monotonic(), sky.felt[weather]
        sky.turn(weather)
        try:
            await asyncio.sleep(seconds)
            async with asyncio.timeout(PATIENCE_S):  # on a busy machine it may be a while before anybody is on the way
                while sky.felt[weather] == felt:
                    await asyncio.sleep(0.05)
        finally:
            sky.turn(Weather.FAIR)
        self._log.fault(f"wire {weather}", "database", began)

    async def _kill_crowd(self, crowds: list[Crowd], place: int, another: Callable[[], Crowd]) -> None:
        began, killed = time.monotonic(), crowds[place]
        killed.process.kill()
        killed.process.wait()
        crowds[place] = another()
        self._log.fault("client kill", killed.name, began)

    async def _stop_server(self, server: Server, seconds: float) -> None:
        await self._stop("server", server.name, server.running.pid, seconds)

    async def _stop_crowd(self, crowd: Crowd, seconds: float) -> None:
        await self._stop("client", crowd.name, crowd.process.pid, seconds)

    async def _stop(self, kind: str, name: str, pid: int, seconds: float) -> None:
        began = time.monotonic()
        os.kill(pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            os.kill(pid, signal.SIGCONT)
        self._log.fault(f"{kind} stop", name, began)
