"""The server over raw sockets: slow, broken and lying clients, each beside a good one."""

import json
import resource
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

import pytest

from leasehold.server import bear_many
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import PATIENCE_S, Leasehold, place, until

TOKEN = "lh_" + "Bootstrap0" * 3
BODY_LIMIT = 512 * 1024
# What a client may take; the server looks once a second. A busy machine keeps those who mean well waiting, too: they
# have more time than those who are to be hung up on.
RECEIVE_TIMEOUT_S, HURRIED_S = 10.0, 2.0
WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture(scope="module")
def behind(postgres: Postgres, worker_id: str) -> TestDatabase:
    """The server's database."""
    return postgres.create(f"lh_server_{worker_id}")


@contextmanager
def serving(behind: TestDatabase, receive_timeout_s: float) -> Iterator[Leasehold]:
    with place() as here:
        yield here.serve(
            LEASEHOLD_DATABASE_URL=behind.url,
            LEASEHOLD_BOOTSTRAP_TOKEN=TOKEN,
            LEASEHOLD_RECEIVE_TIMEOUT_SECONDS=str(receive_timeout_s),
            LEASEHOLD_BODY_LIMIT_BYTES=str(BODY_LIMIT),
        )


@pytest.fixture(scope="module")
def serve(behind: TestDatabase) -> Iterator[Leasehold]:
    """One server for all of these: no client may harm another."""
    with serving(behind, RECEIVE_TIMEOUT_S) as made:
        yield made


@pytest.fixture(scope="module")
def hurried(behind: TestDatabase) -> Iterator[Leasehold]:
    """One that hangs up sooner, for those who are to see it."""
    with serving(behind, HURRIED_S) as made:
        yield made


@pytest.fixture
def client(serve: Leasehold) -> Iterator[socket.socket]:
    with connect(serve) as made:
        yield made


@pytest.fixture
def dawdler(hurried: Leasehold) -> Iterator[socket.socket]:
    with connect(hurried) as made:
        yield made


def connect(serve: Leasehold) -> socket.socket:
    return socket.create_connection(("127.0.0.1", serve.port), timeout=PATIENCE_S)


def post(*headers: str) -> bytes:
    """The head of a request that takes a body."""
    lines = ["POST /v2/sites/rewrite HTTP/1.1", "Host: x", f"Authorization: Bearer {TOKEN}"]
    return "\r\n".join([*lines, "Content-Type: application/json", *headers, "", ""]).encode()


def rest(client: socket.socket) -> bytes:
    """What still comes until the server hangs up."""
    got = bytearray()
    try:
        while more := client.recv(65536):
            got += more
    except ConnectionResetError:
        pass  # it hung up on what we were still sending
    return bytes(got)


def trickle(client: socket.socket) -> bytes:
    """Send a byte now and then until the server answers or hangs up; returns what it said."""
    deadline = time.monotonic() + PATIENCE_S
    while not select.select([client], [], [], 0.1)[0]:
        assert time.monotonic() < deadline, "the server waits for ever"
        client.sendall(b"x")
    return rest(client)


