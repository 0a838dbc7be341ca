"""The disk is full, and later it is not: what was refused was told, what was acknowledged is there, and nobody had to
restart anything.

The data folder, with PostgreSQL and the bytes of captures in it, is on a small disk in memory.
"""

import hashlib
import random
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.parts.process import PATIENCE_S, Leasehold, Place, until
from tests.parts.uploads import BOUNDARY, END, file_part, meta_part

ADMIN = "lh_" + "Torture000" * 3
SEED = 20_265
SIZE = "192m"
REFUSED = {503, 507}


@pytest.fixture
def small(here: Place) -> Iterator[Place]:
    here.data.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=755", "tmpfs", str(here.data)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("Nobody may mount a small disk here: what happens on a full one is not shown.")
    try:
        yield here
    finally:
        here.clear()
        subprocess.run(["umount", str(here.data)], check=True)


@dataclass
class Told:
    """What was acknowledged, by name, and how often what was refused."""

    accounts: set[str] = field(default_factory=set)
    captures: dict[str, str] = field(default_factory=dict)
    refused: dict[str, list[int]] = field(default_factory=lambda: {"account": [], "capture": []})


class Client:
    """Makes accounts and hands in captures, each large enough to need room."""

    def __init__(self, server: Leasehold) -> None:
        self._rng = random.Random(SEED)  # noqa: S311
        self.http = httpx.Client(
            base_url=server.address, headers={"Authorization": f"Bearer {ADMIN}"}, trust_env=False, timeout=PATIENCE_S
        )
        self.told = Told()

    def make_account(self) -> int:
        name = f"a{self._rng.getrandbits(40):x}"
        body = {"site": "board", "username": name, "secret": {"password": self._rng.randbytes(8_000).hex()}}
        answer = self.http.post("/v2/accounts", json=body)
        if answer.status_code == 201:
            self.told.accounts.add(name)
        return self._noted("account", answer)

    def hand_in(self) -> int:
        content = self._rng.randbytes(300_000)
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        body = meta_part(url="https://board.example/1") + file_part("page", content) + END
        answer = self.http.post("/v2/captures", content=body, headers=headers)
        if answer.status_code == 201:
            self.told.captures[answer.json()["id"]] = hashlib.sha256(content).hexdigest()
        return self._noted("capture", answer)

    def _noted(self, what: str, answer: httpx.Response) -> int:
        if answer.status_code != 201:
            assert answer.status_code in REFUSED, answer.text
            self.told.refused[what].append(answer.status_code)
        return answer.status_code


def fill(ballast: Path) -> None:
    """To the last page."""
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)


def is_refused(does: Callable[[], int], ballast: Path) -> Callable[[], bool]:
    def look() -> bool:
        fill(ballast)  # whatever room was made meanwhile
        return does() != 201

    return look


def test_a_full_disk_is_told_and_loses_nothing_that_was_acknowledged(small: Place) -> None:
    server = small.up(LEASEHOLD_BOOTSTRAP_TOKEN=ADMIN)
    client = Client(server)
    with client.http:
        client.http.post("/v2/sites", json={"slug": "board", "domain": "board.example"}).raise_for_status()
        for _ in range(5):
            assert (client.make_account(), client.hand_in()) == (201, 201)
        ballast = small.data / "ballast"
        for _ in range(3):
            until(is_refused(client.hand_in, ballast))
            until(is_refused(client.make_account, ballast))
        ballast.unlink()
        until(lambda: client.make_account() == 201)
        until(lambda: client.hand_in() == 201)

        told = client.told
        assert len(told.refused["capture"]) >= 3 <= len(told.refused["account"])
        page = client.http.get("/v2/accounts", params={"site": "board", "limit": 500}).json()
        # One that was refused may be there all the same: its answer is not its commit.
        assert told.accounts <= {one["username"] for one in page["items"]}
        for capture, digest in told.captures.items():
            content = client.http.get(f"/v2/captures/{capture}/files/page").content
            assert hashlib.sha256(content).hexdigest() == digest
    assert server.end() == 0
    verified = small.run("verify", "--captures", "--repair")
    assert verified.code == 0, verified.out
