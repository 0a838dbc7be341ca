"""What a lease promises: one holder, a growing fence, and nothing after its end."""

import asyncio

import pytest

from tests.contracts.stage import Refused, Stage


@pytest.fixture(autouse=True)
async def _pool(stage: Stage) -> None:
    await stage.site(reclaim_delay_seconds=15)
    await stage.accounts("one", "two")


async def test_an_account_has_one_holder_at_a_time(stage: Stage) -> None:
    first, second = await stage.acquire(owner="ann"), await stage.acquire(owner="bob")

    waiting = await stage.waiting(owner="cem")

    assert first["resource_id"] != second["resource_id"]
    assert (waiting["reason"], waiting["counts"]["using"]) == ("all_leased", 2)


async def test_many_at_once_never_get_the_same(stage: Stage) -> None:
    await stage.accounts(*(f"more-{n}" for n in range(8)))

    answers = await asyncio.gather(*(stage.ask(owner=f"owner-{n}") for n in range(40)))

    held = [lease["resource_id"] for answer in answers for lease in answer["leases"]]
    assert len(held) == len(set(held)) == 10


async def test_a_lease_says_all_the_contract_names(stage: Stage) -> None:
    video = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "dQw4w9WgXcQ"}}
    await stage.way.send("POST", "/v2/jobs", {"job_id": "job-7", **video})

    lease = await stage.acquire(owner="ann", ttl_seconds=60, job_id="job-7")

    assert lease["id"].startswith("lease_")
    assert lease["resource_id"] == lease["account"]["id"]
    assert (lease["kind"], lease["site"], lease["owner"], lease["job_id"]) == ("account", "board", "ann", "job-7")
    assert lease["account"]["secret"] == {"password": f"LHCANARY of {lease['account']['username']}"}
    assert lease["account"]["state"] == "using"
    assert lease["acquired_at"] < lease["expires_at"]


async def test_the_fence_grows_with_every_grant_of_an_account(stage: Stage) -> None:
    fences = []
    for _ in range(4):
        lease = await stage.acquire(account_id=(await stage.account_named("one"))["id"])
        fences.append(lease["fence"])
        await stage.release(lease)

    assert fences == sorted(set(fences))


async def test_the_fence_grows_also_after_an_unclean_end(stage: Stage) -> None:
    one = await stage.account_named("one")
    lost = await stage.acquire(account_id=one["id"])
    await stage.passes(121)
    await stage.passes(16)

    again = await stage.acquire(account_id=one["id"])

    assert again["fence"] > lost["fence"]


async def test_a_heartbeat_renews_from_now(stage: Stage) -> None:
    lease = await stage.acquire(ttl_seconds=60)
    await stage.passes(50)

    renewed = await stage.beat(lease)

    await stage.passes(50)
    assert renewed["id"] == lease["id"]
    assert [held["id"] for held in await stage.leases()] == [lease["id"]]


async def test_a_heartbeat_never_shortens(stage: Stage) -> None:
    lease = await stage.acquire(ttl_seconds=600)

    renewed = await stage.beat(lease, ttl_seconds=5)

    assert renewed["expires_at"] == lease["expires_at"]


async def test_a_heartbeat_can_lengthen(stage: Stage) -> None:
    lease = await stage.acquire(ttl_seconds=5)

    renewed = await stage.beat(lease, ttl_seconds=600)

    assert renewed["expires_at"] > lease["expires_at"]


async def test_a_lease_grows_no_older_than_its_greatest_age(stage: Stage) -> None:
    lease = await stage.acquire(ttl_seconds=3600)
    for _ in range(47):
        await stage.passes(1800)
        lease = await stage.beat(lease)

    await stage.passes(1801)

    with pytest.raises(Refused) as refused:
        await stage.beat(lease)
    assert refused.value.reason == "expired"


@pytest.mark.parametrize("call", ["beat", "release"])
async def test_an_expired_lease_is_dead_although_nobody_took_the_account(stage: Stage, call: str) -> None:
    lease = await stage.acquire()
    await stage.passes(121)

    with pytest.raises(Refused) as refused:
        await getattr(stage, call)(lease)

    assert (refused.value.status, refused.value.type, refused.value.reason) == (410, "lease-lost", "expired")
    assert await stage.leases() == []


@pytest.mark.parametrize("call", ["beat", "release"])
async def test_an_expired_lease_is_dead_after_it_was_booked(stage: Stage, call: str) -> None:
    lease = await stage.acquire()
    await stage.passes(121)
    await stage.way.send("POST", "/v2/accounts/reclaim", {})

    with pytest.raises(Refused) as refused:
        await getattr(stage, call)(lease)

    assert (refused.value.status, refused.value.reason) == (410, "expired")


