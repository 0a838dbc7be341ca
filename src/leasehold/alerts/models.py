"""An alert, and the message in which alerts on the same matter are told together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

# Kinds of alerts. Whoever raises another kind needs to do nothing else.
DEAD_LETTERS = "dead_letters"
PLATFORM_PAUSED = "platform_paused"
PLATFORM_RESUMED = "platform_resumed"
BREAKER_OPENED = "breaker_opened"
BREAKER_CLOSED = "breaker_closed"

# Kinds that come in swarms: of one matter at most one message is sent in this time.
SWARMS = (DEAD_LETTERS,)
QUIET_S = 60
# How many jobs a message names.
MOST_JOBS = 5


@dataclass(frozen=True, slots=True)
class Matter:
    """What alerts that are told together have in common."""

    kind: str
    platform: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Raised:
    """How often it happened, to which jobs among others, and when last."""

    count: int
    job_ids: Sequence[str]
    at: datetime

    def joined(self, other: "Raised") -> "Raised":
        names = list(dict.fromkeys([*self.job_ids, *other.job_ids]))[:MOST_JOBS]
        return Raised(self.count + other.count, names, max(self.at, other.at))


@dataclass(frozen=True, slots=True)
class Known:
    """An alert that is still remembered."""

    kind: str
    platform: str | None
    reason: str | None
    count: int
    at: datetime
    sent_at: datetime | None
    tries: int


@dataclass(frozen=True, slots=True)
class Message:
    """Something to be sent now; `now_s` is the time in the database, in seconds since 1970."""

    id: UUID
    matter: Matter
    raised: Raised
    now_s: int

    def document(self, organisation: str) -> Mapping[str, Any]:
        matter, raised = self.matter, self.raised
        return {
            "id": self.id.hex,
            "kind": matter.kind,
            "organisation": organisation,
            "platform": matter.platform,
            "reason": matter.reason,
            "count": raised.count,
            "job_ids": list(raised.job_ids),
            "at": raised.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            "text": self.text(organisation),
        }

    def text(self, organisation: str) -> str:
        where, why = self.matter.platform or "no platform", f": {self.matter.reason}" if self.matter.reason else ""
        number = self.raised.count
        match self.matter.kind:
            case "dead_letters":
                said = f"{number} dead letter{'s' if number > 1 else ''} at {where}{why}"
            case "platform_paused":
                said = f"{where} was paused{why}"
            case "platform_resumed":
                said = f"{where} was resumed{why}"
            case kind:
                said = f"{kind.replace('_', ' ')} at {where}{why}"
        return f"leasehold, {organisation}: {said}."
