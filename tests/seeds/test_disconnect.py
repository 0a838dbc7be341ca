"""Clients that hang up on a real server while they ask for seeds: nobody learned of the lease, so nothing is held."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import PATIENCE_S, Leasehold, place, until

SEEDS = 3
LOCKED = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture(scope="module")
def behind(postgres: Postgres, worker_id: str) -> TestDatabase:
    return postgres.create(f"lh_hang_up_{worker_id}")


@pytest.fixture(scope="module")
def serve(behind: TestDatabase) -> Iterator[Leasehold]:
    with place() as here:
        serving = here.serve(LEASEHOLD_DATABASE_URL=behind.url)
        ask(serving, "POST", "/v2/sites", {"slug": "board", "domain": "board.example"})
        items = [{"site": "board", "url": f"https://board.example/{n}"} for n in range(SEEDS)]
        ask(serving, "POST", "/v2/seeds", {"items": items})
        yield serving


def ask(serve: Leasehold, method: str, path: str, body: Any = None) -> Any:
    answer = serve.ask(method, path, serve.token, body)
    assert answer.is_success, answer.text
    return answer.json()


def send(serve: Leasehold, **wanted: Any) -> socket.socket:
    """A client that has asked for seeds and not heard anything yet."""
    body = json.dumps({"owner": "gone", "ttl_seconds": 3600, **wanted}).encode()
    lines = [
        "POST /v2/seeds/acquire HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {serve.token}",
        "Content-Type: application/json",
        "Connection: close",
        f"Content-Length: {len(body)}",
    ]
    client = socket.create_connection(("127.0.0.1", serve.port), timeout=PATIENCE_S)
    client.sendall("\r\n".join([*lines, "", ""]).encode() + body)
    return client


def check_all_due(serve: Leasehold, behind: TestDatabase) -> None:
    """Nothing is held, nobody waits, and every seed can be had at once, with its schedule as it was."""
    until(lambda: not behind.rows("SELECT FROM lease") and not behind.rows("SELECT FROM waiter"))
    leases = ask(serve, "POST", "/v2/seeds/acquire", {"owner": "here", "limit": SEEDS})["leases"]
    assert len(leases) == SEEDS
    assert {lease["seed"]["last_outcome"] for lease in leases} == {None}
    for lease in leases:
        assert ask(serve, "DELETE", f"/v2/leases/{lease['id']}") == {"revoked": 1}


@pytest.mark.parametrize("wait_seconds", [0, 20])
def test_what_was_granted_to_somebody_who_is_gone_is_given_back(
    serve: Leasehold, behind: TestDatabase, wait_seconds: int
) -> None:
    before = behind.rows("SELECT count(*) FROM lease_end")[0][0]
    with behind.connect() as conn, conn.transaction():
        conn.execute("LOCK TABLE seed")
        with closing(send(serve, limit=SEEDS, wait_seconds=wait_seconds)):
            until(lambda: behind.rows(LOCKED))

    until(lambda: wait_seconds or behind.rows("SELECT count(*) FROM lease_end")[0][0] == before + SEEDS)
    check_all_due(serve, behind)


def test_who_hangs_up_while_it_waits_consumes_nothing(serve: Leasehold, behind: TestDatabase) -> None:
    held = ask(serve, "POST", "/v2/seeds/acquire", {"owner": "here", "limit": SEEDS})["leases"]
    with closing(send(serve, wait_seconds=30)):
        until(lambda: behind.rows("SELECT FROM waiter WHERE kind = 'seed'"))

    until(lambda: not behind.rows("SELECT FROM waiter"))
    for lease in held:
        ask(serve, "DELETE", f"/v2/leases/{lease['id']}")

    check_all_due(serve, behind)
