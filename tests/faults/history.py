"""What clients did and saw: a file of JSON lines for each, with a line before and a line after every call."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from math import inf
from pathlib import Path
from typing import Any, Literal

# `ok`: done, and we know. `fail`: refused, and nothing happened. `unknown`: may have happened, or may happen yet.
Result = Literal["ok", "fail", "unknown"]
NEMESIS = "nemesis"
HEALED = "healed"


@dataclass(frozen=True, slots=True)
class Clock:
    """How far the database's clock is ahead of CLOCK_MONOTONIC, at the least and at the most."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Call:
    """One call, and the time of the database in which it was served: not before `began`, not after `ended`."""

    client: str
    op: str
    began: float
    ended: float  # infinite when the outcome is unknown: it may be served at any later time
    result: Result
    asked: Mapping[str, Any]
    seen: Mapping[str, Any]

    @property
    def status(self) -> int:
        """The HTTP status; 0 when there was no answer."""
        return int(self.seen.get("status", 0))

    def covers(self, moment: float) -> bool:
        return self.result != "fail" and self.began <= moment <= self.ended

    def __str__(self) -> str:
        return f"{self.client} {self.op} {dict(self.asked)} -> {self.result} {dict(self.seen)}"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something the nemesis did, from when to when, and to whom."""

    what: str
    target: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class History:
    """What everybody did and saw, and what was done to them."""

    calls: list[Call]
    faults: list[Fault]

    @property
    def healed_at(self) -> float:
        """From when on nothing was broken any more."""
        return max((fault.ended for fault in self.faults if fault.what == HEALED), default=inf)


class Recorder:
    """Writes the history of one client. What was written survives a kill: every line leaves the process at once."""

    def __init__(self, folder: Path, client: str) -> None:
        self._file = (folder / f"{client}.jsonl").open("a", buffering=1, encoding="utf-8")
        self._numbers = count(1)

    def invoke(self, op: str, asked: Mapping[str, Any]) -> int:
        number = next(self._numbers)
        self._write({"call": number, "type": "invoke", "op": op, "asked": dict(asked)})
        return number

    def answered(self, number: int, result: Result, seen: Mapping[str, Any]) -> None:
        self._write({"call": number, "type": result, "seen": dict(seen)})

    def fault(self, what: str, target: str, began: float) -> None:
        """Something the nemesis did that is over now."""
        self._write({"type": "fault", "what": what, "target": target, "began": began})

    def close(self) -> None:
        self._file.close()

    def _write(self, event: dict[str, Any]) -> None:
        self._file.write(json.dumps({"at": time.monotonic(), **event}) + "\n")


def read(folder: Path, clock: Clock, slack: float) -> History:
    """Everything in the folder, told in the database's time; `slack` is how far its clock may have drifted."""
    least, most = clock.least - slack, clock.most + slack
    calls: list[Call] = []
    faults: list[Fault] = []
    for file in sorted(folder.glob("*.jsonl")):
        invoked: dict[int, dict[str, Any]] = {}
        for event in _events(file):
            if event["type"] == "fault":
                began, ended = event["began"] + clock.least, event["at"] + clock.most
                faults.append(Fault(event["what"], event["target"], began, ended))
            elif event["type"] == "invoke":
                invoked[event["call"]] = event
            else:
                asked = invoked.pop(event["call"])
                ended = inf if event["type"] == "unknown" else event["at"] + most
                calls.append(_call(file.stem, asked, asked["at"] + least, ended, event))
        # Whoever was killed in the middle of a call left no word of how it ended.
        calls += [
            _call(file.stem, asked, asked["at"] + least, inf, {"type": "unknown", "seen": {}})
            for asked in invoked.values()
        ]
    return History(sorted(calls, key=lambda call: call.began), faults)


def _call(client: str, asked: Mapping[str, Any], began: float, ended: float, answer: Mapping[str, Any]) -> Call:
    return Call(client, asked["op"], began, ended, answer["type"], asked["asked"], answer["seen"])


def _events(file: Path) -> Iterator[dict[str, Any]]:
    lines = file.read_text(encoding="utf-8").split("\n")
    for line in lines[:-1]:  # what stands after the last line's end was cut off by a kill
        yield json.loads(line)
