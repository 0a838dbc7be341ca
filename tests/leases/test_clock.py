"""Clocks that jump, for real: whoever holds an account goes on holding it, in both stores."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from leasehold.accounts import postgres as postgres_pool
from leasehold.app import organisations
from tests.contracts.stage import Clock, MongoClock, PostgresClock, RawWay, Refused, Stage
from tests.parts.faketime import WallClock, jumping_mongo
from tests.parts.house import house
from tests.parts.mongo import Mongo, MongoDatabase
from tests.parts.postgres import TestDatabase

HOUR = 3600.0
JSON = dict[str, Any]


@pytest.fixture(scope="module")
def odd_mongo() -> Iterator[tuple[Mongo, WallClock]]:
    with jumping_mongo() as running:
        yield running


@dataclass
class Scene:
    """A stage whose store has a clock that jumps."""

    stage: Stage
    wall: WallClock
    database: TestDatabase
    store: str

    def jumps(self) -> list[Any]:
        return self.database.rows("SELECT store, seconds, leases FROM clock_jump ORDER BY id")

    async def expires_at(self) -> datetime:
        (held,) = await self.stage.leases()
        return datetime.fromisoformat(held["expires_at"])

    @staticmethod
    async def reap(stage: Stage) -> None:
        state = stage.home.app.state
        await state.accounts.reap([organisation for organisation, _ in await organisations(state.db)])

    @staticmethod
    def noticed(stage: Stage) -> float:
        registry = stage.home.app.state.metrics.registry
        found = [sample for metric in registry.collect() for sample in metric.samples]
        return sum(float(sample.value) for sample in found if sample.name == "leasehold_clock_jumps_total")


@pytest.fixture(params=["postgres", "mongo"])
async def scene(request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    store: str = request.param
    settings: JSON = {}
    if store == "postgres":
        database: TestDatabase = request.getfixturevalue("odd_database")
        wall: WallClock = request.getfixturevalue("odd_postgres")[1]
        wall.jump_to(0)
        database.empty()
        clock: Clock = PostgresClock(database)
    else:
        database = request.getfixturevalue("database")
        mongo, wall = request.getfixturevalue("odd_mongo")
        wall.jump_to(0)
        pool = MongoDatabase(mongo, "lh_clock")
        pool.empty()
        settings = {"pools": "mongo", "mongo_url": mongo.url.replace("/?", f"/{pool.name}?")}
        clock = MongoClock(database, pool)

    @asynccontextmanager
    async def play(token: str | None = None) -> AsyncIterator[Stage]:
        async with house(database, **settings) as home:
            # What is done in the background would notice first; here each call has to notice by itself.
            await home.app.state.background.stop()
            shown = token or await home.token()
            yield Stage(home, RawWay(home.client(shown)), clock, lambda: play(shown))

    async with play() as stage:
        await stage.site(reclaim_delay_seconds=0)
        await stage.accounts("ann")
        yield Scene(stage, wall, database, store)


async def ask_another(stage: Stage, lease: JSON) -> None:
    assert (await stage.waiting(owner="bob"))["counts"]["using"] == 1


async def beat(stage: Stage, lease: JSON) -> None:
    assert (await stage.beat(lease))["id"] == lease["id"]


async def beat_for_owner(stage: Stage, lease: JSON) -> None:
    assert await stage.way.send("POST", "/v2/leases/heartbeat", {"owner": "ann"}) == {
        "renewed": [lease["id"]],
        "lost": [],
    }


async def repeat(stage: Stage, lease: JSON) -> None:
    assert (await stage.ask(key="k"))["leases"][0]["id"] == lease["id"]


async def reclaim(stage: Stage, lease: JSON) -> None:
    assert await stage.way.send("POST", "/v2/accounts/reclaim", {}) == {"reclaimed": 0}


async def reap(stage: Stage, lease: JSON) -> None:
    await Scene.reap(stage)


async def list_leases(stage: Stage, lease: JSON) -> None:
    assert [held["id"] for held in await stage.leases()] == [lease["id"]]


async def show(stage: Stage, lease: JSON) -> None:
    assert (await stage.account(lease))["state"] == "using"


async def explain(stage: Stage, lease: JSON) -> None:
    assert (await stage.explain())["counts"]["using"] == 1


CALLS = [ask_another, beat, beat_for_owner, repeat, reclaim, reap, list_leases, show, explain]


@pytest.mark.parametrize("call", CALLS)
async def test_whatever_is_called_first_after_a_jump_ahead_its_holder_keeps_the_account(
    scene: Scene, call: Callable[[Stage, JSON], Awaitable[None]]
) -> None:
    lease = (await scene.stage.ask(key="k"))["leases"][0]

    scene.wall.jump(HOUR)
    await call(scene.stage, lease)

    await ask_another(scene.stage, lease)
    assert (await scene.stage.beat(lease))["fence"] == lease["fence"]
    assert (await scene.stage.release(lease))["already_released"] is False


async def test_a_release_after_a_jump_ahead_is_taken(scene: Scene) -> None:
    lease = await scene.stage.acquire()

    scene.wall.jump(HOUR)
    released = await scene.stage.release(lease)

    assert released["already_released"] is False
    assert released["resource"]["unclean_ends"] == 0


async def test_a_revocation_after_a_jump_ahead_counts(scene: Scene) -> None:
    lease = await scene.stage.acquire()

    scene.wall.jump(HOUR)

    assert await scene.stage.revoke(lease) == 1


async def test_a_jump_ahead_gives_one_fresh_term_and_no_more(scene: Scene) -> None:
    lease = await scene.stage.acquire(ttl_seconds=120)
    await scene.stage.passes(100)
    scene.wall.jump(HOUR)

    await Scene.reap(scene.stage)
    await scene.stage.passes(115)
    await ask_another(scene.stage, lease)
    await scene.stage.passes(6)
    taken = await scene.stage.acquire(owner="bob")

    assert taken["fence"] == lease["fence"] + 1
    with pytest.raises(Refused) as refused:
        await scene.stage.beat(lease)
    assert (refused.value.status, refused.value.reason) == (410, "expired")
    ((store, seconds, leases),) = scene.jumps()
    assert (store, leases) == (scene.store, 1)
    assert seconds == pytest.approx(HOUR, abs=5)


async def test_what_had_run_out_before_a_jump_gets_no_new_time(scene: Scene) -> None:
    lease = await scene.stage.acquire(ttl_seconds=120)
    await scene.stage.passes(150)

    scene.wall.jump(HOUR)
    await scene.stage.leases()  # notices, and books nothing

    assert scene.jumps()[0][2] == 0
    assert (await scene.stage.acquire(owner="bob"))["fence"] == lease["fence"] + 1


async def test_what_was_left_of_a_longer_renewal_is_left_after_a_jump(scene: Scene) -> None:
    lease = await scene.stage.acquire(ttl_seconds=60)
    before = datetime.fromisoformat((await scene.stage.beat(lease, ttl_seconds=600))["expires_at"])

    scene.wall.jump(HOUR)
    await Scene.reap(scene.stage)

    moved = (await scene.expires_at() - before).total_seconds()
    assert moved == pytest.approx(HOUR, abs=5)


async def test_a_jump_beyond_the_greatest_age_gives_a_fresh_term_all_the_same(scene: Scene) -> None:
    lease = await scene.stage.acquire(ttl_seconds=120)

    scene.wall.jump(48 * HOUR)

    assert (await scene.stage.beat(lease))["id"] == lease["id"]
    await ask_another(scene.stage, lease)


async def test_two_servers_that_notice_one_jump_give_new_time_once(scene: Scene) -> None:
    async with scene.stage.beside() as other:
        await scene.stage.acquire(ttl_seconds=120)
        scene.wall.jump(HOUR)

        await asyncio.gather(Scene.reap(scene.stage), Scene.reap(other))
        await scene.stage.passes(100)
        before = await scene.expires_at()
        await Scene.reap(other)

        assert len(scene.jumps()) == 1
        assert (Scene.noticed(scene.stage), Scene.noticed(other)) == (1, 1)
        assert await scene.expires_at() == before


async def test_a_server_that_notices_late_gives_no_second_term(scene: Scene) -> None:
    async with scene.stage.beside() as other:
        await scene.stage.acquire(ttl_seconds=120)
        scene.wall.jump(HOUR)
        await Scene.reap(scene.stage)
        await scene.stage.passes(100)
        before = await scene.expires_at()

        await Scene.reap(other)

        assert len(scene.jumps()) == 1
        assert await scene.expires_at() == before


async def test_a_second_jump_is_not_taken_for_the_first_that_another_server_saw_to(scene: Scene) -> None:
    async with scene.stage.beside() as other:
        lease = await scene.stage.acquire(ttl_seconds=120)
        scene.wall.jump(HOUR)
        await Scene.reap(scene.stage)
        scene.wall.jump(HOUR)

        await ask_another(other, lease)

        assert len(scene.jumps()) == 2
        assert (await scene.stage.beat(lease))["id"] == lease["id"]


async def test_a_clock_that_jumps_back_and_ahead_again_is_noticed_each_time(scene: Scene) -> None:
    lease = await scene.stage.acquire(ttl_seconds=120)

    for offset in (HOUR, 0, HOUR, 0, HOUR):
        scene.wall.jump_to(offset)
        await Scene.reap(scene.stage)
        await scene.stage.passes(HOUR - 120 if offset == 0 else 0)  # as if it had not been given an hour too much
        assert (await scene.stage.beat(lease))["id"] == lease["id"]

    assert len(scene.jumps()) == 3


async def test_a_clock_that_jumps_to_the_same_time_twice_is_noticed_twice(scene: Scene) -> None:
    """As when somebody sets it by hand: the first jump must not pass for the second."""
    lease = await scene.stage.acquire(ttl_seconds=120)
    noticed = time.time()
    scene.wall.jump_to(HOUR)
    await Scene.reap(scene.stage)
    scene.wall.jump_to(0)
    await Scene.reap(scene.stage)
    await scene.stage.passes(HOUR)
    await asyncio.sleep(1.0)  # so that the first was noticed within what is now open to doubt

    scene.wall.jump_to(HOUR - (time.time() - noticed) + 0.5)
    await Scene.reap(scene.stage)

    assert len(scene.jumps()) == 2
    assert (await scene.stage.beat(lease))["id"] == lease["id"]


async def test_a_clock_that_goes_back_grants_nothing_twice(scene: Scene) -> None:
    lease = await scene.stage.acquire(ttl_seconds=120)

    scene.wall.jump(-HOUR)
    await ask_another(scene.stage, lease)
    await scene.stage.passes(121)
    await ask_another(scene.stage, lease)  # it lasts longer now
    assert (await scene.stage.beat(lease))["id"] == lease["id"]
    await scene.stage.release(lease)
    again = await scene.stage.acquire(owner="bob")

    assert again["fence"] == lease["fence"] + 1
    with pytest.raises(Refused):
        await scene.stage.beat(lease)
    assert scene.jumps() == []


async def test_what_ran_out_after_a_clock_went_back_is_free_again(scene: Scene) -> None:
    lease = await scene.stage.acquire(ttl_seconds=120)
    scene.wall.jump(-HOUR)

    await scene.stage.passes(HOUR + 121)

    assert (await scene.stage.acquire(owner="bob"))["fence"] == lease["fence"] + 1


async def test_a_clock_put_forward_by_less_than_a_minute_is_believed(scene: Scene) -> None:
    lease = await scene.stage.acquire(ttl_seconds=30)

    scene.wall.jump(50)

    assert (await scene.stage.acquire(owner="bob"))["fence"] == lease["fence"] + 1
    assert scene.jumps() == []


async def test_who_was_told_that_a_lease_is_lost_does_not_get_it_back(scene: Scene) -> None:
    """A server that came after the jump knows of none, and tells the holder so before the first notices."""
    lease = await scene.stage.acquire(ttl_seconds=120)
    scene.wall.jump(HOUR)
    async with scene.stage.beside() as newcomer:
        with pytest.raises(Refused) as told:
            await newcomer.beat(lease)
    assert told.value.status == 410

    await Scene.reap(scene.stage)

    with pytest.raises(Refused):
        await scene.stage.beat(lease)
    assert (await scene.stage.acquire(owner="bob"))["fence"] == lease["fence"] + 1


async def test_what_an_owner_was_told_to_have_lost_stays_lost(scene: Scene) -> None:
    lease = await scene.stage.acquire(ttl_seconds=120)
    scene.wall.jump(HOUR)
    async with scene.stage.beside() as newcomer:
        told = await newcomer.way.send("POST", "/v2/leases/heartbeat", {"owner": "ann"})
    assert told == {"renewed": [], "lost": [lease["id"]]}

    await Scene.reap(scene.stage)

    with pytest.raises(Refused):
        await scene.stage.beat(lease)


async def test_a_repeat_that_was_told_of_an_end_stays_right(scene: Scene) -> None:
    lease = (await scene.stage.ask(key="k"))["leases"][0]
    scene.wall.jump(HOUR)
    async with scene.stage.beside() as newcomer:
        with pytest.raises(Refused):
            await newcomer.ask(key="k")

    await Scene.reap(scene.stage)

    with pytest.raises(Refused):
        await scene.stage.beat(lease)


async def test_a_release_that_the_clock_overtakes_is_taken_all_the_same(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock jumps after the lease was seen to live and before it is ended."""
    lease = await scene.stage.acquire(ttl_seconds=120)
    owner: Any = scene.stage.home.app.state.accounts.counter.pool if scene.store == "mongo" else postgres_pool
    settle = owner._settle

    async def overtaken(*words: Any) -> Any:
        monkeypatch.setattr(owner, "_settle", settle)
        scene.wall.jump(HOUR)
        return await settle(*words)

    monkeypatch.setattr(owner, "_settle", overtaken)

    released = await scene.stage.release(lease)

    assert released["already_released"] is False
    assert released["resource"]["unclean_ends"] == 0
    assert len(scene.jumps()) == 1


async def test_a_waiter_is_served_after_a_jump_when_the_holder_lets_go(scene: Scene) -> None:
    lease = await scene.stage.acquire()
    waiter = asyncio.create_task(scene.stage.acquire(owner="bob", wait_seconds=20))
    await scene.stage.parked()

    scene.wall.jump(HOUR)
    await scene.stage.release(lease)

    assert (await waiter)["fence"] == lease["fence"] + 1
