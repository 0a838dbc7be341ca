"""The results of a whole run: kept as JSON beside the report, which is written from them, and read by the gate."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.measured import Aim, Ratio
from bench.place import Place
from leasehold.life import CannotStart


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one benchmark."""

    name: str
    what: str
    seconds: float = 0.0
    ratios: list[Ratio] = field(default_factory=list)
    figures: dict[str, list[float]] = field(default_factory=dict)
    failed: str | None = None  # why
    skipped: str | None = None  # why


@dataclass(frozen=True, slots=True)
class Results:
    """Everything, and where it was measured."""

    place: Place
    rounds: int
    is_quick: bool
    results: list[Result]

    @property
    def is_whole(self) -> bool:
        return not any(one.failed for one in self.results)

    def ratios(self) -> dict[str, Ratio]:
        return {ratio.name: ratio for one in self.results for ratio in one.ratios}

    def write(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> "Results":
        if not file.exists():
            how = "Run `make bench` on a quiet machine, and commit what it writes."
            raise CannotStart(f"There are no results in {file} to compare with. {how}")
        told = json.loads(file.read_text(encoding="utf-8"))
        return cls(Place(**told["place"]), told["rounds"], told["is_quick"], [result(one) for one in told["results"]])


def result(told: dict[str, Any]) -> Result:
    return Result(**{**told, "ratios": [_ratio(one) for one in told.get("ratios", [])]})


def _ratio(told: dict[str, Any]) -> Ratio:
    return Ratio(told["name"], tuple(told["rounds"]), Aim(**told["aim"]))
