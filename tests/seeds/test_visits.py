"""How the visits of a seed went: each is noted as it ends, the newest are kept, and they are read page by page."""

import httpx
import pytest

from leasehold.auth import Role
from leasehold.seeds.store import VISITS_FORGOTTEN_EVERY, VISITS_KEPT
from tests.parts.house import House
from tests.seeds.garden import JSON, Garden, Refused


async def visit(garden: Garden, outcome: str = "ok", **report: object) -> JSON:
    """Have the one seed there is visited, whenever it is due; it as it is then."""
    await garden.passes(200_000)
    return await garden.release(await garden.acquire(owner="crawler-7"), outcome, **report)


async def visits(garden: Garden, seed: JSON, query: str = "") -> JSON:
    page: JSON = await garden.send("GET", f"/v2/seeds/{seed['id']}/visits{query}")
    return page


async def numbers(garden: Garden, seed: JSON) -> list[int]:
    return [one["number"] for one in (await visits(garden, seed, "?limit=500"))["items"]]


async def test_a_seed_that_was_never_visited_has_none(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")

    assert await visits(garden, seed) == {"items": [], "next_cursor": None}


async def test_a_visit_is_noted_with_what_it_made_of_the_interval(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a", interval_seconds=3600)

    after = await visit(garden, found=3)

    (noted,) = (await visits(garden, after))["items"]
    assert noted == {
        "number": 1,
        "at": after["last_visited_at"],
        "outcome": "ok",
        "found": 3,
        "previous_interval_seconds": 3600,
        "interval_seconds": 1830,
        "next_due_at": after["next_due_at"],
        "owner": "crawler-7",
        "reason": None,
    }


async def test_the_newest_comes_first_and_each_begins_where_the_one_before_it_ended(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a", interval_seconds=3600)
    for found in (3, 0, 1):
        await visit(garden, found=found)

    noted = (await visits(garden, seed))["items"]

    moves = [(one["found"], one["previous_interval_seconds"], one["interval_seconds"]) for one in noted]
    assert moves == [(1, 2745, 1402), (0, 1830, 2745), (3, 3600, 1830)]
    assert [one["at"] for one in noted] == sorted((one["at"] for one in noted), reverse=True)


async def test_what_failed_and_what_is_gone_is_noted_with_the_reason(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a", interval_seconds=3600)
    await visit(garden, "failed", reason="timed out")
    await visit(garden, "gone", reason="answered 410")

    noted = (await visits(garden, seed))["items"]

    told = [(one["outcome"], one["reason"], one["found"], one["interval_seconds"]) for one in noted]
    assert told == [("gone", "answered 410", None, 3600), ("failed", "timed out", None, 3600)]


async def test_a_release_that_is_sent_twice_is_one_visit(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")
    lease = await garden.acquire()
    await garden.release(lease, found=3)

    await garden.release(lease, found=3)

    assert await numbers(garden, seed) == [1]


async def test_a_lease_that_ends_without_a_word_is_no_visit(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")
    revoked = await garden.acquire()
    await garden.send("DELETE", f"/v2/leases/{revoked['id']}")
    await garden.acquire(ttl_seconds=5)
    await garden.passes(60)
    ran_out = await garden.acquire()
    assert ran_out["fence"] == revoked["fence"] + 2

    assert await numbers(garden, seed) == []


def had(garden: Garden, count: int) -> None:
    """As if every seed had been visited so often."""
    garden.home.database.run("UPDATE seed SET visits = %s", count)
    garden.home.database.run(
        "INSERT INTO seed_visit (organisation, seed, number, at, outcome, previous_interval_seconds, interval_seconds,"
        " next_due_at, owner)"
        " SELECT organisation, id, n, clock_timestamp(), 'ok', 60, 60, clock_timestamp(), 'ann'"
        " FROM seed, generate_series(1, %s) n",
        count,
    )


async def test_only_the_newest_are_kept(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")
    (other,) = await garden.seeds("/b", enabled=False)
    before = VISITS_KEPT + VISITS_FORGOTTEN_EVERY - 1
    had(garden, before)

    await visit(garden)

    assert await numbers(garden, seed) == list(range(before + 1, before + 1 - VISITS_KEPT, -1))
    assert await numbers(garden, other) == list(range(before, 0, -1))


async def test_old_ones_are_not_looked_for_each_time(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")
    had(garden, VISITS_KEPT)

    await visit(garden)

    assert len(await numbers(garden, seed)) == VISITS_KEPT + 1


async def test_visits_of_other_seeds_stay_apart(garden: Garden) -> None:
    await garden.site()
    first, second = await garden.seeds("/a", "/b")
    for lease in (await garden.ask(limit=2))["leases"]:
        await garden.release(lease, found=1 if lease["resource_id"] == first["id"] else 2)

    assert [one["found"] for one in (await visits(garden, first))["items"]] == [1]
    assert [one["found"] for one in (await visits(garden, second))["items"]] == [2]


async def test_they_are_read_page_by_page(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")
    for _ in range(3):
        await visit(garden)

    first = await visits(garden, seed, "?limit=2")
    # What comes in between moves nothing.
    await visit(garden)
    second = await visits(garden, seed, f"?limit=2&cursor={first['next_cursor']}")

    assert [one["number"] for one in first["items"]] == [3, 2]
    assert [one["number"] for one in second["items"]] == [1]
    assert second["next_cursor"] is None


# Of no list; a text, minus one, and 2 to the power of 40, as this list would write them.
@pytest.mark.parametrize("cursor", ["nonsense", "eA", "LTE", "MTA5OTUxMTYyNzc3Ng"])
async def test_a_cursor_of_no_list_is_refused(garden: Garden, cursor: str) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")

    with pytest.raises(Refused) as refused:
        await visits(garden, seed, f"?cursor={cursor}")

    assert refused.value.status == 422


async def test_they_go_with_their_seed(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a")
    after = await visit(garden)

    await garden.send("DELETE", f"/v2/seeds/{after['id']}")

    assert garden.home.database.rows("SELECT 1 FROM seed_visit") == []
    with pytest.raises(Refused) as refused:
        await visits(garden, after)
    assert (refused.value.status, refused.value.problem["type"]) == (404, "/problems/seed-unknown")


async def test_strangers_do_not_see_them(garden: Garden, home: House) -> None:
    await garden.site()
    await garden.seeds("/a")
    after = await visit(garden)
    stranger: httpx.AsyncClient = await home.caller(Role.ADMIN, "strangers")

    assert (await stranger.get(f"/v2/seeds/{after['id']}/visits")).status_code == 404


async def test_a_visit_that_is_taken_back_is_not_noted(garden: Garden) -> None:
    """It is in the transaction of the release: where that fails, nothing of it stands."""
    await garden.site()
    (seed,) = await garden.seeds("/a")
    lease = await garden.acquire()
    garden.home.database.run("ALTER TABLE seed_visit ADD CONSTRAINT refusing CHECK (found <> 13)")
    try:
        with pytest.raises(Refused):
            await garden.release(lease, found=13)
    finally:
        garden.home.database.run("ALTER TABLE seed_visit DROP CONSTRAINT refusing")

    assert (await garden.get(seed))["lease_id"] == lease["id"]
    assert await numbers(garden, seed) == []
