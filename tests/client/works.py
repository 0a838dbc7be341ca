"""What it takes to let workers work for a leasehold, and to look at what came of it."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leasehold.client.worker import Worker
from leasehold.client.worker_http import HttpTransport
from tests.parts.broker import JSON, Broker
from tests.parts.house import House

PATIENCE_S = 30.0
OVER = ("completed", "failed", "timed_out", "partial", "cancelled")


@dataclass(frozen=True)
class Works:
    """A leasehold on loopback, a collector's token for it, and a producer."""

    home: House
    url: str
    token: str
    broker: Broker
    folder: Path

    def worker(self, **options: Any) -> Worker:
        return Worker(self.url, self.token, **options)

    def by(self, options: dict[str, Any], **more: Any) -> Worker:
        """A worker whose transport has options of its own."""
        return Worker(transport=HttpTransport(self.url, self.token, **options), **more)

    async def submit(self, job: str, **more: Any) -> JSON:
        return await self.broker.submit(job_id=job, **more)

    async def over(self, job: str) -> JSON:
        """The job, once it has come to an end."""
        return await self.seen(job, lambda found: found["status"] in OVER)

    async def seen(self, job: str, is_so: Callable[[JSON], object]) -> JSON:
        """The job, once it is so."""
        async with asyncio.timeout(PATIENCE_S):
            while not is_so(found := await self.broker.job(job)):
                await asyncio.sleep(0.02)
        return found

    async def done(self, worker: Worker, *jobs: str) -> list[JSON]:
        """Let a worker work until these jobs are over."""
        async with running(worker):
            return [await self.over(job) for job in jobs]

    async def leases(self) -> list[JSON]:
        items: list[JSON] = (await self.broker.client.get("/v2/leases?kind=task")).json()["items"]
        return items

    @contextmanager
    def process(self, folder: Path, code: str, name: str = "one") -> Iterator[subprocess.Popen[bytes]]:
        """A worker in a process of its own, as an operator starts it."""
        module = folder / f"crawler_{name}.py"
        module.write_text("from leasehold.client.worker import *\n" + textwrap.dedent(code))
        environment = os.environ | {"LEASEHOLD_URL": self.url, "LEASEHOLD_TOKEN": self.token}
        command = [sys.executable, "-m", "leasehold", "worker", module.stem]
        with (folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()


@asynccontextmanager
async def running(*workers: Worker) -> AsyncIterator[None]:
    """Workers at work; stopped at the end, and whatever broke them is raised."""
    serving = [asyncio.create_task(worker.serve()) for worker in workers]
    try:
        yield
    finally:
        await asyncio.sleep(0)
        for worker in workers:
            if not (worker._stopping and worker._stopping.is_set()):
                worker.stop()  # a second time would hurry it
        await asyncio.wait_for(asyncio.gather(*serving), PATIENCE_S)


async def until(is_so: Callable[[], object | Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = is_so()
            if await found if isinstance(found, Awaitable) else found:
                return
            await asyncio.sleep(0.01)
