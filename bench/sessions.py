"""The merge of a browser state against a plain merge of dictionaries over the same data, JSON on both sides.

200 cookies and 2,000 localStorage keys in 4 origins; a tenth was rotated since. Both sides decode what is stored and
what was sent, merge, and encode what is stored next. Ours reads, checks, derives against a base, joins and reports as
well. Sealing what is stored is not in it: it costs the same on both sides. Printed as ratios inside one run.
"""

import argparse
import gc
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from bench import aims
from bench.measured import NOTHING, Report
from leasehold.sessions import (
    Base,
    Canonical,
    Envelope,
    Health,
    History,
    Rules,
    Source,
    Start,
    decode,
    encode,
    hand_out,
    handed_out,
    parse_state,
    read_state,
    receive,
)

COOKIES, KEYS, ORIGINS = 200, 2_000, 4
KEY = bytes(32)
NOW = 1_794_700_000
State = dict[str, Any]


def sample(rotation: int, rotated: int = 10) -> State:
    """A state after so many rotations; every `rotated`th value changes with each."""

    def value(number: int, length: int) -> str:
        turn = rotation if number % rotated == 0 else 0
        return f"{number:04x}{turn:04x}".ljust(length, "x")

    cookies = [
        {
            "name": f"cookie_{number}",
            "value": value(number, 40 + number % 60),
            "domain": f"{'.' if number % 3 else ''}host{number % 5}.example",
            "path": "/",
            "expires": NOW + 86_400 * (1 + number % 300) + 0.25 if number % 2 else -1,
            "httpOnly": number % 2 == 0,
            "secure": True,
            "sameSite": "Lax",
        }
        for number in range(COOKIES)
    ]
    origins = [
        {
            "origin": f"https://host{place}.example",
            "localStorage": [
                {"name": f"app.section{number % 40}.key{number}", "value": value(number, 20 + number % 100)}
                for number in range(KEYS // ORIGINS)
            ],
        }
        for place in range(ORIGINS)
    ]
    return {"cookies": cookies, "origins": origins}


def plain_merge(stored: bytes, sent: bytes) -> bytes:
    """What most tools do: newer over older, by name, domain and path; by origin and key."""
    old, new = orjson.loads(stored), orjson.loads(sent)
    cookies = {(cookie["name"], cookie["domain"], cookie["path"]): cookie for cookie in old["cookies"]}
    cookies.update({(cookie["name"], cookie["domain"], cookie["path"]): cookie for cookie in new["cookies"]})
    origins = {
        origin["origin"]: {item["name"]: item["value"] for item in origin["localStorage"]} for origin in old["origins"]
    }
    for origin in new["origins"]:
        origins.setdefault(origin["origin"], {}).update(
            {item["name"]: item["value"] for item in origin["localStorage"]}
        )
    listed = [
        {"origin": name, "localStorage": [{"name": key, "value": value} for key, value in items.items()]}
        for name, items in origins.items()
    ]
    return orjson.dumps({"cookies": list(cookies.values()), "origins": listed})


class Case:
    """One session that is stored, one upload to it."""

    def __init__(self) -> None:
        self.first, self.second = orjson.dumps(sample(0)), orjson.dumps(sample(1))
        login = Envelope("01", NOW * 1000, Source.CONTEXT, Health.OK, "lease-1")
        history = receive(History(), parse_state(self.first), login, Start.FRESH, KEY).history
        self.stored = encode(history)
        given = orjson.dumps(hand_out(history, NOW + 5).state)
        # What a context holds is kept as it was read, for its next upload.
        self.held = orjson.dumps(read_state(parse_state(given), Rules(), NOW).entries)

    def known(self) -> bytes:
        """The usual upload: it names the version that is stored."""
        history = decode(self.stored)
        return self._receive(history, handed_out(history, NOW + 5))

    def older(self) -> bytes:
        """An upload that names another version, which has to be decoded too."""
        return self._receive(decode(self.stored), handed_out(decode(self.stored), NOW + 5))

    def previous(self) -> bytes:
        """An upload whose base is the state its lease sent before."""
        return self._receive(decode(self.stored), Canonical(orjson.loads(self.held)))

    def unknown(self) -> bytes:
        return self._receive(decode(self.stored), Start.UNKNOWN)

    def _receive(self, history: History, base: Base) -> bytes:
        envelope = Envelope("02", (NOW + 60) * 1000, Source.CONTEXT, Health.OK, "lease-2", NOW + 5)
        return encode(receive(history, parse_state(self.second), envelope, base, KEY).history)

    def plain(self) -> bytes:
        return plain_merge(self.first, self.second)

    def give(self) -> bytes:
        return orjson.dumps(hand_out(decode(self.stored), NOW + 5).state)


def clock(work: Callable[[], object], times: int = 5) -> float:
    """Milliseconds of this process, not of the wall: it waits for nothing, and others may be at work on the machine."""
    gc.collect()
    started = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - started) / times * 1000


def run(json_file: Path | None, rounds: int = 15) -> Report:
    case = Case()
    variants: dict[str, Callable[[], bytes]] = {
        "plain": case.plain,
        "merge, base stored": case.known,
        "merge, base older": case.older,
        "merge, base sent before": case.previous,
        "merge, base unknown": case.unknown,
        "hand-out": case.give,
    }
    for work in variants.values():
        work()
    report = Report()
    for _ in range(rounds):
        for name, work in variants.items():  # interleaved: a slow moment of the machine hits all
            report.add(f"{name}: ms", clock(work))
    machine = {"cpus": os.cpu_count(), "load": os.getloadavg()[0], "python": platform.python_version()}
    print(f"{machine['cpus']} CPUs, load {machine['load']:.1f}, Python {machine['python']}, {rounds} rounds")
    print(f"{COOKIES} cookies, {KEYS} localStorage keys in {ORIGINS} origins; sealing not included")
    print(f"sent {len(case.second):,} bytes, stored {len(case.stored):,} bytes, plain {len(case.plain()):,} bytes\n")
    for name, times in report.values.items():
        print(f"{name:<28} {statistics.median(times):7.2f} ({min(times):.2f} … {max(times):.2f})")
    for name in variants:
        if name != "plain":
            aim = aims.MERGE_TO_PLAIN if name.startswith("merge") else NOTHING
            report.ratio(f"{name} ÷ plain", f"{name}: ms", "plain: ms", aim)
    report.print()
    if json_file:
        json_file.write_text(json.dumps({"machine": machine, **report.document()}, indent=2))
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write everything that was measured here")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    run(given.json, given.rounds)


if __name__ == "__main__":
    main()
