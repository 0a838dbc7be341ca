"""What goes wrong: servers and clients are killed and stopped, in an order that a seed decides."""

import asyncio
import os
import random
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tests.faults.history import HEALED, Recorder
from tests.parts.process import Leasehold

# Shorter than a lease lives, and longer.
SHORT_S = (0.3, 1.5)
LONG_S = (0.8, 2.2)


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
    process: subprocess.Popen[bytes]


class Nemesis:
    """Two lanes of faults, one for servers and one for clients; each is healed before the next of its lane."""

    def __init__(self, seed: str, ttl_s: int, log: Recorder) -> None:
        self._rng = random.Random(f"{seed}/nemesis")  # noqa: S311
        self._ttl_s = ttl_s
        self._log = log

    async def torment(
        self, servers: list[Server], crowds: list[Crowd], another: Callable[[], Crowd], seconds: float
    ) -> None:
        """Break things for so long; returns when all is whole again."""
        until = time.monotonic() + seconds
        await asyncio.gather(
            self._lane(until, self._of_servers(servers)), self._lane(until, self._of_clients(crowds, another))
        )
        self._log.fault(HEALED, "all", time.monotonic())

    async def _lane(self, until: float, faults: Iterator[Callable[[], Awaitable[None]]]) -> None:
        for fault in faults:
            await asyncio.sleep(self._rng.uniform(0.3, 1.2))
            if time.monotonic() >= until:
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

    def _deck(self, *cards: str) -> Iterator[str]:
        """Every card comes before any comes again."""
        while True:
            yield from self._rng.sample(cards, len(cards))

    def _stop_s(self, *, is_long: bool) -> float:
        return self._ttl_s + self._rng.uniform(*LONG_S) if is_long else self._rng.uniform(*SHORT_S)

    async def _kill_server(self, server: Server) -> None:
        began = time.monotonic()
        await asyncio.to_thread(server.revive)
        self._log.fault("server kill", server.name, began)

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
