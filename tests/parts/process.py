"""leasehold as an operator runs it: processes of their own, over the command line, and nothing left after a test."""

import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx
import psutil

from tests.parts import canaries, nursery
from tests.parts.nursery import Process

# Generous: it is only used up when something is broken.
PATIENCE_S = 60.0
_TOKEN = re.compile(r"^  (lh_\w+)$", re.MULTILINE)
_ADDRESS = re.compile(r"(http://\S+)/docs")


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command that came to its end left."""

    code: int
    out: str
    err: str


# Any key will do to seal the secrets of tests.
KEYS = "test:" + "A" * 43 + "="


class Leasehold:
    """One process of ours that is running, or was."""

    def __init__(self, process: Process, out: Path, err: Path) -> None:
        self.process = process
        self._out = out
        self._err = err

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def out(self) -> str:
        return self._out.read_text()

    @property
    def err(self) -> str:
        return self._err.read_text()

    @property
    def address(self) -> str:
        found = _ADDRESS.search(self.out)
        assert found, f"no address in {self.out!r}; the log says {self.err}"
        return found[1]

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def token(self) -> str | None:
        """The admin token, if this start printed one."""
        found = _TOKEN.search(self.out)
        return found[1] if found else None

    def ready(self) -> Self:
        """Wait until it has said where it is and can do its work."""
        until(lambda: "Ctrl-C stops it." in self.out or self.process.poll() is not None)
        assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.err}"
        until(lambda: self.ask("GET", "/readyz").status_code == 200)
        return self

    def ask(self, method: str, path: str, token: str | None = None, json: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.request(
            method, self.address + path, headers=headers, json=json, trust_env=False, timeout=PATIENCE_S
        )

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask it to stop; returns its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)


class Place:
    """A folder of a test's own to run leasehold in: its working directory, with the data folder below."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.folder = folder
        self.data = data
        self._started: list[Leasehold] = []

    @property
    def home(self) -> Path:
        """Where PostgreSQL really lives; root's may be elsewhere."""
        return (self.data / "postgres").resolve()

    @property
    def postmaster(self) -> psutil.Process:
        return psutil.Process(int((self.home / "postmaster.pid").read_text().split("\n", 1)[0]))

    @property
    def socket_folder(self) -> Path:
        """Where a running PostgreSQL, or one that was killed, has its socket; a stopped one leaves no word of it."""
        with suppress(OSError, IndexError):
            return Path((self.home / "postmaster.pid").read_text().split("\n")[4])
        return self.home

    def start(self, *words: str, **environment: str) -> Leasehold:
        """Start a command and do not wait for anything."""
        name = f"{len(self._started)}-{words[0]}"
        if words[0] == "serve":  # makes no key by itself
            environment = {"LEASEHOLD_KEYS": KEYS, **environment}
        out, err = self.folder / f"{name}.out", self.folder / f"{name}.err"
        process = nursery.start(list(words), self.folder, self._environment(environment), out, err)
        self._started.append(Leasehold(process, out, err))
        return self._started[-1]

    def up(self, **environment: str) -> Leasehold:
        return self.start("up", "--port", "0", **environment).ready()

    def serve(self, **environment: str) -> Leasehold:
        return self.start("serve", "--port", "0", **environment).ready()

    def run(self, *words: str, **environment: str) -> Ended:
        """Run a command to its end."""
        command = self.start(*words, **environment)
        code = command.process.wait(PATIENCE_S)
        return Ended(code, command.out, command.err)

    def processes(self) -> list[psutil.Process]:
        """Whatever works in this place, PostgreSQL's workers and all; the dead that nobody has buried do not count."""
        return [process for process in psutil.process_iter() if self._is_here(process)]

    def clear(self) -> None:
        """End whatever is still running here."""
        until(self._is_empty)
        for started in self._started:
            started.process.wait(PATIENCE_S)

    def close(self) -> None:
        """End whatever is still running, and take away every folder that it made."""
        self.clear()
        try:
            # What it was given by the test stands beside these.
            said = [*self.folder.glob("*.out"), *self.folder.glob("*.err")]
            canaries.check_files(*said, self.data, self.home)
        finally:
            self._remove()

    def _remove(self) -> None:
        for folder in {self.home, self.socket_folder} - {self.data / "postgres"}:
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.folder)

    def _is_empty(self) -> bool:
        left = self.processes()
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        return not left

    def _is_here(self, process: psutil.Process) -> bool:
        places = (self.folder, self.home)
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            words, cwd = process.cmdline(), Path(process.cwd())
        except psutil.Error:
            return False
        return any(cwd.is_relative_to(place) or any(word.startswith(str(place)) for word in words) for place in places)

    def _environment(self, given: dict[str, str]) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("LEASEHOLD_")}
        return own | {"LEASEHOLD_DATA_DIR": str(self.data)} | given


@contextmanager
def place(below: str = "data") -> Iterator[Place]:
    """A place that PostgreSQL's own user can walk into, which pytest's folders are not when root runs the tests."""
    folder = Path(tempfile.mkdtemp(prefix="leasehold-place-")).resolve()
    folder.chmod(0o755)
    made = Place(folder, folder / below)
    try:
        yield made
    finally:
        made.close()


def until(is_so: Callable[[], object]) -> None:
    """Look again and again until it is so; fails when it takes far too long."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "this never came to be"
        time.sleep(0.02)