def problem(answer: bytes) -> tuple[int, str]:
    """Status and type of an answer that is one problem and nothing else."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.splitlines(), answer
    assert b"connection: close" in head.splitlines(), answer
    assert f"content-length: {len(body)}".encode() in head.splitlines(), answer
    document: dict[str, Any] = json.loads(body)
    assert head.startswith(f"HTTP/1.1 {document['status']} ".encode())
    return document["status"], document["type"]


def test_a_client_that_says_nothing_is_hung_up_on(dawdler: socket.socket) -> None:
    assert rest(dawdler) == b""


def test_a_client_that_trickles_its_headers_is_hung_up_on(dawdler: socket.socket) -> None:
    dawdler.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")

    answer = trickle(dawdler)

    assert problem(answer) == (408, "/problems/request-timeout")


def test_a_client_that_trickles_its_body_is_hung_up_on(dawdler: socket.socket) -> None:
    dawdler.sendall(post("Content-Length: 100000") + b'{"urls": ["')

    answer = trickle(dawdler)

    assert problem(answer) == (408, "/problems/request-timeout")


def test_a_client_that_promises_more_than_it_sends_is_hung_up_on(dawdler: socket.socket) -> None:
    dawdler.sendall(post("Content-Length: 100") + b'{"urls": []}')

    assert problem(rest(dawdler)) == (408, "/problems/request-timeout")


def test_many_slow_clients_do_not_keep_a_good_one_waiting(hurried: Leasehold) -> None:
    """They say nothing, trickle their headers, or trickle their bodies; each is hung up on."""
    beginnings = (
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        post("Content-Length: 100000") + b'{"urls": ["',
    )
    told = 0
    with ExitStack() as held:
        slow: dict[socket.socket, int] = {}
        for number in range(500):
            client = held.enter_context(closing(connect(hurried)))
            slow[client] = number % 3
            send_what_it_takes(client, beginnings[number % 3])

        while slow:
            assert hurried.ask("GET", "/v2/sites", TOKEN).status_code == 200
            answered, ready, _ = select.select(list(slow), list(slow), [], PATIENCE_S)
            for client in answered:
                # What was said is lost on who was still sending when the server hung up.
                if said := rest(client):
                    assert (slow[client] > 0, problem(said)) == (True, (408, "/problems/request-timeout"))
                    told += 1
                del slow[client]
            for client in set(ready) & set(slow):
                if slow[client]:
                    send_what_it_takes(client, b"x")
    assert told > 0


def test_a_server_may_open_as_many_files_as_it_bears_sockets() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, hard), hard))
    try:
        bear_many()

        raised = resource.getrlimit(resource.RLIMIT_NOFILE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert raised == (min(16_384, hard), hard)


def test_a_slow_upload_that_makes_progress_is_not_cut(client: socket.socket) -> None:
    body = b'{"urls": ["https://board.example/"]}'.rjust(BODY_LIMIT)
    client.sendall(post(f"Content-Length: {len(body)}", "Connection: close"))

    for start in range(0, len(body), BODY_LIMIT // 24):
        client.sendall(body[start : start + BODY_LIMIT // 24])
        time.sleep(0.5)  # twelve seconds in all: more than it may take without progress

    assert rest(client).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_connection_may_rest_between_requests(dawdler: socket.socket) -> None:
    with dawdler.makefile("rb") as answers:
        dawdler.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b'{"status":"ok"}' in read_one(answers)
        time.sleep(HURRIED_S + 2.1)  # it has looked twice since

        dawdler.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")

        assert b'{"status":"ok"}' in read_one(answers)


def read_one(answers: Any) -> bytes:
    """One answer of a connection that goes on."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = answers.readline()
        assert line, f"it hung up after {head!r}"
        head += line
    length = next(int(line.split(b":")[1]) for line in head.splitlines() if line.startswith(b"content-length:"))
    return head + bytes(answers.read(length))


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS\r\n\r\n",
        b"hello\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT board.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 6\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n",
    ],
)
def test_garbage_is_a_problem(client: socket.socket, garbage: bytes) -> None:
    client.sendall(garbage)

    assert problem(rest(client)) == (400, "/problems/malformed-request")


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: " + b"x" * 65536 + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-Many: x\r\n" * 7000 + b"\r\n",
        b"GET /healthz?" + b"x" * 65536 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Endless: " + b"x" * 10_000_000,
        b"POST /v2/sites HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nX-Big: " + b"x" * 65536 + b"\r\n\r\n{",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nX-Big: " + b"x" * 65536 + b"\r\n\r\n",
    ],
    ids=["one", "many", "path", "endless", "with a body", "pipelined"],
)
def test_headers_that_are_too_large_are_a_problem(client: socket.socket, head: bytes) -> None:
    send_what_it_takes(client, head)

    answer = rest(client)

    assert problem(answer[answer.rindex(b"HTTP/1.1 ") :]) == (431, "/problems/headers-too-large")