async def test_a_stale_holder_changes_nothing_for_the_next(stage: Stage) -> None:
    one = await stage.account_named("one")
    stale = await stage.acquire(owner="stale", account_id=one["id"])
    await stage.passes(121)
    await stage.passes(16)
    fresh = await stage.acquire(owner="fresh", account_id=one["id"])
    before = await stage.account(one)

    for call in (stage.beat(stale), stage.release(stale, "blocked")):
        with pytest.raises(Refused) as refused:
            await call
        assert refused.value.reason == "expired"

    assert await stage.account(one) == before
    assert [held["id"] for held in await stage.leases()] == [fresh["id"]]


async def test_a_second_release_says_so_and_changes_nothing(stage: Stage) -> None:
    lease = await stage.acquire()
    first = await stage.release(lease, "failed")

    second = await stage.release(lease, "blocked")

    assert (first["released"], first["already_released"]) == (True, False)
    assert (second["released"], second["already_released"]) == (True, True)
    assert second["resource"]["last_outcome"] == "failed"
    assert second["resource"]["state"] == "cooling"


async def test_two_releases_at_once_are_one(stage: Stage) -> None:
    lease = await stage.acquire()

    both = await asyncio.gather(stage.release(lease, "failed"), stage.release(lease, "failed"))

    assert sorted(answer["already_released"] for answer in both) == [False, True]
    assert (await stage.account(lease))["consecutive_failures"] == 1


async def test_a_released_lease_cannot_be_renewed(stage: Stage) -> None:
    lease = await stage.acquire()
    await stage.release(lease)

    with pytest.raises(Refused) as refused:
        await stage.beat(lease)

    assert (refused.value.status, refused.value.reason) == (410, "released")


async def test_a_lease_that_never_was_is_not_found(stage: Stage) -> None:
    for id_ in ("lease_" + "0" * 31 + "1", "lease_" + "0" * 32, "nonsense"):
        with pytest.raises(Refused) as refused:
            await stage.beat({"id": id_})

        assert (refused.value.status, refused.value.type) == (404, "lease-unknown")


async def test_a_revoked_lease_is_dead_and_its_account_rests(stage: Stage) -> None:
    lease = await stage.acquire()

    assert await stage.revoke(lease) == 1

    with pytest.raises(Refused) as refused:
        await stage.beat(lease)
    assert (refused.value.status, refused.value.reason) == (410, "revoked")
    account = await stage.account(lease)
    assert (account["state"], account["unclean_ends"]) == ("cooling", 0)
    assert await stage.revoke(lease) == 0


async def test_all_of_an_owner_can_be_revoked(stage: Stage) -> None:
    for owner in ("ann", "bob"):
        await stage.acquire(owner=owner)

    answer = await stage.way.send("DELETE", "/v2/leases?owner=ann")

    assert answer == {"revoked": 1}
    assert [held["owner"] for held in await stage.leases()] == ["bob"]


async def test_one_heartbeat_renews_all_of_an_owner(stage: Stage) -> None:
    kept = [await stage.acquire(owner="ann", ttl_seconds=60) for _ in range(2)]
    await stage.passes(50)

    answer = await stage.way.send("POST", "/v2/leases/heartbeat", {"owner": "ann"})

    assert sorted(answer["renewed"]) == sorted(lease["id"] for lease in kept)
    assert answer["lost"] == []
    await stage.passes(50)
    assert len(await stage.leases()) == 2


async def test_one_heartbeat_tells_what_was_lost(stage: Stage) -> None:
    lost, revoked = await stage.acquire(owner="ann", ttl_seconds=5), await stage.acquire(owner="ann")
    await stage.revoke(revoked)
    await stage.passes(6)

    answer = await stage.way.send("POST", "/v2/leases/heartbeat", {"owner": "ann"})

    assert answer["renewed"] == []
    assert sorted(answer["lost"]) == sorted([lost["id"], revoked["id"]])


async def test_one_heartbeat_is_for_the_tokens_own_alone(stage: Stage) -> None:
    await stage.acquire(owner="ann")
    other = await stage.home.caller()

    answer = await other.post("/v2/leases/heartbeat", json={"owner": "ann"})

    assert answer.json() == {"renewed": [], "lost": []}


async def test_the_list_tells_who_holds_what(stage: Stage) -> None:
    lease = await stage.acquire(owner="ann")
    await stage.acquire(owner="bob")

    (found,) = await stage.leases("?owner=ann&site=board&kind=account")

    assert found == {name: value for name, value in lease.items() if name in found}
    assert await stage.leases("?site=another") == []
    assert await stage.leases("?kind=seed") == []


