"""When a seed is visited next: sooner where things are found, later where none are. No I/O, and no clock.

Whatever happens, a visit is never nearer than the seed's least interval and never further than its greatest.
"""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

LEAST_S = 60
USUAL_S = 3600
MOST_S = 1_209_600

# How far an interval goes towards its least when something was found, and how much it grows when nothing was.
_TOWARDS_LEAST = 0.5
_GROWTH = 0.5
_JITTER = 0.1
_FIRST_RETRY_S = 60
_LONGEST_RETRY_S = 86_400


class VisitOutcome(StrEnum):
    """How a visit went."""

    OK = "ok"  # visited; `found` says how many new things there were
    FAILED = "failed"  # tried again, later each time
    GONE = "gone"  # it is not there any more and is left alone


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often a seed is visited, and how often in a row that failed."""

    interval_s: int = USUAL_S
    least_s: int = LEAST_S
    most_s: int = MOST_S
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Next:
    """What a visit made of the rhythm, and how long until the next one."""

    rhythm: Rhythm
    delay_s: float
    is_gone: bool = False


def after(rhythm: Rhythm, outcome: VisitOutcome, found: int, chance: float) -> Next:
    """The next visit. `chance` from 0 to 1 spreads those that fell due together."""
    match outcome:
        case VisitOutcome.OK:
            interval = _shorter(rhythm) if found else _longer(rhythm)
            rhythm = replace(rhythm, interval_s=interval, failures=0)
            return Next(rhythm, _spread(rhythm, interval, chance))
        case VisitOutcome.FAILED:
            rhythm = replace(rhythm, failures=rhythm.failures + 1)
            return Next(rhythm, _spread(rhythm, _retry_s(rhythm.failures), chance))
        case VisitOutcome.GONE:
            return Next(rhythm, _spread(rhythm, rhythm.interval_s, chance), is_gone=True)


def _shorter(rhythm: Rhythm) -> int:
    nearer = (1 - _TOWARDS_LEAST) * rhythm.interval_s + _TOWARDS_LEAST * rhythm.least_s
    return max(rhythm.least_s, math.floor(nearer))


def _longer(rhythm: Rhythm) -> int:
    return min(rhythm.most_s, math.ceil(rhythm.interval_s * (1 + _GROWTH)))


def _retry_s(failures: int) -> float:
    # Beyond so many the cap holds anyway, and the power would grow out of hand.
    return min(_LONGEST_RETRY_S, _FIRST_RETRY_S * 2.0 ** min(failures - 1, 30))


def _spread(rhythm: Rhythm, delay_s: float, chance: float) -> float:
    spread = delay_s * (1 + _JITTER * (2 * chance - 1))
    return min(float(rhythm.most_s), max(float(rhythm.least_s), spread))


@dataclass(frozen=True, slots=True)
class RhythmWish:
    """What somebody says of a rhythm; None is not said."""

    interval_s: int | None = None
    least_s: int | None = None
    most_s: int | None = None

    @property
    def contradiction(self) -> str | None:
        """Why these cannot all be, if they cannot."""
        least, every, most = self.least_s, self.interval_s, self.most_s
        if least is not None and most is not None and least > most:
            return "min_interval_seconds must not be above max_interval_seconds"
        if every is not None and least is not None and every < least:
            return "interval_seconds must not be below min_interval_seconds"
        if every is not None and most is not None and every > most:
            return "interval_seconds must not be above max_interval_seconds"
        return None


def adjusted(rhythm: Rhythm, wish: RhythmWish) -> Rhythm:
    """The rhythm as wished. What was said stands; what was not makes room for it."""
    said = [value for value in (wish.interval_s, wish.least_s) if value is not None]
    most = wish.most_s if wish.most_s is not None else max([rhythm.most_s, *said])
    said = [value for value in (wish.interval_s, wish.most_s) if value is not None]
    least = wish.least_s if wish.least_s is not None else min([rhythm.least_s, *said])
    every = wish.interval_s if wish.interval_s is not None else min(most, max(least, rhythm.interval_s))
    return replace(rhythm, interval_s=every, least_s=least, most_s=most)