def send_what_it_takes(client: socket.socket, data: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # it hangs up half-way, as it should
        client.sendall(data)


def test_headers_just_below_the_limit_are_fine(client: socket.socket) -> None:
    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Big: " + b"x" * 65000 + b"\r\n\r\n")

    assert rest(client).startswith(b"HTTP/1.1 200 OK\r\n")


def test_what_follows_a_body_shorter_than_it_is_taken_for_the_next_request(client: socket.socket) -> None:
    client.sendall(post("Content-Length: 36") + b'{"urls": ["https://board.example/"]} and more\r\n\r\n')

    first, _, second = rest(client).partition(b"HTTP/1.1 400")

    assert first.startswith(b"HTTP/1.1 200 OK\r\n")
    assert problem(b"HTTP/1.1 400" + second) == (400, "/problems/malformed-request")


def test_a_broken_request_is_answered_after_the_one_before_it(client: socket.socket, behind: TestDatabase) -> None:
    body = b'{"slug": "board", "domain": "board1.example"}'
    good = post(f"Content-Length: {len(body)}").replace(b"/v2/sites/rewrite", b"/v2/sites") + body
    with behind.connect() as conn, conn.transaction():
        conn.execute("LOCK TABLE site")
        client.sendall(good + post("Transfer-Encoding: chunked") + b"no number\r\n")
        until(lambda: behind.rows(WAITING))
        assert not select.select([client], [], [], 0)[0]

    first, _, second = rest(client).partition(b"HTTP/1.1 400")

    assert first.startswith(b"HTTP/1.1 201 Created\r\n")
    assert problem(b"HTTP/1.1 400" + second) == (400, "/problems/malformed-request")


def test_a_request_that_has_its_answer_gets_no_second_one(client: socket.socket) -> None:
    client.sendall(b"POST /v2/sites HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    with client.makefile("rb") as answers:
        assert read_one(answers).startswith(b"HTTP/1.1 401 Unauthorized\r\n")

        client.sendall(b"no number\r\n")

        assert answers.read() == b""


def test_an_endless_body_gets_its_answer_as_soon_as_it_is_too_large(client: socket.socket) -> None:
    client.sendall(post("Transfer-Encoding: chunked"))

    sent = send_chunks(client)

    assert sent < 100 * BODY_LIMIT  # what the kernel takes before it hears that nobody listens
    assert problem(rest(client)) == (413, "/problems/body-too-large")


def test_an_endless_body_is_not_read_when_the_answer_needed_none_of_it(client: socket.socket) -> None:
    client.sendall(b"POST /v2/sites HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")

    sent = send_chunks(client)

    assert sent < 100 * BODY_LIMIT
    assert rest(client).startswith(b"HTTP/1.1 401 Unauthorized\r\n")


def send_chunks(client: socket.socket) -> int:
    """Send chunks until the server hangs up; returns how many bytes that took."""
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    for number in range(1600):
        try:
            client.sendall(chunk)
        except (BrokenPipeError, ConnectionResetError):
            return number * len(chunk)
    return 1600 * len(chunk)


def test_pipelined_requests_are_answered_in_order(client: socket.socket) -> None:
    body = b'{"urls": ["https://board.example/"]}'
    client.sendall(
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        + post(f"Content-Length: {len(body)}") + body
        + b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )  # fmt: skip

    answers = rest(client).split(b"HTTP/1.1 ")[1:]

    assert [answer[:3] for answer in answers] == [b"200", b"200", b"404"]
    assert b'{"status":"ok"}' in answers[0]
    assert b"https://board.example/" in answers[1]


def test_http_1_0_is_served(client: socket.socket) -> None:
    client.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")

    answer = rest(client)

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b'\r\n\r\n{"status":"ok"}')


@pytest.mark.parametrize("request_", [b"GET /healthz HTTP/1.0\r\n\r\n", b"garbage\r\n\r\n"])
def test_no_answer_says_what_the_server_is_made_of(client: socket.socket, request_: bytes) -> None:
    client.sendall(request_)

    answer = rest(client).lower()

    assert answer.startswith(b"http/1.1 ")
    assert b"\r\nserver:" not in answer
    assert b"uvicorn" not in answer
