"""The life of a source: its states, its moves, and how a sweep goes on from page to page. No I/O.

A list is paged by OFFSET, and nothing but a time orders it: rows of an equal time swap between two requests, and one
that is deleted lets all after it move up. So a pass through the list proves nothing by itself. A sweep is as many
passes as it takes until what was seen and what the source says it has agree; each pass has pages of another size, so
that what fell between two pages once stands in the middle of one the next time.
"""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID


class Status(StrEnum):
    IDLE = "idle"  # no sweep is under way
    SWEEPING = "sweeping"  # one driver goes on with it, under a lease
    PAUSED = "paused"  # somebody stopped it; a start goes on
    FAILED = "failed"  # it could not go on by itself; a start goes on


class Waiting(StrEnum):
    """Why a sweep asks for nothing just now."""

    RATE = "rate"  # it asked too often
    RETRY = "retry"  # the source did not answer; it is asked again soon
    QUEUE = "queue"  # the writer has enough to do


class Move(StrEnum):
    START = "start"
    STOP = "stop"
    FINISH = "finish"
    FAIL = "fail"


TABLE: dict[Move, tuple[frozenset[Status], Status]] = {
    Move.START: (frozenset({Status.IDLE, Status.PAUSED, Status.FAILED}), Status.SWEEPING),
    Move.STOP: (frozenset({Status.SWEEPING}), Status.PAUSED),
    Move.FINISH: (frozenset({Status.SWEEPING}), Status.IDLE),
    Move.FAIL: (frozenset({Status.SWEEPING}), Status.FAILED),
}


def edge(move: Move) -> dict[str, Any]:
    """The two parameters every status-changing query takes: `src` and `dst`."""
    sources, target = TABLE[move]
    return {"src": sorted(sources), "dst": str(target)}


class Mode(StrEnum):
    FULL = "full"  # all there is
    INCREMENTAL = "incremental"  # what was changed since the last sweep


class Phase(StrEnum):
    LIST = "list"  # page by page
    ASK = "ask"  # one by one, for those that were not in the list