async def test_the_list_is_read_page_by_page(stage: Stage) -> None:
    ids = [(await stage.acquire())["id"] for _ in range(2)]

    first = await stage.way.send("GET", "/v2/leases?limit=1")
    second = await stage.way.send("GET", f"/v2/leases?limit=1&cursor={first['next_cursor']}")

    assert [first["items"][0]["id"], second["items"][0]["id"]] == ids
    assert second["next_cursor"] is None


async def test_a_repeated_acquire_gives_the_same_lease(stage: Stage) -> None:
    first = await stage.ask(key="k1", count=2)
    again = await stage.ask(key="k1", count=2)

    assert [lease["id"] for lease in again["leases"]] == [lease["id"] for lease in first["leases"]]
    assert again["leases"][0]["account"]["secret"] == first["leases"][0]["account"]["secret"]
    assert len(await stage.leases()) == 2


async def test_a_repeat_at_the_same_time_gives_the_same_lease(stage: Stage) -> None:
    answers = await asyncio.gather(*(stage.ask(key="k1") for _ in range(5)))

    assert len({answer["leases"][0]["id"] for answer in answers}) == 1


async def test_a_repeat_after_the_end_is_told_so(stage: Stage) -> None:
    (lease,) = (await stage.ask(key="k1"))["leases"]
    await stage.release(lease)

    with pytest.raises(Refused) as refused:
        await stage.ask(key="k1")

    assert (refused.value.status, refused.value.reason) == (410, "released")


async def test_a_key_with_another_body_is_refused(stage: Stage) -> None:
    await stage.ask(key="k1")

    with pytest.raises(Refused) as refused:
        await stage.ask(key="k1", owner="bob")

    assert (refused.value.status, refused.value.type) == (422, "idempotency-mismatch")


async def test_an_acquire_that_found_nothing_is_not_remembered(stage: Stage) -> None:
    held = [await stage.acquire() for _ in range(2)]
    assert (await stage.ask(key="k1"))["leases"] == []
    await stage.release(held[0])

    assert len((await stage.ask(key="k1"))["leases"]) == 1


async def test_a_grant_is_in_the_audit_and_says_no_secret(stage: Stage) -> None:
    lease = await stage.acquire()

    events = (await stage.way.send("GET", f"/v2/audit?subject={lease['resource_id']}"))["items"]

    assert [event["action"] for event in events] == ["account.disclosed", "account.created"]
    assert events[0]["detail"] == {"lease": lease["id"], "owner": "ann", "site": "board"}
    assert "of one" not in str(events)


async def test_the_history_of_an_account_tells_how_its_leases_ended(stage: Stage) -> None:
    one = await stage.account_named("one")
    await stage.release(await stage.acquire(account_id=one["id"], owner="ann"), "failed", reason="captcha")
    await stage.passes(61)
    await stage.revoke(await stage.acquire(account_id=one["id"], owner="bob"))
    await stage.passes(16)
    await stage.acquire(account_id=one["id"], owner="cem")
    await stage.passes(121)
    await stage.account(one)

    past = (await stage.way.send("GET", f"/v2/accounts/{one['id']}/leases"))["items"]

    assert [(end["owner"], end["how"], end["outcome"], end["reason"]) for end in past] == [
        ("cem", "expired", None, None),
        ("bob", "revoked", None, None),
        ("ann", "released", "failed", "captcha"),
    ]
    assert [end["fence"] for end in past] == [3, 2, 1]


async def test_a_repeat_that_hangs_up_takes_nothing_from_the_holder(stage: Stage) -> None:
    (lease,) = (await stage.ask(key="k1"))["leases"]
    repeat = asyncio.create_task(stage.ask(key="k1"))
    await asyncio.sleep(0)
    repeat.cancel()
    await asyncio.gather(repeat, return_exceptions=True)
    await stage.home.app.state.accounts.counter.desk.drain()

    assert (await stage.beat(lease))["id"] == lease["id"]


async def test_releases_and_heartbeats_that_cross_between_processes_are_all_answered(stage: Stage) -> None:
    await stage.accounts(*(f"more-{n}" for n in range(30)))
    async with stage.beside() as twin:
        for _ in range(3):
            leases = (await stage.ask(count=30))["leases"]
            half, other = leases[:15], leases[15:]

            answers = await asyncio.gather(
                *(stage.release(lease) for lease in half),
                *(twin.beat(lease) for lease in half),
                *(twin.release(lease) for lease in other),
                *(stage.beat(lease) for lease in other),
                return_exceptions=True,
            )

            refused = [answer for answer in answers if isinstance(answer, Refused)]
            assert {refusal.status for refusal in refused} <= {410}
            assert all(isinstance(answer, dict | Refused) for answer in answers)
