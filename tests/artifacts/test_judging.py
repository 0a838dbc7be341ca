"""How the installation is, in a word: the rules, one by one."""

from typing import Any

import pytest

from leasehold.artifacts.judging import judge
from leasehold.artifacts.models import Accounts, Captures, Leases, Platforms, Runs, Schedule, Seeds, Sources, State
from tests.parts.artifacts import figures, jobs

TROUBLES: list[tuple[dict[str, Any], str]] = [
    ({"jobs": jobs(failure_rate=0.5, ended_last_hour=20)}, "50% of the jobs that ended in the last hour failed."),
    ({"jobs": jobs(oldest_waiting_seconds=3600.0)}, "A job that could be begun has been waiting for 60 minutes."),
    ({"accounts": Accounts(0, 0, 0, 3, 9)}, "No account can be used: all that are on are blocked."),
]
SHORTCOMINGS: list[tuple[dict[str, Any], str]] = [
    ({"jobs": jobs(failure_rate=0.1, ended_last_hour=20)}, "10% of the jobs that ended in the last hour failed."),
    ({"jobs": jobs(oldest_waiting_seconds=900.0)}, "A job that could be begun has been waiting for 15 minutes."),
    ({"seeds": Seeds(resting=60, due=15, overdue=25, held=0, off=999)}, "25% of the seeds are overdue."),
    ({"captures": Captures(0, 1, 0)}, "1 capture cannot be handed on."),
    ({"platforms": Platforms(0, 2)}, "2 platforms are resting: most of what was tried there failed."),
    ({"runs": Runs(0, 0, 0, 1)}, "1 run was paused by trouble."),
    ({"sources": Sources(3, 2, 0, 1)}, "1 source could not be read to the end."),
]
NO_MATTER: list[dict[str, Any]] = [
    {},
    {"jobs": jobs(failure_rate=0.9, ended_last_hour=19)},  # too few to say anything
    {"jobs": jobs(failure_rate=0.09)},
    {"jobs": jobs(oldest_waiting_seconds=899.0)},
    {"jobs": jobs(oldest_waiting_seconds=None, failure_rate=None, ended_last_hour=0)},
    {"accounts": Accounts(0, 0, 1, 3, 0)},  # one of them will be back
    {"platforms": Platforms(2, 0)},  # people know what they paused
]


@pytest.mark.parametrize(("changes", "text"), TROUBLES)
def test_what_stops_the_work_is_trouble(changes: dict[str, Any], text: str) -> None:
    found = judge(figures(**changes))

    assert (found.state, [note.text for note in found.notes]) == (State.TROUBLE, [text])


@pytest.mark.parametrize(("changes", "text"), SHORTCOMINGS)
def test_what_does_not_is_told_all_the_same(changes: dict[str, Any], text: str) -> None:
    found = judge(figures(**changes))

    assert (found.state, [note.text for note in found.notes]) == (State.DEGRADED, [text])


@pytest.mark.parametrize("changes", NO_MATTER)
def test_all_else_is_well(changes: dict[str, Any]) -> None:
    found = judge(figures(**changes))

    assert (found.state, found.sentence, found.notes) == (State.OK, "All is well.", [])


def test_the_worst_is_told_first() -> None:
    found = judge(figures(captures=Captures(0, 1, 0), accounts=Accounts(0, 0, 0, 3, 9)))

    assert [note.about for note in found.notes] == ["accounts", "captures"]
    assert found.state is State.TROUBLE


def test_an_installation_that_nobody_uses_is_quiet() -> None:
    hours = [type(hour)(hour.start, 0, 0, 0, 0) for hour in jobs().hours]
    idle = jobs(waiting=0, running=0, oldest_waiting_seconds=None, hours=hours)
    still: dict[str, Any] = {
        "jobs": idle,
        "leases": Leases(0, 0, 0, 0),
        "runs": Runs(0, 0, 1, 0),
        "sources": Sources(3, 3, 0, 0),
    }

    assert judge(figures(**still)).state is State.QUIET
    assert judge(figures(**{**still, "leases": Leases(0, 1, 0, 0)})).state is State.OK


@pytest.mark.parametrize(("interval_s", "stale_s"), [(15, 300), (60, 300), (600, 1800), (0, 3600)])
def test_an_edition_is_stale_when_three_should_have_followed(interval_s: int, stale_s: int) -> None:
    assert Schedule.every(interval_s).stale_after_s == stale_s
