"""A source whose file says how often is swept again by itself."""

from datetime import datetime, timedelta

import pytest

from leasehold.sources.machine import Mode
from tests.sources.conftest import World

LATER = """
UPDATE source SET last_sweep = last_sweep || jsonb_build_object(
    'ended_at', (last_sweep->>'ended_at')::timestamptz - %s::float8 * interval '1 hour',
    'full_at', (last_sweep->>'full_at')::timestamptz - %s::float8 * interval '1 hour')
"""


async def swept(it: World, **schedule: float) -> None:
    it.declare("stashdb", **schedule)
    await it.sweep("stashdb")


def later(it: World, hours: float) -> None:
    it.database.run(LATER, hours, hours)


async def mode(it: World) -> Mode | None:
    """Of the sweep that is under way."""
    state = (await it.get("stashdb")).state
    assert state is not None
    return state.place.mode if state.place else None


async def test_the_next_sweep_begins_when_its_time_has_come_and_reads_what_has_changed(it: World) -> None:
    await swept(it, sweep_every_hours=6, full_every_hours=100)
    standing = await it.get("stashdb")
    assert standing.state is not None
    assert standing.state.last_sweep is not None
    ended = datetime.fromisoformat(standing.state.last_sweep["ended_at"])
    assert standing.next_sweep_at == ended + timedelta(hours=6)
    assert standing.next_step == "It is swept again by itself."

    later(it, 5.9)
    await it.sources.begin_due()
    assert await mode(it) is None

    later(it, 0.2)
    await it.sources.begin_due()
    assert await mode(it) is Mode.INCREMENTAL
    assert (await it.get("stashdb")).next_sweep_at is None  # not while one is under way


async def test_a_full_sweep_is_counted_from_the_last_full_one(it: World) -> None:
    await swept(it, full_every_hours=100)
    later(it, 99)
    await it.sweep("stashdb")  # of what has changed: it puts nothing off

    later(it, 2)
    await it.sources.begin_due()

    assert await mode(it) is Mode.FULL


@pytest.mark.parametrize("schedule", [{}, {"sweep_every_hours": 1, "enabled": False}])
async def test_one_that_says_nothing_or_is_switched_off_is_left_alone(it: World, schedule: dict[str, float]) -> None:
    await swept(it)
    it.declare("stashdb", **schedule)
    later(it, 1000)

    await it.sources.begin_due()

    assert await mode(it) is None


async def test_one_that_was_never_started_or_was_stopped_waits_for_somebody(it: World) -> None:
    it.declare("stashdb", sweep_every_hours=1)
    await it.sources.begin_due()
    assert (await it.get("stashdb")).state is None

    await it.sweep("stashdb")
    later(it, 2)
    await it.sources.start(it.caller, "stashdb", is_full=False)
    await it.sources.stop(it.caller, "stashdb")
    await it.sources.begin_due()

    assert (await it.get("stashdb")).word == "paused"
