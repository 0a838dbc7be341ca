"""What a site limits: seeds visited at once, and the time between two. Exact, however many processes hand out."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from tests.seeds.garden import JSON, Garden

PATIENCE_S = 20
GUARD = "SELECT pg_advisory_lock(hashtextextended(id || ' board', 3)) FROM organisation WHERE slug = 'default'"


@pytest.fixture
async def twin(garden: Garden) -> AsyncIterator[Garden]:
    """A second API process on the same database."""
    async with garden.beside() as other:
        yield other


async def test_no_more_are_visited_at_once_than_the_site_allows(garden: Garden) -> None:
    await garden.site(seed_concurrency=2)
    await garden.seeds("/a", "/b", "/c")

    first = (await garden.ask(limit=10))["leases"]
    waiting = await garden.waiting()
    await garden.release(first[0])

    assert len(first) == 2
    assert waiting["reason"] == "site_capped"
    assert len(await garden.paths()) == 1


async def test_a_cap_is_for_its_own_site_alone(garden: Garden) -> None:
    await garden.site("board", seed_concurrency=1)
    await garden.site("shop")
    await garden.seeds("/a", "/b", "/c")
    await garden.seeds("/a", "/b", "/c", site="shop")

    sites = [lease["site"] for lease in (await garden.ask(limit=10))["leases"]]

    assert sorted(sites) == ["board", "shop", "shop", "shop"]


async def test_a_cap_is_never_passed_by_two_processes(garden: Garden, twin: Garden) -> None:
    await garden.site(seed_concurrency=3)
    await garden.seeds(*(f"/{n}" for n in range(40)))

    async def visit(who: Garden, owner: str) -> None:
        for _ in range(6):
            leases = (await who.ask(owner=owner, limit=2))["leases"]
            (live,) = garden.home.database.rows("SELECT count(*) FROM lease WHERE kind = 'seed'")
            assert live[0] <= 3
            for lease in leases:
                await garden.change(await who.release(lease), next_due_at="now")

    await asyncio.gather(*(visit(who, f"o{n}") for n, who in enumerate([garden, twin] * 4)))
    grants = garden.home.database.rows("SELECT acquired_at, ended_at FROM lease_end WHERE kind = 'seed'")
    for begin, _ in grants:
        assert sum(other <= begin < end for other, end in grants) <= 3


async def test_who_hands_out_at_a_limited_site_waits_for_whoever_does(garden: Garden) -> None:
    await garden.site(seed_concurrency=1)
    await garden.seeds("/a", "/b")

    with garden.home.database.connect() as other:
        other.execute(GUARD)
        asking = asyncio.create_task(garden.ask())
        await asyncio.sleep(0.3)
        assert not asking.done()
        other.execute("SELECT pg_advisory_unlock_all()")

        assert (await asking)["leases"]


async def test_where_nothing_is_limited_nobody_waits_for_a_guard(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a")

    with garden.home.database.connect() as other:
        other.execute(GUARD)

        async with asyncio.timeout(20):
            assert (await garden.ask())["leases"]


async def test_a_seed_somebody_looks_at_is_stepped_over(garden: Garden) -> None:
    await garden.site()
    (_, second) = await garden.seeds("/a", "/b")

    with garden.home.database.connect() as other, other.transaction():
        other.execute("SELECT FROM seed WHERE rest = '/a' FOR UPDATE")

        async with asyncio.timeout(20):
            lease = await garden.acquire()

    assert lease["resource_id"] == second["id"]


async def test_a_seed_freed_while_somebody_looks_is_not_forgotten(garden: Garden) -> None:
    """A bed is raised past nothing that is about to be committed."""
    await garden.site()
    (seed,) = await garden.seeds("/a")
    await garden.change(seed, enabled=False)  # the bed still says that something is due

    with garden.home.database.connect() as other, other.transaction():
        other.execute("UPDATE seed SET enabled = true")
        looking = asyncio.create_task(garden.ask())
        await asyncio.sleep(0.3)
        assert not looking.done()  # it would say that nothing is due here, and waits for whoever is about to differ

    assert (await looking)["leases"] == []
    assert (await garden.acquire())["resource_id"] == seed["id"]


def at(lease: JSON) -> datetime:
    return datetime.fromisoformat(lease["acquired_at"])


async def test_between_two_seeds_of_a_site_its_interval_passes(garden: Garden) -> None:
    await garden.site(min_interval_ms=60_000)
    await garden.seeds("/a", "/b", "/c")
    await garden.seeds("/urgent", priority=90)

    first = (await garden.ask(limit=10))["leases"]
    waiting = await garden.waiting()

    assert [lease["seed"]["url"] for lease in first] == ["https://board.example/urgent"]
    assert waiting["reason"] == "rate_limited"
    opens = datetime.fromisoformat(waiting["next_available_at"]) - at(first[0])
    assert timedelta(seconds=60) <= opens < timedelta(seconds=61)
    await garden.passes(58)
    assert (await garden.waiting())["reason"] == "rate_limited"
    await garden.passes(3)
    assert len((await garden.ask(limit=10))["leases"]) == 1


async def test_an_interval_survives_that_the_lease_was_given_back(garden: Garden) -> None:
    await garden.site(min_interval_ms=60_000)
    await garden.seeds("/a", "/b")

    await garden.release(await garden.acquire(), "failed")

    assert (await garden.waiting())["reason"] == "rate_limited"


async def test_an_interval_is_exact_across_processes(garden: Garden, twin: Garden) -> None:
    await garden.site(min_interval_ms=300)
    await garden.seeds(*(f"/{n}" for n in range(40)))

    async def ask(who: Garden, owner: str) -> list[JSON]:
        leases = []
        for _ in range(2):
            leases += (await who.ask(owner=owner, limit=5, wait_seconds=20))["leases"]
        return leases

    got = await asyncio.gather(*(ask(who, f"o{n}") for n, who in enumerate([garden, twin] * 2)))
    times = sorted(at(lease) for leases in got for lease in leases)
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]

    assert len(times) == 8
    assert all(gap >= 0.3 for gap in gaps), gaps
    assert max(gaps) < 3, gaps


async def test_who_waits_for_an_interval_is_woken_when_it_has_passed(garden: Garden) -> None:
    await garden.site(min_interval_ms=700)
    await garden.seeds("/a", "/b")
    first = await garden.acquire()

    async with asyncio.timeout(PATIENCE_S):
        second = await garden.acquire(wait_seconds=10)

    assert timedelta(milliseconds=700) <= at(second) - at(first) < timedelta(seconds=1.7)


async def test_a_crowd_gets_every_seed_once(garden: Garden, twin: Garden) -> None:
    for site in ("a", "b", "c"):
        await garden.site(site)
        await garden.seeds(*(f"/{n}" for n in range(20)), site=site)

    got = await asyncio.gather(*(who.ask(owner=f"o{n}", limit=5) for n, who in enumerate([garden, twin] * 10)))
    rest = await garden.ask(limit=100)

    seeds = [lease["resource_id"] for one in (*got, rest) for lease in one["leases"]]
    assert len(seeds) == len(set(seeds)) == 60
