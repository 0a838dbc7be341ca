"""Sessions go with their accounts from one store to the other, and under a new key, as they are."""

from typing import Any

import httpx
import pytest

from leasehold.accounts import MoveFailed, connect
from leasehold.app import organisations
from leasehold.db import Database
from leasehold.sessions import MongoSessionSafe, MongoShelf, PostgresSessionSafe, PostgresShelf, carry
from leasehold.vault import Keyring, Vault, rotate
from tests.accounts.test_moving import Stores, acquire, fill
from tests.parts.house import KEYS, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

JSON = dict[str, Any]
BOTH = ["postgres", "mongo"]


@pytest.fixture
def stores(database: TestDatabase, mongo_database: MongoDatabase) -> Stores:
    return Stores(database, mongo_database)


def state(**values: str) -> JSON:
    plain = {"domain": "board.example", "path": "/", "expires": -1, "httpOnly": True, "secure": True, "sameSite": "Lax"}
    return {"cookies": [{"name": name, "value": value, **plain} for name, value in values.items()], "origins": []}


async def save(client: httpx.AsyncClient, lease: JSON, given: JSON, **query: Any) -> JSON:
    answer = await client.put(
        f"/v2/sessions/{lease['resource_id']}", json=given, params=query, headers={"Leasehold-Lease": lease["id"]}
    )
    assert answer.status_code == 200, answer.text
    told: JSON = answer.json()
    return told


async def load(client: httpx.AsyncClient, lease: JSON) -> tuple[int, dict[str, str]]:
    answer = await client.get(f"/v2/sessions/{lease['resource_id']}", headers={"Leasehold-Lease": lease["id"]})
    assert answer.status_code == 200, answer.text
    return int(answer.headers["etag"].strip('"')), {one["name"]: one["value"] for one in answer.json()["cookies"]}


@pytest.mark.parametrize(("origin", "to"), [("postgres", "mongo"), ("mongo", "postgres")])
async def test_sessions_arrive_as_they_left_with_versions_and_bases(stores: Stores, origin: str, to: str) -> None:
    async with stores.serving(origin) as (home, client):
        token = await home.token()
        lease = (await fill(client))["held"]
        for value in ("s1", "s2"):
            await save(client, lease, state(sid=value, a="1", b="1"))
        version, _ = await load(client, lease)

    said = await stores.move(to)

    async with stores.serving(to, token) as (_, client):
        assert await load(client, lease) == (version, {"sid": "s2", "a": "1", "b": "1"})
        told = await save(client, lease, state(sid="s3", a="1"), base=version)
        rolled = await client.post(f"/v2/sessions/{lease['resource_id']}/rollback", json={"version": 1})
        after = await load(client, lease)
    assert (told["deleted"], told["set"]) == (1, 1)
    assert rolled.status_code == 200
    assert after == (version + 2, {"sid": "s1", "a": "1", "b": "1"})
    assert any("sessions 2 (" in line for line in said)


async def test_there_and_back_again_nothing_is_doubled(stores: Stores) -> None:
    async with stores.serving("postgres") as (home, client):
        token = await home.token()
        lease = (await fill(client))["held"]
        await save(client, lease, state(sid="s1"))
    await stores.move("mongo")
    async with stores.serving("mongo", token) as (_, client):
        for number in range(30):  # the first versions are let go meanwhile
            await save(client, lease, state(sid=f"m{number}"))

    await stores.move("postgres")

    async with stores.serving("postgres", token) as (_, client):
        assert await load(client, lease) == (31, {"sid": "m29"})
        versions = (await client.get(f"/v2/sessions/{lease['resource_id']}/versions?limit=100")).json()["items"]
    assert [one["version"] for one in versions] == list(range(31, 11, -1))


async def test_what_arrives_damaged_is_told(stores: Stores) -> None:
    async with stores.serving("postgres") as (_, client):
        lease = (await fill(client))["held"]
        await save(client, lease, state(sid="s1"))
    stores.database.run("UPDATE account SET moved = true")

    async with Database(stores.database.url, pool_size=2) as db:
        ((organisation, _slug),) = await organisations(db)
        target = MongoShelf(db, *connect(stores.mongo_url))
        with pytest.raises(MoveFailed, match=r"Of the sessions, 1 .* left and 0"):
            # Its account is not there, so neither is it.
            await carry(PostgresShelf(db), target, organisation, lambda _: None)
        await target.close()


@pytest.mark.parametrize("store", BOTH)
async def test_sessions_come_under_the_newest_key(stores: Stores, store: str) -> None:
    async with stores.serving(store) as (home, client):
        token = await home.token()
        lease = (await fill(client))["held"]
        await save(client, lease, state(sid="s1"), base="fresh")
        await save(client, lease, state(sid="s2"))
    both = Keyring.parse("new:" + "C" * 43 + "=,test:" + "A" * 43 + "=")

    async with Database(stores.database.url, pool_size=2) as db:
        everybody = [organisation for organisation, _ in await organisations(db)]
        mongo, name = connect(stores.mongo_url)
        async with mongo:
            safes = [PostgresSessionSafe(db, everybody), MongoSessionSafe(db, mongo, name)]
            taken = await rotate(Vault(both), safes, lambda _: None, settle_s=0)
            under = {key for safe in safes for key in await safe.census()}

    assert sum(taken.values()) == 3  # two versions, and what the lease holds
    assert under == {"new"}
    settings: JSON = {"pools": store, "mongo_url": stores.mongo_url}
    async with house(stores.database, keys=both, **settings) as home:
        assert await load(home.client(token), lease) == (2, {"sid": "s2"})
    async with house(stores.database, keys=KEYS, **settings) as home:
        sealed = await home.client(token).get(f"/v2/sessions/{lease['resource_id']}")
    assert (sealed.status_code, sealed.json()["type"]) == (503, "/problems/secrets-sealed")


async def test_a_session_that_was_copied_to_another_account_does_not_open(stores: Stores) -> None:
    async with stores.serving("postgres") as (_, client):
        lease = (await fill(client))["held"]
        other = await acquire(client, owner="bob")
        for one in (lease, other):
            await save(client, one, state(sid="s1"))
        stores.database.run(
            "UPDATE session_version v SET sealed = o.sealed FROM session_version o WHERE o.account <> v.account"
        )

        answers = [await client.get(f"/v2/sessions/{one['resource_id']}") for one in (lease, other)]

    assert [answer.status_code for answer in answers] == [503, 503]
