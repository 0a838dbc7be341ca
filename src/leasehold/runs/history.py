"""What runs did when: the moves of a run as stretches of time, for a picture of many. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leasehold.runs.models import Run

# What a run is in after each of its moves; after the others it is over.
_AFTER = {"created": "pending", "wanted": "pending", "started": "running", "resumed": "running", "paused": "paused"}


@dataclass(frozen=True, slots=True)
class Move:
    """Something that put a run into another state."""

    type: str
    at: datetime
    pause_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time in one state; the last of a run that is not over has no end."""

    state: str
    pause_reason: str | None
    from_at: datetime
    to_at: datetime | None


@dataclass(frozen=True, slots=True)
class Past:
    """A run and what it did when."""

    run: Run
    spans: list[Span]


@dataclass(frozen=True, slots=True)
class History:
    """Runs that lived within a stretch of time."""

    since: datetime
    now: datetime
    items: list[Past]


def spans(moves: Iterable[Move]) -> list[Span]:
    """Stretches in their order, without a gap. Moves that change nothing make none."""
    found: list[Span] = []
    for move in moves:
        state = _AFTER.get(move.type)
        last = found[-1] if found else None
        if last and last.to_at is None:
            if (last.state, last.pause_reason) == (state, move.pause_reason):
                continue
            found[-1] = _ended(last, move.at)
        if state is not None:
            found.append(Span(state, move.pause_reason, move.at, None))
    return found


def _ended(span: Span, at: datetime) -> Span:
    return Span(span.state, span.pause_reason, span.from_at, at)


def moves(rows: Iterable[tuple[Any, ...]]) -> dict[Any, list[Move]]:
    """By their runs."""
    found: dict[Any, list[Move]] = {}
    for run, kind, at, reason in rows:
        found.setdefault(run, []).append(Move(kind, at, reason))
    return found
