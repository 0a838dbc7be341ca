"""Handing out due seeds: which, to whom, for how long, and what a visit leaves behind."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from leasehold.leases import Kind, NewLease, new_id
from leasehold.seeds import Seeds, books, store
from tests.seeds.garden import JSON, Garden, Refused

PATIENCE_S = 20


def url(path: str, site: str = "board") -> str:
    return f"https://{site}.example{path}"


async def answer(task: asyncio.Task[JSON]) -> JSON:
    async with asyncio.timeout(PATIENCE_S):
        return await task


async def test_the_longest_overdue_comes_first_within_a_priority(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/hour", overdue_s=3600)
    await garden.seeds("/day", overdue_s=86_400)
    await garden.seeds("/urgent", priority=90)
    await garden.seeds("/minute", overdue_s=60)

    assert await garden.paths() == [url("/urgent"), url("/day"), url("/hour"), url("/minute")]


async def test_one_site_does_not_take_all(garden: Garden) -> None:
    for site in ("big", "small"):
        await garden.site(site)
    await garden.seeds(*(f"/{n}" for n in range(30)), site="big", overdue_s=86_400)
    await garden.seeds("/a", "/b", site="small")

    together = await garden.paths(limit=4)

    assert sorted(path.split("/")[2] for path in together) == ["big.example"] * 2 + ["small.example"] * 2


async def test_sites_take_turns_across_requests(garden: Garden) -> None:
    for site in ("big", "small"):
        await garden.site(site)
    await garden.seeds(*(f"/{n}" for n in range(30)), site="big", overdue_s=86_400)
    await garden.seeds("/a", "/b", site="small")

    sites = [(await garden.acquire())["site"] for _ in range(5)]

    assert sites == ["big", "small", "big", "small", "big"]


async def test_what_one_site_lacks_another_gives(garden: Garden) -> None:
    for site in ("few", "many"):
        await garden.site(site)
    await garden.seeds("/only", site="few")
    await garden.seeds(*(f"/{n}" for n in range(30)), site="many")

    assert len(await garden.paths(limit=20)) == 20


async def test_only_what_was_asked_for_is_given(garden: Garden) -> None:
    for site in ("board", "shop"):
        await garden.site(site)
        await garden.seeds("/plain", site=site)
        await garden.seeds("/german", site=site, labels={"region": "de", "x": "y"})

    assert await garden.paths(site="shop", labels={"region": "de"}) == [url("/german", "shop")]
    assert await garden.paths(labels={"region": "de"}) == [url("/german")]
    assert await garden.paths(site="shop") == [url("/plain", "shop")]


async def test_a_disabled_seed_is_left_alone(garden: Garden) -> None:
    await garden.site()
    (off, _) = await garden.seeds("/off", "/on")
    await garden.change(off, enabled=False)

    assert await garden.paths() == [url("/on")]
    await garden.change(off, enabled=True)
    assert await garden.paths() == [url("/off")]


async def test_nobody_gets_what_somebody_holds_and_fences_grow(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a")
    fences = []
    for _ in range(3):
        lease = await garden.acquire()
        assert (await garden.waiting())["reason"] == "all_leased"
        fences.append(lease["fence"])
        seed = await garden.release(lease)
        await garden.change(seed, next_due_at="now")

    assert fences == [1, 2, 3]


async def test_the_cursor_comes_back_at_the_next_visit(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a", cursor="start")
    first = await garden.acquire()
    visited = await garden.release(first, found=2, cursor={"page": 3, "seen": [1, None]})
    await garden.change(visited, next_due_at="now")

    second = await garden.acquire()
    kept = await garden.release(second)

    assert first["seed"]["cursor"] == "start"
    assert second["seed"]["cursor"] == kept["cursor"] == {"page": 3, "seen": [1, None]}


def delay(seed: JSON) -> float:
    ahead: timedelta = datetime.fromisoformat(seed["next_due_at"]) - datetime.fromisoformat(seed["last_visited_at"])
    return ahead.total_seconds()


async def test_the_interval_adapts_to_what_was_found(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a", "/b")

    busy = await garden.release(await garden.acquire(), found=5)
    quiet = await garden.release(await garden.acquire())

    assert (busy["interval_seconds"], busy["last_found"], busy["last_outcome"]) == (1830, 5, "ok")
    assert (quiet["interval_seconds"], quiet["last_found"]) == (5400, 0)
    assert 1647 <= delay(busy) <= 2013
    assert 4860 <= delay(quiet) <= 5940


async def test_failures_back_off_and_a_success_forgets_them(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a", cursor="kept")
    failures = []
    for _ in range(3):
        failed = await garden.release(await garden.acquire(), "failed", reason="timeout")
        failures.append(delay(failed))
        await garden.change(failed, next_due_at="now")

    well = await garden.release(await garden.acquire(), found=1)

    assert failed["consecutive_failures"] == 3
    assert (failed["interval_seconds"], failed["cursor"], failed["last_outcome"]) == (3600, "kept", "failed")
    assert 54 <= failures[0] <= 66 < 108 <= failures[1] <= 132 < 216 <= failures[2] <= 264
    assert well["consecutive_failures"] == 0


async def test_what_is_gone_is_disabled(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a")

    gone = await garden.release(await garden.acquire(), "gone", reason="404")

    assert (gone["enabled"], gone["last_outcome"]) == (False, "gone")
    waiting = await garden.waiting(site="board")
    assert (waiting["reason"], waiting["counts"]["disabled"]) == ("none_match", 1)
    events = await garden.send("GET", f"/v2/audit?subject={gone['id']}")
    assert events["items"][0]["action"] == "seed.gone"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"outcome": "blocked"}, "/outcome"),
        ({"outcome": "failed", "found": 1}, "/found"),
        ({"outcome": "gone", "cursor": "x"}, "/cursor"),
        ({"outcome": "ok", "cooldown_seconds": 5}, "/cooldown_seconds"),
        ({"outcome": "ok", "found": -1}, "/found"),
        ({"outcome": "ok", "found": 2**31}, "/found"),
        ({"outcome": "ok", "cursor": "x" * 20_000}, "/cursor"),
    ],
)
async def test_a_report_that_makes_no_sense_is_refused(garden: Garden, body: JSON, pointer: str) -> None:
    await garden.site()
    await garden.seeds("/a")
    lease = await garden.acquire()

    with pytest.raises(Refused) as refused:
        await garden.send("POST", f"/v2/leases/{lease['id']}/release", body)

    assert (refused.value.status, refused.value.pointers) == (422, [pointer])
    assert (await garden.get(lease))["lease_id"] == lease["id"]


async def test_an_account_is_not_given_back_with_what_was_found(garden: Garden) -> None:
    await garden.site()
    await garden.send("POST", "/v2/accounts", {"site": "board", "username": "ann", "secret": {}})
    got = await garden.send("POST", "/v2/accounts/acquire", {"site": "board", "owner": "ann"})

    with pytest.raises(Refused) as refused:
        await garden.send("POST", f"/v2/leases/{got['leases'][0]['id']}/release", {"outcome": "ok", "found": 1})

    assert refused.value.pointers == ["/found"]


async def test_a_second_release_changes_nothing(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a")
    lease = await garden.acquire()
    first = await garden.release(lease, found=1)

    again = await garden.send("POST", f"/v2/leases/{lease['id']}/release", {"outcome": "failed"})

    assert (again["already_released"], again["resource"]) == (True, first)


async def test_a_lease_that_ran_out_changes_nothing_and_its_seed_is_due_at_once(garden: Garden) -> None:
    await garden.site()
    (before,) = await garden.seeds("/a")
    dead = await garden.acquire()
    await garden.passes(121)

    for call in ("heartbeat", "release"):
        body = {"outcome": "ok"} if call == "release" else None
        with pytest.raises(Refused) as refused:
            await garden.send("POST", f"/v2/leases/{dead['id']}/{call}", body)
        assert (refused.value.status, refused.value.problem["reason"]) == (410, "expired")
    assert (await garden.get(before))["lease_id"] is None
    next_ = await garden.acquire(owner="bob")

    assert (next_["resource_id"], next_["fence"]) == (before["id"], dead["fence"] + 1)
    assert (next_["seed"]["interval_seconds"], next_["seed"]["consecutive_failures"]) == (3600, 0)
    with pytest.raises(Refused):
        await garden.release(dead)
    events = await garden.send("GET", f"/v2/audit?subject={before['id']}")
    assert [event["action"] for event in events["items"]] == ["lease.expired"]


async def test_a_lease_that_is_renewed_lives_on(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a")
    lease = await garden.acquire(ttl_seconds=60)
    renewed = await garden.send("POST", f"/v2/leases/{lease['id']}/heartbeat", {"ttl_seconds": 600})
    await garden.passes(61)

    assert (await garden.waiting())["reason"] == "all_leased"
    assert renewed["expires_at"] > lease["expires_at"]
    assert garden.home.database.rows("SELECT FROM seed JOIN lease l ON l.id = lease WHERE back_at = l.expires_at")
    beaten = await garden.send("POST", "/v2/leases/heartbeat", {"owner": "ann"})
    assert beaten["renewed"] == [lease["id"]]
    assert (await garden.send("GET", "/v2/leases?kind=seed"))["items"][0]["id"] == lease["id"]


async def test_an_operator_takes_a_seed_from_its_holder(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")
    lease = await garden.acquire()

    revoked = await garden.send("DELETE", f"/v2/leases/{lease['id']}")

    assert revoked == {"revoked": 1}
    assert (await garden.acquire())["resource_id"] == seed["id"]
    with pytest.raises(Refused) as refused:
        await garden.release(lease)
    assert refused.value.problem["reason"] == "revoked"


async def test_it_takes_the_permission_of_seeds_to_hold_one(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a")
    lease = await garden.acquire()
    made = await garden.send("POST", "/v2/tokens", {"name": "t", "permissions": ["accounts.use", "seeds.view"]})

    stranger = Garden(garden.home, garden.home.client(made["token"]))

    with pytest.raises(Refused) as refused:
        await stranger.release(lease)
    assert refused.value.problem["permission"] == "seeds.use"


async def test_a_repeat_is_told_of_the_same_leases_while_they_live(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a", "/b", "/c")

    first = await garden.ask(key="k", limit=2)
    again = await garden.ask(key="k", limit=2)

    assert first == again
    with pytest.raises(Refused) as refused:
        await garden.ask(key="k", limit=1)
    assert refused.value.problem["type"] == "/problems/idempotency-mismatch"
    await garden.release(first["leases"][0])
    with pytest.raises(Refused) as refused:
        await garden.ask(key="k", limit=2)
    assert refused.value.status == 410


async def test_an_acquire_that_found_nothing_is_not_remembered(garden: Garden) -> None:
    await garden.site()
    assert (await garden.ask(key="k"))["leases"] == []
    await garden.seeds("/a")

    assert (await garden.ask(key="k"))["leases"]


async def test_an_unknown_site_is_not_there(garden: Garden) -> None:
    with pytest.raises(Refused) as refused:
        await garden.ask(site="nowhere", wait_seconds=5)

    assert (refused.value.status, refused.value.problem["type"]) == (404, "/problems/site-unknown")


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"limit": 101}, {"ttl_seconds": 4}, {"wait_seconds": 31}, {"priority": 10}, {"owner": ""}, {"x": 1}],
)
async def test_a_wrong_wish_is_refused(garden: Garden, wrong: JSON) -> None:
    with pytest.raises(Refused) as refused:
        await garden.ask(**wrong)

    assert refused.value.status == 422


async def test_why_there_is_nothing(garden: Garden) -> None:
    await garden.site(seed_concurrency=1)
    assert (await garden.waiting())["reason"] == "none_match"
    await garden.seeds("/a")
    held = await garden.acquire()

    all_leased = await garden.waiting(site="board")
    await garden.seeds("/b")
    capped = await garden.waiting(site="board")
    visited = await garden.release(held)
    await garden.release(await garden.acquire())
    not_due = await garden.waiting(site="board")
    await garden.send("POST", "/v2/sites/board/pause", {"reason": "rest"})
    paused = await garden.waiting(site="board")

    told = (all_leased, capped, not_due, paused)
    assert [one["reason"] for one in told] == ["all_leased", "site_capped", "not_due", "paused"]
    assert all_leased["next_available_at"] == held["expires_at"]
    assert not_due["next_available_at"] <= visited["next_due_at"]
    assert capped["counts"] == {"due": 1, "not_due": 0, "leased": 1, "disabled": 0}
    assert "rest" in paused["detail"]
    assert all(one["retry_after_seconds"] >= 1 for one in told)


async def test_a_paused_site_gives_nothing_and_the_others_go_on(garden: Garden) -> None:
    for site in ("board", "shop"):
        await garden.site(site)
        await garden.seeds("/a", site=site)
    await garden.send("POST", "/v2/sites/board/pause", {"reason": "rest"})

    assert await garden.paths() == [url("/a", "shop")]


@pytest.mark.parametrize("event", ["a release", "a new seed", "due now", "enabled", "resumed", "a higher cap"])
async def test_whatever_makes_something_due_wakes_who_waits(garden: Garden, event: str) -> None:
    await garden.site(seed_concurrency=1)
    garden.home.app.state.seeds.room.call_all = lambda: None  # nobody is to be woken just in case
    (seed,) = await garden.seeds("/a")
    held = None
    if event in ("a release", "a higher cap"):
        await garden.seeds("/b")
        held = await garden.acquire()
    elif event == "enabled":
        await garden.change(seed, enabled=False)
    elif event == "resumed":
        await garden.send("POST", "/v2/sites/board/pause", {"reason": "rest"})
    else:
        await garden.release(await garden.acquire())
    waiter = await garden.waiter()

    match event:
        case "a release" if held:
            await garden.release(held)
        case "a new seed":
            await garden.seeds("/new")
        case "due now":
            await garden.change(seed, next_due_at="now")
        case "enabled":
            await garden.change(seed, enabled=True)
        case "resumed":
            await garden.send("POST", "/v2/sites/board/resume")
        case "a higher cap":
            await garden.send("PATCH", "/v2/sites/board", {"policy": {"seed_concurrency": 2}})

    assert (await answer(waiter))["leases"]


async def test_the_clock_wakes_who_waits_for_something_to_fall_due(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")
    soon = "UPDATE seed SET next_due_at = clock_timestamp() + interval '1.5 s'"
    garden.home.database.run(soon)
    garden.home.database.run("UPDATE seed_bed SET head_due_at = (SELECT next_due_at FROM seed)")

    waiter = await garden.waiter()

    lease = (await answer(waiter))["leases"][0]
    late = datetime.fromisoformat(lease["acquired_at"]) - datetime.fromisoformat(lease["seed"]["next_due_at"])
    assert lease["resource_id"] == seed["id"]
    assert timedelta() <= late < timedelta(seconds=1)


async def test_first_come_is_first_served_across_processes(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")
    held = await garden.acquire()
    async with garden.beside() as other:
        first = await other.waiter(owner="first")
        second = await garden.waiter(owner="second", site="board")

        await garden.change(await garden.release(held), next_due_at="now")

        lease = (await answer(first))["leases"][0]
        assert not second.done()
        await garden.change(await garden.release(lease), next_due_at="now")
        assert (await answer(second))["leases"][0]["resource_id"] == seed["id"]


async def test_who_left_consumes_nothing(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a", "/b", "/c")

    async def impatient(n: int) -> None:
        try:
            async with asyncio.timeout(0.001 * (n % 40)):
                got = await garden.ask(owner=f"o{n}", wait_seconds=3)
        except TimeoutError:
            return
        for lease in got["leases"]:
            await garden.change(await garden.release(lease), next_due_at="now")

    await asyncio.gather(*(impatient(n) for n in range(80)))
    await garden.home.app.state.seeds.counter.drain()

    async with asyncio.timeout(PATIENCE_S):
        while garden.home.database.rows("SELECT FROM lease") or garden.home.database.rows("SELECT FROM waiter"):
            await asyncio.sleep(0.01)
    assert len(await garden.paths()) == 3


async def test_what_is_given_back_unused_is_due_as_before(garden: Garden) -> None:
    await garden.site()
    (before,) = await garden.seeds("/a")
    lease = await garden.acquire()
    seeds: Seeds = garden.home.app.state.seeds
    organisation = garden.home.database.rows("SELECT id FROM organisation")[0][0]

    async with garden.home.app.state.db.transaction(organisation) as conn:
        await seeds.leases.take_back(conn, organisation, [lease_id(lease)])

    after = await garden.get(before)
    kept = ("next_due_at", "interval_seconds", "last_outcome", "last_visited_at", "cursor")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert garden.home.database.rows("SELECT how, outcome, reason FROM lease_end") == [
        ("released", None, "never delivered")
    ]
    assert (await garden.acquire())["fence"] == 2


def lease_id(lease: JSON) -> UUID:
    return UUID(hex=lease["id"].removeprefix("lease_"))


async def test_the_books_balance(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a", "/b", "/c", "/d")
    released, revoked, _dead, _held = (await garden.ask(limit=4))["leases"]
    await garden.release(released)
    await garden.send("DELETE", f"/v2/leases/{revoked['id']}")
    await garden.passes(121)
    await garden.ask(limit=1)
    organisation = garden.home.database.rows("SELECT id FROM organisation")[0][0]

    kept = await books(garden.home.app.state.db, organisation)

    assert kept.are_whole
    assert str(kept) == "5 grants = 1 released + 2 expired + 1 revoked + 1 held"
    garden.home.database.run("UPDATE seed SET fence = fence + 1 WHERE lease IS NULL")
    assert (await books(garden.home.app.state.db, organisation)).unbalanced == 3


@pytest.mark.parametrize(("fence", "taken"), [(1, 0), (2, 1), (3, 0)])
async def test_a_seed_notes_no_grant_but_the_next_after_its_last(garden: Garden, fence: int, taken: int) -> None:
    await garden.site()
    await garden.seeds("/a")
    await garden.release(await garden.acquire())
    ((organisation, seed),) = garden.home.database.rows("SELECT organisation, id FROM seed")
    state = garden.home.app.state
    new = NewLease(new_id(Kind.SEED), seed, "board", fence, "ann", None, None, 60)

    async with state.db.transaction(organisation) as conn:
        await state.seeds.leases.grant(conn, organisation, [new])
        noted = await store.take(conn, organisation, [new.id])

    assert noted == taken
    assert garden.home.database.rows("SELECT fence, lease FROM seed") == [(2, new.id) if taken else (1, None)]
