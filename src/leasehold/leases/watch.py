"""Notices that a clock jumped ahead, by holding it against one that cannot be set. No I/O."""

from dataclasses import dataclass
from datetime import datetime, timedelta

# What a clock may be put forward by unnoticed: less than this is drift, or somebody setting it right.
JUMP_S = 60.0
# A look that took longer says too little of when it was true to hold the next against it.
PROMPT_S = 5.0


@dataclass(frozen=True, slots=True)
class Look:
    """What a clock showed, and between which two moments of ours that was."""

    now: datetime
    asked: float
    heard: float
    # The last jump of it that had been seen to by then.
    known: int = 0


@dataclass(frozen=True, slots=True)
class Jump:
    """A clock is further ahead than time has passed since it was last believed."""

    before: Look
    after: Look

    @property
    def seconds(self) -> float:
        """How far it jumped, at the most: the longer an answer took, the less is known of when it was true."""
        shown = (self.after.now - self.before.now).total_seconds()
        return shown - (self.after.asked - self.before.heard)

    @property
    def unjumped(self) -> datetime:
        """What the clock would show if it had not jumped, at the least: what ended before that has ended."""
        return self.after.now - timedelta(seconds=self.seconds)

    @property
    def since(self) -> datetime:
        """The time it was last believed at, by the clock as it goes now, at the earliest."""
        return self.after.now - timedelta(seconds=self.after.heard - self.before.asked)


class ClockWatch:
    """Remembers when a clock was last believed. Drift is followed, and so is a clock that is put back."""

    def __init__(self) -> None:
        self._last: Look | None = None

    def seen(self, look: Look) -> Jump | None:
        """The jump there was since the clock was last believed. Until somebody has seen to it, it is told again."""
        if self._last is not None:
            jump = Jump(self._last, look)
            if jump.seconds > JUMP_S:
                return jump
        if self._last is None or look.heard - look.asked <= PROMPT_S:
            self.believe(look)
        return None

    def believe(self, look: Look) -> None:
        """From now on this is the time."""
        self._last = look
