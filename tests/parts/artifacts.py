"""Editions of artefacts as tests want them: what was counted, made up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from leasehold.artifacts.documents import Edition
from leasehold.artifacts.models import (
    Accounts,
    Captures,
    Figures,
    Graph,
    Hour,
    Jobs,
    Leases,
    Platforms,
    Runs,
    Schedule,
    Seeds,
    Sources,
)

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def jobs(at: datetime = NOON, **changes: Any) -> Jobs:
    start = at.replace(minute=0, second=0, microsecond=0)
    hours = [Hour(start - timedelta(hours=back), 10 + back, 9, 1, 0) for back in reversed(range(24))]
    return replace(Jobs(3, 2, 30.0, 100, 2, 0.02, 0, hours), **changes)


def figures(at: datetime = NOON, **changes: Any) -> Figures:
    """An installation that works and is well, but for the changes."""
    well = Figures(
        at=at,
        accounts=Accounts(free=5, held=2, cooling=1, blocked=1, inactive=0),
        seeds=Seeds(resting=80, due=10, overdue=1, held=2, off=0),
        leases=Leases(account=2, seed=2, capture=0, task=2),
        jobs=jobs(at),
        captures=Captures(waiting=4, stuck=0, received_last_day=1234),
        runs=Runs(running=1, waiting=0, paused=1, stopped=0),
        spent_today_micros=12_340_000,
        graph=Graph(entities=61_234, records=98_765),
        sources=Sources(known=3, fresh=2, sweeping=1, failed=0),
        platforms=Platforms(paused=0, resting=0),
    )
    return replace(well, **changes)


def edition(number: int = 1, at: datetime = NOON, *, shows_spend: bool = True, **changes: Any) -> Edition:
    return Edition(number, figures(at, **changes), Schedule.every(60), shows_spend)
