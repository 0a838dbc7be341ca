"""What a worker asks of the way its tasks and results take. There are two: HTTP, and RabbitMQ."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from leasehold.client.worker_models import Task, Verdict

# Platforms, with the types of task that the worker has a function for.
Subjects = Mapping[str, frozenset[str]]


class WorkerMisconfigured(Exception):
    """The worker cannot begin as it is; the sentence says what to change."""


class Held(Protocol):
    """A task that is ours, as long as it is."""

    @property
    def task(self) -> Task: ...

    @property
    def deadline_s(self) -> float:
        """When it is to be over, by this machine's clock."""

    @property
    def lost(self) -> str | None:
        """Why it is no longer ours."""

    def tell(self, listener: Callable[[str], None]) -> None:
        """Call the listener once when it is lost, in whichever thread notices; at once if it is."""


class Source(Protocol):
    """Where tasks come from."""

    async def take(self, limit: int, wait_s: int) -> Sequence[Held]:
        """What there is to do now or within that time; nothing is an answer. What is taken is kept alive."""


class Transport(Protocol):
    """The way of tasks and results. Opened once; everything but `open` and `close` may happen many times at once."""

    @property
    def address(self) -> str:
        """Where it leads, for people to read: without anything secret."""

    async def open(self, subjects: Subjects, concurrency: int) -> Sequence[Source]: ...

    def bring(self, held: Held, message: str) -> asyncio.Future[Verdict]:
        """Send a result, again and again until it is answered: it is durable when this is done.

        Results of one task arrive in the order they were brought. Raises ResultRefused when the answer is no, and
        LeaseLost when the task was lost before there was one.
        """

    async def end(self, held: Held) -> None:
        """Its last result is durable: that was all."""

    async def give_back(self, held: Held) -> None:
        """It goes to another worker, undone."""

    async def drop(self, held: Held) -> None:
        """It is lost: nothing more is said about it."""

    async def close(self) -> None:
        """Nothing is asked for any more; what was granted and never seen is given back."""
