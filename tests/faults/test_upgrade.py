"""A newer version brings its migrations while this one serves: nobody is refused, nobody loses anything."""

import asyncio
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from leasehold.ids import uuid7
from leasehold.migrate import folder, migrate
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import PATIENCE_S, Leasehold, Place

JSON = dict[str, Any]

CLIENTS = 8
# What a version may do to tables that are in use: columns that may be left out, indexes, tables, longer checks.
NEWER = {
    "0900_columns": "ALTER TABLE account ADD COLUMN colour text;"
    " ALTER TABLE lease ADD COLUMN note text NOT NULL DEFAULT '';",
    "0901_indexes": "CREATE INDEX ON lease_end (owner); CREATE INDEX ON audit_event (action);",
    "0902_tables": "CREATE TABLE colour (name text PRIMARY KEY);"
    " ALTER TABLE site ADD COLUMN colour text REFERENCES colour (name);",
}


@pytest.fixture
def behind(postgres: Postgres, worker_id: str) -> TestDatabase:
    return postgres.create(f"lh_upgrade_{worker_id}")


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """The migrations of the version that comes."""
    files = Path(shutil.copytree(folder(), tmp_path / "migrations"))
    for name, statements in NEWER.items():
        (files / f"{name}.sql").write_text(f"{statements} INSERT INTO schema_mark (name) VALUES ('{name}');")
    return files


@pytest.fixture
def serve(here: Place, behind: TestDatabase) -> Leasehold:
    return here.serve(LEASEHOLD_DATABASE_URL=behind.url, LEASEHOLD_LOG_LEVEL="warning")


class Crowd:
    """Clients that take, renew and give back, one lease after the other, at whichever server they are sent to."""

    def __init__(self, address: str, token: str) -> None:
        self.address = address
        self.pairs = 0
        self.refused: list[str] = []
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.AsyncClient(headers=headers, trust_env=False, timeout=PATIENCE_S)
        self._goes_on = True

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(self, path: str, body: JSON, **headers: str) -> JSON:
        answer = await self._http.post(self.address + path, json=body, headers=headers)
        if not answer.is_success:
            self.refused.append(f"{path}: {answer.status_code} {answer.text}")
            return {}
        found: JSON = answer.json()
        return found

    async def work(self, owner: str) -> None:
        while self._goes_on:
            key = {"Idempotency-Key": uuid7().hex}
            offer = await self.ask("/v2/accounts/acquire", {"site": "board", "owner": owner, "ttl_seconds": 60}, **key)
            for lease in offer.get("leases", []):
                await self.ask(f"/v2/leases/{lease['id']}/heartbeat", {})
                await self.ask(f"/v2/leases/{lease['id']}/release", {"outcome": "ok"})
                self.pairs += 1
            await asyncio.sleep(0)

    async def some_more(self) -> None:
        """Wait until more was done than was under way."""
        enough = self.pairs + 3 * CLIENTS
        async with asyncio.timeout(PATIENCE_S):
            while self.pairs < enough:
                assert not self.refused, self.refused
                await asyncio.sleep(0.01)

    async def send_to(self, address: str) -> None:
        """As a proxy does: what comes from now on goes there, and what is under way ends where it began."""
        self.address = address
        await self.some_more()

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self.work(f"client-{number}")) for number in range(CLIENTS)]
        try:
            yield
        finally:
            self._goes_on = False
            await asyncio.gather(*tasks)


async def test_an_upgrade_under_load_refuses_nobody_and_loses_nothing(
    here: Place, serve: Leasehold, behind: TestDatabase, newer: Path
) -> None:
    assert serve.token
    crowd = Crowd(serve.address, serve.token)
    await crowd.ask("/v2/sites", {"slug": "board", "domain": "board.example"})
    for number in range(2 * CLIENTS):
        await crowd.ask(
            "/v2/accounts", {"site": "board", "username": f"u{number}", "secret": {"password": "LHCANARYx"}}
        )
    hold = {"site": "board", "owner": "patient", "ttl_seconds": 600}
    (held,) = (await crowd.ask("/v2/accounts/acquire", hold))["leases"]

    async with crowd.working():
        await crowd.some_more()
        # The newer version migrates; the older one serves on.
        applied = await asyncio.to_thread(migrate, behind.url, files=newer)
        await crowd.some_more()
        # Then it takes over, and the older one ends.
        other = await asyncio.to_thread(here.serve, LEASEHOLD_DATABASE_URL=behind.url, LEASEHOLD_LOG_LEVEL="warning")
        await crowd.send_to(other.address)
        assert serve.ask("GET", "/readyz").status_code == 200
        assert await asyncio.to_thread(serve.end, signal.SIGTERM) == 0
        await crowd.some_more()

    assert applied == list(NEWER)
    assert crowd.refused == []
    renewed = await crowd.ask(f"/v2/leases/{held['id']}/heartbeat", {})
    assert (renewed["id"], renewed["fence"]) == (held["id"], held["fence"])
    assert behind.rows("SELECT count(*) FROM lease") == [(1,)]
    assert behind.rows("SELECT count(*) FROM lease_end WHERE how = 'released'") == [(crowd.pairs,)]
    verified = await asyncio.to_thread(here.run, "verify", LEASEHOLD_DATABASE_URL=behind.url)
    assert verified.code == 0, verified.out + verified.err
    await crowd.close()
