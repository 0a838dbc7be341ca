"""Stops a task whose lease is lost, and tells that from every other cancellation, as `asyncio.timeout` does."""

import asyncio
from contextlib import suppress

from leasehold.client.problems import LeaseLost


class Interruption:
    """Made by the task that is to be stopped; called from any thread."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a lease is held by a task; there is none here")
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._earlier = task.cancelling()
        self._is_over = False
        self._is_sent = False

    def __call__(self, lost: LeaseLost) -> None:
        """Stop the task as soon as its loop comes to it."""
        with suppress(RuntimeError):  # the loop is closed: there is no task any more
            self._loop.call_soon_threadsafe(self._cancel, lost)

    def _cancel(self, lost: LeaseLost) -> None:
        if not self._is_over:
            self._is_sent = True
            self._task.cancel(str(lost))

    def end(self, error: BaseException | None) -> bool:
        """The block is over. Whether `error` is our own doing and nobody else's."""
        self._is_over = True
        if not self._is_sent:
            return False
        nobody_else = self._task.uncancel() <= self._earlier
        return nobody_else and isinstance(error, asyncio.CancelledError)
