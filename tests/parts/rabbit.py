"""A worker's own RabbitMQ: a real node with an epmd of its own, which ends with the tests however they end."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.parts import canaries
from tests.parts.ports import free_port

# Generous: it is only used up when something is broken.
_PATIENCE_S = 120.0
_ATTEMPTS = 5
_VHOSTS_AT_ONCE = 25
# The script stays a shell and starts Erlang beside itself; the pid file has Erlang's own pid. Who waits for a word of
# ours ends both, and epmd, when we are gone without one.
_GUARDED = """
exec 3<&0 </dev/null
epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 3<&- &
names=$!
(read -r word <&3 || kill -9 $$ $(cat "$RABBITMQ_PID_FILE"); kill -9 $names; [ "$word" ] || rm -rf "$0") 2>/dev/null &
exec "$@" 3<&-
"""
_HEADER = b"AMQP\x00\x00\x09\x01"


class RabbitFailed(Exception):
    """RabbitMQ did not start; the message says why."""


class Rabbit:
    """One node in a folder of its own. It comes back on the same ports with the same data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._environment: dict[str, str] = {}
        self._vhosts: list[str] = []

    def url(self, vhost: str, user: str = "guest", password: str = "guest") -> str:  # noqa: S107
        return f"amqp://{user}:{password}@127.0.0.1:{self.port}/{vhost}"

    @property
    def pid(self) -> int:
        """Erlang's own."""
        return int((self.folder / "pid").read_text())

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None and _answers(self.port)

    def start(self) -> None:
        """Start it unless it runs, and wait until it takes connections."""
        if self.is_running():
            return
        self.kill()  # sends away the guard of one that died by itself
        for _ in range(_ATTEMPTS):
            if not self.port:
                self._settle()
            try:
                self._boot()
            except RabbitFailed as error:
                if "eaddrinuse" not in str(error) or self._vhosts:
                    raise
                self.port = 0  # somebody was quicker
            else:
                return
        raise RabbitFailed("RabbitMQ found no free port.")

    def kill(self) -> None:
        """End it as a crash would: nothing is written any more."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Let it write what it has and leave."""
        self._end(signal.SIGTERM)

    def vhost(self) -> str:
        """A virtual host where nothing is. They are made by the dozen: each call of the control program is a second."""
        if not self._vhosts:
            self._vhosts = [f"t{secrets.token_hex(4)}" for _ in range(_VHOSTS_AT_ONCE)]
            names = ",".join(f'<<"{name}">>' for name in self._vhosts)
            self.control(
                "eval",
                f'[begin rabbit_vhost:add(V, <<"t">>), rabbit_auth_backend_internal:set_permissions('
                f'<<"guest">>, V, <<".*">>, <<".*">>, <<".*">>, <<"t">>) end || V <- [{names}]].',
            )
        return self._vhosts.pop()

    def user(self, name: str, vhost: str) -> str:
        """Another user there; returns its address."""
        self.control(
            "eval",
            f'rabbit_auth_backend_internal:add_user(<<"{name}">>, <<"secret">>, <<"t">>), '
            f'rabbit_auth_backend_internal:set_permissions(<<"{name}">>, <<"{vhost}">>, '
            '<<".*">>, <<".*">>, <<".*">>, <<"t">>).',
        )
        return self.url(vhost, name, "secret")

    def control(self, *words: str) -> str:
        """Run rabbitmqctl on it."""
        command = [str(_home() / "sbin" / "rabbitmqctl"), "--quiet", *words]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=_PATIENCE_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _settle(self) -> None:
        """Ports and a place for everything, so that nothing of the machine's own RabbitMQ is touched."""
        self.port, names, distribution = (free_port() for _ in range(3))
        for name in ("home", "mnesia", "log"):
            (self.folder / name).mkdir(exist_ok=True)
        cookie = self.folder / "home" / ".erlang.cookie"
        cookie.unlink(missing_ok=True)
        cookie.write_text(secrets.token_hex(16))
        cookie.chmod(0o400)
        (self.folder / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\nlog.file.level = warning\n"
        )
        (self.folder / "plugins").write_text("[].\n")
        (self.folder / "env").touch()
        own = {
            "HOME": "home",
            "RABBITMQ_MNESIA_BASE": "mnesia",
            "RABBITMQ_MNESIA_DIR": "mnesia/node",
            "RABBITMQ_LOG_BASE": "log",
            "RABBITMQ_PID_FILE": "pid",
            "RABBITMQ_FEATURE_FLAGS_FILE": "flags",
            "RABBITMQ_CONF_ENV_FILE": "env",
            "RABBITMQ_CONFIG_FILE": "rabbitmq.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": "plugins",
        }
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("RABBITMQ_")}
        self._environment |= {name: str(self.folder / value) for name, value in own.items()}
        self._environment |= {
            "RABBITMQ_NODENAME": f"t{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(distribution),
            "ERL_EPMD_PORT": str(names),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            # It counts the messages of its queues so often, in milliseconds; by itself every five seconds.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}"
            " -rabbit quorum_tick_interval 500",
        }

    def _boot(self) -> None:
        (self.folder / "pid").unlink(missing_ok=True)
        command = str(_home() / "sbin" / "rabbitmq-server")
        with (self.folder / "said").open("wb") as said:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDED, str(self.folder), command],
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                cwd="/",
                env=self._environment,
                start_new_session=True,  # Ctrl-C is for us; we stop it when it is time
            )
        deadline = time.monotonic() + _PATIENCE_S
        while not _answers(self.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                told = (self.folder / "said").read_text(errors="replace")[-4000:]
                self.kill()
                raise RabbitFailed(f"RabbitMQ did not start:\n{told}")
            time.sleep(0.05)

    def _end(self, number: signal.Signals) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.closed:
            return
        with suppress(OSError, ValueError):
            os.kill(self.pid, number)
        if number is signal.SIGKILL:
            process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE_S)
        with suppress(BrokenPipeError), process.stdin as guard:  # ends epmd, and goes
            guard.write(b"done\n")
        self._wait_until_gone()

    def _wait_until_gone(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        with suppress(OSError, ValueError, psutil.NoSuchProcess):
            beam = psutil.Process(self.pid)
            while beam.is_running() and beam.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
                time.sleep(0.02)


@contextmanager
def running() -> Iterator[Rabbit]:
    folder = Path(tempfile.mkdtemp(prefix="leasehold-rabbit-"))
    rabbit = Rabbit(folder)
    try:
        rabbit.start()
        yield rabbit
    finally:
        rabbit.kill()  # nobody will read what it could still write
        try:
            canaries.check_files(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _answers(port: int) -> bool:
    """Whether it speaks: what is no greeting it knows is answered with the one it does."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as probe:
            probe.sendall(_HEADER)
            return bool(probe.recv(8))
    except OSError:
        return False


def _home() -> Path:
    """Where the node's own scripts are. The one in sbin would become another user first."""
    found = sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*"))
    if not found:
        raise RabbitFailed("RabbitMQ is not installed. Run `make services`.")
    return found[-1]
