"""Secrets at rest: what no key opens stays closed, what cannot be noted does not leave, and plaintext lies nowhere."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from structlog.testing import capture_logs

from leasehold.embedded import Embedded
from leasehold.ids import parse
from leasehold.vault import Keyring
from tests.parts.house import KEYS, House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase
from tests.parts.process import Leasehold, Place
from tests.parts.sealed import Drawer, MongoDrawer, PostgresDrawer

JSON = dict[str, Any]
CANARY = "LHCANARY1234"
SEALED = (503, "/problems/secrets-sealed")
OTHER_KEYS = {
    "another key": Keyring.parse("other:" + "B" * 43 + "="),
    "a wrong key of the same id": Keyring.parse("test:" + "B" * 43 + "="),
}


@dataclass
class Ground:
    """One store, and leaseholds on it."""

    database: TestDatabase
    drawer: Drawer
    settings: JSON

    @asynccontextmanager
    async def serving(self, keys: Keyring = KEYS, token: str | None = None) -> AsyncIterator["Desk"]:
        async with house(self.database, keys=keys, **self.settings) as home:
            shown = token or await home.token()
            yield Desk(home, home.client(shown), shown)


@dataclass
class Desk:
    """A leasehold and an admin at it."""

    home: House
    client: httpx.AsyncClient
    token: str

    async def site(self) -> None:
        body = {"slug": "board", "domain": "a.example", "policy": {"reclaim_delay_seconds": 0}}
        assert (await self.client.post("/v2/sites", json=body)).is_success

    async def accounts(self, *usernames: str) -> list[JSON]:
        made = []
        for username in usernames:
            body = {"site": "board", "username": username, "secret": {"password": f"{CANARY} of {username}"}}
            made.append((await self.client.post("/v2/accounts", json=body)).json())
        return made

    async def ask(self, **more: Any) -> httpx.Response:
        return await self.client.post("/v2/accounts/acquire", json={"site": "board", "owner": "ann", **more})

    async def acquire(self, **more: Any) -> JSON:
        answer = await self.ask(**more)
        assert answer.status_code == 200, answer.text
        lease: JSON = answer.json()["leases"][0]
        return lease

    async def reveal(self, account: JSON) -> httpx.Response:
        return await self.client.post(f"/v2/accounts/{account['id']}/reveal")

    async def listed(self) -> dict[str, str]:
        """Every account's state, by username."""
        found = (await self.client.get("/v2/accounts", params={"limit": 500})).json()["items"]
        return {account["username"]: account["state"] for account in found}

    async def leases(self) -> list[JSON]:
        items: list[JSON] = (await self.client.get("/v2/leases")).json()["items"]
        return items

    async def nothing_is_held(self) -> None:
        """Until what was granted in vain is given back; long before it would run out by itself."""
        async with asyncio.timeout(10):
            while await self.leases() or set((await self.listed()).values()) != {"active"}:
                await asyncio.sleep(0.01)


@pytest.fixture(params=["postgres", "mongo"])
def ground(request: pytest.FixtureRequest, database: TestDatabase, mongo_database: MongoDatabase) -> Ground:
    if request.param == "postgres":
        return Ground(database, PostgresDrawer(database), {})
    url = mongo_database.url.replace("/?", f"/{mongo_database.name}?")
    return Ground(database, MongoDrawer(database, mongo_database), {"pools": "mongo", "mongo_url": url})


def said(answer: httpx.Response) -> tuple[int, str]:
    assert CANARY not in answer.text
    return answer.status_code, answer.json()["type"]


def id_of(account: JSON) -> UUID:
    found = parse("acct", account["id"])
    assert found is not None
    return found


@pytest.mark.parametrize("keys", OTHER_KEYS.values(), ids=OTHER_KEYS)
async def test_without_the_key_no_secret_is_handed_out_and_nothing_stays_held(ground: Ground, keys: Keyring) -> None:
    async with ground.serving() as open_:
        await open_.site()
        first, _second = await open_.accounts("one", "two")

    async with ground.serving(keys, open_.token) as sealed:
        answers = [await sealed.ask(), await sealed.ask(wait_seconds=5), await sealed.ask(count=2)]
        revealed = await sealed.reveal(first)
        await sealed.nothing_is_held()

    assert [said(answer) for answer in (*answers, revealed)] == [SEALED] * 4


async def test_a_repeat_after_the_key_was_missing_is_told_the_same_again(ground: Ground) -> None:
    async with ground.serving() as open_:
        await open_.site()
        await open_.accounts("one")
    key = {"Idempotency-Key": "k"}
    body = {"site": "board", "owner": "ann"}

    async with ground.serving(next(iter(OTHER_KEYS.values())), open_.token) as sealed:
        answers = [await sealed.client.post("/v2/accounts/acquire", json=body, headers=key) for _ in range(3)]
        await sealed.nothing_is_held()

    assert [said(answer) for answer in answers] == [SEALED] * 3


