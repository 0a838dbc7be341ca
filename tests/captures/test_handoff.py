"""The hand-off: who gets which capture, and what becomes of it when a claim ends."""

import asyncio
from typing import Any

import httpx
import pytest

from leasehold.auth import Role
from leasehold.captures import books
from tests.parts.house import House
from tests.parts.uploads import upload

NOT_THERE = {"type": "/problems/site-unknown", "status": 404}


@pytest.fixture
async def consumer(home: House, admin: httpx.AsyncClient) -> httpx.AsyncClient:
    return await home.caller(Role.OPERATOR)


async def acquire(client: httpx.AsyncClient, **asked: Any) -> dict[str, Any]:
    answer = await client.post("/v2/captures/acquire", json={"owner": "mill", **asked})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def release(client: httpx.AsyncClient, lease: dict[str, Any], outcome: str, **said: Any) -> dict[str, Any]:
    answer = await client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": outcome, **said})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def state(client: httpx.AsyncClient, capture: str) -> str:
    return str((await client.get(f"/v2/captures/{capture}")).json()["state"])


async def events(client: httpx.AsyncClient, capture: str) -> list[str]:
    items = (await client.get(f"/v2/captures/{capture}/audit")).json()["items"]
    return [item["event"] for item in items if item["action"].startswith("capture.")]


def run_out(home: House) -> None:
    home.database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' WHERE kind = 'capture'")


async def test_captures_are_handed_on_oldest_first(consumer: httpx.AsyncClient) -> None:
    made = [(await upload(consumer, {"a": bytes([n])})).json()["id"] for n in range(5)]

    first = await acquire(consumer, limit=2)
    second = await acquire(consumer, limit=10)

    assert [lease["resource_id"] for lease in first["leases"]] == made[:2]
    assert [lease["capture"]["id"] for lease in second["leases"]] == made[2:]
    assert {lease["kind"] for lease in first["leases"]} == {"capture"}
    assert first["waiting"] is None


async def test_a_claimed_capture_says_so_and_carries_its_files(consumer: httpx.AsyncClient) -> None:
    made = (await upload(consumer, {"a": b"1"})).json()

    (lease,) = (await acquire(consumer))["leases"]

    assert lease["capture"]["files"] == made["files"]
    assert (lease["site"], lease["owner"], lease["fence"]) == ("board", "mill", 1)
    kept = (await consumer.get(f"/v2/captures/{made['id']}")).json()
    assert (kept["state"], kept["holder"], kept["lease_id"]) == ("claimed", "mill", lease["id"])


async def test_of_one_site_alone_when_asked_so(consumer: httpx.AsyncClient) -> None:
    await consumer.post("/v2/sites", json={"slug": "other", "domain": "other.example"})
    await upload(consumer)
    made = (await upload(consumer, site="other")).json()["id"]

    got = await acquire(consumer, site="other", limit=10)

    assert [lease["resource_id"] for lease in got["leases"]] == [made]


async def test_nothing_to_hand_on_is_an_answer(consumer: httpx.AsyncClient) -> None:
    empty = await acquire(consumer)
    await upload(consumer)
    await acquire(consumer, ttl_seconds=600)
    taken = await acquire(consumer)

    assert (empty["leases"], empty["waiting"]["reason"]) == ([], "none_match")
    assert (taken["leases"], taken["waiting"]["reason"]) == ([], "all_leased")
    assert taken["waiting"]["next_available_at"] is not None
    assert taken["waiting"]["counts"] == {"received": 0, "claimed": 1}


async def test_a_site_that_is_not_there(consumer: httpx.AsyncClient) -> None:
    answer = await consumer.post("/v2/captures/acquire", json={"owner": "mill", "site": "nowhere"})

    assert {name: answer.json()[name] for name in NOT_THERE} == NOT_THERE


async def test_who_waits_gets_what_arrives(consumer: httpx.AsyncClient) -> None:
    waiting = asyncio.create_task(acquire(consumer, wait_seconds=25))
    await asyncio.sleep(0.2)

    made = (await upload(consumer)).json()["id"]

    got = await asyncio.wait_for(waiting, 20)
    assert [lease["resource_id"] for lease in got["leases"]] == [made]


async def test_who_waits_at_a_site_gets_what_is_given_back(consumer: httpx.AsyncClient) -> None:
    await upload(consumer)
    (lease,) = (await acquire(consumer))["leases"]
    waiting = asyncio.create_task(acquire(consumer, wait_seconds=25, site="board"))
    await asyncio.sleep(0.2)

    await release(consumer, lease, "failed")

    got = await asyncio.wait_for(waiting, 20)
    assert got["leases"][0]["resource_id"] == lease["resource_id"]


