"""The life of a capture, as tables: what hand-offs and operators do to it. No I/O."""

from enum import StrEnum


class CaptureState(StrEnum):
    """What a capture is, to those who ask."""

    RECEIVED = "received"  # here, and waiting for a consumer
    CLAIMED = "claimed"  # a consumer has a live lease on it; follows from that, and is never stored
    DELIVERED = "delivered"  # a consumer has it
    REJECTED = "rejected"  # a consumer will not have it
    STUCK = "stuck"  # too many hand-offs failed; an operator puts it back


class Outcome(StrEnum):
    """What a consumer says when it gives a capture back."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"


# Hand-offs that may fail, or run out, before it is set aside.
MOST_FAILURES = 5

_AFTER = {
    Outcome.OK: CaptureState.DELIVERED,
    Outcome.FAILED: CaptureState.RECEIVED,
    Outcome.REJECTED: CaptureState.REJECTED,
}
_EVENT = {
    CaptureState.DELIVERED: "delivered",
    CaptureState.REJECTED: "rejected",
    CaptureState.RECEIVED: "redelivered",
    CaptureState.STUCK: "stuck",
}


def after(outcome: Outcome | None, failures: int) -> tuple[CaptureState, int]:
    """Where a hand-off that ended leaves a capture, and how many have failed by then. No outcome: it ran out, which
    counts as failed."""
    if outcome in (Outcome.OK, Outcome.REJECTED):
        return _AFTER[outcome], failures
    failures += 1
    return (CaptureState.STUCK if failures >= MOST_FAILURES else _AFTER[Outcome.FAILED]), failures


def event(state: CaptureState) -> str:
    """What the audit calls it that a hand-off left a capture so."""
    return _EVENT[state]


# What an operator may put back among those that wait.
ASIDE = frozenset({CaptureState.STUCK, CaptureState.REJECTED})
