"""Uploads that are not as they should be: each is refused with a clear word, leaves nothing, and harms nobody."""

import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from leasehold.problems import MEDIA_TYPE
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.process import Place, until
from tests.parts.uploads import BOUNDARY, END, drafts, file_part, meta_part, part, send, stored, upload

GOOD = meta_part() + file_part()
DASHES = f"--{BOUNDARY}\r\n".encode()


def _deep(levels: int) -> bytes:
    return part('name="meta"', b'{"labels":' * levels + b"1" + b"}" * levels)


BODIES = {
    "no meta": (file_part() + END, 422),
    "two metas": (meta_part() + GOOD + END, 422),
    "a second meta after the file": (GOOD + meta_part() + END, 422),
    "meta is no JSON": (part('name="meta"', b"{site: board}") + file_part() + END, 422),
    "meta is no object": (part('name="meta"', b"[]") + file_part() + END, 422),
    "meta is not UTF-8": (part('name="meta"', b'{"site":"\xff"}') + file_part() + END, 422),
    "meta with NUL": (meta_part(url="https://board.example/\x00") + file_part() + END, 422),
    "meta nested too deep": (_deep(1000) + file_part() + END, 422),
    "meta with a field nobody knows": (meta_part(colour="red") + file_part() + END, 422),
    "meta without a site": (part('name="meta"', json.dumps({"url": "x"}).encode()) + file_part() + END, 422),
    "meta with a site that can be none": (meta_part(site="../etc") + file_part() + END, 422),
    "meta with another kind of id": (meta_part(seed_id="acct_" + "1" * 32) + file_part() + END, 422),
    "meta with a time that is none": (meta_part(captured_at=5) + file_part() + END, 422),
    "meta larger than it may be": (part('name="meta"', b" " * 70_000) + file_part() + END, 413),
    "no file": (meta_part() + END, 422),
    "no part at all": (END, 422),
    "too many files": (meta_part() + b"".join(file_part(f"f{n}") for n in range(21)) + END, 422),
    "ten thousand parts": (meta_part() + b"".join(file_part(f"f{n}", b"") for n in range(10_000)) + END, 422),
    "the same name twice": (GOOD + file_part() + END, 422),
    "a name that climbs": (meta_part() + file_part("../../etc/passwd") + END, 422),
    "a name that climbs the other way": (meta_part() + file_part("..\\\\x") + END, 422),
    "a name that climbs in code": (meta_part() + file_part("%2e%2e%2fx") + END, 422),
    "a name that is hidden": (meta_part() + file_part(".htaccess") + END, 422),
    "a name that is nothing": (meta_part() + file_part("") + END, 422),
    "a name that is too long": (meta_part() + file_part("a" * 201) + END, 422),
    "a name in another script": (meta_part() + file_part("página") + END, 422),
    "a name with a line in it": (meta_part() + part('name="f"; filename="a\nb"', b"") + END, 422),
    "a part without a name": (meta_part() + part('name="file"', b"1") + END, 422),
    "a part without a disposition": (GOOD + DASHES + b"X: y\r\n\r\n1\r\n" + END, 422),
    "a part that is encoded": (meta_part() + file_part("a", b"1", "Content-Transfer-Encoding: base64") + END, 422),
    "a part that lies about its length": (meta_part() + file_part("a", b"123", "Content-Length: 7") + END, 422),
    "a part with a type that is none": (meta_part() + file_part("a", b"1", "Content-Type: text") + END, 422),
    "a part that says a thing twice": (meta_part() + file_part("a", b"1", "X: 1", "X: 2") + END, 422),
    "a header without end": (meta_part() + file_part("a", b"1", "X: " + "y" * 100_000) + END, 422),
    "headers without end": (meta_part() + file_part("a", b"1", *(f"X{n}: y" for n in range(100))) + END, 422),
    "a body that stops in a file": (GOOD[:-6], 422),
    "a body that stops before its end": (GOOD, 422),
    "a body that stops in its second file": (GOOD + file_part("b")[:-6], 422),
    "a body that stops after its first file": (GOOD + file_part("b") + END[:-6], 422),
    "a body that stops in a header": (meta_part() + DASHES + b"Content-Dispo", 422),
    "a body that is something else": (b'{"site": "board"}', 422),
    "a body that is nothing": (b"", 422),
}


@pytest.mark.parametrize("name", BODIES)
async def test_a_bad_body_is_refused_and_leaves_nothing(
    admin: httpx.AsyncClient, home: House, blobs: Path, name: str
) -> None:
    body, status = BODIES[name]

    answer = await send(admin, body)

    assert (answer.status_code, answer.headers["content-type"]) == (status, MEDIA_TYPE), answer.text
    assert answer.json()["detail"]
    assert stored(blobs) == set()
    assert drafts(blobs) == []
    assert home.database.rows("SELECT 1 FROM capture UNION ALL SELECT 1 FROM blob") == []
    assert (await upload(admin)).status_code == 201


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 415),
        ("text/plain", 415),
        ("multipart/mixed; boundary=x", 415),
        ("multipart/form-data", 422),
        ("multipart/form-data; boundary=", 422),
        ("multipart/form-data; boundary=" + "x" * 71, 422),
        ('multipart/form-data; boundary="a\tb"', 422),
    ],
)
async def test_another_content_type_is_refused(admin: httpx.AsyncClient, content_type: str, status: int) -> None:
    answer = await admin.post("/v2/captures", content=GOOD + END, headers={"Content-Type": content_type})

    assert (answer.status_code, answer.headers["content-type"]) == (status, MEDIA_TYPE)


