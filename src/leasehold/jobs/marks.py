"""The mark on a job that leases were taken for: whoever ends the job ends those right after.

It is set before anything is granted and stays until the leases are gone. So if nobody gets to that, the reaper does.
"""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from leasehold import logs
from leasehold.caller import Caller
from leasehold.db import Database
from leasehold.jobs import store
from leasehold.jobs.problems import JobUnknown, WrongState
from leasehold.leases import nobody
from leasehold.problems import DOWN, Problem

log = logs.get(__name__)

# Longer than any acquire waits: from then on nothing is granted any more that was asked for while the job lived.
_PATIENCE_S = 120


class Marks:
    """Which jobs have leases, and how those end."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # Ends what was taken for these jobs, of every kind; known once there is somebody who holds leases.
        self.revoke: Callable[[Caller, Sequence[str]], Awaitable[int]] = _nothing

    async def refusal(self, organisation: UUID, job: str) -> Problem | None:
        """Why nothing may be taken for this job. If something may, the job is marked now."""
        async with self._db.transaction(organisation) as conn:
            status = await store.mark_leased(conn, organisation, job)
        if status is None:
            return JobUnknown("No job of your organisation has this id.")
        if status.is_over:
            return WrongState("This job is over: nothing is taken for it any more.", status_now=str(status))
        return None

    async def over(self, organisation: UUID, jobs: Sequence[str]) -> bool:
        """These marked jobs are over, and that is committed: so are the leases that were taken for them.

        The jobs are over whatever comes of this; False when it is left to the reaper.
        """
        if jobs:
            try:
                await self.revoke(nobody(organisation), jobs)
            except (Problem, *DOWN) as error:
                log.warning("job.leases_left", jobs=len(jobs), error=type(error).__name__)
                return False
        return True

    async def reap(self, organisations: Sequence[UUID]) -> None:
        """End what somebody should have ended who did not get to it."""
        for organisation in organisations:
            async with self._db.transaction(organisation) as conn:
                jobs = await store.over_with_leases(conn, organisation)
            if jobs and await self.over(organisation, jobs):
                async with self._db.transaction(organisation) as conn:
                    await store.unmark_leased(conn, organisation, jobs, _PATIENCE_S)


async def _nothing(_caller: Caller, _jobs: Sequence[str]) -> int:
    return 0
