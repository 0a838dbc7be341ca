"""What a benchmark brings home: ratios with what is asked of them, and the figures they were made of."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Aim:
    """What is asked of a ratio, and how steady it is."""

    must: float | None = None
    goal: float | None = None
    is_ceiling: bool = False  # the lower the better: must and goal are the most it may be
    tolerance: float | None = None  # by so much of itself the gate lets it get worse; None: too unsteady for the gate

    def is_met(self, value: float, bound: float) -> bool:
        return value <= bound if self.is_ceiling else value >= bound

    def floor(self, before: float) -> float:
        """The worst the gate lets pass where `before` was measured once."""
        share = self.tolerance or 0.0
        return before * (1 + share) if self.is_ceiling else before * (1 - share)


def at_least(must: float | None, goal: float | None = None, *, tolerance: float | None = None) -> Aim:
    return Aim(must, goal, is_ceiling=False, tolerance=tolerance)


def at_most(must: float | None, goal: float | None = None, *, tolerance: float | None = None) -> Aim:
    return Aim(must, goal, is_ceiling=True, tolerance=tolerance)


# Of interest, and nothing is asked of it.
NOTHING = Aim()


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two figures of the same round compared, round by round. It has the same name in every run."""

    name: str
    rounds: tuple[float, ...]
    aim: Aim = NOTHING

    def __post_init__(self) -> None:
        if not self.rounds:
            raise ValueError(f"{self.name}: no round could be compared")

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def verdict(self) -> str:
        """`goal` or `must`, whatever is met; `no`; nothing where nothing is asked."""
        asked = {"goal": self.aim.goal, "must": self.aim.must}
        met = [word for word, bound in asked.items() if bound is not None and self.aim.is_met(self.median, bound)]
        is_asked = any(bound is not None for bound in asked.values())
        return met[0] if met else "no" if is_asked else ""


@dataclass
class Report:
    """What was measured, by name; each a list of rounds."""

    values: dict[str, list[float]] = field(default_factory=dict)
    ratios: dict[str, Ratio] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)

    def ratio(self, name: str, above: str, below: str, aim: Aim = NOTHING) -> None:
        """Round by round: what was measured side by side is compared with each other."""
        pairs = zip(self.values[above], self.values[below], strict=True)
        self.note(name, [a / b for a, b in pairs if b], aim)

    def note(self, name: str, rounds: Sequence[float], aim: Aim = NOTHING) -> None:
        self.ratios[name] = Ratio(name, tuple(rounds), aim)

    def print(self) -> None:
        print(f"\n{'ratio':<66} {'median':>8} {'lowest':>8} {'highest':>8}")
        for name, ratio in self.ratios.items():
            print(f"{name:<66} {ratio.median:8.2f} {min(ratio.rounds):8.2f} {max(ratio.rounds):8.2f}")

    def document(self) -> dict[str, Any]:
        return {"values": self.values, "ratios": {name: list(ratio.rounds) for name, ratio in self.ratios.items()}}
