"""The desk: what many callers ask for at once is done together. What arrives while a batch is under way makes the next.

There is no timer: a lone request is a batch of one at once, and under load batches grow by themselves.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID


class Slip(Protocol):
    """One thing asked for at the desk."""

    @property
    def future(self) -> asyncio.Future[Any]:
        """Where the answer goes. Cancelled means that nobody waits for it any more."""

    @property
    def subject(self) -> Hashable | None:
        """Two slips about one subject never go in the same batch; None is about nothing in particular."""


S = TypeVar("S", bound=Slip)


class Desk(Generic[S]):
    """Batches per organisation: one transaction serves one organisation alone.

    `lanes` batches of an organisation may be under way at once; `most` slips go in one. One lane with large batches is
    what pays; many lanes with batches of one are plain transactions, to compare with.
    """

    def __init__(self, work: Callable[[UUID, list[S]], Awaitable[None]], most: int = 256, lanes: int = 1) -> None:
        self._work = work
        self._most = most
        self._lanes = lanes
        self._queues: dict[UUID, deque[S]] = {}
        self._running: dict[UUID, set[asyncio.Task[None]]] = {}

    def put(self, organisation: UUID, slip: S) -> None:
        self._queues.setdefault(organisation, deque()).append(slip)
        lanes = self._running.setdefault(organisation, set())
        # A lane that has ended but was not taken away yet does not come back for this slip.
        if sum(not lane.done() for lane in lanes) < self._lanes:
            lane = asyncio.create_task(self._run(organisation), name="desk")
            lanes.add(lane)
            lane.add_done_callback(lambda done: self._left(organisation, done))

    async def drain(self) -> None:
        """Wait until everything that was put is done."""
        while lanes := [lane for running in self._running.values() for lane in running]:
            await asyncio.wait(lanes)

    def _left(self, organisation: UUID, lane: asyncio.Task[None]) -> None:
        lanes = self._running.get(organisation, set())
        lanes.discard(lane)
        if not lanes and not self._queues.get(organisation):
            self._running.pop(organisation, None)
            self._queues.pop(organisation, None)

    async def _run(self, organisation: UUID) -> None:
        while batch := self._take(organisation):
            try:
                await self._work(organisation, batch)
            except (Exception, asyncio.CancelledError) as error:
                _refuse(batch, error)
                if isinstance(error, asyncio.CancelledError):
                    raise

    def _take(self, organisation: UUID) -> list[S]:
        """The next batch: in the order of arrival, each subject once."""
        queue = self._queues.get(organisation)
        batch: list[S] = []
        later: list[S] = []
        seen: set[Hashable] = set()
        while queue and len(batch) < self._most:
            slip = queue.popleft()
            if slip.subject is not None and slip.subject in seen:
                later.append(slip)
                continue
            seen.add(slip.subject)
            batch.append(slip)
        if queue is not None:
            queue.extendleft(reversed(later))
        return batch


def _refuse(batch: list[S], error: BaseException) -> None:
    for slip in batch:
        if not slip.future.done():
            slip.future.set_exception(error)
            slip.future.exception()  # looked at: a caller that left must not make the loop complain
