"""What the clocks of servers and collectors show does not matter: leases run by the clock of their store alone."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest

from leasehold.auth import Role
from tests.parts.faketime import WallClock, wall_clock
from tests.parts.house import house
from tests.parts.postgres import TestDatabase
from tests.parts.process import PATIENCE_S, Place

COLLECTOR = """
import sys, threading, time
from leasehold.client import Leasehold
with Leasehold(sys.argv[1], sys.argv[2]) as lh, lh.account("board", ttl=5) as lease:
    print(lease.id, time.time(), flush=True)
    sys.stdin.readline()
    threading.Event().wait(6)  # longer than it lives without renewals; libfaketime breaks time.sleep
    lease.check()
    lease.ok()
    print(lease.id, time.time(), flush=True)
"""


@pytest.fixture
def wall() -> Iterator[WallClock]:
    with wall_clock() as clock:
        yield clock


async def stocked(database: TestDatabase) -> str:
    """A site with one account; returns a token."""
    async with house(database) as home:
        token = await home.token(Role.ADMIN)
        client = home.client(token)
        await client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
        await client.post("/v2/accounts", json={"site": "board", "username": "ann", "secret": {"password": "p"}})
    return token


@pytest.mark.parametrize("jumped_s", [3600, -3600])
async def test_a_servers_own_clock_ends_no_lease_and_keeps_none(
    jumped_s: float, here: Place, database: TestDatabase, wall: WallClock
) -> None:
    token = await stocked(database)
    server = here.serve(LEASEHOLD_DATABASE_URL=database.url, **wall.environment)
    want = {"site": "board", "owner": "ann", "ttl_seconds": 60}
    lease = server.ask("POST", "/v2/accounts/acquire", token, want).json()["leases"][0]

    wall.jump(jumped_s)

    assert server.ask("POST", f"/v2/leases/{lease['id']}/heartbeat", token).status_code == 200
    assert server.ask("POST", "/v2/accounts/acquire", token, want).json()["leases"] == []
    database.run("UPDATE lease SET expires_at = expires_at - interval '61 seconds'")
    assert server.ask("POST", f"/v2/leases/{lease['id']}/heartbeat", token).status_code == 410
    assert database.rows("SELECT FROM clock_jump") == []


@pytest.mark.parametrize("jumped_s", [3600, -3600])
def test_a_collectors_own_clock_costs_it_nothing(
    jumped_s: float, here: Place, database: TestDatabase, wall: WallClock
) -> None:
    token = asyncio.run(stocked(database))
    server = here.serve(LEASEHOLD_DATABASE_URL=database.url)
    command = [sys.executable, "-c", COLLECTOR, server.address, token]

    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(wall.environment), text=True
    ) as collector:
        assert collector.stdin
        assert collector.stdout
        lease, began = collector.stdout.readline().split()
        wall.jump(jumped_s)
        told, _ = collector.communicate("go\n", timeout=PATIENCE_S)

    assert collector.returncode == 0
    assert told.split()[0] == lease
    assert float(told.split()[1]) - float(began) == pytest.approx(jumped_s, abs=60)  # its clock did jump
    assert database.rows("SELECT how FROM lease_end") == [("released",)]