async def test_one_secret_that_stays_closed_gives_back_what_was_granted_along_with_it(ground: Ground) -> None:
    async with ground.serving() as desk:
        await desk.site()
        first, _second = await desk.accounts("one", "two")
        row = ground.drawer.rows()[id_of(first)]
        ground.drawer.put(replace(row, key_id="gone"))

        both = await desk.ask(count=2)
        await desk.nothing_is_held()

    assert said(both) == SEALED


@pytest.mark.parametrize("keys", OTHER_KEYS.values(), ids=OTHER_KEYS)
async def test_without_the_key_everything_else_goes_on(ground: Ground, keys: Keyring) -> None:
    async with ground.serving() as open_:
        await open_.site()
        await open_.accounts("one", "two", "three")
        held = [await open_.acquire() for _ in range(3)]

    async with ground.serving(keys, open_.token) as sealed:
        client = sealed.client
        beaten = await client.post(f"/v2/leases/{held[0]['id']}/heartbeat", json={"ttl_seconds": 600})
        released = await client.post(f"/v2/leases/{held[0]['id']}/release", json={"outcome": "ok"})
        revoked = await client.delete(f"/v2/leases/{held[1]['id']}")
        listed, leased = await sealed.listed(), await sealed.leases()
        changed = await client.patch(f"/v2/accounts/{held[1]['resource_id']}", json={"priority": 5})
        deleted = await client.delete(f"/v2/accounts/{held[1]['resource_id']}")
        looked = [await client.get(path) for path in ("/v2/accounts/stats", "/v2/sites/board/explain", "/v2/audit")]
        (new,) = await sealed.accounts("new")
        stored = await sealed.acquire(account_id=new["id"])

    assert beaten.json()["expires_at"] > held[0]["expires_at"]
    assert released.json()["already_released"] is False
    assert revoked.json() == {"revoked": 1}
    assert sorted(listed.values()) == ["active", "active", "using"]
    assert [lease["id"] for lease in leased] == [held[2]["id"]]
    assert (changed.status_code, changed.json()["priority"], deleted.status_code) == (200, 5, 204)
    assert [answer.status_code for answer in looked] == [200] * 3
    assert stored["account"]["secret"]["password"] == f"{CANARY} of new"


async def test_a_server_that_is_given_the_key_opens_without_a_restart(ground: Ground, tmp_path: Path) -> None:
    async with ground.serving() as open_:
        await open_.site()
        await open_.accounts("one")
    file = tmp_path / "keys"
    keys = Keyring.create_file(file)

    async with ground.serving(keys, open_.token) as sealed:
        before = await sealed.ask()
        await sealed.nothing_is_held()
        with file.open("a") as lines:
            lines.write("test:" + "A" * 43 + "=\n")
        after = await sealed.acquire()

    assert said(before) == SEALED
    assert after["account"]["secret"]["password"] == f"{CANARY} of one"


async def test_a_secret_that_was_moved_to_another_account_does_not_open(ground: Ground) -> None:
    async with ground.serving() as desk:
        await desk.site()
        one, two = await desk.accounts("one", "two")
        rows = ground.drawer.rows()
        first, second = rows[id_of(one)], rows[id_of(two)]
        ground.drawer.put(replace(first, sealed=second.sealed))
        ground.drawer.put(replace(second, sealed=first.sealed))

        answers = [await desk.ask(), await desk.ask(), await desk.reveal(one), await desk.reveal(two)]
        await desk.nothing_is_held()

    assert [said(answer) for answer in answers] == [SEALED] * 4


async def test_a_secret_of_another_organisation_does_not_open(ground: Ground) -> None:
    async with ground.serving() as desk:
        await desk.site()
        (ours,) = await desk.accounts("one")
        stranger = Desk(desk.home, await desk.home.caller(organisation="other"), "")
        await stranger.site()
        (theirs,) = await stranger.accounts("one")
        rows = ground.drawer.rows()
        ground.drawer.put(replace(rows[id_of(ours)], sealed=rows[id_of(theirs)].sealed))

        answers = [await desk.ask(), await desk.reveal(ours)]

    assert [said(answer) for answer in answers] == [SEALED] * 2


