"""What runs did when: moves as stretches of time, and over HTTP what a page of many runs is drawn from."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from leasehold.runs.history import Move, Span, spans
from tests.parts.house import house
from tests.parts.postgres import TestDatabase

BEGUN = datetime(2026, 11, 16, 2, 0, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return BEGUN + timedelta(minutes=minutes)


@pytest.fixture
async def operator(database: TestDatabase) -> AsyncIterator[httpx.AsyncClient]:
    # Nobody drives: a run stays where it was put.
    async with house(database, duties=()) as made:
        yield await made.caller()


async def plan(operator: httpx.AsyncClient, name: str) -> str:
    wish = {"collector": "amazon", "categories": ["toys"], "name": name}
    made: str = (await operator.post("/v2/runs", json=wish)).json()["id"]
    return made


def test_stretches_follow_one_another_without_a_gap() -> None:
    told = [
        Move("created", at(0)),
        Move("wanted", at(1)),
        Move("started", at(2)),
        Move("paused", at(5), "operator"),
        Move("resumed", at(7)),
        Move("completed", at(9)),
    ]

    assert spans(told) == [
        Span("pending", None, at(0), at(2)),
        Span("running", None, at(2), at(5)),
        Span("paused", "operator", at(5), at(7)),
        Span("running", None, at(7), at(9)),
    ]


def test_a_run_that_is_taken_over_went_on_all_the_while() -> None:
    assert spans([Move("started", at(0)), Move("resumed", at(4))]) == [Span("running", None, at(0), None)]


def test_paused_for_another_reason_is_another_stretch() -> None:
    told = [Move("paused", at(0), "provider_down"), Move("paused", at(1), "operator")]

    assert [one.pause_reason for one in spans(told)] == ["provider_down", "operator"]


async def test_runs_are_counted_by_status(operator: httpx.AsyncClient) -> None:
    await plan(operator, "planned")
    ended = await plan(operator, "ended")
    await operator.post(f"/v2/runs/{ended}/cancel")

    counts = (await operator.get("/v2/runs/counts")).json()

    assert counts == {"pending": 1, "running": 0, "paused": 0, "completed": 0, "failed": 0, "cancelled": 1}


async def test_the_history_has_those_that_lived_within_its_hours(
    operator: httpx.AsyncClient, database: TestDatabase
) -> None:
    old, young = await plan(operator, "old"), await plan(operator, "young")
    for run in (old, young):
        await operator.post(f"/v2/runs/{run}/start")
        await operator.post(f"/v2/runs/{run}/pause")
        await operator.post(f"/v2/runs/{run}/cancel")
    database.run("UPDATE run SET completed_at = completed_at - interval '3 hours' WHERE name = 'old'")

    history = (await operator.get("/v2/runs/history?hours=2")).json()
    longer = (await operator.get("/v2/runs/history?hours=4")).json()

    assert [one["run"]["name"] for one in history["items"]] == ["young"]
    assert [one["state"] for one in history["items"][0]["spans"]] == ["pending", "running", "paused"]
    assert history["items"][0]["spans"][-1]["to_at"] is not None
    assert [one["run"]["name"] for one in longer["items"]] == ["young", "old"]


async def test_events_can_be_had_without_some_types(operator: httpx.AsyncClient) -> None:
    run = await plan(operator, "told")
    await operator.post(f"/v2/runs/{run}/start")

    told = (await operator.get(f"/v2/runs/{run}/events?without=wanted,started")).json()["items"]

    assert [(one["seq"], one["type"]) for one in told] == [(1, "created")]


async def test_items_are_paged_newest_first_too(operator: httpx.AsyncClient, database: TestDatabase) -> None:
    run = await plan(operator, "full")
    database.run(
        "INSERT INTO run_item (id, organisation, run, category, item_type, external_id, job)"
        " SELECT uuidv7(interval '1 minute' * n), organisation, id, 'toys', 'product', n::text, n::text"
        " FROM run, generate_series(1, 5) AS n"
    )

    first = (await operator.get(f"/v2/runs/{run}/items?newest_first=true&limit=3")).json()
    rest = await operator.get(f"/v2/runs/{run}/items?newest_first=true&cursor={first['next_cursor']}")

    assert [one["external_id"] for one in first["items"]] == ["5", "4", "3"]
    assert [one["external_id"] for one in rest.json()["items"]] == ["2", "1"]


async def test_runs_can_be_had_by_who_planned_them(operator: httpx.AsyncClient) -> None:
    await plan(operator, "mine")
    me = (await operator.get("/v2/tokens/self")).json()["name"]

    mine = (await operator.get("/v2/runs", params={"created_by": me})).json()["items"]
    others = (await operator.get("/v2/runs", params={"created_by": "somebody else"})).json()["items"]

    assert [one["name"] for one in mine] == ["mine"]
    assert others == []


async def test_what_was_spent_is_told_day_by_day(operator: httpx.AsyncClient, database: TestDatabase) -> None:
    short, long = await plan(operator, "short"), await plan(operator, "long")
    for run in (short, long):
        await operator.post(f"/v2/runs/{run}/start")
    await operator.post(f"/v2/runs/{short}/cancel")
    # One that lived at noon of the day before yesterday, and one that goes on since last month.
    midnight = "date_trunc('day', clock_timestamp(), 'UTC')"
    database.run(
        "UPDATE run SET spent_micros = 500,"
        f" (started_at, completed_at) = ({midnight} - interval '36 hours', {midnight} - interval '36 hours')"
        " WHERE name = 'short'"
    )
    for ago, micros in (("-1 second", 30), ("1 hour", 7), ("24 hours 1 second", 200), ("40 days", 9_000)):
        database.run(
            "INSERT INTO run_ledger (organisation, run, kind, purpose, reserved_micros, spent_micros, at)"
            f" SELECT organisation, id, 'settle', 'item', 0, {micros}, {midnight} - interval '{ago}'"
            " FROM run WHERE name = 'long'"
        )

    days = (await operator.get("/v2/runs/spending?days=3")).json()["items"]

    assert [(one["spent_micros"], one["runs"]) for one in days] == [(700, 2), (7, 1), (30, 1)]
    assert days[0]["day"] < days[1]["day"] < days[2]["day"]
