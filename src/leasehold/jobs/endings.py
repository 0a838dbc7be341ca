"""How a job ends that nobody finished: it is cancelled, its time is over, or somebody gives up on it. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from leasehold.jobs.machine import Status, Task
from leasehold.jobs.models import Burial

# Why a dead letter is one that somebody put there.
BY_HAND = "by_hand"


@dataclass(frozen=True, slots=True)
class JobEnding:
    """What its parts become, what is written of it, and what the dead letter says where there is one."""

    status: Status
    event: str
    sub_status: str | None = None
    letter: tuple[str, str] | None = None  # the reason, and a sentence
    is_somebodys: bool = True  # and not the clock's
    told: Mapping[str, str] = field(default_factory=dict)

    def of(self, task: Task) -> Task:
        return replace(task, status=self.status, sub_status=self.sub_status, final_seq=None)

    def burials(self, over: Sequence[Task]) -> list[Burial]:
        if self.letter is None:
            return []
        reason, sentence = self.letter
        return [Burial(reason, "{}", task, sentence) for task in over]


CANCELLED = JobEnding(Status.CANCELLED, "cancelled")
TIMED_OUT = JobEnding(Status.TIMED_OUT, "timed_out", letter=("timed_out", "Its deadline passed."), is_somebodys=False)


def by_hand(name: str, reason: str) -> JobEnding:
    """Somebody gives up on it, and says why."""
    letter = (BY_HAND, f"{name} put it here: {reason}")
    return JobEnding(Status.FAILED, "dead_lettered", BY_HAND, letter, told={"reason": reason})