async def test_refusals_point_to_what_is_wrong_and_repeat_nothing(admin: httpx.AsyncClient) -> None:
    answer = await send(admin, meta_part(captured_at="LHCANARY", colour="LHCANARY") + file_part() + END)

    assert {fault["pointer"] for fault in answer.json()["errors"]} == {"/meta/captured_at", "/meta/colour"}
    assert "LHCANARY" not in answer.text


async def test_a_file_over_the_limit_is_refused(database: TestDatabase, tmp_path: Path) -> None:
    async with house(database, data_dir=tmp_path, capture_file_limit_bytes=1024) as small:
        client = await small.caller()
        await client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})

        exact = await upload(client, {"a": b"x" * 1024})
        over = await upload(client, {"a": b"x" * 1025})

    assert exact.status_code == 201
    assert (over.status_code, over.json()["limit_bytes"]) == (413, 1024)
    assert len(stored(tmp_path / "blobs")) == 1


@pytest.mark.parametrize("says_its_length", [True, False])
async def test_a_body_over_the_limit_is_refused_without_reading_it_all(
    database: TestDatabase, tmp_path: Path, says_its_length: bool
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield meta_part() + file_part("a", b"")[:-2]
        while sent < 50_000_000:
            sent += 100_000
            yield b"x" * 100_000

    async with house(database, data_dir=tmp_path, capture_limit_bytes=1_000_000) as small:
        client = await small.caller()
        await client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
        headers = {"Content-Length": "50000000"} if says_its_length else {}

        answer = await send(client, endless(), **headers)

    assert (answer.status_code, answer.json()["limit_bytes"]) == (413, 1_000_000)
    assert sent <= (0 if says_its_length else 1_300_000)
    assert stored(tmp_path / "blobs") == set()
    assert drafts(tmp_path / "blobs") == []


async def test_other_calls_keep_their_own_limit(database: TestDatabase, tmp_path: Path) -> None:
    async with house(database, data_dir=tmp_path, body_limit_bytes=10_000) as small:
        client = await small.caller()
        await client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})

        capture = await upload(client, {"a": b"x" * 50_000})
        site = await client.post("/v2/sites", json={"slug": "s", "name": "x" * 50_000, "domain": "s.example"})

    assert (capture.status_code, site.status_code) == (201, 413)


async def test_what_is_about_nothing_is_refused_before_the_rest_arrives(admin: httpx.AsyncClient) -> None:
    sent = 0

    async def long() -> AsyncIterator[bytes]:
        nonlocal sent
        yield meta_part(site="nowhere") + file_part("a", b"")[:-2]
        while sent < 200_000_000:
            sent += 1_000_000
            yield b"x" * 1_000_000
        yield b"\r\n" + END

    answer = await send(admin, long())

    assert answer.status_code == 404
    assert sent < 50_000_000


async def test_nobody_else_waits_for_a_long_upload(admin: httpx.AsyncClient, home: House) -> None:
    other = await home.caller()
    seen = []

    async def long() -> AsyncIterator[bytes]:
        yield meta_part() + file_part("a", b"")[:-2]
        for _ in range(20):
            seen.append((await other.get("/v2/sites/board")).status_code)
            yield b"x" * 500_000
        yield b"\r\n" + END

    answer = await send(admin, long())

    assert answer.status_code == 201
    assert seen == [200] * 20


def _request(token: str, length: int) -> bytes:
    lines = [
        "POST /v2/captures HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {token}",
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}",
        f"Content-Length: {length}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _answer(port: int, words: bytes) -> bytes:
    """What a server says to these bytes, until it hangs up or has said a whole answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as wire:
        wire.sendall(words)
        said = b""
        while piece := wire.recv(65536):
            said += piece
            if b"\r\n\r\n" in said and b'"request_id":' in said:
                break
        return said


def test_a_length_that_lies_is_refused_and_the_server_is_unharmed(here: Place) -> None:
    server = here.up(LEASEHOLD_RECEIVE_TIMEOUT_SECONDS="1")
    token = server.token or ""
    server.ask("POST", "/v2/sites", token, {"slug": "board", "domain": "board.example"})
    whole = meta_part() + file_part("a", b"x" * 1000) + END

    too_short = _answer(server.port, _request(token, len(whole) - 500) + whole[:-500])
    too_long = _answer(server.port, _request(token, len(whole) + 500) + whole)

    assert b" 422 " in too_short[:20]
    assert b" 408 " in too_long[:20]
    assert b"application/problem+json" in too_short
    assert server.ask("GET", "/v2/captures", token).json()["items"] == []
    assert _files(here) == []
    assert b" 201 " in _answer_to_good(server.port, token)


def test_a_client_that_goes_away_in_the_middle_leaves_nothing(here: Place) -> None:
    server = here.up()
    token = server.token or ""
    server.ask("POST", "/v2/sites", token, {"slug": "board", "domain": "board.example"})

    for sent in (0, 10, 400, 3_000_000):
        with socket.create_connection(("127.0.0.1", server.port)) as wire:
            body = meta_part() + file_part("a", b"x" * 5_000_000) + END
            wire.sendall(_request(token, len(body)) + body[:sent])

    assert b" 201 " in _answer_to_good(server.port, token)
    until(lambda: len(_files(here)) == 1)
    assert len(server.ask("GET", "/v2/captures", token).json()["items"]) == 1


def _answer_to_good(port: int, token: str) -> bytes:
    body = meta_part() + file_part("good") + END
    with socket.create_connection(("127.0.0.1", port), timeout=30) as wire:
        wire.sendall(_request(token, len(body)) + body)
        return wire.recv(65536)


def _files(here: Place) -> list[Path]:
    return [path for path in (here.data / "blobs").rglob("*") if path.is_file()]
