"""Clients that hang up on a real server: nobody ever learned of the lease, so nothing is held for them."""

import json
import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest

from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import PATIENCE_S, Leasehold, place, until

ACCOUNTS = 5
LOCKED = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture(scope="module")
def behind(postgres: Postgres, worker_id: str) -> TestDatabase:
    return postgres.create(f"lh_disconnect_{worker_id}")


@pytest.fixture(scope="module")
def serve(behind: TestDatabase) -> Iterator[Leasehold]:
    with place() as here:
        yield here.serve(LEASEHOLD_DATABASE_URL=behind.url)


class Desk:
    """The server as its operator sees it, and clients that do not stay."""

    def __init__(self, serve: Leasehold, database: TestDatabase, site: str) -> None:
        self.site = site
        self.database = database
        self._serve = serve

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._serve.ask(method, path, self._serve.token, body)
        assert answer.is_success, answer.text
        return answer.json()

    def acquire(self, **more: Any) -> list[Any]:
        leases: list[Any] = self.ask("POST", "/v2/accounts/acquire", self._body(more))["leases"]
        return leases

    def release(self, lease: Any) -> None:
        self.ask("POST", f"/v2/leases/{lease['id']}/release", {"outcome": "ok"})

    def held(self) -> list[Any]:
        items: list[Any] = self.ask("GET", f"/v2/leases?site={self.site}&limit=500")["items"]
        return items

    def queue(self) -> list[Any]:
        return self.database.rows("SELECT FROM waiter WHERE site = %s", self.site)

    def send(self, key: str | None = None, **more: Any) -> socket.socket:
        """A client that has asked for an account and not heard anything yet."""
        body = json.dumps(self._body(more)).encode()
        lines = [
            "POST /v2/accounts/acquire HTTP/1.1",
            "Host: x",
            f"Authorization: Bearer {self._serve.token}",
            "Content-Type: application/json",
            "Connection: close",
            f"Content-Length: {len(body)}",
            *([f"Idempotency-Key: {key}"] if key else []),
        ]
        client = socket.create_connection(("127.0.0.1", self._serve.port), timeout=PATIENCE_S)
        client.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        return client

    def noticed(self) -> None:
        """The server has seen to everything that reached it before this, as far as it can."""
        for _ in range(3):
            self.ask("GET", "/v2/sites?limit=1")

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """As long as this lasts, no grant is made."""
        with self.database.connect() as conn, conn.transaction():
            conn.execute("LOCK TABLE account")
            yield

    def _body(self, more: dict[str, Any]) -> dict[str, Any]:
        return {"site": self.site, "owner": "gone", "ttl_seconds": 3600, **more}


@pytest.fixture
def desk(serve: Leasehold, behind: TestDatabase, request: pytest.FixtureRequest) -> Desk:
    """A site of the test's own with a few accounts, all free."""
    made = Desk(serve, behind, f"s{random.getrandbits(40):x}")
    made.ask("POST", "/v2/sites", {"slug": made.site, "domain": f"{made.site}.example"})
    items = [{"site": made.site, "username": f"a{n}", "secret": {}} for n in range(ACCOUNTS)]
    made.ask("POST", "/v2/accounts/import", {"items": items})
    return made


def answered(client: socket.socket) -> tuple[int, Any]:
    """Status and body of the answer to a client that stayed."""
    got = bytearray()
    while more := client.recv(65536):
        got += more
    head, _, body = bytes(got).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def check_all_free(desk: Desk) -> None:
    """Nothing is held, nobody waits, and every account can be had at once, unharmed by what was."""
    until(lambda: not desk.held())
    until(lambda: not desk.queue())
    leases = desk.acquire(count=ACCOUNTS)
    assert len(leases) == ACCOUNTS
    assert {lease["account"]["unclean_ends"] for lease in leases} == {0}


def test_who_hangs_up_while_it_waits_consumes_nothing(desk: Desk) -> None:
    held = desk.acquire(count=ACCOUNTS)
    with closing(desk.send(wait_seconds=30)):
        until(desk.queue)

    left_s = time.monotonic()
    until(lambda: not desk.queue())
    assert time.monotonic() - left_s < 20, "it was waited for to the end"
    for lease in held:
        desk.release(lease)

    assert len(desk.acquire(count=ACCOUNTS)) == ACCOUNTS


