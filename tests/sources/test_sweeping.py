"""A sweep ends with exactly what a source has, however its list behaves meanwhile."""

import asyncio

import pytest

from leasehold.simulate import Mode
from leasehold.sources import driver as driving
from leasehold.sources import forget
from leasehold.sources.driver import Driver, NotTheDriver
from tests.parts.boxes import KEY, Served, served
from tests.sources.conftest import BOXES, World


@pytest.fixture
def boxes() -> "object":
    with served(people=150, count=5) as made:
        yield made


async def test_sources_that_are_swept_at_once_are_read_whole(it: World) -> None:
    names = (*it.served.boxes.names, "theporndb")
    for name in names:
        it.declare(name)

    await it.sweep(*names)

    assert len(names) == 6
    for name in names:
        standing = await it.get(name)
        assert standing.word == "idle", standing.state
        assert set(it.offered(name)) == it.served.live(name)
        assert set(it.offered(name).values()) == {1}
        assert standing.state is not None
        assert standing.state.last_error is None
        assert standing.state.last_sweep is not None
        assert standing.state.last_sweep["seen"] == len(it.served.live(name))


async def test_rows_that_swap_between_pages_are_found_by_another_pass(it: World) -> None:
    it.declare("stashdb", batch_size=10)

    await it.sweep("stashdb")

    state = (await it.get("stashdb")).state
    assert state is not None
    assert state.last_sweep is not None
    assert state.last_sweep["passes"] > 1
    assert it.sighted("stashdb") == it.served.live("stashdb")
    assert set(it.offered("stashdb").values()) == {1}


async def test_rows_that_are_deleted_and_merged_while_a_sweep_reads_still_give_the_exact_set(it: World) -> None:
    it.declare("stashdb", batch_size=10)
    box = it.served.boxes.boxes["stashdb"]
    first = sorted(box.live(), key=lambda row: (row["created"], row["id"]))
    rounds = 0

    async def meddle() -> None:
        nonlocal rounds
        for page in range(3):
            seen = it.served.asked("stashdb")
            while it.served.asked("stashdb") < seen + 2:
                await asyncio.sleep(0.001)
            box.delete(first[3 * page]["id"])
            box.merge(first[3 * page + 1]["id"], first[60 + page]["id"])
            box.create(f"new-{page}", f"New {page}")
            rounds += 1

    await asyncio.gather(it.sweep("stashdb"), meddle())

    assert rounds == 3
    assert it.sighted("stashdb") == it.served.live("stashdb")
    assert (await it.get("stashdb")).word == "idle"


async def test_one_that_is_created_as_another_is_deleted_does_not_hide_what_moved_up(it: World) -> None:
    """What a source says it has stays the same: only the time of the new one tells that something happened."""
    it.declare("stashdb", batch_size=10)
    box = it.served.boxes.boxes["stashdb"]
    for number, row in enumerate(sorted(box.live(), key=lambda row: row["id"])):
        row["created"] = f"2021-03-01T{number // 60:02}:{number % 60:02}:00.000000Z"  # nothing swaps
    box._orders.clear()
    first = min(box.live(), key=lambda row: str(row["created"]))["id"]

    async def meddle() -> None:
        while it.served.boxes.control.requests["stashdb"]["queryPerformers:1"] == 0:
            await asyncio.sleep(0.0005)
        box.delete(first)
        box.create("brand-new", "Brand New")

    await asyncio.gather(it.sweep("stashdb"), meddle())

    assert it.sighted("stashdb") == it.served.live("stashdb")


async def test_the_next_sweep_reads_what_changed_alone(it: World) -> None:
    it.declare("stashdb", batch_size=20)
    await it.sweep("stashdb")
    changed = sorted(it.served.live("stashdb"))[:2]
    for one in changed:
        it.served.boxes.boxes["stashdb"].touch(one)
    before, asked = it.offered("stashdb"), it.served.asked("stashdb")

    await it.sweep("stashdb")

    state = (await it.get("stashdb")).state
    assert state is not None
    assert state.last_sweep is not None
    assert state.last_sweep["mode"] == "incremental"
    assert it.offered("stashdb") - before == dict.fromkeys(changed, 1)
    assert it.served.asked("stashdb") - asked == 2  # its sites, and one page