@pytest.mark.parametrize(("outcome", "left"), [("ok", "delivered"), ("rejected", "rejected"), ("failed", "received")])
async def test_what_a_consumer_says_decides(consumer: httpx.AsyncClient, outcome: str, left: str) -> None:
    made = (await upload(consumer)).json()["id"]
    (lease,) = (await acquire(consumer))["leases"]

    told = await release(consumer, lease, outcome, reason="because")

    assert (told["already_released"], told["resource"]["state"]) == (False, left)
    assert await state(consumer, made) == left
    assert bool((await acquire(consumer))["leases"]) == (left == "received")


async def test_a_second_release_changes_nothing(consumer: httpx.AsyncClient) -> None:
    made = (await upload(consumer)).json()["id"]
    (lease,) = (await acquire(consumer))["leases"]
    await release(consumer, lease, "ok")

    again = await release(consumer, lease, "failed")

    assert again["already_released"] is True
    assert await state(consumer, made) == "delivered"


@pytest.mark.parametrize("said", [{"outcome": "logged_out"}, {"outcome": "failed", "cooldown_seconds": 5}])
async def test_an_outcome_of_something_else_is_refused(consumer: httpx.AsyncClient, said: dict[str, Any]) -> None:
    await upload(consumer)
    (lease,) = (await acquire(consumer))["leases"]

    answer = await consumer.post(f"/v2/leases/{lease['id']}/release", json=said)

    assert answer.status_code == 422


@pytest.mark.parametrize("end", ["failed", "expired"])
async def test_five_failures_and_it_is_stuck(consumer: httpx.AsyncClient, home: House, end: str) -> None:
    made = (await upload(consumer)).json()["id"]
    states = []

    for _ in range(5):
        (lease,) = (await acquire(consumer))["leases"]
        if end == "failed":
            await release(consumer, lease, "failed")
        else:
            run_out(home)
        states.append(await state(consumer, made))

    assert states == ["received"] * 4 + ["stuck"]
    assert (await acquire(consumer))["leases"] == []
    kept = (await consumer.get(f"/v2/captures/{made}")).json()
    assert (kept["state"], kept["failures"]) == ("stuck", 5)
    assert await events(consumer, made) == [
        "received", *["claimed", "redelivered"] * 4, "claimed", "stuck",
    ]  # fmt: skip


async def test_what_ran_out_can_change_nothing_any_more(consumer: httpx.AsyncClient, home: House) -> None:
    made = (await upload(consumer)).json()["id"]
    (old,) = (await acquire(consumer))["leases"]
    run_out(home)

    late = await consumer.post(f"/v2/leases/{old['id']}/release", json={"outcome": "ok"})
    (new,) = (await acquire(consumer))["leases"]
    later = await consumer.post(f"/v2/leases/{old['id']}/release", json={"outcome": "ok"})

    for answer in (late, later):
        assert (answer.status_code, answer.json()["reason"]) == (410, "expired")
    assert new["fence"] == old["fence"] + 1
    assert await state(consumer, made) == "claimed"


async def test_a_heartbeat_keeps_a_claim(consumer: httpx.AsyncClient) -> None:
    await upload(consumer)
    (lease,) = (await acquire(consumer, ttl_seconds=5))["leases"]

    beat = await consumer.post(f"/v2/leases/{lease['id']}/heartbeat", json={"ttl_seconds": 600})

    assert beat.json()["expires_at"] > lease["expires_at"]


async def test_a_claim_that_an_operator_takes_is_no_failure(consumer: httpx.AsyncClient) -> None:
    made = (await upload(consumer)).json()["id"]
    (lease,) = (await acquire(consumer))["leases"]

    await consumer.delete(f"/v2/leases/{lease['id']}")

    kept = (await consumer.get(f"/v2/captures/{made}")).json()
    assert (kept["state"], kept["failures"]) == ("received", 0)


async def test_a_repeat_is_told_of_the_same_claim(consumer: httpx.AsyncClient) -> None:
    await upload(consumer, {"a": b"1"})
    await upload(consumer, {"a": b"2"})
    key = {"Idempotency-Key": "k"}

    first = await consumer.post("/v2/captures/acquire", json={"owner": "mill"}, headers=key)
    again = await consumer.post("/v2/captures/acquire", json={"owner": "mill"}, headers=key)

    assert [lease["id"] for lease in again.json()["leases"]] == [lease["id"] for lease in first.json()["leases"]]


async def test_no_capture_is_claimed_twice_at_once(consumer: httpx.AsyncClient) -> None:
    made = {(await upload(consumer, {"a": bytes([n])})).json()["id"] for n in range(20)}

    got = await asyncio.gather(*(acquire(consumer, limit=3) for _ in range(10)))

    claimed = [lease["resource_id"] for one in got for lease in one["leases"]]
    assert (len(claimed), set(claimed)) == (20, made)


async def test_a_collector_may_not_claim(home: House, admin: httpx.AsyncClient) -> None:
    collector = await home.caller(Role.COLLECTOR)

    assert (await collector.post("/v2/captures/acquire", json={"owner": "x"})).status_code == 403


