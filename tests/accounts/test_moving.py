"""The pools move between stores while they are in use, without a double grant and without losing anything."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
import pytest

from leasehold.accounts import MongoPlace, MoveFailed, Place, PostgresPlace, WrongStore, connect, move, purge
from leasehold.accounts.moving import Along, Record
from leasehold.app import organisations
from leasehold.db import Database
from leasehold.sessions import MongoShelf, PostgresShelf, Shelf, carry
from tests.parts.house import House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase


class Stores:
    """One pool that can be in either store."""

    def __init__(self, database: TestDatabase, mongo: MongoDatabase) -> None:
        self.database = database
        self.mongo_url = mongo.url.replace("/?", f"/{mongo.name}?")

    @asynccontextmanager
    async def serving(self, store: str, token: str | None = None) -> AsyncIterator[tuple[House, httpx.AsyncClient]]:
        settings: dict[str, Any] = {"pools": store, "mongo_url": self.mongo_url}
        async with house(self.database, **settings) as home:
            yield home, home.client(token or await home.token())

    @asynccontextmanager
    async def places(self) -> AsyncIterator[tuple[Database, dict[Any, Place]]]:
        mongo = MongoPlace(*connect(self.mongo_url))
        async with Database(self.database.url, pool_size=4) as db:
            await mongo.open()
            try:
                yield db, {"postgres": PostgresPlace(db), "mongo": mongo}
            finally:
                await mongo.close()

    async def move(self, to: Any) -> list[str]:
        said: list[str] = []
        async with self.places() as (db, places), self.along(db, to) as along:
            assert await move(db, await organisations(db), places, to, said.append, along)
        return said

    @asynccontextmanager
    async def along(self, db: Database, to: str) -> AsyncIterator[Along]:
        """The sessions go with their accounts."""
        mongo = MongoShelf(db, *connect(self.mongo_url))
        await mongo.open()
        shelves: dict[str, Shelf] = {"postgres": PostgresShelf(db), "mongo": mongo}
        source = shelves["mongo" if to == "postgres" else "postgres"]
        try:
            yield lambda organisation, say: carry(source, shelves[to], organisation, say)
        finally:
            await mongo.close()


@pytest.fixture
def stores(database: TestDatabase, mongo_database: MongoDatabase) -> Stores:
    return Stores(database, mongo_database)


async def fill(client: httpx.AsyncClient) -> dict[str, Any]:
    """A pool with something of everything; returns what outsiders know of it."""
    policy = {"breaker_min_accounts": 1000, "reclaim_delay_seconds": 0}
    await client.post("/v2/sites", json={"slug": "board", "domain": "board.example", "policy": policy})
    for n in range(8):
        body = {"site": "board", "username": f"u{n}", "secret": {"n": n}, "labels": {"a.b$": f"v{n}"}, "priority": n}
        await client.post("/v2/accounts", json=body)
    for outcome in ("failed", "blocked", "logged_out", "invalid_credentials"):
        lease = await acquire(client)
        ended = await client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": outcome})
        assert ended.is_success
    held = await acquire(client)
    return {"held": held, "released": lease, "accounts": await accounts(client)}


async def acquire(client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    body = {"site": "board", "owner": "ann", "ttl_seconds": 600, **more}
    lease: dict[str, Any] = (await client.post("/v2/accounts/acquire", json=body)).json()["leases"][0]
    return lease


async def accounts(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    """Every account as callers see it, to the millisecond that both stores keep."""
    found = (await client.get("/v2/accounts?limit=500")).json()["items"]
    return [{name: to_ms(value) for name, value in account.items()} for account in found]


def to_ms(value: Any) -> Any:
    if not (isinstance(value, str) and value.endswith("Z") and value[10:11] == "T"):
        return value
    return datetime.fromisoformat(value).isoformat(timespec="milliseconds")


@pytest.mark.parametrize(("origin", "to"), [("postgres", "mongo"), ("mongo", "postgres")])
async def test_everything_arrives_and_leases_live_on(stores: Stores, origin: str, to: str) -> None:
    async with stores.serving(origin) as (home, client):
        token = await home.token()
        known = await fill(home.client(token))
        del client

    said = await stores.move(to)

    assert any("counts and checksums agree" in line for line in said)
    async with stores.serving(to, token) as (_, client):
        assert await accounts(client) == known["accounts"]
        held, released = known["held"], known["released"]
        renewed = (await client.post(f"/v2/leases/{held['id']}/heartbeat", json={})).json()
        assert (renewed["id"], renewed["fence"]) == (held["id"], held["fence"])
        again = await client.post(f"/v2/leases/{released['id']}/release", json={"outcome": "ok"})
        assert again.json()["already_released"]
        ended = await client.post(f"/v2/leases/{held['id']}/release", json={"outcome": "ok"})
        assert not ended.json()["already_released"]
        next_ = await acquire(client, account_id=held["resource_id"])
        assert next_["fence"] > held["fence"]
        assert next_["account"]["secret"] == held["account"]["secret"]


async def test_there_and_back_again(stores: Stores) -> None:
    async with stores.serving("postgres") as (home, _):
        token = await home.token()
        known = await fill(home.client(token))
    await stores.move("mongo")
    async with stores.serving("mongo", token) as (_, client):
        await client.post(f"/v2/leases/{known['held']['id']}/release", json={"outcome": "ok"})
        there = await acquire(client, account_id=known["held"]["resource_id"])

    await stores.move("postgres")

    async with stores.serving("postgres", token) as (_, client):
        (held,) = (await client.get("/v2/leases")).json()["items"]
        assert (held["id"], held["fence"]) == (there["id"], known["held"]["fence"] + 1)
        assert (await client.post(f"/v2/leases/{there['id']}/heartbeat", json={})).status_code == 200
        past = (await client.get(f"/v2/accounts/{there['resource_id']}/leases")).json()["items"]
        assert [end["id"] for end in past] == [known["held"]["id"]]


@pytest.mark.parametrize(("origin", "to"), [("postgres", "mongo"), ("mongo", "postgres")])
async def test_servers_of_the_old_store_can_do_nothing_to_what_is_gone(stores: Stores, origin: str, to: str) -> None:
    async with stores.serving(origin) as (_, client):
        known = await fill(client)

        await stores.move(to)

        lease = known["held"]["id"]
        body = {"site": "board", "owner": "late"}
        refused = [
            await client.post(f"/v2/leases/{lease}/heartbeat", json={}),
            await client.post(f"/v2/leases/{lease}/release", json={"outcome": "blocked"}),
            await client.post("/v2/accounts", json={"site": "board", "username": "new", "secret": {}}),
            await client.delete(f"/v2/leases/{lease}"),
            await client.post("/v2/accounts/acquire", json=body),
            await client.post("/v2/leases/heartbeat", json={"owner": "ann"}),
            await client.get("/v2/leases"),
            await client.get("/v2/accounts"),
            await client.get(f"/v2/accounts/{known['held']['resource_id']}"),
            await client.patch(f"/v2/accounts/{known['held']['resource_id']}", json={"priority": 1}),
        ]
    assert [answer.json()["type"] for answer in refused] == ["/problems/pools-moving"] * len(refused)


@pytest.mark.parametrize(("origin", "to"), [("postgres", "mongo"), ("mongo", "postgres")])
async def test_a_move_that_was_stopped_goes_on(stores: Stores, origin: str, to: Any) -> None:
    async with stores.serving(origin) as (home, _):
        token = await home.token()
        known = await fill(home.client(token))

    class Stopped(Exception):
        pass

    async with stores.places() as (db, places):
        receive = places[to].receive

        async def half(organisation: UUID, records: Sequence[Record]) -> None:
            await receive(organisation, records[:3])
            raise Stopped

        places[to].receive = half  # type: ignore[method-assign,assignment]
        with pytest.raises(Stopped):
            async with stores.along(db, to) as along:
                await move(db, await organisations(db), places, to, lambda _: None, along)
    for store in (origin, to):
        with pytest.raises(WrongStore, match="on their way"):
            async with stores.serving(store):
                pass

    await stores.move(to)

    async with stores.serving(to, token) as (_, client):
        assert await accounts(client) == known["accounts"]


async def test_what_arrives_changed_is_not_flipped(stores: Stores) -> None:
    async with stores.serving("postgres") as (_, client):
        await fill(client)

    async with stores.places() as (db, places):
        receive = places["mongo"].receive

        async def spoilt(organisation: UUID, records: Sequence[Record]) -> None:
            await receive(organisation, [{**record, "fence": record["fence"] + 1} for record in records])

        places["mongo"].receive = spoilt  # type: ignore[method-assign,assignment]
        with pytest.raises(MoveFailed, match="arrived"):
            async with stores.along(db, "mongo") as along:
                await move(db, await organisations(db), places, "mongo", lambda _: None, along)

    assert stores.database.rows("SELECT store, moving_to FROM pool") == [("postgres", "mongo")]


async def test_a_server_set_to_the_wrong_store_does_not_start(stores: Stores) -> None:
    async with stores.serving("postgres") as (_, client):
        await fill(client)

    with pytest.raises(WrongStore, match="LEASEHOLD_POOLS says mongo"):
        async with stores.serving("mongo"):
            pass


async def test_what_stayed_behind_can_be_removed(stores: Stores) -> None:
    async with stores.serving("postgres") as (home, _):
        token = await home.token()
        known = await fill(home.client(token))
    await stores.move("mongo")

    async with stores.places() as (db, places):
        assert await purge(await organisations(db), places["postgres"]) == 8

    assert stores.database.rows("SELECT FROM account_secret") == []
    async with stores.serving("mongo", token) as (_, client):
        assert await accounts(client) == known["accounts"]


@pytest.mark.parametrize(("origin", "to"), [("postgres", "mongo"), ("mongo", "postgres")])
async def test_nobody_gets_what_somebody_else_holds_while_it_moves(stores: Stores, origin: str, to: Any) -> None:
    async with stores.serving(origin) as (home, _):
        token = await home.token()
        client = home.client(token)
        await client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
        items = [{"site": "board", "username": f"u{n}", "secret": {}} for n in range(600)]
        await client.post("/v2/accounts/import", json={"items": items})
        held: list[dict[str, Any]] = []
        is_over = False

        async def work() -> None:
            while not is_over:
                answer = await client.post("/v2/accounts/acquire", json={"site": "board", "owner": "ann"})
                if answer.status_code == 503 or not answer.json()["leases"]:
                    await asyncio.sleep(0.01)
                    continue
                (lease,) = answer.json()["leases"]
                if random.random() < 0.5:  # noqa: S311
                    ended = await client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "ok"})
                    if ended.status_code == 503:
                        held.append(lease)
                else:
                    held.append(lease)

        workers = [asyncio.create_task(work()) for _ in range(4)]
        while len(held) < 20:
            await asyncio.sleep(0.01)
        await stores.move(to)
        is_over = True
        await asyncio.gather(*workers)

    async with stores.serving(to, token) as (_, client):
        live: dict[str, str] = {}
        cursor: str | None = ""
        while cursor is not None:
            page = (await client.get(f"/v2/leases?limit=500{cursor and f'&cursor={cursor}'}")).json()
            live |= {lease["resource_id"]: lease["id"] for lease in page["items"]}
            cursor = page["next_cursor"]
        assert live == {lease["resource_id"]: lease["id"] for lease in held}


async def test_a_move_that_is_under_way_cannot_be_turned_round(stores: Stores) -> None:
    async with stores.serving("postgres") as (_, client):
        await fill(client)
    stores.database.run("UPDATE pool SET moving_to = 'mongo'")

    with pytest.raises(MoveFailed, match="Finish it first"):
        await stores.move("postgres")