async def test_whoever_is_missing_from_a_full_sweep_is_asked_for(it: World) -> None:
    await it.sweep("stashdb")
    gone, merged, into, *_ = sorted(it.served.live("stashdb"))
    box = it.served.boxes.boxes["stashdb"]
    box.delete(gone)
    box.merge(merged, into)

    await it.sweep("stashdb", is_full=True)

    retired = dict(it.database.rows("SELECT source_id, merged_into FROM retired WHERE source = 'stashdb'"))
    asked = it.served.boxes.control.requests["stashdb"]
    assert retired == {gone: None, merged: into}
    assert asked[f"findPerformer:{gone}"] == 1
    assert it.sighted("stashdb") == it.served.live("stashdb")


async def test_whom_a_source_has_merged_is_an_id_of_the_one_that_is_left(it: World) -> None:
    await it.sweep("stashdb")
    merged, into, *_ = sorted(it.served.live("stashdb"))
    it.served.boxes.boxes["stashdb"].merge(merged, into)

    await it.sweep("stashdb")

    known = set(it.item("stashdb", into)["external_ids"]["stashdb"])
    assert {into, merged} <= known
    assert it.database.rows("SELECT source_id, merged_into FROM retired") == [(merged, into)]


async def test_a_source_that_gives_less_than_it_is_asked_for_is_asked_for_less(it: World) -> None:
    it.served.boxes.control.manners["stashdb"].most_per_page = 25

    await it.sweep("stashdb")

    assert it.sighted("stashdb") == it.served.live("stashdb")
    state = (await it.get("stashdb")).state
    assert state is not None
    assert state.pages >= len(it.served.live("stashdb")) // 25


async def test_what_cannot_be_read_is_a_dead_letter_and_the_rest_is_read(it: World) -> None:
    spoiled = sorted(it.served.live("stashdb"))[0]
    it.served.boxes.boxes["stashdb"].spoil(spoiled)
    it.served.boxes.boxes["stashdb"].rows[spoiled]["disambiguation"] = f"says {KEY} to everybody"

    await it.sweep("stashdb")
    await it.sweep("stashdb", is_full=True)

    letters = await it.sources.letters(it.caller, "stashdb", None, 10)
    assert [(one.source_id, one.reason) for one in letters] == [(spoiled, "Not taken: it has no name.")]
    assert spoiled in letters[0].payload
    assert KEY not in letters[0].payload
    assert set(it.offered("stashdb")) == it.served.live("stashdb") - {spoiled}
    assert (await it.get("stashdb")).word == "idle"


async def test_who_is_erased_leaves_nothing_behind(it: World) -> None:
    spoiled, other, *_ = sorted(it.served.live("stashdb"))
    it.served.boxes.boxes["stashdb"].spoil(spoiled)
    await it.sweep("stashdb")

    async with it.sources._db.transaction(it.caller.organisation) as conn:
        await forget(conn, it.caller.organisation, "stashdb", [spoiled, other])

    assert it.sighted("stashdb") == it.served.live("stashdb") - {spoiled, other}
    assert await it.sources.letters(it.caller, "stashdb", None, 10) == []


async def test_too_many_requests_slow_it_down_and_it_goes_on(it: World) -> None:
    it.declare("stashdb", rate_limit=6000)
    it.served.become("stashdb", Mode.RATE_LIMITED, times=3)

    await it.sweep("stashdb")

    state = (await it.get("stashdb")).state
    assert state is not None
    assert state.errors == 3
    assert state.rate_now is not None
    assert 6000 / 8 <= state.rate_now < 6000  # half and half and half again, and a little more with each answer
    assert it.sighted("stashdb") == it.served.live("stashdb")


async def test_an_outage_is_waited_out(it: World) -> None:
    it.served.become("fansdb", Mode.DOWN, times=3)

    await it.sweep("fansdb")

    assert it.sighted("fansdb") == it.served.live("fansdb")


async def test_a_source_that_says_no_for_a_while_is_asked_for_less_and_again(it: World) -> None:
    """One row that it cannot show itself makes an answer an error: all of it."""
    rows = it.served.boxes.boxes["stashdb"].rows
    odd = sorted(it.served.live("stashdb"))[0]
    name, rows[odd]["name"] = rows[odd]["name"], None
    task = await it.begin("stashdb")
    async with asyncio.timeout(30):
        while it.served.boxes.control.requests["stashdb"].total() < 4:
            await asyncio.sleep(0.001)
    rows[odd]["name"] = name

    await task

    state = (await it.get("stashdb")).state
    assert state is not None
    assert state.errors >= 1
    assert it.sighted("stashdb") == it.served.live("stashdb")


