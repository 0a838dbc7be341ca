"""Why a job does not run: which limit, who holds it, what goes before it, and when that should clear."""

from dataclasses import dataclass
from datetime import datetime

from leasehold.jobs.machine import Status
from leasehold.jobs.models import Depth, Part, Pause
from leasehold.platforms import Platform


@dataclass(frozen=True, slots=True)
class Saying:
    """One part of a job, explained."""

    platform: str
    status: str
    reason: str
    detail: str
    position: int | None
    in_flight: int
    limit: int | None
    next_at: datetime | None


def explain(part: Part, platform: Platform | None, depth: Depth, pause: Pause | None, ahead: int) -> Saying:
    task = part.task
    limit = platform.limits.concurrency if platform else None

    def say(reason: str, detail: str, next_at: datetime | None = None) -> Saying:
        position = ahead + 1 if task.status is Status.PENDING else None
        return Saying(task.platform, str(task.status), reason, detail, position, depth.in_flight, limit, next_at)

    if task.status.is_over:
        why = f": {task.sub_status}" if task.sub_status else ""
        return say("over", f"It is over: {task.status}{why}.")
    if task.status is not Status.PENDING:
        if task.sub_status == "incomplete":
            return say("incomplete", "Its worker has said how many results there are; some of them are missing.")
        return say("running", f"A worker has it; this is attempt {task.attempt} of {task.max_attempts}.")
    if platform is None:
        return say("platform_unknown", f"There is no platform {task.platform} any more: put its file back.")
    if pause is not None:
        why = f" ({pause.reason})" if pause.reason else ""
        return say("paused", f"{pause.by_name} has paused {task.platform}{why}.")
    if part.is_resting:
        return say("resting", f"Attempt {task.attempt} of {task.max_attempts} begins later.", part.not_before)
    if limit is not None and depth.in_flight >= limit:
        return say("at_limit", f"{depth.in_flight} tasks of {task.platform} are in hand, which is all it bears.")
    if ahead:
        return say("queued", f"{ahead} go before it at {task.platform}.")
    return say("no_worker", f"It is the next at {task.platform}: no worker has asked for it yet.")
