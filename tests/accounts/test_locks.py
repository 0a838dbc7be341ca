"""Who waits for whom when several processes work on one site: locks are held, and looked at."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import bson
import httpx
import pytest
from bson.codec_options import CodecOptions

from leasehold.accounts import connect, mongo_gate
from leasehold.accounts.mongo_gate import Gate
from leasehold.accounts.service import Accounts, Wanted
from leasehold.caller import Caller
from leasehold.idempotency import Once
from tests.parts.house import House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

JSON = dict[str, Any]
_UUIDS = CodecOptions[JSON](uuid_representation=bson.UuidRepresentation.STANDARD)
WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
# Long enough for an answer that does not have to wait for anybody, however busy it is; who waits does so for longer.
AT_ONCE_S = 20.0


async def furnished(home: House, **policy: Any) -> httpx.AsyncClient:
    client = await home.caller()
    await client.post("/v2/sites", json={"slug": "board", "domain": "a.example", "policy": policy})
    items = [
        {"site": "board", "username": name, "secret": {"password": "LHCANARYx"}} for name in ("one", "two", "three")
    ]
    await client.post("/v2/accounts/import", json={"items": items})
    return client


async def acquire(client: httpx.AsyncClient) -> JSON:
    answer = await client.post("/v2/accounts/acquire", json={"site": "board", "owner": "ann"}, timeout=30)
    assert answer.status_code == 200, answer.text
    found: JSON = answer.json()
    return found


async def test_who_waits_for_an_account_keeps_no_key_from_others(database: TestDatabase) -> None:
    async with house(database, duties=()) as home:
        await furnished(home)
        accounts: Accounts = home.app.state.accounts
        ((organisation, token),) = database.rows("SELECT organisation, id FROM token")
        caller = Caller(organisation, token, "ann", frozenset())
        once = Once(organisation, token, "acquire", "k1", b"digest")
        offer = await accounts.acquire(caller, Wanted("board", "ann", 120, 0, 4, 1, {}, None, None), once)
        with database.connect() as other:
            # As a batch in another process that has the accounts, and is about to look for the key.
            other.execute("BEGIN")
            other.execute("SELECT FROM account FOR UPDATE")
            accounts.counter.take_back(caller, offer)  # whoever asked hung up
            async with asyncio.timeout(60):
                while not database.rows(WAITING):
                    await asyncio.sleep(0.01)

            other.execute("SELECT FROM idempotency_key FOR UPDATE NOWAIT")
            other.execute("COMMIT")
        await accounts.counter.drain()

    assert database.rows("SELECT FROM lease") == []


async def test_a_heartbeat_does_not_wait_for_grants_that_wait(database: TestDatabase) -> None:
    async with house(database) as home:
        client = await furnished(home, max_concurrent_accounts=2)
        (lease,) = (await acquire(client))["leases"]
        with database.connect() as other:
            # As another server does that was stopped in the middle of a grant at a site with a cap.
            other.execute("SELECT pg_advisory_lock(hashtextextended(organisation || ' board', 1)) FROM site")
            waiting = asyncio.create_task(acquire(client))
            async with asyncio.timeout(AT_ONCE_S):
                while not database.rows("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"):
                    await asyncio.sleep(0.02)

            beat = await asyncio.wait_for(client.post(f"/v2/leases/{lease['id']}/heartbeat", json={}), AT_ONCE_S)

            assert not waiting.done()
        granted = await waiting

    assert beat.status_code == 200
    assert len(granted["leases"]) == 1


@asynccontextmanager
async def gated(database: TestDatabase, mongo: MongoDatabase, cap: int) -> AsyncIterator[tuple[httpx.AsyncClient, Any]]:
    """A leasehold with its accounts in MongoDB at a site with a cap, and its gates."""
    url = mongo.url.replace("/?", f"/{mongo.name}?")
    async with house(database, pools="mongo", mongo_url=url) as home:
        client = await furnished(home, max_concurrent_accounts=cap)
        with mongo.connect() as other:
            yield client, other[mongo.name].get_collection("gates", codec_options=_UUIDS)


async def test_who_stopped_in_the_gate_keeps_its_seat_for_a_while_and_nobody_else_waiting(
    database: TestDatabase, mongo_database: MongoDatabase
) -> None:
    async with gated(database, mongo_database, cap=2) as (client, gates):
        gate = {"organisation": organisation_of(database), "site": "board"}
        lease = {"lease": UUID(int=7), "until": {"$add": ["$$NOW", 60_000]}}
        gates.update_one({"_id": gate}, [{"$set": {"rev": 1, "seats": [lease]}}], upsert=True)

        first, second = await acquire(client), await acquire(client)
        gates.update_one({"_id": gate}, [{"$set": {"seats": [{**lease, "until": {"$subtract": ["$$NOW", 1]}}]}}])
        third = await acquire(client)

    assert [len(answer["leases"]) for answer in (first, second, third)] == [1, 0, 1]
    assert second["waiting"]["reason"] == "site_capped"


async def test_a_seat_is_given_up_as_soon_as_its_lease_is_there(
    database: TestDatabase, mongo_database: MongoDatabase
) -> None:
    async with gated(database, mongo_database, cap=1) as (client, gates):
        (lease,) = (await acquire(client))["leases"]
        seats = gates.find_one()["seats"]
        await client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "ok"})

        again = await acquire(client)

    assert seats == []
    assert len(again["leases"]) == 1


async def test_a_grant_on_a_seat_that_lapsed_changes_nothing(
    database: TestDatabase, mongo_database: MongoDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mongo_gate, "_SEAT_S", mongo_gate._BEFORE_S)  # as if it had been stopped behind the gate
    async with gated(database, mongo_database, cap=1) as (client, _gates):
        answer = await acquire(client)

    assert answer["leases"] == []


async def test_of_several_who_go_through_a_gate_at_once_no_more_get_in_than_fit(mongo_database: MongoDatabase) -> None:
    client, name = connect(mongo_database.url.replace("/?", f"/{mongo_database.name}?"))
    async with client:
        gates, accounts = client[name]["gates"], client[name]["accounts"]
        several = [Gate(gates, accounts, UUID(int=1), "board") for _ in range(8)]

        entries = await asyncio.gather(*(gate.enter(3, [[uuid4()]]) for gate in several))

    assert sum(len(entry.leases) for entry in entries) == 3


@pytest.mark.parametrize("ran_out", [False, True])
async def test_a_lease_counts_under_the_cap_until_it_is_booked(
    database: TestDatabase, mongo_database: MongoDatabase, ran_out: bool
) -> None:
    """It looks run out to a snapshot that is older than its renewal."""
    url = mongo_database.url.replace("/?", f"/{mongo_database.name}?")
    async with house(database, pools="mongo", mongo_url=url) as home:
        client = await furnished(home, max_concurrent_accounts=1)
        (lease,) = (await acquire(client))["leases"]
        if ran_out:
            with mongo_database.connect() as other:
                past = [{"$set": {"lease.expires_at": {"$subtract": ["$$NOW", 1000]}}}]
                other[mongo_database.name]["accounts"].update_many({"lease.id": {"$exists": True}}, past)
        live = await home.app.state.accounts.counter.pool._live_at(organisation_of(database), "board")

    assert lease["site"] == "board"
    assert live == 1


def organisation_of(database: TestDatabase) -> Any:
    ((organisation,),) = database.rows("SELECT organisation FROM site")
    return organisation