async def test_an_outage_that_lasts_stops_the_sweep_and_a_start_goes_on_where_it_was(it: World) -> None:
    it.declare("stashdb", batch_size=10, retry_attempts=2)
    task = await it.begin("stashdb")
    async with asyncio.timeout(30):
        while not it.offered("stashdb"):
            await asyncio.sleep(0.001)
    it.served.become("stashdb", Mode.DOWN)
    await task
    failed = await it.get("stashdb")
    before = it.offered("stashdb")
    it.served.become("stashdb", Mode.OK)

    await it.sweep("stashdb")

    assert failed.word == "failed"
    assert failed.state is not None
    assert failed.state.last_error == "stashdb answered 503: Service Unavailable."
    assert "it goes on at page" in failed.next_step
    assert set(it.offered("stashdb").values()) == {1}
    assert before
    assert it.sighted("stashdb") == it.served.live("stashdb")


async def test_a_full_queue_stops_requests_and_no_burst_follows(it: World) -> None:
    it.declare("stashdb", batch_size=10, rate_limit=1200)
    it.database.run("INSERT INTO pressure VALUES (1001)")
    task = await it.begin("stashdb")
    waiting = await it.until("stashdb", "waiting")
    before = it.served.asked("stashdb")
    await asyncio.sleep(0.6)
    during = it.served.asked("stashdb")
    it.database.run("DELETE FROM pressure")
    await it.until("stashdb", "sweeping")
    await asyncio.sleep(0.5)
    after = it.served.asked("stashdb")

    await task

    assert waiting.state is not None
    assert waiting.state.waiting_for == "queue"
    assert during == before
    assert after - during <= 12  # twenty in a second
    assert it.sighted("stashdb") == it.served.live("stashdb")


async def test_a_source_that_is_stopped_keeps_its_place(it: World) -> None:
    it.declare("stashdb", batch_size=10)
    task = await it.begin("stashdb")
    async with asyncio.timeout(30):
        while not it.offered("stashdb"):
            await asyncio.sleep(0.001)

    stopped = await it.sources.stop(it.caller, "stashdb")
    await task
    asked = it.served.asked("stashdb")
    await it.sweep("stashdb")

    assert stopped.word == "paused"
    assert asked < it.served.asked("stashdb")
    assert set(it.offered("stashdb").values()) == {1}
    assert it.sighted("stashdb") == it.served.live("stashdb")


async def test_a_key_that_is_refused_or_missing_is_told_without_the_key(it: World) -> None:
    it.declare("stashdb", key_file="nowhere")
    (it.folder / "empty").write_text("")

    await it.sweep("stashdb")

    standing = await it.get("stashdb")
    assert standing.word == "failed"
    assert standing.state is not None
    assert standing.state.last_error == f"There is no key for stashdb: put it into {it.folder}/nowhere."
    assert it.served.asked("stashdb") == 0


async def test_a_driver_that_fell_silent_is_replaced_and_changes_nothing(
    it: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    it.declare("stashdb", batch_size=10)
    started: list[Driver] = []
    made = driving.Driver.drive

    async def drive(self: Driver) -> None:
        started.append(self)
        if len(started) > 1:
            await made(self)

    monkeypatch.setattr(driving.Driver, "drive", drive)
    await (await it.begin("stashdb"))
    await started[0]._prepare()
    await started[0].step()
    it.database.run("UPDATE source SET driver_until = clock_timestamp() - interval '1 second'")
    place = it.database.rows("SELECT place FROM source")

    with pytest.raises(NotTheDriver):
        await started[0].step()
    unchanged = it.database.rows("SELECT place FROM source") == place
    await it.sweep("stashdb")

    assert unchanged
    assert set(it.offered("stashdb").values()) == {1}
    assert it.sighted("stashdb") == it.served.live("stashdb")
    await started[0]._fetcher.aclose()


async def test_another_process_cannot_sweep_what_is_swept(it: World) -> None:
    it.declare("stashdb", rate_limit=60)
    first = await it.begin("stashdb")

    second = await it.sources.take_up(it.caller, "stashdb", is_full=False)

    assert second is None
    await it.sources.stop(it.caller, "stashdb")
    await it.sources.sweepers.close()
    assert first.done()


def test_boxes_have_people_in_common(boxes: Served) -> None:
    truth = boxes.boxes.truth(with_theporndb=True)

    several = [places for places in truth.values() if len({place["source"] for place in places}) > 1]
    assert len(several) > len(truth) / 2
    assert {place["source"] for places in truth.values() for place in places} >= {*BOXES, "theporndb"}
