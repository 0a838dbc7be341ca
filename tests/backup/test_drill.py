"""The drill: a place is lost, made again from a backup elsewhere, and whoever knew the old one is told so.

Clients have gone on after the backup, so they remember grants that the new place has never heard of.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from leasehold.backup import BackupBad, RestoreWish, check, restore, take
from leasehold.backup.era import FENCES
from leasehold.cli_verify import verify, verify_captures
from leasehold.migrate import RESTORING, RestoreUnfinished, migrate
from leasehold.settings import Settings
from tests.jobs.conftest import platform
from tests.parts.broker import Broker, last
from tests.parts.house import House, house
from tests.parts.mongo import Mongo
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import KEYS
from tests.parts.uploads import upload

JSON = dict[str, Any]
SECRET = {"password": "LHCANARYfish"}
# Of each kind of thing, how one is asked for.
ASKS: dict[str, JSON] = {
    "accounts": {"site": "board"},
    "seeds": {},
    "captures": {},
    "tasks": {"platforms": ["alpha"]},
}
COOKIE = {"domain": "board.example", "path": "/", "expires": -1, "httpOnly": False, "secure": True, "sameSite": "Lax"}


def name() -> str:
    return os.environ.get("PYTEST_XDIST_WORKER", "main")


@dataclass
class Scene:
    """Two places: where everything is, and where nothing is yet."""

    old: TestDatabase
    new: TestDatabase
    folder: Path
    mongo: Mongo | None

    def settings(self, place: str) -> JSON:
        given: JSON = {
            "data_dir": self.folder / place,
            "platforms_dir": self.folder / "platforms",
            "keys": KEYS,
            "database_pool_size": 8,
        }
        if self.mongo is not None:
            url = self.mongo.url.replace("/?", f"/lh_drill_{place}_{name()}?")
            given |= {"pools": "mongo", "mongo_url": url}
        return given

    @asynccontextmanager
    async def lived_in(self, place: str) -> AsyncIterator[House]:
        database = self.old if place == "old" else self.new
        given = {name: value for name, value in self.settings(place).items() if name != "keys"}
        async with house(database, **given) as made:  # it has the same key
            yield made

    async def back_up(self) -> Path:
        target = self.folder / "backup"
        await take(Settings(**self.settings("old")), self.old.url, target, quiet, without_captures=False)
        return target

    async def restored(self, source: Path, **wish: Any) -> str:
        found = await restore(Settings(**self.settings("new")), self.new.url, RestoreWish(source, **wish), quiet)
        return found.token or ""

    async def books(self) -> list[str]:
        """What does not balance in the new place."""
        told: list[str] = []
        chosen = Settings(**self.settings("new"))
        await verify(chosen, self.new.url, told.append)
        await verify_captures(chosen, self.new.url, told.append, repair=False)
        assert len(told) >= 7, told
        return [line for line in told if not line.startswith("ok")]


def quiet(_line: str) -> None:
    return


@pytest.fixture(params=["postgres", "mongo"])
def scene(request: pytest.FixtureRequest, postgres: Postgres, database: TestDatabase, tmp_path: Path) -> Scene:
    mongo: Mongo | None = None
    if request.param == "mongo":
        mongo = request.getfixturevalue("mongo")
        request.getfixturevalue("mongo_database").empty()
        with request.getfixturevalue("mongo_database").connect() as client:
            for place in ("old", "new"):
                client.drop_database(f"lh_drill_{place}_{name()}")
    (tmp_path / "platforms").mkdir()
    (tmp_path / "platforms" / "alpha.yaml").write_text(platform("alpha"))
    return Scene(database, postgres.create(f"lh_drill_{name()}"), tmp_path, mongo)


async def furnish(client: httpx.AsyncClient, number: int) -> str:
    """One more of everything that can be held; returns the account."""
    site = {"slug": "board", "domain": "board.example", "policy": {"reclaim_delay_seconds": 0}}
    await client.post("/v2/sites", json=site)
    made = await client.post("/v2/accounts", json={"site": "board", "username": f"ann{number}", "secret": SECRET})
    assert made.status_code == 201, made.text
    seed = {"site": "board", "url": f"https://board.example/thread/{number}"}
    assert (await client.post("/v2/seeds", json={"items": [seed]})).is_success
    assert (await upload(client, {"page": bytes([number])})).is_success
    await Broker(client).submit(job_id=f"job-{number}")
    account: str = made.json()["id"]
    return account


async def hold(client: httpx.AsyncClient) -> dict[str, list[JSON]]:
    """Hold all there is."""
    held: dict[str, list[JSON]] = {}
    for kind, ask in ASKS.items():
        held[kind] = []
        while leases := await acquire(client, kind, ask):
            held[kind] += leases
        assert held[kind], kind
    return held


async def acquire(client: httpx.AsyncClient, kind: str, ask: JSON) -> list[JSON]:
    answer = await client.post(f"/v2/{kind}/acquire", json={"owner": "ann", "ttl_seconds": 600, **ask})
    assert answer.status_code == 200, answer.text
    leases: list[JSON] = answer.json()["leases"]
    return leases


async def let_go(client: httpx.AsyncClient, held: Mapping[str, list[JSON]]) -> None:
    for lease in (lease for leases in held.values() for lease in leases):
        assert (await client.delete(f"/v2/leases/{lease['id']}")).is_success


async def save(client: httpx.AsyncClient, account: str, value: str) -> int:
    """Change the session of an account; returns its version."""
    state = {"cookies": [{"name": "sid", "value": value, **COOKIE}], "origins": []}
    answer = await client.put(f"/v2/sessions/{account}?source=manual", json=state)
    assert answer.is_success, answer.text
    version: int = answer.json()["version"]
    return version


async def refusals(client: httpx.AsyncClient, held: Mapping[str, list[JSON]]) -> set[int]:
    """What who holds these is told when it renews them and when it gives them back."""
    told = set()
    for lease in (lease for leases in held.values() for lease in leases):
        told.add((await client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})).status_code)
        given_back = await client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "ok"})
        told.add(given_back.status_code)
    return told


def highest(*holdings: Mapping[str, list[JSON]]) -> dict[str, int]:
    return {kind: max(lease["fence"] for held in holdings for lease in held[kind]) for kind in ASKS}


async def test_a_place_made_from_a_backup_is_above_everything_its_clients_remember(scene: Scene) -> None:
    async with scene.lived_in("old") as old:
        token = await old.token()
        client = old.client(token)
        account = await furnish(client, 1)
        await save(client, account, "kept")
        then = await hold(client)

        source = await scene.back_up()

        late = await furnish(client, 2)  # nobody will know of this
        await let_go(client, then)
        since = await hold(client)
        for _ in range(2):
            await let_go(client, since)
            since = await hold(client)
        version = [await save(client, account, f"lost {number}") for number in range(3)][-1]
        seen = highest(then, since)
    assert check(source, quiet).keys == {"test": 2}
    assert min(seen.values()) > 1

    new_token = await scene.restored(source)

    async with scene.lived_in("new") as new:
        assert await refusals(new.client(token), then) == {401}
        client = new.client(new_token)
        assert await refusals(client, then) == {410}
        assert await refusals(client, since) == {404}
        assert await Broker(client).verdicts(last(since["tasks"][0])) == ["superseded"]
        assert (await client.get(f"/v2/accounts/{late}")).status_code == 404
        now = await hold(client)
        assert all(lease["fence"] > seen[kind] for kind in ASKS for lease in now[kind]), (seen, now)
        # What is made anew is not the thing that was lost, but whoever kept it by its name takes it for that.
        await furnish(client, 2)
        assert all(lease["fence"] > seen[kind] for kind, leases in (await hold(client)).items() for lease in leases)
        assert (await client.post(f"/v2/accounts/{account}/reveal")).json()["secret"] == SECRET
        session = await client.get(f"/v2/sessions/{account}")
        assert [one["value"] for one in session.json()["cookies"]] == ["kept"]
        assert int(session.headers["etag"].strip('"')) > version
        assert await save(client, account, "anew") > version
        assert await scene.books() == []


@pytest.mark.parametrize("scene", ["postgres"], indirect=True)
async def test_tokens_may_be_kept_and_leases_are_revoked_however_old_they_are(scene: Scene) -> None:
    async with scene.lived_in("old") as old:
        token = await old.token()
        await furnish(old.client(token), 1)
        held = await hold(old.client(token))
    scene.old.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 day'")
    source = await scene.back_up()

    new_token = await scene.restored(source, keep_tokens=True)

    # Whoever had them may have given them back since: nothing is held against anybody.
    assert scene.new.rows("SELECT how, count(*) FROM lease_end GROUP BY how") == [("revoked", len(ASKS))]
    async with scene.lived_in("new") as new:
        assert new_token == ""
        assert await refusals(new.client(token), held) == {410}


@pytest.mark.parametrize("scene", ["postgres"], indirect=True)
async def test_what_cannot_be_restored_is_refused_before_anything_is_changed(scene: Scene) -> None:
    async with scene.lived_in("old") as old:
        await furnish(await old.caller(), 1)
        source = await scene.back_up()
    with pytest.raises(BackupBad, match="is there already"):
        await scene.back_up()

    # A key that is kept apart is not there.
    odd = Settings(**{**scene.settings("new"), "keys": "other:" + "B" * 43 + "="})
    with pytest.raises(BackupBad, match="1 secrets of this backup are sealed with test"):
        await restore(odd, scene.new.url, RestoreWish(source), quiet)

    # Cut short: the name tells, and so does what is missing.
    unfinished = source.rename(source.with_name("backup.unfinished"))
    with pytest.raises(BackupBad, match="never finished"):
        await scene.restored(unfinished)
    source = unfinished.rename(source)
    (blob,) = (source / "blobs").rglob("*/??/??/*")
    kept = blob.read_bytes()
    for damage in (lambda: blob.write_bytes(kept + b"!"), blob.unlink):
        damage()
        with pytest.raises(BackupBad, match=rf"damaged: blobs/.*{blob.name}"):
            await scene.restored(source)
    blob.write_bytes(kept)
    manifest = (source / "manifest.json").read_text()
    (source / "manifest.json").write_text(manifest.replace('"0001_hall"', '"0001_hall", "9999_later"'))
    with pytest.raises(BackupBad, match="which is newer: it has 9999_later"):
        await scene.restored(source)
    (source / "manifest.json").write_text(manifest)
    assert scene.new.rows("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace") == []

    await scene.restored(source)
    with pytest.raises(BackupBad, match="not empty"):
        await scene.restored(source)

    # And what a restore was cut short on is used by nobody.
    scene.new.run(f"CREATE TABLE {RESTORING} ()")
    with pytest.raises(RestoreUnfinished, match="restore again into an empty database"):
        await asyncio.to_thread(migrate, scene.new.url)


def test_every_number_of_grants_is_raised(database: TestDatabase) -> None:
    told = {("lease", "fence"), ("lease_end", "fence"), ("receipt", "fence"), ("task_event", "fence")}
    found = database.rows(
        "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables"
        " USING (table_schema, table_name) WHERE table_type = 'BASE TABLE' AND column_name LIKE '%%fence'"
    )

    assert set(found) == set(FENCES) | told, "a new fence goes into FENCES, or here if it only tells of a grant"
