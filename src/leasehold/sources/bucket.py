"""How often a source is asked: evenly, slower after each refusal, and never in a burst."""

import time
from collections.abc import Callable

# After each answer the rate grows by so much of what is allowed, until it is that again.
_CREEP = 0.02
_SLOWEST_PER_MINUTE = 1.0


class Bucket:
    """Gives one request at a time. It holds no more than one, so that no pause is made up for afterwards."""

    def __init__(self, per_minute: float, now: Callable[[], float] = time.monotonic) -> None:
        self._allowed = per_minute
        self._now = now
        self._next = now()
        self.per_minute = per_minute

    def wait_s(self) -> float:
        """How long until the next request may be sent."""
        return max(0.0, self._next - self._now())

    def take(self) -> None:
        self._next = max(self._now(), self._next) + 60.0 / self.per_minute

    def drain(self) -> None:
        """Nothing was asked for a while, on purpose: begin again from an empty one."""
        self._next = self._now() + 60.0 / self.per_minute

    def refused(self, retry_after_s: float) -> None:
        """Half as often from now on, and not at all for a while."""
        self.per_minute = max(_SLOWEST_PER_MINUTE, self.per_minute / 2)
        self._next = self._now() + retry_after_s

    def answered(self) -> None:
        self.per_minute = min(self._allowed, self.per_minute + self._allowed * _CREEP)