# A server that gives less than it is asked for is asked for so many.
SAFE_BATCH = 25
# Each pass has pages that are smaller by so much, of a hundred.
_SHRINK_PERCENT = 7
# A source that changes all the time is given up on after so many passes; what was seen is handed over all the same.
MOST_PASSES = 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sweep has come to: with this alone another process goes on."""

    sweep: str
    mode: Mode
    batch: int  # what a page is asked for, before passes make it smaller
    phase: Phase = Phase.LIST
    number: int = 1  # of the pass
    page: int = 1  # the next one
    first_count: int | None = None  # what the source said it has, when the pass began
    last_count: int | None = None
    began: str | None = None  # the source's own time then
    new: int = 0  # created since, and seen in this pass
    fresh: int = 0  # seen in this pass for the first time in this sweep
    gone: int = 0  # found to be deleted since the pass began
    is_steady: bool = True  # until now nothing was deleted while we read
    asks_own: bool = False  # those that were seen in this sweep, but not in this pass, are asked for, too
    watermark: str | None = None  # where an incremental sweep ends
    newest: str | None = None  # the latest change that was seen

    @classmethod
    def begin(cls, sweep: UUID, mode: Mode, batch: int, watermark: datetime | None) -> Self:
        until = watermark.isoformat() if watermark and mode is Mode.INCREMENTAL else None
        return cls(sweep.hex, mode, batch, watermark=until)

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        known = {**document, "mode": Mode(document["mode"]), "phase": Phase(document["phase"])}
        return cls(**known)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def per_page(self) -> int:
        """Smaller with each pass, down to half, and then again from the start."""
        shrink = (self.number - 1) % 8 * _SHRINK_PERCENT
        return max(1, self.batch - self.batch * shrink // 100)

    @property
    def is_pass_steady(self) -> bool:
        """Whether what the source says it has changed by nothing but what was created meanwhile."""
        if self.first_count is None or self.last_count is None:
            return False
        return self.last_count - self.first_count == self.new


@dataclass(frozen=True, slots=True)
class Read:
    """What matters of a page that was read."""

    rows: int
    count: int
    date: str | None  # the source's own time
    new: int  # of those seen for the first time in this pass: created since the pass began
    fresh: int
    newest: str | None
    reaches_watermark: bool


def with_smaller_pages(place: Place, rows: int) -> Place:
    """The source gives less than it is asked for: begin the pass again, and ask for less."""
    batch = SAFE_BATCH if place.batch > SAFE_BATCH else max(1, rows)
    return replace(place, batch=batch, page=1, first_count=None, last_count=None, new=0)


def gives_less(place: Place, read: Read) -> bool:
    """Whether the first page has fewer rows than were asked for and are there."""
    return place.page == 1 and 0 < read.rows < min(place.per_page, read.count)


def after_page(place: Place, read: Read) -> tuple[Place, bool]:
    """Where the sweep stands after a page, and whether that was the last one of the pass."""
    is_first = place.first_count is None
    is_as_before = not is_first or place.last_count in (None, read.count)
    now = replace(
        place,
        page=place.page + 1,
        is_steady=place.is_steady and is_as_before,
        first_count=read.count if is_first else place.first_count,
        last_count=read.count,
        began=read.date if is_first else place.began,
        new=place.new + read.new,
        fresh=place.fresh + read.fresh,
        newest=max(filter(None, (place.newest, read.newest)), default=None),
    )
    is_last = not read.rows or place.page * place.per_page >= read.count
    return now, is_last or (place.mode is Mode.INCREMENTAL and read.reaches_watermark)


class Next(StrEnum):
    """What comes after a pass, or after those were asked for that it did not show."""

    ASK = "ask"
    AGAIN = "again"
    DONE = "done"


def after_pass(place: Place, live: int, unseen: int) -> tuple[Place, Next]:
    """What a pass has shown, when `live` of this sweep are known and `unseen` of them were not in this pass."""
    if place.mode is Mode.INCREMENTAL:
        shrunk = place.first_count is not None and (place.last_count or 0) < place.first_count
        # One that is deleted lets the next ones move up, past us.
        return (_next_pass(place), Next.AGAIN) if shrunk and place.number < MOST_PASSES else (place, Next.DONE)
    steady = place.is_steady and place.is_pass_steady
    agrees = live == place.last_count
    if steady and agrees:
        return replace(place, phase=Phase.ASK, asks_own=False), Next.ASK
    if unseen and (not steady or live > (place.last_count or 0)):
        return replace(place, phase=Phase.ASK, asks_own=True, is_steady=False), Next.ASK
    if place.is_pass_steady and agrees:
        return replace(place, phase=Phase.ASK, asks_own=False), Next.ASK
    # Two passes that show the very same: there is nothing more to be had, whatever the source says it has.
    is_same = place.is_pass_steady and not (place.fresh or place.gone or unseen)
    return _another(replace(place, is_steady=steady), is_last=is_same)


def after_asking(place: Place, live: int) -> tuple[Place, Next]:
    """What to do when nobody is left to ask for."""
    if not place.asks_own or (place.is_pass_steady and live == place.last_count):
        return place, Next.DONE
    return _another(place)


def _another(place: Place, *, is_last: bool = False) -> tuple[Place, Next]:
    if is_last or place.number >= MOST_PASSES:
        return replace(place, phase=Phase.ASK, asks_own=False), Next.ASK
    return _next_pass(place), Next.AGAIN


def _next_pass(place: Place) -> Place:
    return replace(
        place,
        phase=Phase.LIST,
        number=place.number + 1,
        page=1,
        first_count=None,
        new=0,
        fresh=0,
        gone=0,
        asks_own=False,
    )


def resumed(place: Place) -> Place:
    """Somebody else goes on: with one page of overlap, for what was in between may have moved."""
    return replace(place, page=max(1, place.page - 1)) if place.phase is Phase.LIST else place
