"""The keys of stored secrets change, in both stores, while others use and change the same secrets."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import orjson
import pytest

from leasehold.accounts import MongoSafe, PostgresSafe, SecretsDamaged, connect
from leasehold.accounts.problems import PoolsMoving
from leasehold.ids import show
from leasehold.vault import Keyring, Place, Safe, Sealed, Vault, rotate
from tests.parts.house import House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase
from tests.parts.sealed import Drawer, MongoDrawer, PostgresDrawer, Stored


@dataclass
class Bench:
    """A leasehold on one store with the accounts of two organisations, and a drawer to look into."""

    home: House
    client: httpx.AsyncClient
    keys: Keyring
    drawer: Drawer
    safe: Callable[[], Safe]

    @property
    def vault(self) -> Vault:
        return Vault(self.keys)

    async def turn(self, batch: int = 500) -> tuple[int, list[str]]:
        said: list[str] = []
        taken = await rotate(self.vault, [self.safe()], said.append, batch, settle_s=0)
        return sum(taken.values()), said

    def opened(self) -> dict[UUID, bytes]:
        return {account: row.open(self.vault) for account, row in self.drawer.rows().items()}


ALL = {"ours": 200, "theirs": 100}


@pytest.fixture(params=["postgres", "mongo"])
async def bench(
    request: pytest.FixtureRequest, database: TestDatabase, mongo_database: MongoDatabase, tmp_path: Path
) -> AsyncIterator[Bench]:
    """300 accounts, under one key of a file."""
    keys = Keyring.create_file(tmp_path / "keys")
    url = mongo_database.url.replace("/?", f"/{mongo_database.name}?")
    settings: dict[str, Any] = {"pools": request.param, "mongo_url": url}
    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(house(database, keys=keys, **settings))
        for organisation, count in ALL.items():
            client = await home.caller(organisation=organisation)
            await client.post("/v2/sites", json={"slug": "board", "domain": "a.example"})
            items = [{"site": "board", "username": f"u{n}", "secret": {"n": n}} for n in range(count)]
            imported = await client.post("/v2/accounts/import", json={"items": items})
            assert imported.json()["created"] == count
        everybody = [row[0] for row in database.rows("SELECT id FROM organisation")]
        drawer: Drawer = PostgresDrawer(database)
        if request.param == "mongo":
            drawer = MongoDrawer(database, mongo_database)
            mongo, name = connect(url)
            await stack.enter_async_context(mongo)

        def safe() -> Safe:
            if request.param == "mongo":
                return MongoSafe(home.app.state.db, mongo, name)
            return PostgresSafe(home.app.state.db, everybody)

        yield Bench(home, client, keys, drawer, safe)


async def test_every_secret_of_everybody_comes_under_the_new_key_and_stays_what_it_was(bench: Bench) -> None:
    before, old = bench.opened(), bench.keys.newest.id
    for account in list(before)[:3]:
        bench.drawer.move_away(account)
    assert await bench.safe().census() == {old: 300}
    new = bench.keys.add_key()

    taken, said = await bench.turn(batch=120)

    assert taken == 300
    name = bench.safe().name
    assert said == [f"{name} 120 of 300", f"{name} 240 of 300", f"{name} 300 of 300"]
    assert await bench.safe().census() == {new: 300}
    bench.keys.retire([old])
    assert bench.opened() == before
    assert sorted(before.values()) == sorted(orjson.dumps({"n": n}) for count in ALL.values() for n in range(count))


async def test_a_server_hands_out_secrets_before_during_and_after(bench: Bench) -> None:
    old = bench.keys.newest.id
    shown: list[dict[str, Any]] = []

    async def acquire() -> None:
        answer = await bench.client.post("/v2/accounts/acquire", json={"site": "board", "owner": "ann", "count": 5})
        assert answer.status_code == 200, answer.text
        shown.extend(lease["account"] for lease in answer.json()["leases"])

    await acquire()
    bench.keys.add_key()
    safe = bench.safe()
    while await safe.rewrap(bench.vault, 30):
        await acquire()
    bench.keys.retire([old])
    await acquire()

    assert len(shown) == 60
    assert all(account["secret"] == {"n": int(account["username"][1:])} for account in shown)


class Meddling(Vault):
    """While it re-wraps a secret, somebody does something to the store."""

    def __init__(self, keys: Keyring, meddle: Callable[[Place], None]) -> None:
        super().__init__(keys)
        self.meddle = meddle

    def rewrap(self, sealed: Sealed, place: Place) -> Sealed:
        made = super().rewrap(sealed, place)
        self.meddle(place)
        return made


@pytest.mark.parametrize("is_stale", [False, True], ids=["by a server with the new key", "by one without"])
async def test_who_changes_a_secret_meanwhile_wins(bench: Bench, is_stale: bool, tmp_path: Path) -> None:
    only_old = Vault(Keyring.parse((tmp_path / "keys").read_text().splitlines()[-1]))
    new = bench.keys.add_key()
    sealer = only_old if is_stale else bench.vault
    changed: dict[UUID, Stored] = {}

    def change(place: Place) -> None:
        if len(changed) < 5:
            changed[place.row] = bench.drawer.rows()[place.row].next(sealer, b"changed")
            bench.drawer.put(changed[place.row])

    safe = bench.safe()
    looked = await safe.rewrap(Meddling(bench.keys, change), 500)

    rows = bench.drawer.rows()
    assert looked == 300
    assert {account: rows[account] for account in changed} == changed
    assert sum(row.key_id == new for row in rows.values()) == (295 if is_stale else 300)
    await bench.turn()
    opened = bench.opened()
    assert {opened[account] for account in changed} == {b"changed"}
    assert await safe.census() == {new: 300}


async def test_who_put_another_secret_of_the_same_version_there_wins_too(bench: Bench, tmp_path: Path) -> None:
    """As a restore does, or two imports at once."""
    only_old = Vault(Keyring.parse((tmp_path / "keys").read_text().splitlines()[-1]))
    bench.keys.add_key()
    changed: dict[UUID, Stored] = {}

    def change(place: Place) -> None:
        if not changed:
            row = bench.drawer.rows()[place.row]
            changed[place.row] = replace(row, version=row.version - 1).next(only_old, b"changed")
            bench.drawer.put(changed[place.row])

    await bench.safe().rewrap(Meddling(bench.keys, change), 500)

    (account,) = changed
    assert bench.opened()[account] == b"changed"


async def test_an_account_that_is_deleted_meanwhile_stays_deleted(bench: Bench) -> None:
    bench.keys.add_key()
    gone: list[UUID] = []

    def remove(place: Place) -> None:
        if not gone:
            gone.append(place.row)
            bench.drawer.remove(place.row)

    await bench.safe().rewrap(Meddling(bench.keys, remove), 500)

    rows = bench.drawer.rows()
    assert len(rows) == 299
    assert gone[0] not in rows


async def test_one_that_is_cut_short_again_and_again_goes_on_where_it_was(bench: Bench) -> None:
    before, old, new = bench.opened(), bench.keys.newest.id, bench.keys.add_key()
    halves = []
    for lines in (1, 2, 3, 1, 2):
        said: list[str] = []
        task = asyncio.create_task(rotate(bench.vault, [bench.safe()], said.append, 20, settle_s=0))
        while len(said) < lines:
            await asyncio.sleep(0)
        while not task.done():  # `wait_for`, which drivers use, can lose a cancellation that comes with the answer
            task.cancel()
            await asyncio.sleep(0)
        assert task.cancelled()
        halves.append(await bench.safe().census())
        assert bench.opened() == before

    left = halves[-1][old]
    taken, _ = await bench.turn()

    assert [half[new] for half in halves] == sorted({half[new] for half in halves}), "each went further than the last"
    assert taken == left < 300
    assert await bench.safe().census() == {new: 300}
    assert bench.opened() == before


async def test_what_does_not_open_is_named_after_everything_else_is_done(bench: Bench) -> None:
    old, new = bench.keys.newest.id, bench.keys.add_key()
    one, other = list(bench.drawer.rows().values())[:2]
    bench.drawer.put(replace(one, sealed=other.sealed))

    with pytest.raises(SecretsDamaged, match=show("acct", one.account)):
        await bench.turn(batch=100)

    assert await bench.safe().census() == {old: 1, new: 299}
    assert bench.drawer.rows()[one.account].sealed == other.sealed


async def test_nothing_is_re_wrapped_while_the_pools_move(bench: Bench) -> None:
    """A move compares what left with what arrived, byte for byte."""
    before = bench.drawer.rows()
    bench.keys.add_key()
    bench.home.database.run("UPDATE pool SET moving_to = CASE store WHEN 'mongo' THEN 'postgres' ELSE 'mongo' END")

    with pytest.raises(PoolsMoving, match="to the end first"):
        await bench.turn()

    assert bench.drawer.rows() == before


@pytest.mark.parametrize("bench", ["postgres"], indirect=True)
async def test_a_row_somebody_is_changing_is_stepped_over(bench: Bench) -> None:
    old, new = bench.keys.newest.id, bench.keys.add_key()
    account = next(iter(bench.drawer.rows()))
    safe = bench.safe()
    with bench.home.database.connect() as other, other.transaction():
        other.execute("SELECT FROM account_secret WHERE account = %s FOR UPDATE", [account])

        looked = await asyncio.wait_for(safe.rewrap(bench.vault, 500), timeout=20)

        assert looked == 300
        assert await safe.census() == {old: 1, new: 299}
    await bench.turn()
    assert await safe.census() == {new: 300}