def test_who_hangs_up_is_stepped_over_by_who_stays(desk: Desk) -> None:
    held = desk.acquire(count=ACCOUNTS)
    gone = desk.send(wait_seconds=30)
    until(desk.queue)
    with closing(desk.send(wait_seconds=30, owner="stays")) as stays:
        until(lambda: len(desk.queue()) == 2)

        gone.close()
        desk.release(held[0])

        status, answer = answered(stays)
        assert (status, answer["leases"][0]["owner"]) == (200, "stays")


@pytest.mark.parametrize("wait_s", [0, 30])
def test_who_hangs_up_before_its_answer_is_made_holds_nothing(desk: Desk, wait_s: int) -> None:
    with desk.stalled():
        with closing(desk.send(wait_seconds=wait_s)):
            until(lambda: desk.database.rows(LOCKED))
        desk.noticed()

    check_all_free(desk)


def test_who_hangs_up_after_one_half_holds_nothing(desk: Desk) -> None:
    with desk.stalled():
        with closing(desk.send(count=3)) as client:
            until(lambda: desk.database.rows(LOCKED))
            client.shutdown(socket.SHUT_WR)
        desk.noticed()

    check_all_free(desk)


def test_that_nobody_heard_of_a_lease_is_in_its_history(desk: Desk) -> None:
    (account,) = desk.ask("GET", f"/v2/accounts?site={desk.site}&q=a0")["items"]
    with desk.stalled():
        with closing(desk.send(account_id=account["id"])):
            until(lambda: desk.database.rows(LOCKED))
        desk.noticed()
    until(lambda: desk.ask("GET", f"/v2/accounts/{account['id']}/leases")["items"])

    (past,) = desk.ask("GET", f"/v2/accounts/{account['id']}/leases")["items"]

    assert (past["how"], past["outcome"], past["reason"]) == ("released", None, "never delivered")


def test_who_hung_up_and_asks_again_is_not_given_what_is_taken_back(desk: Desk) -> None:
    with desk.stalled():
        with closing(desk.send(key=desk.site)):
            desk.noticed()
        desk.noticed()
        again = desk.send(key=desk.site)
        desk.noticed()

    with closing(again):
        status, answer = answered(again)

    assert status == 200
    (lease,) = answer["leases"]
    assert desk.ask("POST", f"/v2/leases/{lease['id']}/heartbeat", {})["fence"] == lease["fence"]


def test_who_hung_up_and_asks_again_and_hangs_up_holds_it_until_it_runs_out_at_the_most(desk: Desk) -> None:
    with desk.stalled():
        for _ in range(3):
            with closing(desk.send(key=desk.site, ttl_seconds=5)):
                desk.noticed()
        desk.noticed()

    until(lambda: not desk.held())


def test_a_storm_of_clients_that_hang_up_leaves_nothing_held(desk: Desk) -> None:
    rng = random.Random(desk.site)  # noqa: S311 (which client goes when is no secret)
    with desk.stalled(), ExitStack() as open_:
        clients = [
            open_.enter_context(closing(desk.send(wait_seconds=rng.choice([0, 30]), count=rng.randint(1, 3))))
            for _ in range(200)
        ]
        desk.noticed()
        rng.shuffle(clients)
        for client in clients:
            client.close()
        desk.noticed()

    check_all_free(desk)


def test_a_storm_among_clients_that_stay_leaves_nothing_held(desk: Desk) -> None:
    """They hang up at any moment, also when their answer is on its way: then it is the end of the lease that helps."""
    rng = random.Random(desk.site)  # noqa: S311 (which client goes when is no secret)
    desk.ask(
        "PATCH", f"/v2/sites/{desk.site}", {"policy": {"reclaim_delay_seconds": 0, "quarantine_after_unclean": 99}}
    )
    for _ in range(20):
        leaving = [desk.send(wait_seconds=rng.choice([0, 30]), ttl_seconds=5) for _ in range(10)]
        for client in leaving:
            client.close()
        for lease in desk.acquire(wait_seconds=30, owner="stays"):
            desk.release(lease)

    until(lambda: not desk.held())
    until(lambda: not desk.queue())
    assert len(desk.acquire(count=ACCOUNTS, wait_seconds=30)) == ACCOUNTS
