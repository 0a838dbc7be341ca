"""What a socket is told: where a run is, then everything that happens to it, numbered, wherever it watches."""

import asyncio
import json
from itertools import pairwise

import pytest

from leasehold.auth import Role
from leasehold.live import feed as feeds
from tests.live.conftest import Stage, goodbye, heard
from tests.parts.listening import listening
from tests.parts.postgres import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_snapshot_comes_first_and_then_what_polling_gives(stage: Stage) -> None:
    async with stage.watching() as socket:
        first = await heard(socket, "snapshot")
        await stage.tell("items", "progress", n=1)
        await stage.tell("paused", detail="ß")

        told = await heard(socket, "paused")

    assert first[0]["run"] == (await stage.client.get(f"/v2/runs/{stage.run}")).json() | {"last_seq": 1}
    assert first[0]["seq"] == 1
    assert told == await stage.polled(since=1)


async def test_of_the_progress_in_one_burst_the_latest_alone_is_told(stage: Stage) -> None:
    async with stage.watching() as socket:
        await heard(socket, "snapshot")
        await stage.tell("progress", "items", "progress", "items", "progress", "completed")

        told = await heard(socket, "completed")

    assert [(one["seq"], one["type"]) for one in told] == [
        (3, "items"),
        (5, "items"),
        (6, "progress"),
        (7, "completed"),
    ]


async def test_who_comes_back_gets_what_it_missed_once(stage: Stage) -> None:
    async with stage.watching() as socket:
        await heard(socket, "snapshot")
        await stage.tell("items")
        seen = await heard(socket, "items")
    await stage.tell(*["items"] * 250)  # more than a page

    async with stage.watching(since=seen[-1]["seq"]) as socket:
        await stage.tell("items")
        told = await heard(socket, 253)

    assert [one["seq"] for one in told] == list(range(3, 254))


async def test_who_is_up_to_date_begins_with_what_comes_next(stage: Stage) -> None:
    async with stage.watching(since=1) as socket:
        await asyncio.sleep(0.4)
        await stage.tell("items")

        told = await heard(socket, "items")

    assert [one["seq"] for one in told] == [2]


async def test_a_number_that_was_never_given_out_begins_with_a_snapshot(stage: Stage) -> None:
    async with stage.watching(since=1000) as socket:
        told = await heard(socket, 1)

    assert told[0]["type"] == "snapshot"


async def test_who_is_too_far_behind_begins_with_a_snapshot(stage: Stage) -> None:
    await stage.tell(*["items"] * 1001)

    async with stage.watching(since=0) as socket:
        told = await heard(socket, 1002)

    assert [one["type"] for one in told] == ["snapshot"]


@pytest.mark.parametrize("since", [None, 0, 7])
async def test_without_a_run_all_of_them_are_told_of(since: int | None, stage: Stage) -> None:
    stranger = await stage.server.caller(Role.ADMIN, "strangers")
    async with stage.watching(run_id=None, since=since) as socket:
        first = await heard(socket, "snapshot")
        other = await stage.another()
        await stage.tell("paused")
        await Stage(stage.server, stranger, "").another()
        await stage.tell("completed", run=other)

        told = await heard(socket, "completed")

    assert [one["run_id"] for one in first] == [stage.run]
    assert sorted((one["run_id"] == other, one["seq"], one["type"]) for one in told) == [
        (False, 2, "paused"),
        (True, 1, "created"),
        (True, 2, "completed"),
    ]


@pytest.mark.parametrize("most", [200, 1])
async def test_an_old_run_that_changes_is_not_told_from_its_beginning(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(feeds, "_MOST_RUNS", most)  # of older ones the feed does not know where they stood
    await stage.tell(*["items"] * 150)
    await stage.client.post(f"/v2/runs/{stage.run}/cancel")
    (*_, last) = await stage.polled()
    await stage.another()

    async with stage.watching(run_id=None) as socket:
        await heard(socket, "snapshot")
        await stage.tell("renamed")
        told = await heard(socket, last["seq"] + 1)
        await stage.tell("completed")
        told += await heard(socket, "completed")

    first = "renamed" if most > 1 else "snapshot"
    assert [(one["run_id"], one["seq"], one["type"]) for one in told] == [
        (stage.run, last["seq"] + 1, first),
        (stage.run, last["seq"] + 2, "completed"),
    ]


async def test_who_falls_behind_reads_what_it_missed_from_the_database(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "_RING_BYTES", 10)
    monkeypatch.setattr(feeds, "BURST_S", 0.0)  # it reads on while the socket still sends

    async with stage.watching() as socket:
        await heard(socket, "snapshot")
        for _ in range(3):
            await stage.tell(*["items"] * 120, padding="x" * 2000)
        told = await heard(socket, 361)

    assert [one["seq"] for one in told] == list(range(2, 362))


async def test_what_is_in_the_snapshot_is_not_told_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "BURST_S", 1.0)  # the reader is slower than those who join
    async with stage.watching() as first:
        await heard(first, "snapshot")
        await stage.tell("items")
        await heard(first, "items")
        await stage.tell("items")

        async with stage.watching() as second:
            told = await heard(second, "snapshot")
            await stage.tell("completed")
            told += await heard(second, "completed")

    assert [(one["seq"], one["type"]) for one in told] == [(3, "snapshot"), (4, "completed")]


async def test_what_one_server_does_is_told_by_another(stage: Stage, behind: TestDatabase) -> None:
    async with listening(behind) as other, stage.watching(other) as socket:
        await heard(socket, "snapshot")
        await stage.client.post(f"/v2/runs/{stage.run}/cancel")

        told = await heard(socket, "cancelled")

    assert told == await stage.polled(since=1)


async def test_sockets_on_one_run_are_told_the_same_by_one_reader(stage: Stage) -> None:
    async with stage.watching() as one, stage.watching() as two:
        for socket in (one, two):
            await heard(socket, "snapshot")
        readers = [task for task in asyncio.all_tasks() if task.get_name().startswith("live-")]
        await stage.tell("items")

        assert await heard(one, "items") == await heard(two, "items")
    assert len(readers) == 1


async def test_at_most_four_bursts_a_second_are_told(stage: Stage) -> None:
    loop = asyncio.get_running_loop()
    times = []
    async with stage.watching() as socket:
        await heard(socket, "snapshot")

        async def hear() -> None:
            while json.loads(await socket.recv())["type"] != "completed":
                times.append(loop.time())

        hearing = asyncio.create_task(hear())
        began = loop.time()
        while loop.time() - began < 1.0:
            await stage.tell("items")
            await asyncio.sleep(0.02)
        await stage.tell("completed")
        await hearing

    bursts = 1 + sum(later - earlier > 0.012 for earlier, later in pairwise(times))
    assert bursts <= 6, "a second and a bit"
    assert len(times) > 10


async def test_a_server_that_stops_says_so(behind: TestDatabase) -> None:
    async with listening(behind) as server:
        stage = Stage(server, await server.caller(), "")
        stage.run = await stage.another()
        async with stage.watching() as socket:
            await heard(socket, "snapshot")
            leaving = asyncio.create_task(goodbye(socket))
            await server.stop()

            assert (await leaving)[0] == 1012
