"""What a run was started with and what is in force for it now, as the same tree of settings, and compared. No I/O."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from leasehold.collectors import Collector, PriceUnknown
from leasehold.platforms import Platform
from leasehold.runs import machine
from leasehold.runs.models import Allowance, Run

# Settings by section and name; what stands lowest is a number, a text, a list of texts, or None.
Tree = Mapping[str, Any]
_DIGEST = 12


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a run goes by that is not its own, at some moment."""

    allowance: Allowance
    collector: Collector | None  # None when there is none of that name any more
    platform: Platform | None
    day: date


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, then and now."""

    path: list[str]
    frozen: Any
    current: Any
    differs: bool | None  # None when it was not written down then


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of a run, then and now."""

    frozen_at: datetime | None  # None when they were not written down
    is_started: bool
    items: list[Setting]

    @property
    def differences(self) -> int:
        return sum(bool(one.differs) for one in self.items)


def frozen(run: Run, now: Circumstances) -> dict[str, Any]:
    """What is written down of a run that is planned or started: its own lines, and what is in force around it."""
    return {**_own(run), "categories": _planned(run), **_around(now)}


def current(run: Run, now: Circumstances) -> dict[str, Any]:
    """What is in force for a run now: its own settings as they are by now, and everything else as of today."""
    offered = _offered(now)
    categories = {name: offered[name] for name in run.categories if name in offered}
    return {**_own(run), "categories": categories, **_around(now)}


def known_of(run: Run) -> dict[str, Any]:
    """Of a run from before anything was written down: what nobody can have changed since."""
    own = _own(run)["run"]
    kept = {name: own[name] for name in ("collector", "platform", "soft_warning_percent")}
    if not run.has_own_cap:
        kept["budget_cap_micros"] = run.budget_cap_micros
    return {"run": kept, "categories": _planned(run)}


def compare(then: Tree, now: Tree) -> list[Setting]:
    """Every setting of either, those of now first within their section."""
    old, new = dict(_leaves(then)), dict(_leaves(now))
    sections = list(dict.fromkeys(path[0] for path in [*new, *old]))
    paths = sorted(dict.fromkeys([*new, *old]), key=lambda path: sections.index(path[0]))
    return [_setting(path, old, new) for path in paths]


def _setting(path: tuple[str, ...], old: Mapping[tuple[str, ...], Any], new: Mapping[tuple[str, ...], Any]) -> Setting:
    differs = old[path] != new.get(path) if path in old else None
    return Setting(list(path), old.get(path), new.get(path), differs)


def _leaves(tree: Tree, *above: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, *above, name)
        else:
            yield (*above, name), value


def _own(run: Run) -> dict[str, Any]:
    return {
        "run": {
            "collector": run.collector,
            "platform": run.platform,
            "budget_cap_micros": run.budget_cap_micros,
            "soft_warning_percent": run.soft_warning_percent,
            "max_in_flight": run.max_in_flight,
            "dropped_categories": run.dropped_categories,
            "skip_collected_days": run.skip_collected_days,
        }
    }


def _planned(run: Run) -> dict[str, Any]:
    return {
        line["category"]: {"items": line["items"], "unit_cost_micros": line["unit_cost_micros"]}
        for line in run.estimate
    }


def _offered(now: Circumstances) -> dict[str, Any]:
    offered = now.collector.categories(now.day) if now.collector else []
    return {one.id: {"items": one.items, "unit_cost_micros": one.unit_cost_micros} for one in offered}


def _around(now: Circumstances) -> dict[str, Any]:
    return {
        "organisation": {name: getattr(now.allowance, name) for name in Allowance.__slots__},
        "prices": _prices(now),
        "policies": {
            "at_cap": "pause",
            "when_provider_down": "pause and resume",
            "pause_at_failed_percent": machine.FAILURES_PERCENT,
            "pause_at_failed_items": machine.FAILURES_AT_LEAST,
            "attempts": 1,
        },
        "platform": _platform(now.platform) if now.platform else {},
    }


def _prices(now: Circumstances) -> dict[str, int | None]:
    """What one call costs at the most on that day: a page of a listing, and an item."""
    if now.collector is None:
        return {"listing_micros": None, "item_micros": None}
    return {
        "listing_micros": _known(now.collector.listing_cost_micros, now.day),
        "item_micros": _known(now.collector.item_cost_micros, now.day),
    }


def _known(price: Callable[[date], int], day: date) -> int | None:
    try:
        return price(day)
    except PriceUnknown:
        return None


def _platform(platform: Platform) -> dict[str, Any]:
    limits, timeouts, breaker = platform.limits, platform.timeouts, platform.breaker
    return {
        "file": _digest(platform),
        "transport": platform.transport,
        "concurrency": limits.concurrency,
        "rate_tasks": limits.rate.tasks if limits.rate else None,
        "rate_per_seconds": limits.rate.per_seconds if limits.rate else None,
        "rate_burst": limits.rate.burst if limits.rate else None,
        "lease_seconds": timeouts.lease_seconds,
        "deadline_seconds": timeouts.deadline_seconds,
        "breaker_percent": breaker.percent,
        "breaker_at_least": breaker.at_least,
        "breaker_window_seconds": breaker.window_seconds,
        "breaker_probe_seconds": breaker.probe_seconds,
        "outages": list(platform.retry.outages),
        "handler": platform.results.handler,
        "target": platform.writer.target,
    }


def _digest(platform: Platform) -> str:
    """Files have no version: the same digest is the same file, but for its spaces and comments."""
    text = platform.model_dump_json(by_alias=True, exclude_defaults=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
