"""A server that stops sends those home who wait, whatever they wait for."""

import asyncio
from typing import Any

import pytest

from tests.parts.house import house
from tests.parts.postgres import TestDatabase


@pytest.mark.parametrize(
    ("path", "wish"),
    [
        ("/v2/accounts/acquire", {"site": "board"}),
        ("/v2/seeds/acquire", {"site": "board"}),
        ("/v2/captures/acquire", {}),
        ("/v2/tasks/acquire", {"platforms": ["youtube"]}),
    ],
)
async def test_who_waits_is_answered(database: TestDatabase, path: str, wish: dict[str, Any]) -> None:
    async with house(database, duties=()) as home:
        client = await home.caller()
        await client.post("/v2/sites", json={"slug": "board", "domain": "a.example"})
        ask = {"owner": "ann", "wait_seconds": 30, **wish}
        waiting = asyncio.create_task(client.post(path, json=ask, timeout=60))
        async with asyncio.timeout(20):  # sooner than it would be sent away for having waited long enough
            while not database.rows("SELECT FROM waiter"):
                await asyncio.sleep(0.01)

            for room in home.app.state.rooms:
                room.close()
            answer = await waiting

    assert answer.status_code == 200
    assert answer.json()["leases"] == []
