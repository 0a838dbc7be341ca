"""Background work that is watched: a task that dies is logged, tried again with backoff, and seen in /readyz."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from leasehold import logs
from leasehold.duties import Duty
from leasehold.metrics import Metrics

log = logs.get(__name__)

_FIRST_BACKOFF_S = 0.5
_LONGEST_BACKOFF_S = 30.0
_CANCEL_AGAIN_S = 1.0


@dataclass
class Task:
    """One thing done again and again. It is well while its last good step is recent."""

    name: str
    step: Callable[[], Awaitable[object]]
    every_s: float
    failures: int = 0  # in a row
    last_good: float = field(default_factory=time.monotonic)
    handle: asyncio.Task[None] | None = None

    @property
    def patience_s(self) -> float:
        return 3 * self.every_s + _LONGEST_BACKOFF_S

    @property
    def is_well(self) -> bool:
        alive = self.handle is not None and not self.handle.done()
        return alive and self.failures == 0 and time.monotonic() - self.last_good < self.patience_s


class Background:
    """The tasks of one process, from start to stop."""

    def __init__(self, metrics: Metrics, duties: Collection[Duty] = tuple(Duty)) -> None:
        self._metrics = metrics
        self._duties = duties
        self.tasks: list[Task] = []

    def add(self, name: str, step: Callable[[], Awaitable[object]], every_s: float, duty: Duty | None = None) -> None:
        """Do it again and again, unless it is a duty that this process does not have."""
        if duty is None or duty in self._duties:
            self.tasks.append(Task(name, step, every_s))

    def start(self) -> None:
        for task in self.tasks:
            task.last_good = time.monotonic()
            task.handle = asyncio.create_task(self._run(task), name=task.name)

    async def stop(self) -> None:
        left = {task.handle for task in self.tasks if task.handle}
        while left:
            for handle in left:
                handle.cancel()
            # Again and again: a library that was just getting a connection may have lost the word.
            _, left = await asyncio.wait(left, timeout=_CANCEL_AGAIN_S)

    async def _run(self, task: Task) -> None:
        while True:
            wait_s = await self._step(task)
            await asyncio.sleep(wait_s)

    async def _step(self, task: Task) -> float:
        """Do it once; returns how long to wait before the next time."""
        try:
            await task.step()
        except (Exception, asyncio.CancelledError) as error:
            # Libraries raise CancelledError for a lost connection, too; only a cancel of this very task means stop.
            current = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and current and current.cancelling():
                raise
            return self._failed(task, error)
        task.failures = 0
        task.last_good = time.monotonic()
        return task.every_s

    def _failed(self, task: Task, error: BaseException) -> float:
        task.failures += 1
        self._metrics.task_restarts.labels(task.name).inc()
        backoff = min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2 ** min(task.failures - 1, 10))
        log.error("task.died", task=task.name, failures=task.failures, retry_in_s=backoff, exc_info=error)
        return float(backoff * random.uniform(0.5, 1.0))  # noqa: S311 (jitter, not a secret)
