"""How platforms stand: what they have in hand, what waits, and what keeps them from beginning more."""

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from leasehold.platforms import Limits, Phase, Platform, Rate


@dataclass(frozen=True, slots=True)
class Load:
    """What a platform has in hand, how many organisations wait for it, and what keeps it from beginning more."""

    platform: str
    in_hand: int
    waiting: int
    ours: int
    is_paused: bool
    limit: int  # in force now
    apart_s: float | None = None  # between two tasks that begin, where there is a rate
    burst: int | None = None  # as many begin at once
    probes: int | None = None  # of a breaker that is open
    is_probe_due: bool | None = None
    probe_at: datetime | None = None
    rate_room: int | None = None
    rate_in_s: float | None = None
    rate_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.probes is not None

    @property
    def room(self) -> int:
        """How many more we may begin. Where others wait too, everybody has an equal share."""
        if self.is_paused:
            return 0
        free = max(0, self.limit - self.in_hand)
        if self.rate_room is not None:
            free = min(free, self.rate_room)
        if self.is_open:
            free = min(free, 1 if self.is_probe_due else 0)
        if self.waiting <= 1:
            return free
        share = -(-self.limit // self.waiting)
        return min(free, max(0, share - self.ours))


@dataclass(frozen=True, slots=True)
class HoldsSome:
    """Somebody who has tasks of a platform in hand."""

    owner: str
    tasks: int
    until: datetime  # the first of the leases runs out


@dataclass(frozen=True, slots=True)
class OpenBreaker:
    """A breaker that is open, and how it is found out whether it may close."""

    platform: str
    opened_at: datetime
    reason: str
    probes: int
    probe: UUID | None
    probe_at: datetime
    is_probing: bool


@dataclass(frozen=True, slots=True)
class Depth:
    """How a platform stands with an organisation."""

    depth: int = 0
    oldest_s: float | None = None
    in_flight: int = 0
    failure_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """That a platform was paused, and by whom."""

    platform: str
    paused_at: datetime
    by_name: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class LimitsWish:
    """What a platform is to bear; None is as its file says."""

    concurrency: int | None = None
    rate: Rate | None = None

    def over(self, said: Limits) -> Limits:
        """The limits in force where a file says these."""
        return Limits(concurrency=self.concurrency or said.concurrency, rate=self.rate or said.rate)


@dataclass(frozen=True, slots=True)
class Override:
    """What a platform bears for a while instead of what its file says."""

    platform: str
    wish: LimitsWish
    since: datetime
    until: datetime | None
    by_name: str | None = None  # to the organisation that set it alone, and so is the reason
    reason: str | None = None

    @property
    def text(self) -> str:
        """Who changed it, until when, and why."""
        until = f" until {self.until:%Y-%m-%d %H:%M} UTC" if self.until else ""
        return f"changed by {self.by_name or 'an operator'}{until}{f': {self.reason}' if self.reason else ''}"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a platform stands with an organisation."""

    platform: Platform
    depth: Depth
    pause: Pause | None
    phase: Phase
    breaker: OpenBreaker | None
    today: date
    override: Override | None = None
    # Attempts that ended within the window of its breaker; only where one platform was asked for.
    succeeded: int = 0
    failed: int = 0
    may_change_limits: bool = False  # likewise

    @property
    def limits(self) -> Limits:
        """In force now."""
        return self.override.wish.over(self.platform.limits) if self.override else self.platform.limits
