"""Where processes of ours are born with everything imported, which is most of what starting one costs.

`start` is `python -m MODULE WORDS…`: the same program, environment, folder and streams, in a process of its own. It is
forked from one that waits with the modules loaded and has done nothing else: no thread, no loop, no connection. What
needs an interpreter of its own, as for another clock below it, gets one.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parents[2]
# What only counts while an interpreter starts cannot be given to one that runs.
_OF_THE_START = ("LD_", "PYTHON")


class Process(Protocol):
    """As much of `subprocess.Popen` as is asked of a process here."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int, /) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Birth:
    """A process that is wanted."""

    words: list[str]
    folder: str
    environment: dict[str, str]
    out: str
    err: str
    module: str


class Child:
    """A process the nursery forked."""

    def __init__(self, pid: int, nursery: "Nursery") -> None:
        self._pid = pid
        self._code: int | None = None
        self._nursery = nursery

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def returncode(self) -> int | None:
        return self._code

    def poll(self) -> int | None:
        if self._code is None:
            self._code = self._nursery.code_of(self.pid)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(0.005)
        return code

    def send_signal(self, sig: int, /) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process that forks, seen from the tests. It ends when they do: its line to them is cut."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._codes: dict[int, int] = {}
        self._one_at_a_time = threading.Lock()

    def start(self, birth: Birth) -> Child:
        return Child(self._ask({"birth": asdict(birth)})["pid"], self)

    def code_of(self, pid: int) -> int | None:
        """The exit code of a child that has ended, minus the signal when one ended it."""
        if pid not in self._codes:
            self._codes |= {int(known): code for known, code in self._ask({})["ended"].items()}
        return self._codes.get(pid)

    def _ask(self, what: dict[str, Any]) -> Any:
        with self._one_at_a_time:
            if self._line is None:
                self._line = _open()
            self._line.sendall(json.dumps(what).encode() + b"\n")
            return json.loads(_line_from(self._line))


_NURSERY = Nursery()


def start(
    words: list[str], folder: Path, environment: Mapping[str, str], out: Path, err: Path, *, module: str = "leasehold"
) -> Process:
    """Start a module of ours as a process, and do not wait for anything."""
    out.touch()
    err.touch()
    if _is_born_here(environment):
        return _NURSERY.start(Birth(words, str(folder), dict(environment), str(out), str(err), module))
    with out.open("ab") as to_out, err.open("ab") as to_err:
        return subprocess.Popen(
            [sys.executable, "-m", module, *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=to_out,
            stderr=to_err,
        )


def _is_born_here(environment: Mapping[str, str]) -> bool:
    """Whether an environment asks for nothing that only a new interpreter can give."""
    return not any(
        name.startswith(_OF_THE_START) and os.environ.get(name) != value for name, value in environment.items()
    )


def _open() -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.parts.nursery", str(theirs.fileno())], cwd=ROOT, pass_fds=[theirs.fileno()]
        )

    def close() -> None:
        ours.close()
        process.wait()

    atexit.register(close)
    return ours


def _line_from(line: socket.socket) -> bytes:
    heard = b""
    while not heard.endswith(b"\n"):
        piece = line.recv(1 << 20)
        if not piece:
            raise EOFError("the other side has gone")
        heard += piece
    return heard


def _tend(line: socket.socket) -> Birth | None:
    """Answer until the tests are over (None), or until this is the child of a birth that was wished for."""
    ended: dict[int, int] = {}
    while True:
        try:
            asked = json.loads(_line_from(line))
        except (EOFError, ConnectionError):
            return None
        if "birth" not in asked:
            line.sendall(json.dumps({"ended": _ended(ended)}).encode() + b"\n")
            continue
        birth = Birth(**asked["birth"])
        pid = os.fork()
        if pid == 0:
            line.close()
            return birth
        line.sendall(json.dumps({"pid": pid}).encode() + b"\n")


def _ended(known: dict[int, int]) -> dict[int, int]:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return known
        if pid == 0:
            return known
        known[pid] = os.waitstatus_to_exitcode(status)


def _live(birth: Birth) -> None:
    """Be the process that was wished for."""
    import runpy

    os.environ.clear()
    os.environ.update(birth.environment)
    os.chdir(birth.folder)
    for number, (path, flags) in enumerate(
        [(os.devnull, os.O_RDONLY), (birth.out, os.O_WRONLY | os.O_APPEND), (birth.err, os.O_WRONLY | os.O_APPEND)]
    ):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = [birth.module, *birth.words]
    sys.path[0:1] = [birth.folder, str(ROOT)]
    runpy.run_module(birth.module, run_name="__main__", alter_sys=True)


def _main() -> None:
    import gc

    import leasehold.app
    import leasehold.cli
    import leasehold.client.worker_command  # noqa: F401

    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Children would copy every page that the collector looks at.
    gc.collect()
    gc.freeze()
    if birth := _tend(socket.socket(fileno=int(sys.argv[1]))):
        _live(birth)


if __name__ == "__main__":
    _main()
