"""A server that stops sends those home who wait, whatever they wait for."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from leasehold import server
from leasehold.settings import Settings
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


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that only begins and ends."""
    while scope["type"] == "lifespan":
        said = (await receive())["type"]
        await send({"type": f"{said}.complete"})
        if said == "lifespan.shutdown":
            return


def test_a_server_that_another_thread_stops_says_so_in_its_own_loop() -> None:
    """Who waits is sent home by tasks, and there are none outside of a loop."""
    loops: list[asyncio.AbstractEventLoop] = []
    ready = threading.Event()
    made = server.make(nothing, Settings(), ready.set, lambda: loops.append(asyncio.get_running_loop()))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=made.run, kwargs={"sockets": [listener]})
        thread.start()
        assert ready.wait(60)

        made.stop()
        thread.join(60)

    assert not thread.is_alive()
    assert len(loops) == 1
