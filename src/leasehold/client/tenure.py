"""How long a lease is surely ours, by this machine's own clock: it never asks what time it is elsewhere.

The server counts from when it grants or renews, which is after we asked. So the lease lives at least until its time has
passed since the *sending* of the request that was answered, however slow the answer was. A lease that has grown old may
be given less; then what counts is by how much the renewal moved its end.
"""

import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from leasehold.client.models import Lease
from leasehold.client.problems import LeaseLost

Listener = Callable[[LeaseLost], None]

# No server gives a younger lease less time than was asked for: the greatest age it can be set to allow is no less.
_YOUNG = timedelta(hours=1)

if sys.platform == "linux":

    def clock() -> float:
        """Seconds that only grow; they pass also while the machine is suspended."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

else:
    clock = time.monotonic


def margin_s(ttl_s: float) -> float:
    """How long before its end a lease is given up, so that what was just begun can still stop in time."""
    return min(1.0, 0.05 * ttl_s)


def renewal_s(ttl_s: float) -> float:
    """How long after the last renewal the next is due: a third, so that several can fail."""
    return ttl_s / 3


class Tenure:
    """One lease that is held: until when, and what ended it. What is over stays over. Safe to use from any thread."""

    def __init__(self, lease: Lease, ttl_s: float, sent_s: float, now: Callable[[], float] = clock) -> None:
        self.lease = lease.id
        self.expires_at = lease.expires_at  # by the server's clock, for people to read
        self.ttl_s = ttl_s
        # Why the last attempt to reach the server failed, if it did.
        self.trouble: Exception | None = None
        self._now = now
        self._lock = threading.RLock()
        self._sent_s = sent_s  # the last request that was answered
        self._known_s = sent_s + ttl_s  # the server does not end it before
        self._lost: LeaseLost | None = None
        self._is_left = False
        self._listeners: list[Listener] = []

    @property
    def ends_s(self) -> float:
        """When it is given up, unless a renewal comes."""
        return min(self._sent_s + self.ttl_s, self._known_s) - margin_s(self.ttl_s)

    @property
    def renew_s(self) -> float:
        """When the next renewal is due."""
        return self._sent_s + renewal_s(self.ttl_s)

    @property
    def remaining_s(self) -> float:
        """How long it is surely ours if no renewal comes."""
        return 0.0 if self._is_left or self._lost else max(0.0, self.ends_s - self._now())

    def renewed(self, lease: Lease, sent_s: float) -> bool:
        """A renewal that was sent then is answered. False when the answer came too late to count."""
        with self._lock:
            if self.lost:
                return False
            moved_s = (lease.expires_at - self.expires_at).total_seconds()
            is_young = lease.expires_at - lease.acquired_at < _YOUNG
            known_s = sent_s + self.ttl_s if is_young else self._known_s + moved_s
            # An older answer that comes later takes nothing away.
            self._known_s = max(self._known_s, known_s)
            self._sent_s = max(self._sent_s, sent_s)
            self.expires_at = max(self.expires_at, lease.expires_at)
            self.trouble = None
            return True

    def failed(self, error: Exception) -> None:
        """An attempt failed: told as the cause if none works. A timeout says less than what went before it."""
        if self.trouble is None or not isinstance(error, TimeoutError):
            self.trouble = error

    @property
    def lost(self) -> LeaseLost | None:
        """Why it is no longer ours. Looks at the clock itself, so no thread has to have noticed before."""
        with self._lock:
            if self._lost is None and not self._is_left and self._now() >= self.ends_s:
                self.lose(self._ran_out())
            return self._lost

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to renew."""
        return self._is_left or self.lost is not None

    def lose(self, why: LeaseLost) -> None:
        """It is no longer ours; the first reason stands."""
        with self._lock:
            if self._lost:
                return
            self._lost = why
            listeners, self._listeners = self._listeners, []
        for told in listeners:
            told(why)

    def tell(self, listener: Listener) -> None:
        """Call the listener once when the lease is lost, in whichever thread notices; at once if it is."""
        with self._lock:
            lost = self.lost
            if lost is None:
                self._listeners.append(listener)
        if lost is not None:
            listener(lost)

    def leave(self) -> LeaseLost | None:
        """The block is over: the clock is not looked at any more, and nobody is called. Why it was lost, if it was."""
        with self._lock:
            lost, self._is_left, self._listeners = self.lost, True, []
            return lost

    def check(self) -> None:
        """Raise LeaseLost unless the lease is surely ours at this moment."""
        if self.lost:
            raise self.lost
        if self._is_left:
            raise LeaseLost.here(self.lease, "released", "The block that held this lease is over.")

    def _ran_out(self) -> LeaseLost:
        detail = "could not be renewed in time" if self.trouble else "was not renewed any further"
        lost = LeaseLost.here(self.lease, "expired", f"The lease {detail} and was given up.")
        lost.__cause__ = self.trouble
        return lost
