"""Step after step to the end of a run. A step that fails is tried again, later each time, but not for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import UUID

from leasehold import logs
from leasehold.db import Conn
from leasehold.ids import show
from leasehold.problems import DOWN, Unavailable
from leasehold.runs import ledger, store
from leasehold.runs.grip import Grip, NotTheDriver
from leasehold.runs.machine import Pause, Status
from leasehold.runs.models import RUN, Run
from leasehold.runs.service import pause

log = logs.get(__name__)

# What cannot be reached just now, of our own: nothing is wrong with the run.
AWAY = (*DOWN, Unavailable)
FIRST_S = 5.0
_LONGEST_S = 300.0
_AWAY_S = 1.0
MOST = 5


async def walk(grip: Grip, step: Callable[[], Awaitable[bool]]) -> None:
    """Do steps until one says that there is no more to do, then let go of the run."""
    try:
        await _walk(grip, step)
    except NotTheDriver:
        pass
    except Exception:
        # Not let go of: whoever takes it up does so when the lease has run out, and not at once.
        log.exception("run.driver_died", run=show(RUN, grip.run))
        return
    except asyncio.CancelledError:
        await _leave(grip)
        raise
    await _leave(grip)


async def _walk(grip: Grip, step: Callable[[], Awaitable[bool]]) -> None:
    times, is_more = 0, True
    while is_more:
        try:
            is_more = await step()
            times = 0
        except NotTheDriver:
            raise
        except Exception as error:
            times += not isinstance(error, AWAY)
            log.exception("run.stumbled", run=show(RUN, grip.run), times=times)
            await _recover(grip, error, times)


async def _leave(grip: Grip) -> None:
    with suppress(Exception):
        await asyncio.shield(grip.let_go())


async def _recover(grip: Grip, error: Exception, times: int) -> None:
    is_away = isinstance(error, AWAY)
    await asyncio.sleep(_AWAY_S if is_away else 0)
    async with grip.db.transaction(grip.organisation) as conn:
        held = await grip.held(conn)
        await ledger.settle_listings(conn, grip.organisation, grip.run)
        if is_away:
            return
        wait_s = await stumble(conn, grip.organisation, held, error, times)
    await grip.rest(wait_s, held.status)


async def stumble(conn: Conn, organisation: UUID, run: Run, error: Exception, times: int) -> float:
    """Note that a step failed, so often in a row; returns how long to wait before the next. Hold the run."""
    what = f"Something unexpected happened here ({type(error).__name__}); the log says more."
    if run.status is Status.RUNNING and times >= MOST:
        detail = f"{what} It was tried {times} times: resume when it is mended."
        await pause(conn, organisation, run, Pause.FAILURES, detail, code="unexpected")
        return 0.0
    wait_s = min(FIRST_S * 2.0 ** (times - 1), _LONGEST_S)
    if times <= MOST:
        told = {"detail": f"{what} It is tried again in {wait_s:g} seconds.", "wait_seconds": wait_s}
        await store.tell(conn, organisation, run.id, [("stumbled", told)])
    return wait_s
