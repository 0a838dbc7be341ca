"""Who gets a socket: whoever has a ticket that was not used, from a page of this server, as long as they may."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from leasehold.live import socket as sockets
from tests.live.conftest import Stage, goodbye, heard
from tests.parts.postgres import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def refused(stage: Stage, message: str | bytes) -> tuple[int, str]:
    async with stage.socket() as socket:
        await socket.send(message)
        return await goodbye(socket)


def hello(ticket: str, **subscribe: Any) -> str:
    return json.dumps({"ticket": ticket, "subscribe": subscribe})


async def test_a_ticket_opens_one_socket(stage: Stage) -> None:
    ticket = await stage.ticket()
    async with stage.socket() as socket:
        await socket.send(hello(ticket, run_id=stage.run))
        await heard(socket, "snapshot")

        code, reason = await refused(stage, hello(ticket, run_id=stage.run))

    assert (code, "ticket" in reason) == (1008, True)
    assert ticket not in reason


async def test_a_ticket_is_good_for_half_a_minute(stage: Stage, behind: TestDatabase) -> None:
    answer = (await stage.client.post("/v2/live/tickets")).json()
    left = max(behind.rows("SELECT extract(epoch FROM ends_at - clock_timestamp())::float FROM live_ticket"))[0]
    behind.run("UPDATE live_ticket SET ends_at = clock_timestamp() - interval '1 millisecond'")

    code, _ = await refused(stage, hello(answer["ticket"]))

    assert answer["expires_in_seconds"] == 30
    assert 25 < left <= 30
    assert code == 1008


async def test_only_the_digest_of_a_ticket_is_kept(stage: Stage, behind: TestDatabase) -> None:
    ticket = await stage.ticket()

    rows = str(behind.rows("SELECT live_ticket::text FROM live_ticket"))

    assert ticket not in rows
    assert ticket.encode().hex() not in rows


async def test_tickets_that_nobody_used_are_swept(stage: Stage, behind: TestDatabase) -> None:
    await stage.ticket()
    behind.run("UPDATE live_ticket SET ends_at = clock_timestamp() - interval '1 millisecond'")
    kept = await stage.ticket()

    await stage.server.app.state.tickets.sweep()

    assert behind.rows("SELECT count(*) FROM live_ticket") == [(1,)]
    async with stage.socket() as socket:
        await socket.send(hello(kept))
        await heard(socket, "snapshot")


async def test_another_organisations_run_is_not_there(stage: Stage) -> None:
    stranger = await stage.server.caller(organisation="strangers")
    nowhere = "run_" + "0" * 31 + "1"

    theirs = await refused(stage, hello(await stage.ticket(stranger), run_id=stage.run))
    nobodys = await refused(stage, hello(await stage.ticket(stranger), run_id=nowhere))

    assert theirs == nobodys == (1008, "No run has this id.")


@pytest.mark.parametrize(
    "message",
    [
        b"{}",
        "",
        "{",
        "[]",
        "{}",
        '{"ticket": "x"}',
        '{"ticket": 7, "subscribe": {}}',
        '{"ticket": "x", "subscribe": {}, "more": 1}',
        '{"ticket": "x", "subscribe": {"run": "x"}}',
        '{"ticket": "x", "subscribe": {"run_id": "run_x"}}',
        '{"ticket": "x", "subscribe": {"run_id": "run_00000000000000000000000000000001", "since": -1}}',
        '{"ticket": "x", "subscribe": {"run_id": "\\u0000"}}',
        '{"ticket": "' + "x" * 1000 + '", "subscribe": {}}',
        '{"ticket": ' + "[" * 5000 + "]" * 5000 + "}",
    ],
)
async def test_a_first_message_that_is_not_as_it_should_be_closes_it(stage: Stage, message: str | bytes) -> None:
    if isinstance(message, str):
        message = message.replace('"x"', json.dumps(await stage.ticket()))

    code, reason = await refused(stage, message)

    assert code == 1008
    assert reason
    assert "This ticket" not in reason, "a good one does not help"


async def test_a_ticket_that_never_was_one_opens_nothing(stage: Stage) -> None:
    code, reason = await refused(stage, hello("ticket_x"))

    assert (code, "This ticket" in reason) == (1008, True)


async def test_a_message_that_is_too_large_closes_it(stage: Stage) -> None:
    code, _ = await refused(stage, json.dumps({"ticket": "x" * 70_000}))

    assert code == 1009


async def test_who_says_nothing_is_hung_up_on(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "FIRST_S", 0.1)

    async with stage.socket() as socket:
        code, _ = await goodbye(socket)

    assert code == 1008


async def test_a_second_message_closes_it(stage: Stage) -> None:
    async with stage.watching() as socket:
        await heard(socket, "snapshot")
        await socket.send("{}")

        assert (await goodbye(socket))[0] == 1008


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "file://127.0.0.1:{port}"])
async def test_a_page_of_another_server_gets_no_socket(stage: Stage, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refusal:
        async with stage.socket(origin=origin.format(port=stage.server.port)):
            pass

    assert refusal.value.response.status_code == 403


async def test_a_page_of_this_server_gets_one(stage: Stage) -> None:
    async with stage.socket(origin=f"http://127.0.0.1:{stage.server.port}") as socket:
        await socket.send(hello(await stage.ticket(), run_id=stage.run))

        assert await heard(socket, "snapshot")


async def test_nothing_is_said_in_the_url(stage: Stage) -> None:
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }

    answer = await stage.client.get("/v2/live?ticket=x", headers=headers)

    assert answer.status_code == 403


async def test_a_token_that_is_revoked_ends_its_sockets(stage: Stage) -> None:
    token = (await stage.client.post("/v2/tokens", json={"name": "x", "role": "viewer"})).json()
    viewer = stage.server.client(token["token"])
    async with stage.socket() as socket, stage.watching() as other:
        await socket.send(hello(await stage.ticket(viewer), run_id=stage.run))
        await heard(socket, "snapshot")
        loop = asyncio.get_running_loop()
        began = loop.time()
        await stage.client.delete(f"/v2/tokens/{token['id']}")

        code, _ = await goodbye(socket)
        took = loop.time() - began

        await stage.tell("items")
        assert await heard(other, "items"), "others go on"
    assert (code, took < 3) == (1008, True)


async def test_a_token_that_ran_out_opens_no_socket_with_its_ticket(stage: Stage, behind: TestDatabase) -> None:
    token = (await stage.client.post("/v2/tokens", json={"name": "x", "role": "viewer"})).json()
    ticket = await stage.ticket(stage.server.client(token["token"]))
    behind.run("UPDATE token SET expires_at = clock_timestamp() - interval '1 second' WHERE name = 'x'")

    code, reason = await refused(stage, hello(ticket))

    assert (code, "This ticket" in reason) == (1008, True)


async def test_a_slow_reader_is_dropped_and_others_are_not(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "SEND_S", 0.3)
    reader, writer = await asyncio.open_connection("127.0.0.1", stage.server.port, limit=1024)
    async with stage.watching() as other:
        await heard(other, "snapshot")
        await raw_hello(reader, writer, hello(await stage.ticket(), run_id=stage.run))
        last = 1
        for _ in range(40):  # more than any buffer between us takes
            await stage.tell(*["items"] * 10, padding="x" * 50_000)
            last += 10
            await heard(other, last)
            if not stage.server.app.state.live.is_watched_by_more_than(1):
                break

        assert not stage.server.app.state.live.is_watched_by_more_than(1)
    writer.close()


async def test_more_sockets_than_a_server_bears_are_sent_away(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leasehold.live.hub.MOST_SOCKETS", 1)
    async with stage.watching() as socket:
        await heard(socket, "snapshot")

        async with stage.socket() as other:
            assert (await goodbye(other))[0] == 1013


async def test_a_plain_request_finds_nothing_there(stage: Stage) -> None:
    answer: httpx.Response = await stage.client.get("/v2/live")

    assert answer.status_code == 404


async def raw_hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
    """Open a socket by hand, say hello, and never read again."""
    writer.transport.set_write_buffer_limits(high=0)
    writer.write(
        b"GET /v2/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    await reader.readuntil(b"\r\n\r\n")
    message = text.encode()
    writer.write(bytes([0x81, 0xFE, *len(message).to_bytes(2, "big"), 0, 0, 0, 0]) + message)
    await writer.drain()
    reader._transport.pause_reading()  # type: ignore[attr-defined]