async def test_a_secret_that_was_put_back_after_a_change_does_not_open(ground: Ground) -> None:
    async with ground.serving() as desk:
        await desk.site()
        (one,) = await desk.accounts("one")
        old = ground.drawer.rows()[id_of(one)]
        await desk.client.patch(f"/v2/accounts/{one['id']}", json={"secret": {"password": "new"}})
        now = ground.drawer.rows()[id_of(one)]
        ground.drawer.put(replace(now, sealed=old.sealed))

        answers = [await desk.ask(), await desk.reveal(one)]

    assert now.version == old.version + 1
    assert [said(answer) for answer in answers] == [SEALED] * 2


@pytest.mark.parametrize("spoilt", ["its payload", "its data key"])
async def test_an_account_whose_secret_was_damaged_is_set_aside_and_another_is_given(
    ground: Ground, spoilt: str
) -> None:
    async with ground.serving() as desk:
        await desk.site()
        one, two, _three = await desk.accounts("one", "two", "three")
        first = await desk.acquire(account_id=two["id"])  # the key is the right one
        await desk.client.post(f"/v2/leases/{first['id']}/release", json={"outcome": "ok"})
        row = ground.drawer.rows()[id_of(one)]
        at = -1 if spoilt == "its payload" else 20
        damaged = bytearray(row.sealed)
        damaged[at] ^= 1
        ground.drawer.put(replace(row, sealed=bytes(damaged)))
        key = {"Idempotency-Key": "k"}
        body = {"site": "board", "owner": "ann", "count": 2}

        answer = await desk.client.post("/v2/accounts/acquire", json=body, headers=key)
        again = await desk.client.post("/v2/accounts/acquire", json=body, headers=key)
        aside = (await desk.client.get(f"/v2/accounts/{one['id']}")).json()

    leases = answer.json()["leases"]
    assert sorted(lease["account"]["username"] for lease in leases) == ["three", "two"]
    assert [lease["id"] for lease in again.json()["leases"]] == [lease["id"] for lease in leases]
    assert (aside["state"], aside["blocked_reason"]) == ("blocked", "Its stored secret does not open. Store it again.")


@contextmanager
def no_audit(url: str) -> Iterator[None]:
    """The audit cannot be written."""
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("REVOKE INSERT ON audit_event FROM leasehold_app")
        try:
            yield
        finally:
            conn.execute("GRANT INSERT ON audit_event TO leasehold_app")


async def test_what_cannot_be_noted_does_not_leave_and_nothing_stays_held(ground: Ground) -> None:
    key = {"Idempotency-Key": "k"}
    ask = {"site": "board", "owner": "ann"}
    async with ground.serving() as desk:
        await desk.site()
        one, _two = await desk.accounts("one", "two")
        with no_audit(ground.database.url), capture_logs() as logged:  # shown at length, each would take seconds
            answers = [
                await desk.ask(),
                await desk.ask(count=2, wait_seconds=2),
                await desk.client.post("/v2/accounts/acquire", json=ask, headers=key),
                await desk.reveal(one),
            ]
            await desk.nothing_is_held()
        disclosed = ground.database.rows("SELECT 1 FROM audit_event WHERE action ~ 'disclosed|revealed'")
        again = await desk.client.post("/v2/accounts/acquire", json=ask, headers=key)

    assert [answer.status_code for answer in answers] == [500] * 4
    assert [entry["event"] for entry in logged].count("request.crashed") == 4
    assert not any(CANARY in answer.text for answer in answers)
    assert disclosed == []
    assert CANARY in again.text


