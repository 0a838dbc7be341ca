"""Captures under torture: uploads go on while the server is killed in the middle of them, and then everything is read.

python -m tests.faults.captures --seed 1 --kills 40 --uploaders 6
"""

import argparse
import hashlib
import random
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import httpx
import psutil

from tests.parts.ports import free_port
from tests.parts.process import PATIENCE_S, Leasehold, Place, place, until
from tests.parts.uploads import BOUNDARY, END, drafts, file_part, meta_part

ADMIN = "lh_" + "Torture000" * 3
LARGEST_BYTES = 3_000_000
# Between two kills, from when the server is ready.
LIVES_S = (0.2, 1.5)
# What is acknowledged in each life at the least, however long that takes.
LIVED = 7

say = partial(print, flush=True)


@dataclass(frozen=True, slots=True)
class Plan:
    seed: int
    kills: int
    uploaders: int = 6


@dataclass
class Told:
    """What uploaders were told, and what is wrong with it."""

    # The URL of each capture that was acknowledged, which is its own, with its id and the digests of its files.
    acknowledged: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    repeats: int = 0
    cut_off: int = 0
    faults: list[str] = field(default_factory=list)


class Uploader(threading.Thread):
    """Sends one capture after the other, each until it is acknowledged, whatever happens to the server."""

    def __init__(self, plan: Plan, number: int, base: str, told: Told, stop: threading.Event) -> None:
        super().__init__(name=f"uploader-{number}")
        self._random = random.Random(f"{plan.seed}/{number}")  # noqa: S311
        self._base = base
        self._told = told
        self._is_over = stop

    def run(self) -> None:
        with httpx.Client(base_url=self._base, timeout=20, trust_env=False) as client:
            while not self._is_over.is_set():
                self._send(client)

    def _send(self, client: httpx.Client) -> None:
        url = f"https://board.example/{uuid.uuid4().hex}"
        files = {f"f{n}": self._content() for n in range(self._random.randint(1, 3))}
        parts = b"".join(file_part(name, content) for name, content in files.items())
        headers = {
            "Authorization": f"Bearer {ADMIN}",
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Idempotency-Key": uuid.uuid4().hex,
        }
        deadline = time.monotonic() + 2 * PATIENCE_S
        attempts = 0
        while time.monotonic() < deadline:
            attempts += 1
            try:
                answer = client.post("/v2/captures", content=meta_part(url=url) + parts + END, headers=headers)
            except httpx.TransportError:
                self._told.cut_off += 1
                time.sleep(0.05)
                continue
            if answer.status_code == 201:
                self._told.repeats += attempts > 1
                digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
                self._told.acknowledged[url] = answer.json()["id"], digests
                return
            if answer.status_code != 503:
                self._told.faults.append(f"an upload was answered {answer.status_code}: {answer.text[:300]}")
                return
            time.sleep(0.05)
        self._told.faults.append("an upload was not acknowledged although the server came back")

    def _content(self) -> bytes:
        size = int(LARGEST_BYTES ** self._random.random())
        # Some of it is the same again and again, so that bytes are shared, too.
        return b"shared" * 1000 if self._random.random() < 0.2 else self._random.randbytes(size)


def torture(plan: Plan, here: Place) -> Told:
    told = Told()
    dice = random.Random(plan.seed)  # noqa: S311
    port = free_port()
    server = _up(here, port)
    httpx.post(
        f"{server.address}/v2/sites",
        json={"slug": "board", "domain": "board.example"},
        headers={"Authorization": f"Bearer {ADMIN}"},
        timeout=PATIENCE_S,
    ).raise_for_status()
    stop = threading.Event()
    uploaders = [Uploader(plan, n, server.address, told, stop) for n in range(plan.uploaders)]
    for uploader in uploaders:
        uploader.start()
    try:
        for n in range(plan.kills):
            wanted = len(told.acknowledged) + LIVED
            time.sleep(dice.uniform(*LIVES_S))
            until(lambda: len(told.acknowledged) >= wanted)  # noqa: B023
            server.kill()
            if n % 4 == 3:
                _kill_postgres(here)
            server = _up(here, port)
        last = len(told.acknowledged)
        until(lambda: len(told.acknowledged) > last)
    finally:
        stop.set()
        for uploader in uploaders:
            uploader.join()
    told.faults += _wrong(server, told)
    server.end()
    told.faults += _verified(here)
    return told


def _up(here: Place, port: int) -> Leasehold:
    return here.start("up", "--port", str(port), LEASEHOLD_BOOTSTRAP_TOKEN=ADMIN).ready()


def _kill_postgres(here: Place) -> None:
    with suppress(psutil.NoSuchProcess, FileNotFoundError):
        postmaster = here.postmaster
        for process in [postmaster, *postmaster.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _wrong(server: Leasehold, told: Told) -> Iterator[str]:
    """Read everything that was acknowledged once more."""
    headers = {"Authorization": f"Bearer {ADMIN}"}
    with httpx.Client(base_url=server.address, headers=headers, timeout=PATIENCE_S, trust_env=False) as client:
        kept = list(_everything(client))
        by_url = {capture["url"]: capture for capture in kept}
        if len(by_url) != len(kept):
            yield f"{len(kept) - len(by_url)} uploads were kept twice"
        if strangers := set(by_url) - set(told.acknowledged):
            yield f"{len(strangers)} captures were kept that nobody was told of"
        for url, (capture, digests) in told.acknowledged.items():
            if url not in by_url or by_url[url]["id"] != capture:
                yield f"{capture} was acknowledged and is not there"
                continue
            for name, digest in digests.items():
                content = client.get(f"/v2/captures/{capture}/files/{name}").content
                if hashlib.sha256(content).hexdigest() != digest:
                    yield f"{capture} was acknowledged and its file {name} is not what was sent"


def _everything(client: httpx.Client) -> Iterator[dict[str, str]]:
    cursor: str | None = None
    while True:
        page = client.get("/v2/captures", params={"limit": 500} | ({"cursor": cursor} if cursor else {})).json()
        yield from page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def _verified(here: Place) -> Iterator[str]:
    """What the product itself says, and whether what the killed left behind is gone after that."""
    ended = here.run("verify", "--captures", "--repair")
    if ended.code != 0:
        yield f"verify says {ended.out}{ended.err}"
    if left := drafts(here.data / "blobs"):
        yield f"{len(left)} unfinished uploads were left behind"


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    words.add_argument("--kills", type=int, default=40)
    words.add_argument("--uploaders", type=int, default=6)
    plan = Plan(**vars(words.parse_args()))
    with place() as here:
        told = torture(plan, here)
    say(f"{plan}: {len(told.acknowledged)} captures acknowledged and read again, {told.cut_off} attempts cut off, ")
    say(f"{told.repeats} acknowledged at a repeat")
    for fault in told.faults:
        say(fault)
    return 1 if told.faults else 0


if __name__ == "__main__":
    sys.exit(main())
