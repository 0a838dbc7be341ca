"""A server runs out of memory and the kernel ends it: what was acknowledged is there, and the next server goes on."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path

import httpx
import pytest

from tests.parts.process import KEYS, PATIENCE_S, Leasehold, Place, until
from tests.parts.threads import at_work

ADMIN = "lh_" + "Torture000" * 3
# What a server may take on beyond what it has; and what many at once send it, each within what it takes.
ROOM_BYTES = 24 * 1024 * 1024
SENDERS, RECORDS = 24, 900
MEMORY = Path("/sys/fs/cgroup/memory")


@contextmanager
def confined(server: Leasehold) -> Iterator[Path]:
    """The server may take on a little more memory, and then the kernel ends it."""
    group = MEMORY / f"leasehold-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(ROOM_BYTES))
    except OSError:
        with suppress(OSError):
            group.rmdir()
        pytest.skip("Nobody may bound the memory of a process here: what the kernel's end leaves is not shown.")
    try:
        (group / "cgroup.procs").write_text(str(server.pid))
        yield group
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):
                (MEMORY / "cgroup.procs").write_text(pid)
        group.rmdir()


class Clients:
    """One makes accounts and remembers which were acknowledged; many send all the server takes, at once."""

    def __init__(self, server: Leasehold) -> None:
        self._address = server.address
        self._over = threading.Event()
        self.made: list[str] = []
        self.unheard = 0

    def at_work(self) -> AbstractContextManager[None]:
        return at_work(self._over, [self._make, *(partial(self._send, number) for number in range(SENDERS))])

    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {ADMIN}"}
        return httpx.Client(base_url=self._address, headers=headers, trust_env=False, timeout=PATIENCE_S)

    def _make(self) -> None:
        with self._client() as http:
            for number in count():
                if self._over.is_set():
                    return
                body = {"site": "board", "username": f"a{number}", "secret": {"password": "p"}}
                try:
                    answer = http.post("/v2/accounts", json=body)
                except httpx.ConnectError:
                    self._over.wait(0.1)  # it is dead
                except httpx.HTTPError:
                    self.unheard += 1
                else:
                    self.made += [f"a{number}"] * (answer.status_code == 201)

    def _send(self, sender: int) -> None:
        items = [
            {
                "source": "x",
                "source_id": f"{sender}-{n}",
                "kind": "performer",
                "name": f"Ann {n}",
                "attributes": {"a": "b" * 900},
            }
            for n in range(RECORDS)
        ]
        with self._client() as http:
            while not self._over.is_set():
                try:
                    http.post("/v2/entities/records", json={"items": items})
                except httpx.HTTPError:
                    self._over.wait(0.1)  # it is slow, or dead


def test_what_was_acknowledged_outlives_a_server_without_memory(here: Place) -> None:
    words = {"LEASEHOLD_BOOTSTRAP_TOKEN": ADMIN, "LEASEHOLD_KEYS": KEYS}
    first = here.up(**words)
    first.ask("POST", "/v2/sites", ADMIN, {"slug": "board", "domain": "board.example"}).raise_for_status()
    clients = Clients(first)
    with clients.at_work():
        until(lambda: len(clients.made) > 20)
        with confined(first) as group:
            until(lambda: first.process.poll() is not None)
            ends = (group / "memory.oom_control").read_text()

    assert first.process.returncode == -signal.SIGKILL
    assert "oom_kill 0" not in ends
    second = here.up(**words)
    listed: list[str] = []
    cursor = ""
    while True:
        page = second.ask("GET", f"/v2/accounts?limit=500{cursor}", ADMIN).json()
        listed += [one["username"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert set(clients.made) <= set(listed)
    assert len(listed) <= len(clients.made) + clients.unheard
    assert second.end() == 0
    verified = here.run("verify")
    assert verified.code == 0, verified.out
