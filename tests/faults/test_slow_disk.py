"""The disk under PostgreSQL is slow: all takes longer, nobody is refused, and who is alive keeps what it holds."""

import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median

import httpx
import pytest

from tests.parts.process import KEYS, PATIENCE_S, Leasehold, Place, until
from tests.parts.threads import at_work

ADMIN = "lh_" + "Torture000" * 3
SITE = "board"
BUSY, HOLDERS = 16, 8
# What each fsync takes longer, and for how long that goes on.
DELAY_S, SLOW_S = 0.2, 8.0
# Who says every second that it is alive may be kept from it for a while by a busy machine, but not for so long.
TTL_S, BEAT_S = 60, 1.0


@dataclass
class Crowd:
    """Who takes accounts and gives them back, and who holds one all the time and says so every second."""

    server: Leasehold
    told: Counter[int] = field(default_factory=Counter)
    beats: Counter[int] = field(default_factory=Counter)
    took_s: list[float] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def at_work(self) -> AbstractContextManager[None]:
        holding = [partial(self._hold, f"holder-{number}") for number in range(HOLDERS)]
        changing = [partial(self._change, f"busy-{number}") for number in range(BUSY)]
        return at_work(self._over, holding + changing)

    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {ADMIN}"}
        return httpx.Client(base_url=self.server.address, headers=headers, trust_env=False, timeout=120)

    def _taken(self, http: httpx.Client, owner: str) -> str:
        """An account; there is one for everybody."""
        while True:
            answer = self._told(
                http.post("/v2/accounts/acquire", json={"site": SITE, "owner": owner, "ttl_seconds": TTL_S})
            )
            if leases := answer.json().get("leases"):
                return str(leases[0]["id"])

    def _hold(self, owner: str) -> None:
        with self._client() as http:
            lease = self._taken(http, owner)
            while not self._over.wait(BEAT_S):
                self.beats[http.post(f"/v2/leases/{lease}/heartbeat", json={}).status_code] += 1
            self._told(http.post(f"/v2/leases/{lease}/release", json={"outcome": "ok"}))

    def _change(self, owner: str) -> None:
        with self._client() as http:
            while not self._over.is_set():
                lease = self._taken(http, owner)
                self._told(http.post(f"/v2/leases/{lease}/release", json={"outcome": "ok"}))

    def _told(self, answer: httpx.Response) -> httpx.Response:
        self.told[answer.status_code] += 1
        self.took_s.append(answer.elapsed.total_seconds())
        return answer


@contextmanager
def slow_disk(here: Place) -> Iterator[None]:
    """Every process of PostgreSQL waits at each sync, also those that are yet to come; the first has waited already."""
    if shutil.which("strace") is None:
        pytest.fail("strace is not installed. Run `make services`.")
    postgres = [here.postmaster, *here.postmaster.children()]
    pids = [word for one in postgres for word in ("-p", str(one.pid))]
    seen = here.folder / "syncs"
    slow = f"inject=fsync,fdatasync:delay_enter={int(DELAY_S * 1_000_000)}"
    spy = subprocess.Popen(
        ["strace", "-f", "-qq", "-o", str(seen), "-e", "trace=fsync,fdatasync", "-e", slow, *pids],
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: spy.poll() is not None or (seen.exists() and "DELAYED" in seen.read_text()))
        if spy.poll() is not None:
            pytest.skip("Nobody may look into processes here: what a slow disk does is not shown.")
        yield
    finally:
        spy.terminate()
        spy.wait(PATIENCE_S)


def test_a_slow_disk_slows_everything_and_takes_nothing_from_who_is_alive(here: Place) -> None:
    server = here.up(LEASEHOLD_BOOTSTRAP_TOKEN=ADMIN, LEASEHOLD_KEYS=KEYS)
    server.ask("POST", "/v2/sites", ADMIN, {"slug": SITE, "domain": "board.example"}).raise_for_status()
    server.ask("PATCH", f"/v2/sites/{SITE}", ADMIN, {"policy": {"cooldown_seconds": 0}}).raise_for_status()
    for number in range(2 * (BUSY + HOLDERS)):
        account = {"site": SITE, "username": f"a{number}", "secret": {"password": "p"}}
        server.ask("POST", "/v2/accounts", ADMIN, account).raise_for_status()
    crowd = Crowd(server)
    with ExitStack() as running:
        running.enter_context(crowd.at_work())
        until(lambda: crowd.told[200] > 100 and crowd.beats[200] > HOLDERS)
        with slow_disk(here):
            quick = len(crowd.took_s)
            began = time.monotonic()
            until(lambda: time.monotonic() - began > SLOW_S and len(crowd.took_s) > quick + 2 * BUSY)
            slow = crowd.took_s[quick:]
            # Alive, and able to work.
            assert server.ask("GET", "/readyz").status_code == 200
        after = crowd.told[200]
        until(lambda: crowd.told[200] > after + 100)

    # What was under way when it began may have been quick. From then on each waits for a sync, or for the rest of one.
    assert median(slow[BUSY:]) > DELAY_S / 2, "the disk was as quick as ever"
    assert set(crowd.told) == {200}, crowd.told
    assert set(crowd.beats) == {200}, crowd.beats
    assert max(crowd.took_s) < 60
    assert server.ask("GET", "/v2/leases", ADMIN).json()["items"] == []
    ends = server.ask("GET", "/v2/accounts?limit=100", ADMIN).json()["items"]
    assert [one["unclean_ends"] for one in ends] == [0] * len(ends)
    assert server.end() == 0
    verified = here.run("verify")
    assert verified.code == 0, verified.out
