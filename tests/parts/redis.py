"""A worker's own Redis: a real redis-server that keeps what it was told, and ends with the tests however they end."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from tests.parts import canaries
from tests.parts.ports import free_port

# Generous: it is only used up when something is broken.
_PATIENCE_S = 30.0
_ATTEMPTS = 10
# The shell becomes Redis, so its pid is Redis's. What it leaves behind ends Redis when we are gone without a word.
_GUARDED = """
exec 3<&0 </dev/null
(read -r word <&3 || { kill -9 $$; rm -rf "$0"; }) &
exec "$@" 3<&-
"""


class RedisServer:
    """One redis-server in a folder of its own. It comes back on the same port with the same data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = folder / "redis.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self) -> "Redis":
        """A client to use in a `with`."""
        return Redis.from_url(self.url, socket_timeout=_PATIENCE_S)

    def start(self) -> None:
        """Start it unless it runs, and wait until it answers."""
        if self._process is not None and self._process.poll() is None:
            return
        self.kill()  # sends away the guard of one that died by itself
        for _ in range(_ATTEMPTS):
            self.port = self.port or free_port()
            if self._boot():
                return
            self.port = 0
        raise AssertionError(f"redis-server did not start:\n{self._log.read_text(errors='replace')[-2000:]}")

    def kill(self) -> None:
        """End it as a crash would."""
        process = self._process
        if process is None or process.stdin is None or process.stdin.closed:
            return
        process.send_signal(signal.SIGKILL)
        with suppress(BrokenPipeError), process.stdin as guard:
            guard.write(b"done\n")
        process.wait(_PATIENCE_S)

    def _boot(self) -> bool:
        program = shutil.which("redis-server", path=f"{os.environ.get('PATH', '')}:/usr/bin:/usr/sbin")
        assert program, "redis-server is not installed: `make services` does it"
        options = {"port": str(self.port), "bind": "127.0.0.1", "dir": str(self.folder), "appendonly": "yes"}
        options |= {"appendfsync": "always", "save": "", "daemonize": "no"}
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDED, str(self.folder), program, *words],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(RedisError), self.client() as client:
                if client.ping():
                    return True
            time.sleep(0.02)
        self.kill()
        return False


@contextmanager
def running() -> Iterator[RedisServer]:
    folder = Path(tempfile.mkdtemp(prefix="leasehold-redis-"))
    server = RedisServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        try:
            canaries.check_files(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
