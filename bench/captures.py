"""Uploads of captures: against cp and fsync of the same bytes, and what they cost the server in memory.

Each round copies, sends and sends again bytes that nobody has seen yet, in turns; what is printed are ratios inside a
round, with the median and the spread of all rounds. One client is the SDK, the other one a bare socket that costs next
to nothing, since client and server share the machine.
"""

import argparse
import asyncio
import json
import os
import platform
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.ground import scratch_postgres, serving, token
from bench.leases import free_port
from bench.measured import Report
from leasehold.client import Leasehold

MEGABYTE = 1024 * 1024
URL = "https://board.example/thread/1"
BOUNDARY = "leaseholdbench" * 3
_SAMPLE_EVERY_S = 0.005
_MEMORY = "most memory the server took on meanwhile: MB"


class Bench:
    """One run, on one server."""

    def __init__(self, folder: Path, port: int, pid: int, bearer: str, megabytes: int) -> None:
        self._folder = folder
        self._port = port
        self._pid = pid
        self._bearer = bearer
        self._megabytes = megabytes
        self._source = folder / "source"
        self.report = Report()

    def run(self, rounds: int) -> None:
        with Leasehold(f"http://127.0.0.1:{self._port}", self._bearer) as lh:
            lh.sites.create("board", domain="board.example")
            variants: dict[str, Callable[[], None]] = {
                "cp + fsync": self._copy,
                "upload by the SDK": lambda: _upload(lh, self._source),
                "upload by a bare socket": self._send,
            }
            self._renew()
            _upload(lh, self._source)  # the first request of a server pays for much that the others find
            before_mb = _memory_mb(self._pid)
            with _watched(self._pid) as most_mb:
                for n in range(rounds):
                    turns = list(variants.items())
                    self._round(dict(turns[n % 3 :] + turns[: n % 3]))
            self.report.add(_MEMORY, most_mb[0] - before_mb)
        for name in ("upload by the SDK", "upload by a bare socket"):
            self.report.ratio(f"MB/s, {name} ÷ cp + fsync", "cp + fsync: s", f"{name}: s")

    def _round(self, variants: dict[str, Callable[[], None]]) -> None:
        for name, work in variants.items():
            self._renew()
            began = time.perf_counter()
            work()
            self.report.add(f"{name}: s", time.perf_counter() - began)
        told = ", ".join(f"{name} {times[-1]:.3f}" for name, times in self.report.values.items())
        print(told, flush=True)

    def _renew(self) -> None:
        """Bytes nobody has seen yet, on the disk and in memory."""
        with self._source.open("wb") as source:
            for _ in range(self._megabytes):
                source.write(os.urandom(MEGABYTE))
            source.flush()
            os.fsync(source.fileno())

    def _copy(self) -> None:
        to = self._folder / "copy"
        subprocess.run(["/bin/cp", str(self._source), str(to)], check=True)
        with to.open("rb") as copied:
            os.fsync(copied.fileno())
        to.unlink()

    def _send(self) -> None:
        meta = json.dumps({"site": "board", "url": URL}).encode()
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="meta"\r\n\r\n'.encode() + meta
        disposition = 'Content-Disposition: form-data; name="file"; filename="source"'
        head += f"\r\n--{BOUNDARY}\r\n{disposition}\r\n\r\n".encode()
        tail = f"\r\n--{BOUNDARY}--\r\n".encode()
        length = len(head) + self._source.stat().st_size + len(tail)
        lines = [
            "POST /v2/captures HTTP/1.1",
            "Host: 127.0.0.1",
            f"Authorization: Bearer {self._bearer}",
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}",
            f"Content-Length: {length}",
        ]
        with socket.create_connection(("127.0.0.1", self._port)) as wire, self._source.open("rb") as source:
            wire.sendall("\r\n".join([*lines, "", ""]).encode() + head)
            wire.sendfile(source)
            wire.sendall(tail)
            if b" 201 " not in (said := wire.recv(65536))[:20]:
                raise RuntimeError(f"an upload was refused: {said!r}")


def _upload(lh: Leasehold, source: Path) -> None:
    lh.captures.upload(site="board", url=URL, files={"source": source})


def _memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


@contextmanager
def _watched(pid: int) -> Iterator[list[float]]:
    """The most memory a process has meanwhile."""
    most = [_memory_mb(pid)]
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(_SAMPLE_EVERY_S):
            most[0] = max(most[0], _memory_mb(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        is_over.set()
        watcher.join()


def run(json_file: Path | None, rounds: int, megabytes: int) -> Report:
    with scratch_postgres() as (url, _), tempfile.TemporaryDirectory(prefix="leasehold-bench-") as made:
        folder, port, bearer = Path(made), free_port(), asyncio.run(token(url))
        with serving(url, port, "--data", str(folder / "data")) as pid:
            bench = Bench(folder, port, pid, bearer, megabytes)
            bench.run(rounds)
    bench.report.print()
    print(f"most memory the server took on meanwhile: {bench.report.values[_MEMORY][0]:.1f} MB")
    if json_file:
        json_file.write_text(json.dumps(_document(bench.report, rounds, megabytes), indent=2) + "\n")
    return bench.report


def _document(report: Report, rounds: int, megabytes: int) -> dict[str, Any]:
    return {
        "bench": "captures",
        "rounds": rounds,
        "megabytes": megabytes,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **report.document(),
    }


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--json", type=Path, default=None)
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--megabytes", type=int, default=100)
    given = words.parse_args()
    run(given.json, given.rounds, given.megabytes)


if __name__ == "__main__":
    main()
