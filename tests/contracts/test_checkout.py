"""What a checkout promises: an account, its session and seeds together, or nothing, and nothing stays held."""

import asyncio
from collections.abc import Sized
from typing import Any

import pytest

from tests.contracts.stage import JSON, Refused, Stage

pytestmark = pytest.mark.parametrize("stage", ["postgres-http", "mongo-http"], indirect=True)

STATE = {
    "cookies": [
        {
            "name": "sid",
            "value": "s1",
            "domain": "board.example",
            "path": "/",
            "expires": -1,
            "httpOnly": True,
            "secure": True,
            "sameSite": "Lax",
        }
    ],
    "origins": [],
}


@pytest.fixture(autouse=True)
async def _site(stage: Stage) -> None:
    await stage.site(reclaim_delay_seconds=0)


async def check_out(stage: Stage, key: str | None = None, **more: Any) -> JSON:
    body = {"site": "board", "owner": "ann", "seeds": 2, **more}
    answer: JSON = await stage.way.send("POST", "/v2/checkout", body, key)
    return answer


async def plant(stage: Stage, *paths: str) -> list[JSON]:
    items = [{"site": "board", "url": f"https://board.example/{path}"} for path in paths]
    planted: list[JSON] = (await stage.way.send("POST", "/v2/seeds", {"items": items}))["items"]
    return planted


async def held(stage: Stage) -> list[str]:
    return sorted(lease["kind"] for lease in await stage.leases())


async def parked(room: Sized) -> None:
    """Until somebody waits there."""
    async with asyncio.timeout(15):
        while not len(room):
            await asyncio.sleep(0.01)


async def test_all_of_it_comes_together(stage: Stage) -> None:
    (account,) = await stage.accounts("one")
    await plant(stage, "a", "b", "c")
    await stage.operator_saves(account["id"], STATE)

    got = await check_out(stage)

    assert got["account"]["resource_id"] == account["id"]
    assert got["account"]["account"]["secret"] == {"password": "LHCANARY of one"}
    assert (got["session"]["version"], got["session"]["storage_state"]["cookies"][0]["value"]) == (1, "s1")
    assert [lease["seed"]["url"] for lease in got["seeds"]] == ["https://board.example/a", "https://board.example/b"]
    assert got["waiting"] is None
    assert await held(stage) == ["account", "seed", "seed"]


async def test_an_account_without_a_session_comes_without_one(stage: Stage) -> None:
    await stage.accounts("one")
    await plant(stage, "a")

    got = await check_out(stage)

    assert (got["session"], len(got["seeds"])) == (None, 1)


async def test_without_a_due_seed_no_account_stays_held(stage: Stage) -> None:
    (account,) = await stage.accounts("one")

    got = await check_out(stage)

    assert (got["account"], got["session"], got["seeds"]) == (None, None, [])
    assert got["waiting"]["reason"] in ("none_match", "not_due")
    assert await held(stage) == []
    now = await stage.account(account)
    assert (now["state"], now["last_outcome"], now["unclean_ends"]) == ("active", None, 0)


async def test_without_an_account_no_seed_stays_held(stage: Stage) -> None:
    await plant(stage, "a")

    got = await check_out(stage)

    assert (got["account"], got["seeds"], got["waiting"]["reason"]) == (None, [], "none_match")
    assert await held(stage) == []
    assert len((await stage.way.send("GET", "/v2/seeds?due=true"))["items"]) == 1


async def test_who_waits_for_seeds_is_served_when_they_come(stage: Stage) -> None:
    await stage.accounts("one")

    waiting = asyncio.create_task(check_out(stage, wait_seconds=25))
    await parked(stage.home.app.state.seeds.room)
    meanwhile = await held(stage)
    await plant(stage, "a")
    got = await asyncio.wait_for(waiting, 20)

    assert meanwhile == []
    assert (got["account"]["account"]["username"], len(got["seeds"])) == ("one", 1)


async def test_who_waits_for_the_account_is_served_when_it_comes(stage: Stage) -> None:
    await stage.accounts("one")
    await plant(stage, "a")
    lease = await stage.acquire()

    waiting = asyncio.create_task(check_out(stage, wait_seconds=25))
    await parked(stage.home.app.state.accounts.counter.room)
    meanwhile = await held(stage)
    await stage.release(lease)
    got = await asyncio.wait_for(waiting, 20)

    assert meanwhile == ["account"]
    assert len(got["seeds"]) == 1


async def test_a_repeat_is_told_of_the_same(stage: Stage) -> None:
    await stage.accounts("one", "two")
    await plant(stage, "a", "b", "c", "d")

    first, again = await check_out(stage, "k1"), await check_out(stage, "k1")

    assert again["account"]["id"] == first["account"]["id"]
    assert [lease["id"] for lease in again["seeds"]] == [lease["id"] for lease in first["seeds"]]
    assert await held(stage) == ["account", "seed", "seed"]


async def test_a_checkout_that_found_nothing_is_not_remembered(stage: Stage) -> None:
    await stage.accounts("one")
    assert (await check_out(stage, "k1"))["account"] is None
    await plant(stage, "a")

    assert (await check_out(stage, "k1"))["account"] is not None


async def test_a_session_that_does_not_load_leaves_nothing_held(stage: Stage) -> None:
    (account,) = await stage.accounts("one")
    await plant(stage, "a")
    for name in ("a", "b"):
        storage = [{"name": name, "value": "x" * 3_000_000}]
        full = {"cookies": [], "origins": [{"origin": "https://board.example", "localStorage": storage}]}
        await stage.operator_saves(account["id"], full)

    with pytest.raises(Refused) as refused:
        await check_out(stage)
    async with asyncio.timeout(10):
        while await held(stage):
            await asyncio.sleep(0.02)

    assert (refused.value.status, refused.value.type) == (409, "session-not-loadable")


async def test_many_at_once_never_share_an_account_or_a_seed(stage: Stage) -> None:
    await stage.accounts("one", "two", "three")
    await plant(stage, *(f"p{n}" for n in range(9)))

    got = await asyncio.gather(*(check_out(stage, owner=f"o{n}") for n in range(6)))

    whole = [one for one in got if one["account"]]
    seeds = [lease["resource_id"] for one in whole for lease in one["seeds"]]
    assert len({one["account"]["resource_id"] for one in whole}) == len(whole) == 3
    assert len(set(seeds)) == len(seeds)
    assert len(await stage.leases()) == len(whole) + len(seeds)


async def test_it_takes_every_permission(stage: Stage) -> None:
    made = await stage.way.send("POST", "/v2/tokens", {"name": "half", "permissions": ["accounts.use", "seeds.use"]})
    client = stage.home.client(made["token"])

    answer = await client.post("/v2/checkout", json={"site": "board", "owner": "ann", "seeds": 1})

    assert (answer.status_code, answer.json()["permission"]) == (403, "sessions.use")


async def test_a_site_there_is_not_is_not_found(stage: Stage) -> None:
    with pytest.raises(Refused) as refused:
        await check_out(stage, site="nowhere")

    assert (refused.value.status, refused.value.type) == (404, "site-unknown")


async def test_a_site_is_checked_out_by_any_slug_it_may_have(stage: Stage) -> None:
    await stage.site("my_board-2")
    await stage.accounts("one", site="my_board-2")

    found = await check_out(stage, site="my_board-2")

    assert found["waiting"]["reason"] == "none_match"  # it has an account, and no seeds
