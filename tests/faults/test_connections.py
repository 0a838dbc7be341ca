"""PostgreSQL has no connection left: who asks is told so, nobody storms it, and all goes on once there is room."""

import threading
import time
from collections import Counter
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial

import httpx
import psycopg

from tests.parts.process import KEYS, PATIENCE_S, Leasehold, Place, until
from tests.parts.threads import at_work

ADMIN = "lh_" + "Torture000" * 3
CLIENTS = 8
FULL_S = 12.0
# Of all servers together: those who wait for a connection, and whatever listens or works in the background.
MOST_TRIES_A_SECOND = 20.0
FULL = "sorry, too many clients already"


@dataclass
class Load:
    """Clients that take an account and give it back, over and over, and what they were told."""

    server: Leasehold
    told: Counter[int] = field(default_factory=Counter)
    slowest_s: float = 0.0
    _over: threading.Event = field(default_factory=threading.Event)

    def running(self) -> AbstractContextManager[None]:
        return at_work(self._over, [partial(self._work, f"c{number}") for number in range(CLIENTS)])

    def _work(self, owner: str) -> None:
        headers = {"Authorization": f"Bearer {ADMIN}"}
        want = {"site": "board", "owner": owner, "ttl_seconds": 60}
        with httpx.Client(base_url=self.server.address, headers=headers, trust_env=False, timeout=60) as http:
            while not self._over.is_set():
                answer = self._told(http.post("/v2/accounts/acquire", json=want))
                leases = answer.json()["leases"] if answer.status_code == 200 else []
                for lease in leases:
                    until(partial(self._gives_back, http, lease["id"]))  # however long that takes

    def _gives_back(self, http: httpx.Client, lease: str) -> bool:
        answer = self._told(http.post(f"/v2/leases/{lease}/release", json={"outcome": "ok"}))
        return answer.status_code == 200

    def _told(self, answer: httpx.Response) -> httpx.Response:
        self.told[answer.status_code] += 1
        self.slowest_s = max(self.slowest_s, answer.elapsed.total_seconds())
        return answer


def address(here: Place, database: str) -> str:
    return f"postgresql://postgres@/{database}?host={here.socket_folder}&port=5432"


class Crowd:
    """Others who use the same PostgreSQL, until there is no connection left."""

    def __init__(self, here: Place, stack: ExitStack) -> None:
        self.url = address(here, "postgres")
        self._stack = stack
        self._log = here.home / "log"
        self.first = self._connect()

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return self._stack.enter_context(psycopg.connect(self.url, autocommit=True))

    def come(self) -> None:
        """Take every connection, those of the servers too."""
        deadline = time.monotonic() + PATIENCE_S
        while self._of_servers():
            assert time.monotonic() < deadline, "the servers always found a connection"
            self.first.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'leasehold%'"
            )
            with suppress(psycopg.OperationalError):
                while True:
                    self._connect()

    def _of_servers(self) -> int:
        row = self.first.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'leasehold%'"
        ).fetchone()
        return int(str(row[0])) if row else 0

    def refused(self) -> int:
        """How often somebody was turned away so far."""
        return sum(file.read_text(errors="replace").count(FULL) for file in self._log.glob("*.log"))


def test_no_connection_left_is_told_without_a_storm_and_passes_by_itself(here: Place) -> None:
    first = here.up(LEASEHOLD_BOOTSTRAP_TOKEN=ADMIN, LEASEHOLD_KEYS=KEYS)
    first.ask("POST", "/v2/sites", ADMIN, {"slug": "board", "domain": "board.example"}).raise_for_status()
    for number in range(2 * CLIENTS):
        account = {"site": "board", "username": f"a{number}", "secret": {"password": "p"}}
        first.ask("POST", "/v2/accounts", ADMIN, account).raise_for_status()
    policy = {"cooldown_seconds": 0}
    first.ask("PATCH", "/v2/sites/board", ADMIN, {"policy": policy}).raise_for_status()
    second = here.serve(LEASEHOLD_DATABASE_URL=address(here, "leasehold"))
    loads = [Load(server) for server in (first, second)]
    with ExitStack() as running:
        for load in loads:
            running.enter_context(load.running())
        until(lambda: all(load.told[200] > 20 for load in loads))
        with ExitStack() as stack:
            crowd = Crowd(here, stack)
            crowd.come()
            before, began = crowd.refused(), time.monotonic()
            time.sleep(FULL_S)
            tries = (crowd.refused() - before) / (time.monotonic() - began)
            # It is alive, and says that it cannot work.
            assert first.ask("GET", "/healthz").status_code == 200
            assert first.ask("GET", "/readyz").status_code == 503
        done = [load.told[200] for load in loads]
        until(lambda: all(load.told[200] > before + 20 for load, before in zip(loads, done, strict=True)))

    assert 0 < tries <= MOST_TRIES_A_SECOND
    for load in loads:
        assert set(load.told) == {200, 503}, load.told
        assert load.slowest_s < 40
    until(lambda: first.ask("GET", "/readyz").status_code == 200)
    assert first.ask("GET", "/v2/leases", ADMIN).json()["items"] == []
    for server in (second, first):
        assert server.end() == 0
    verified = here.run("verify")
    assert verified.code == 0, verified.out