@pytest.mark.parametrize("aside", ["rejected", "stuck"])
async def test_what_was_set_aside_can_be_put_back(consumer: httpx.AsyncClient, home: House, aside: str) -> None:
    made = (await upload(consumer)).json()["id"]
    for _ in range(1 if aside == "rejected" else 5):
        (lease,) = (await acquire(consumer))["leases"]
        await release(consumer, lease, "rejected" if aside == "rejected" else "failed", reason="no such parser")
    before = (await consumer.get(f"/v2/captures/{made}")).json()

    answer = await consumer.post(f"/v2/captures/{made}/requeue", json={"reason": "parser is there"})

    assert (before["state"], before["reason"]) == (aside, "no such parser")
    assert (answer.status_code, answer.json()["state"], answer.json()["failures"]) == (200, "received", 0)
    assert len((await acquire(consumer))["leases"]) == 1
    assert "requeued" in await events(consumer, made)


async def test_a_fifth_claim_that_ran_out_can_be_put_back_before_anybody_booked_it(
    consumer: httpx.AsyncClient, home: House
) -> None:
    made = (await upload(consumer)).json()["id"]
    home.database.run("UPDATE capture SET failures = 4")
    await acquire(consumer)
    run_out(home)

    answer = await consumer.post(f"/v2/captures/{made}/requeue")

    assert (answer.status_code, answer.json()["state"]) == (200, "received")


@pytest.mark.parametrize("how", ["received", "claimed", "delivered"])
async def test_only_what_is_aside_can_be_put_back(consumer: httpx.AsyncClient, how: str) -> None:
    made = (await upload(consumer)).json()["id"]
    if how != "received":
        (lease,) = (await acquire(consumer))["leases"]
        if how == "delivered":
            await release(consumer, lease, "ok")

    answer = await consumer.post(f"/v2/captures/{made}/requeue")

    assert (answer.status_code, answer.json()["type"], answer.json()["state"]) == (
        409,
        "/problems/capture-not-aside",
        how,
    )


async def test_a_deleted_capture_is_gone_and_its_life_is_told(consumer: httpx.AsyncClient) -> None:
    made = (await upload(consumer)).json()["id"]

    answer = await consumer.delete(f"/v2/captures/{made}")

    assert answer.status_code == 204
    assert (await consumer.get(f"/v2/captures/{made}")).status_code == 404
    assert await events(consumer, made) == ["received", "deleted"]
    assert (await acquire(consumer))["leases"] == []


async def test_a_claimed_capture_is_not_deleted(consumer: httpx.AsyncClient, home: House) -> None:
    made = (await upload(consumer)).json()["id"]
    await acquire(consumer)

    held = await consumer.delete(f"/v2/captures/{made}")
    run_out(home)
    free = await consumer.delete(f"/v2/captures/{made}")

    assert (held.status_code, held.json()["type"]) == (409, "/problems/capture-in-use")
    assert free.status_code == 204
    assert home.database.rows("SELECT 1 FROM lease WHERE kind = 'capture'") == []


async def test_the_life_of_a_late_capture_that_is_rejected(consumer: httpx.AsyncClient) -> None:
    made = (await upload(consumer)).json()["id"]
    (lease,) = (await acquire(consumer))["leases"]

    await release(consumer, lease, "rejected", reason="not ours")

    items = (await consumer.get(f"/v2/captures/{made}/audit")).json()["items"]
    assert [item["event"] for item in items] == ["received", "claimed", "rejected"]
    assert items[-1]["detail"]["reason"] == "not ours"
    assert items[-1]["actor_name"] == "a operator"


async def test_who_waits_at_another_site_keeps_nothing_from_who_takes_all(consumer: httpx.AsyncClient) -> None:
    await consumer.post("/v2/sites", json={"slug": "other", "domain": "other.example"})
    elsewhere = asyncio.create_task(acquire(consumer, wait_seconds=5, site="other"))
    await asyncio.sleep(0.2)
    anywhere = asyncio.create_task(acquire(consumer, wait_seconds=25))
    await asyncio.sleep(0.2)

    made = (await upload(consumer)).json()["id"]

    assert [lease["resource_id"] for lease in (await asyncio.wait_for(anywhere, 20))["leases"]] == [made]
    assert (await elsewhere)["leases"] == []


async def test_the_books_of_claims_balance_and_tell_what_was_changed_past_us(
    home: House, consumer: httpx.AsyncClient
) -> None:
    for n in range(3):
        await upload(consumer, {"a": bytes([n])})
    first, second, _ = (await acquire(consumer, limit=3))["leases"]
    await release(consumer, first, "ok")
    await release(consumer, second, "failed")
    ((organisation,),) = home.database.rows("SELECT id FROM organisation WHERE slug = 'default'")

    whole = await books(home.app.state.db, organisation)
    home.database.run("DELETE FROM lease_end")
    robbed = await books(home.app.state.db, organisation)

    assert (whole.are_whole, whole.grants, whole.released, whole.held) == (True, 3, 2, 1)
    assert (robbed.are_whole, robbed.unbalanced) == (False, 2)
