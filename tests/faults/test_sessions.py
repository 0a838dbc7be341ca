"""Uploads of sessions while the server is killed again and again: whatever was acknowledged is there afterwards."""

import random
import threading
from functools import partial

import httpx
import pytest

from tests.faults.torture import ADMIN, KEYS, stores_in
from tests.parts.postgres import Postgres
from tests.parts.process import Leasehold, place, until

KILLS = 4
WORKERS = 4


def cookie(name: str) -> dict[str, object]:
    plain = {"domain": "board.example", "path": "/", "expires": -1, "httpOnly": True, "secure": True, "sameSite": "Lax"}
    return {"name": name, "value": "v", **plain}


class Uploader(threading.Thread):
    """Uploads one new cookie after the other, and remembers which were acknowledged."""

    def __init__(self, number: int, account: str, server: list[Leasehold], stop: threading.Event) -> None:
        super().__init__(name=f"uploader-{number}")
        self.acknowledged: list[str] = []
        self.unanswered = 0
        self._number, self._account, self._server, self._stop_ = number, account, server, stop

    def run(self) -> None:
        with httpx.Client(headers={"Authorization": f"Bearer {ADMIN}"}, trust_env=False, timeout=20) as client:
            for turn in range(100_000):
                if self._stop_.is_set():
                    return
                self._upload(client, f"c{self._number}-{turn}")

    def _upload(self, client: httpx.Client, name: str) -> None:
        url = f"{self._server[0].address}/v2/sessions/{self._account}"
        try:
            answer = client.put(url, json={"cookies": [cookie(name)]})
        except httpx.HTTPError:
            self.unanswered += 1
            self._stop_.wait(0.1)
            return
        if answer.status_code == 200:
            self.acknowledged.append(name)


def acknowledged(uploaders: list[Uploader]) -> int:
    return sum(len(uploader.acknowledged) for uploader in uploaders)


def has_come(uploaders: list[Uploader], enough: int) -> bool:
    return acknowledged(uploaders) >= enough


@pytest.mark.parametrize("store", ["postgres", "mongo"])
def test_no_acknowledged_upload_is_lost_when_the_server_is_killed(
    store: str, postgres: Postgres, request: pytest.FixtureRequest
) -> None:
    mongo = request.getfixturevalue("mongo") if store == "mongo" else None
    settings = stores_in(postgres, mongo).settings
    settings |= {"LEASEHOLD_BOOTSTRAP_TOKEN": ADMIN, "LEASEHOLD_KEYS": KEYS, "LEASEHOLD_LOG_LEVEL": "warning"}
    rng = random.Random(7)  # noqa: S311
    with place() as here:
        start = partial(here.serve, **settings)
        server = [start()]
        server[0].ask("POST", "/v2/sites", ADMIN, {"slug": "board", "domain": "board.example"})
        body = {"site": "board", "username": "ann", "secret": {}}
        account = server[0].ask("POST", "/v2/accounts", ADMIN, body).json()["id"]
        stop = threading.Event()
        uploaders = [Uploader(number, account, server, stop) for number in range(WORKERS)]
        for uploader in uploaders:
            uploader.start()
        try:
            for _ in range(KILLS):
                enough = acknowledged(uploaders) + rng.randint(3, 10)
                until(partial(has_come, uploaders, enough))
                server[0].kill()
                server[0] = start()
            enough = acknowledged(uploaders) + 3
            until(partial(has_come, uploaders, enough))
        finally:
            stop.set()
            for uploader in uploaders:
                uploader.join(30)
        entries = server[0].ask("GET", f"/v2/sessions/{account}/entries", ADMIN).json()["items"]

    kept = {entry["slot"].rpartition(" ")[2] for entry in entries}
    told = {name for uploader in uploaders for name in uploader.acknowledged}
    assert sum(uploader.unanswered for uploader in uploaders) > 0
    assert told <= kept
