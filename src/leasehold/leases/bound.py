"""Leases that are taken for a job: only while it lives, and they end with it.

What is granted while the job ends is caught by a second look after the grant: either that look sees the end, or whoever
ends the job sees the grant.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from uuid import UUID

from leasehold import idempotency
from leasehold.caller import Caller
from leasehold.db import Database, RollBack
from leasehold.idempotency import Once
from leasehold.problems import Problem

T = TypeVar("T")


class BoundLeases:
    """Lets those through who ask for a live job, or for none. Jobs tell it which those are, once they are there."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # Why nothing may be taken for a job; asked before and after a grant.
        self.refusal: Callable[[UUID, str], Awaitable[Problem | None]] = _none
        # Ends everything that was taken for jobs that are over.
        self.end: Callable[[UUID, Sequence[str]], Awaitable[object]] = _nothing

    async def taken(
        self,
        caller: Caller,
        job: str | None,
        once: Once | None,
        acquire: Callable[[], Awaitable[T]],
        take_back: Callable[[Caller, T], None],
    ) -> T:
        """Acquire for a job, or for none. Refused when there is no such job, or when it is over."""
        if job is None:
            return await acquire()
        problem = await self.refusal(caller.organisation, job)
        # What a repeat was granted before is over with the job, and that is for the lease to say.
        if problem and not (once and await self._was_granted(once)):
            raise problem
        granted = await acquire()
        try:
            problem = await self.refusal(caller.organisation, job)
        except BaseException:  # who asked is gone, or the database is: nobody will be told of it
            take_back(caller, granted)
            raise
        if problem:
            await self.end(caller.organisation, [job])
            raise problem
        return granted

    async def _was_granted(self, once: Once) -> bool:
        """Whether something was granted under this key before; one that is new stays new."""
        made = None
        async with self._db.transaction(once.organisation) as conn:
            made = await idempotency.claim(conn, once)
            raise RollBack
        return bool(made)


async def _none(_organisation: UUID, _job: str) -> Problem | None:
    return None


async def _nothing(_organisation: UUID, _jobs: Sequence[str]) -> None:
    return None
