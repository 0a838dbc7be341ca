"""A provider that is down pauses its runs. Each tries it with one item; when it is back they go on, one by one."""

from uuid import UUID

from leasehold.db import Conn
from leasehold.jobs import breakers
from leasehold.runs import store
from leasehold.runs.machine import Pause, Status
from leasehold.runs.models import Run
from leasehold.runs.service import pause, resume

# Those of a provider that is back go on one after the other.
STAGGER_S = 2.0
_PROBE_S = 5.0
_ALONE_S = 30.0


async def pause_for_outage(conn: Conn, organisation: UUID, run: Run, provider: str, reason: str) -> None:
    """Begin nothing more while the breaker of its platform is open. Hold the run."""
    if run.status is Status.RUNNING:
        detail = f"{provider} is down: {reason}. One item tries it from time to time."
        await pause(conn, organisation, run, Pause.PROVIDER_DOWN, detail)


async def resume_if_back(conn: Conn, organisation: UUID, run: Run) -> bool:
    """Whether it goes on. Hold the guard of slots, and the run."""
    if run.pause_reason is not Pause.PROVIDER_DOWN:
        return False
    is_open = (await breakers(conn, organisation)).get(run.platform) is not None
    if is_open and run.in_flight:
        return False
    given = {"organisation": organisation, "run": run.id}
    row = await (await conn.execute(store.SQL["is_time_to_resume"], given)).fetchone()
    is_time, is_unplanned = row if row else (False, False)
    if is_time:
        await resume(conn, organisation, run, {"reason": "provider_back", "by": None})
        return True
    if is_unplanned and is_open:
        # It has nothing in hand to try the provider with: it goes on to begin one item, and rests again.
        await store.change(conn, store.SQL["resume_later"], organisation, run.id, wait_s=_ALONE_S)
    elif is_unplanned:
        others = {"organisation": organisation, "platform": run.platform}
        before = await (await conn.execute(store.SQL["resuming"], others)).fetchone()
        wait_s = STAGGER_S * (1 + (before[0] if before else 0)) if run.in_flight else _PROBE_S
        await store.change(conn, store.SQL["resume_later"], organisation, run.id, wait_s=wait_s)
    return False
