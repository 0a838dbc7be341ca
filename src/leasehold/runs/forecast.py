"""What a category is likely to cost, learned from what earlier runs found and paid for. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from leasehold.runs.machine import Verdict
from leasehold.runs.models import Estimate, Line

# With fewer the dearest that may be is the list price: one run says little of the next.
FEW = 3
# How far back it is looked for what was collected already, unless the plan says so.
LATELY_DAYS = 7
# Older runs say less than the latest.
LATEST = 20


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one category came to in an earlier run."""

    category: str
    wanted: int  # at the most
    list_micros: int  # of an item, at the prices of then
    found: int
    paid: int  # those a call was made for
    paid_micros: int
    listed_micros: int  # its share of what listing cost

    @property
    def per_paid(self) -> float | None:
        """What a call did cost, as a part of the list price of then; None when that is not to be told."""
        return self.paid_micros / (self.paid * self.list_micros) if self.paid and self.list_micros else None

    @property
    def per_found(self) -> float:
        """What finding an item did cost, likewise."""
        return self.listed_micros / (self.found * self.list_micros) if self.found and self.list_micros else 0.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a category is likely to cost; nothing of that where no price is known."""

    category: str
    runs: int  # that it was learned from
    expected_items: int
    collected_lately: int  # different things that earlier runs have collected within some days
    low_cost_micros: int | None
    expected_cost_micros: int | None
    high_cost_micros: int | None

    @property
    def confidence(self) -> str:
        if self.expected_cost_micros is None:
            return "unknown price"
        if self.runs == 0:
            return "list price, never run"
        return "from 1 run" if self.runs == 1 else f"from {self.runs} runs"


@dataclass(frozen=True, slots=True)
class Review:
    """A plan before it is confirmed: what it may cost at the most, and what it is likely to."""

    estimate: Estimate
    forecast: list[Forecast]
    organisation_cap_micros: int
    lately_days: int

    @property
    def items(self) -> list[Line]:
        return self.estimate.items

    @property
    def total_cost_micros(self) -> int:
        return self.estimate.total_cost_micros

    @property
    def budget_cap_micros(self) -> int:
        return self.estimate.budget_cap_micros

    @property
    def verdict(self) -> Verdict:
        return self.estimate.verdict

    @property
    def low_cost_micros(self) -> int:
        return sum(one.low_cost_micros or 0 for one in self.forecast)

    @property
    def expected_cost_micros(self) -> int:
        return sum(one.expected_cost_micros or 0 for one in self.forecast)

    @property
    def high_cost_micros(self) -> int:
        return sum(one.high_cost_micros or 0 for one in self.forecast)

    @property
    def pauses_near_item(self) -> int | None:
        return pauses_near(self.forecast, self.budget_cap_micros)


def foresee(
    lines: Sequence[Line], lessons: Sequence[Lesson], lately: Mapping[str, int], *, is_skipped: bool
) -> list[Forecast]:
    """What each line is likely to cost; what was collected lately may be left out, and costs nothing then."""
    found = []
    for line in lines:
        past = [one for one in lessons if one.category == line.category]
        known = lately.get(line.category, 0)
        found.append(_foresee(line, past, known, known if is_skipped else 0))
    return found


def _foresee(line: Line, past: Sequence[Lesson], lately: int, skipped: int) -> Forecast:
    """From earlier runs of a category, the list price where there are none.

    Which of the things that are left out are listed again is not known: at the high end none of them is.
    """
    if line.unit_cost_micros is None:
        return Forecast(line.category, len(past), line.items, lately, None, None, None)
    if not past:
        cost, less = line.cost_micros, max(0, line.items - skipped) * line.unit_cost_micros
        return Forecast(line.category, 0, line.items, lately, less, less, cost)
    found = [_found(one, line.items) for one in past]
    rates = [one.per_paid for one in past if one.per_paid is not None] or [1.0]
    shares = [one.per_found for one in past]
    items, unit = round(median(found)), line.unit_cost_micros
    expected = round((max(0, items - skipped) * median(rates) + items * median(shares)) * unit)
    low = int((max(0, min(found) - skipped) * min(rates) + min(found) * min(shares)) * unit)
    high = ceil(max(found) * (max(rates) + max(shares)) * unit)
    if len(past) < FEW:
        high = max(high, line.cost_micros)
    return Forecast(line.category, len(past), items, lately, min(low, expected), expected, max(high, expected))


def _found(one: Lesson, wanted: int) -> int:
    """How many there are likely to be: where as many were found as were wanted, there may be more."""
    return wanted if one.found >= one.wanted else min(one.found, wanted)


def pauses_near(forecasts: Sequence[Forecast], cap_micros: int) -> int | None:
    """The number of the item that a cap is likely to end at; None when it bears what is expected."""
    before, left = 0, cap_micros
    for one in forecasts:
        cost = one.expected_cost_micros or 0
        if cost > left:
            return before + one.expected_items * left // cost
        before, left = before + one.expected_items, left - cost
    return None
