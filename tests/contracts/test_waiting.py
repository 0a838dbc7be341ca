"""What waiting promises: woken at once, in turn, across processes, and nothing for those who left."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.contracts.stage import JSON, Refused, Stage

PATIENCE_S = 20


@pytest.fixture
async def twin(stage: Stage) -> AsyncIterator[Stage]:
    """A second API process on the same store."""
    async with stage.beside() as other:
        yield other


def ask_for_long(stage: Stage, **more: object) -> asyncio.Task[JSON]:
    """Somebody who asks and waits, if it has to, for longer than we do."""
    return asyncio.create_task(stage.ask(**{"wait_seconds": 25, **more}))  # type: ignore[arg-type]


async def begin(stage: Stage, waiters: int = 1, **more: object) -> asyncio.Task[JSON]:
    """Somebody who asks and has to wait; comes back when it does."""
    task = ask_for_long(stage, **more)
    await stage.parked(waiters)
    return task


async def answer(task: asyncio.Task[JSON]) -> JSON:
    async with asyncio.timeout(PATIENCE_S):
        return await task


async def test_a_release_wakes_who_waits(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    held = await stage.acquire()
    waiter = await begin(stage)

    await stage.release(held)

    assert (await answer(waiter))["leases"][0]["resource_id"] == held["resource_id"]


async def test_a_release_in_another_process_wakes_who_waits(stage: Stage, twin: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    held = await stage.acquire()
    waiter = await begin(twin)

    await stage.release(held)

    assert (await answer(waiter))["leases"]


@pytest.mark.parametrize("change", ["a new account", "an import", "an activation", "a resumed site", "a higher cap"])
async def test_whatever_makes_room_wakes_who_waits(stage: Stage, change: str) -> None:
    await stage.site(max_concurrent_accounts=1 if change == "a higher cap" else None)
    (one,) = await stage.accounts("one")
    if change == "an activation":
        await stage.change(one, state="inactive")
    elif change == "a resumed site":
        await stage.way.send("POST", "/v2/sites/board/pause", {})
    else:
        await stage.acquire()
    if change == "a higher cap":
        await stage.accounts("two")
    waiter = await begin(stage)

    match change:
        case "a new account":
            await stage.accounts("two")
        case "an import":
            items = [{"site": "board", "username": "two", "secret": {}}]
            await stage.way.send("POST", "/v2/accounts/import", {"items": items})
        case "an activation":
            await stage.change(one, state="active")
        case "a resumed site":
            await stage.way.send("POST", "/v2/sites/board/resume")
        case "a higher cap":
            await stage.way.send("PATCH", "/v2/sites/board", {"policy": {"max_concurrent_accounts": 2}})

    assert (await answer(waiter))["leases"]


async def test_the_end_of_a_rest_wakes_who_waits(stage: Stage) -> None:
    await stage.site(cooldown_seconds=3)
    await stage.accounts("one")
    await stage.release(await stage.acquire())

    assert (await answer(ask_for_long(stage)))["leases"]


async def test_the_end_of_a_lease_wakes_who_waits(stage: Stage) -> None:
    await stage.site(reclaim_delay_seconds=0)
    await stage.accounts("one")
    await stage.acquire(ttl_seconds=5)

    assert (await answer(ask_for_long(stage)))["leases"]


async def test_first_come_is_first_served(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    held = await stage.acquire()
    waiters = [await begin(stage, n + 1, owner=f"w{n}") for n in range(4)]

    order = []
    for waiter in waiters:
        await stage.release(held)
        held = (await answer(waiter))["leases"][0]
        order.append(held["owner"])

    assert order == ["w0", "w1", "w2", "w3"]


async def test_a_higher_priority_is_served_before(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    held = await stage.acquire()
    low = await begin(stage, 1, priority=1)
    high = await begin(stage, 2, priority=8)

    await stage.release(held)

    first = (await answer(high))["leases"][0]
    assert not low.done()
    await stage.release(first)
    assert (await answer(low))["leases"]


async def test_turns_are_kept_across_processes(stage: Stage, twin: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    held = await stage.acquire()
    elsewhere = await begin(twin, 1, owner="first")
    here = await begin(stage, 1, owner="second")

    await stage.release(held)  # in the process where the second waits

    first = (await answer(elsewhere))["leases"][0]
    assert not here.done()
    await twin.release(first)
    assert (await answer(here))["leases"][0]["owner"] == "second"


async def test_who_does_not_wait_does_not_jump_the_queue(stage: Stage, twin: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    held = await stage.acquire()
    waiter = await begin(twin)
    # The queue in PostgreSQL is what counts: the one who waits is not even told yet that something is free.
    room = twin.home.app.state.accounts.counter.room
    room.call = lambda *_: None

    await stage.release(held)

    assert (await stage.ask(owner="jumper"))["leases"] == []
    assert (await stage.ask(owner="urgent", priority=9))["leases"]
    waiter.cancel()


async def test_a_process_that_died_loses_its_turn(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    stage.home.database.run(
        "INSERT INTO waiter (id, organisation, process, site, priority, wanted, labels, since, refreshed_at)"
        " SELECT gen_random_uuid(), id, gen_random_uuid(), 'board', 9, 1, '{}', clock_timestamp() - interval '1 min',"
        "        clock_timestamp() - interval '10 s' FROM organisation"
    )

    assert (await stage.ask())["leases"]


async def test_who_waits_for_many_is_not_starved_by_the_small(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one", "two")
    first, second = await stage.acquire(), await stage.acquire()
    both = await begin(stage, 1, owner="both", count=2)
    single = await begin(stage, 2, owner="single")

    await stage.release(first)
    await asyncio.sleep(0.3)
    assert not single.done()
    await stage.release(second)

    leases = (await answer(both))["leases"]
    assert [lease["owner"] for lease in leases] == ["both", "both"]
    await stage.release(leases[0])
    assert (await answer(single))["leases"]


async def test_who_wants_more_than_there_can_be_blocks_nobody(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    held = await stage.acquire()
    greedy = await begin(stage, 1, count=2)
    modest = await begin(stage, 2)

    await stage.release(held)

    assert (await answer(modest))["leases"]
    greedy.cancel()


async def test_who_waits_for_another_kind_blocks_nobody(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("plain")
    await stage.accounts("german", labels={"region": "de"})
    german = await stage.acquire(labels={"region": "de"})
    plain = await stage.acquire()
    picky = await begin(stage, 1, labels={"region": "de"})
    modest = await begin(stage, 2)

    await stage.release(plain)

    assert (await answer(modest))["leases"][0]["resource_id"] == plain["resource_id"]
    await stage.release(german)
    assert (await answer(picky))["leases"][0]["resource_id"] == german["resource_id"]


async def test_who_left_consumes_nothing(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    held = await stage.acquire()
    gone = await begin(stage, 1, owner="gone")
    gone.cancel()
    await stage.parked(0)

    await stage.release(held)

    assert (await stage.acquire(owner="here"))["owner"] == "here"
    async with asyncio.timeout(PATIENCE_S):
        while stage.home.database.rows("SELECT FROM waiter"):
            await asyncio.sleep(0.01)


async def test_who_leaves_at_any_moment_leaks_nothing(stage: Stage) -> None:
    """A storm of callers who hang up after a random while: every grant was received or is given back."""
    await stage.site()
    await stage.accounts(*(f"a{n}" for n in range(5)))

    async def impatient(n: int) -> None:
        try:
            async with asyncio.timeout(0.001 * (n % 40)):
                answered = await stage.ask(owner=f"o{n}", wait_seconds=5)
        except TimeoutError:
            return
        for lease in answered["leases"]:
            await stage.release(lease)

    await asyncio.gather(*(impatient(n) for n in range(200)))

    async with asyncio.timeout(PATIENCE_S):
        while await stage.leases():
            await asyncio.sleep(0.02)
    assert len((await stage.ask(count=5))["leases"]) == 5


async def test_a_wait_that_was_for_nothing_says_why(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    await stage.acquire()

    waiting = await stage.waiting(wait_seconds=1)

    assert waiting["reason"] == "all_leased"
    assert stage.home.database.rows("SELECT FROM waiter") == []


async def test_a_server_that_stops_answers_those_who_wait(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    await stage.acquire()
    waiter = await begin(stage)

    stage.home.app.state.accounts.counter.room.close()

    assert (await answer(waiter))["waiting"]["reason"] == "all_leased"


async def test_waiting_asks_the_database_nothing_while_nothing_happens(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    await stage.acquire(ttl_seconds=600)
    waiters = [await begin(stage, n + 1) for n in range(10)]
    before = await stage.batches()
    await asyncio.sleep(2)

    # The one thing that goes on is the whole process saying once in a while that it lives.
    assert await stage.batches() - before <= 3
    for waiter in waiters:
        waiter.cancel()


async def test_a_newcomer_does_not_overtake_who_waits_in_its_own_process(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one", "two")
    held = await stage.acquire()
    both = await begin(stage, 1, owner="both", count=2, priority=9)

    assert (await stage.ask(owner="newcomer", priority=0))["leases"] == []

    await stage.release(held)
    assert len((await answer(both))["leases"]) == 2


async def test_the_end_of_a_lease_makes_room_under_a_cap_although_its_account_rests(stage: Stage) -> None:
    await stage.site(max_concurrent_accounts=1, cooldown_seconds=600)
    await stage.accounts("one", "two")
    held = await stage.acquire()
    waiter = await begin(stage)
    stage.home.app.state.accounts.counter.room.tick = None  # nobody is called by the clock

    await stage.release(held)

    assert (await answer(waiter))["leases"][0]["resource_id"] != held["resource_id"]


async def test_who_is_told_of_an_earlier_grant_leaves_the_queue(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    held = await stage.acquire()
    twins = [asyncio.create_task(stage.ask(owner="twin", key="k1", wait_seconds=25)) for _ in range(2)]
    await stage.parked(2)

    await stage.release(held)

    both = [await answer(twin) for twin in twins]
    assert both[0]["leases"][0]["id"] == both[1]["leases"][0]["id"]
    async with asyncio.timeout(PATIENCE_S):
        while stage.home.database.rows("SELECT FROM waiter"):
            await asyncio.sleep(0.01)


async def test_a_site_that_is_deleted_leaves_nobody_in_the_queue(stage: Stage) -> None:
    await stage.site()
    waiter = await begin(stage)

    await stage.way.send("DELETE", "/v2/sites/board")
    stage.home.app.state.accounts.counter.room.close()

    with pytest.raises(Refused) as refused:
        await answer(waiter)
    assert refused.value.type == "site-unknown"
    async with asyncio.timeout(PATIENCE_S):
        while stage.home.database.rows("SELECT FROM waiter"):
            await asyncio.sleep(0.01)