async def use_everything(client: httpx.AsyncClient, usernames: Iterator[str]) -> list[httpx.Response]:
    """Whatever takes a secret or gives one, well and badly; returns the answers that must not have one."""
    key = {"Idempotency-Key": "once"}

    def account(**more: Any) -> JSON:
        return {"site": "board", "username": next(usernames), "secret": {"password": CANARY}, **more}

    async def post(path: str, body: Any, **headers: str) -> httpx.Response:
        if isinstance(body, str):
            return await client.post(path, content=body, headers=headers)
        return await client.post(path, json=body, headers=headers)

    kept, silent = account(), []
    await post("/v2/sites", {"slug": "board", "domain": "a.example"})
    made = await post("/v2/accounts", kept, **key)
    silent += [
        made,
        await post("/v2/accounts", kept, **key),
        await post("/v2/accounts", {**kept, "priority": 1}, **key),
    ]
    silent += [await post("/v2/accounts", kept)]
    odd: list[Any] = [
        {**account(), "secret": CANARY},
        {**account(), "password": CANARY},
        {**account(), "secret": {"password": CANARY, "more": "x" * 70_000}},
        {**account(), "priority": CANARY},
        {**account(), "site": "nowhere"},
        {**account(), "labels": {"a": [CANARY]}},
        {**account(), "username": 7},
    ]
    silent += [await post("/v2/accounts", body) for body in odd]
    silent += [await post("/v2/accounts", '{"secret": "' + CANARY, **{"Content-Type": "application/json"})]
    silent += [await post("/v2/accounts/import", {"items": [account(), *odd, CANARY]})]
    csv = f"site,username,password\nboard,{next(usernames)},{CANARY}\nboard,x,{CANARY},{CANARY}\nboard,,{CANARY}\n"
    lines = f'{{"site": "board", "username": "l", "secret": {{"p": "{CANARY}"}}}}\n{{"secret": "{CANARY}\n"{CANARY}"\n'
    silent += [await post("/v2/accounts/import", csv, **{"Content-Type": "text/csv"})]
    silent += [await post("/v2/accounts/import", lines, **{"Content-Type": "application/x-ndjson"})]
    silent += [await post("/v2/accounts/import", lines, **{"Content-Type": "text/plain"})]
    id_ = made.json()["id"]
    silent += [await client.patch(f"/v2/accounts/{id_}", json={"secret": {"password": CANARY}})]
    silent += [await client.patch(f"/v2/accounts/{id_}", json={"secret": [CANARY]})]
    silent += [await client.get(path) for path in (f"/v2/accounts/{id_}", "/v2/accounts", "/v2/audit", "/v2/leases")]
    silent += [await client.get("/metrics"), await client.get(f"/v2/accounts/{id_}/leases")]
    acquired = await post("/v2/accounts/acquire", {"site": "board", "owner": "ann"})
    lease = acquired.json()["leases"][0]
    silent += [await client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})]
    silent += [await client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "failed", "reason": "why"})]
    silent += [await client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": CANARY})]
    revealed = await post(f"/v2/accounts/{id_}/reveal", {})
    assert CANARY in acquired.text
    assert CANARY in revealed.text
    return silent


def shapes() -> list[bytes]:
    """The canary in every spelling it could lie around in; base64 has three, by where it begins."""
    raw = CANARY.encode()
    in_base64 = [base64.b64encode(b"x" * before + raw)[4:-4] for before in range(3)]
    return [raw, raw.hex().encode(), raw.hex().upper().encode(), CANARY.encode("utf-16-le"), raw[::-1], *in_base64]


async def test_the_plaintext_of_a_secret_is_nowhere_in_the_database(ground: Ground) -> None:
    async with ground.serving() as desk:
        answers = await use_everything(desk.client, (f"user{n}" for n in range(1000)))

    everything = ground.drawer.bytes()

    assert len(ground.drawer.rows()) == 4
    assert b"user0" in everything
    assert [shape for shape in shapes() if shape in everything] == []
    assert not any(CANARY in answer.text for answer in answers)


@pytest.mark.parametrize("log_format", ["console", "json"])
async def test_the_plaintext_of_a_secret_is_in_no_file_of_a_server(here: Place, log_format: str) -> None:
    up = here.up(LEASEHOLD_LOG_LEVEL="debug", LEASEHOLD_LOG_FORMAT=log_format)
    headers = {"Authorization": f"Bearer {up.token}"}
    usernames = (f"user{n}" for n in range(1000))
    async with httpx.AsyncClient(base_url=up.address, headers=headers, trust_env=False, timeout=60) as client:
        answers = await use_everything(client, usernames)
        embedded = Embedded(here.data)
        with no_audit(embedded.start()):  # crashes, which are logged at length
            secret = {"secret": {"password": CANARY}}
            crashed = [
                await client.post("/v2/accounts", json={"site": "board", "username": "late", **secret}),
                await client.post(
                    "/v2/accounts/import", json={"items": [{"site": "board", "username": "x", **secret}]}
                ),
                await client.post("/v2/accounts/acquire", json={"site": "board", "owner": "ann"}),
            ]
        embedded.stop()
    up.end()

    assert [answer.status_code for answer in crashed] == [500] * 3
    assert not any(CANARY in answer.text for answer in (*answers, *crashed))
    assert up.err.count("request.crashed") == 3
    assert "permission denied for table audit_event" in up.err
    assert files_with_a_secret(here, up) == []


def files_with_a_secret(here: Place, up: Leasehold) -> list[str]:
    """Logs, those of PostgreSQL too, its tables and what it writes ahead: whatever lies in the place."""
    files = [file for folder in {here.folder, here.home} for file in folder.rglob("*") if file.is_file()]
    assert any("pg_wal" in file.parts for file in files)
    assert any(file.suffix == ".err" and b"request.served" in file.read_bytes() for file in files)
    return [str(file) for file in files for shape in shapes() if shape in file.read_bytes()]
