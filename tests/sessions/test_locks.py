"""An upload that waits while its lease ends: what it was read under is gone by the time it is its turn."""

import asyncio

from tests.parts.house import house
from tests.parts.postgres import TestDatabase

WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
SID = {"name": "sid", "domain": "a.example", "path": "/", "expires": -1, "httpOnly": False, "secure": True}


def state(value: str) -> dict[str, object]:
    return {"cookies": [{**SID, "value": value, "sameSite": "Lax"}], "origins": []}


async def test_a_lease_that_ends_while_an_upload_waits_keeps_it_out(database: TestDatabase) -> None:
    async with house(database, duties=()) as home:
        client = await home.caller()
        await client.post("/v2/sites", json={"slug": "board", "domain": "a.example"})
        await client.post("/v2/accounts", json={"site": "board", "username": "one", "secret": {}})
        asked = await client.post("/v2/accounts/acquire", json={"site": "board", "owner": "ann"})
        (lease,) = asked.json()["leases"]
        path, headers = f"/v2/sessions/{lease['resource_id']}", {"Leasehold-Lease": lease["id"]}
        first = await client.put(f"{path}?base=fresh", json=state("first"), headers=headers)
        with database.connect() as other:
            # As a release does it, and has not committed yet.
            other.execute("BEGIN")
            other.execute("UPDATE account SET lease = NULL, back_at = NULL")
            other.execute("DELETE FROM lease")
            late = asyncio.create_task(client.put(path, json=state("late"), headers=headers, timeout=60))
            async with asyncio.timeout(60):
                while not database.rows(WAITING):
                    await asyncio.sleep(0.01)
            other.execute("COMMIT")
            refused = await late
        kept = (await client.get(path)).json()

    assert first.status_code == 200
    assert refused.status_code in {404, 410}
    assert [cookie["value"] for cookie in kept["cookies"]] == ["first"]
