"""A RabbitMQ of a benchmark's own: one node on free ports with an epmd of its own, gone without a trace at the end."""

import os
import secrets
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.leases import free_port
from leasehold.life import CannotStart

HOMES = Path("/usr/lib/rabbitmq/lib")
_PATIENCE_S = 120.0
_GREETING = b"AMQP\x00\x00\x09\x01"


@contextmanager
def scratch_rabbit() -> Iterator[str]:
    """Its address; raises CannotStart where RabbitMQ is not installed."""
    home = _home()
    with tempfile.TemporaryDirectory(prefix="leasehold-bench-rabbit-", ignore_cleanup_errors=True) as name:
        folder, port, names = Path(name), free_port(), free_port()
        environment = _settled(folder, port, names)
        epmd = subprocess.Popen(["/usr/bin/env", "epmd", "-port", str(names), "-address", "127.0.0.1"], env=environment)
        with (folder / "said").open("wb") as said:
            node = subprocess.Popen(
                [str(home / "sbin" / "rabbitmq-server")],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd="/",
                env=environment,
                start_new_session=True,  # Ctrl-C is for us; we stop it when it is time
            )
        try:
            _wait(node, port, folder)
            yield f"amqp://guest:guest@127.0.0.1:{port}/"
        finally:
            # The one we started is a shell, which would leave Erlang behind.
            with suppress(OSError, ValueError):
                os.kill(int((folder / "pid").read_text()), signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                node.wait(30)
            with suppress(ProcessLookupError):
                os.killpg(node.pid, signal.SIGKILL)
            epmd.kill()
            epmd.wait()


def _home() -> Path:
    """Where the node's own scripts are. The one in sbin would become another user first."""
    found = sorted(HOMES.glob("rabbitmq_server-*"))
    if not found:
        raise CannotStart("RabbitMQ is not installed. Run `make services`, or measure without it: `--only http`.")
    return found[-1]


def _settled(folder: Path, port: int, names: int) -> dict[str, str]:
    """A place for everything, so that nothing of the machine's own RabbitMQ is touched."""
    for name in ("home", "mnesia", "log"):
        (folder / name).mkdir()
    cookie = folder / "home" / ".erlang.cookie"
    cookie.write_text(secrets.token_hex(16))
    cookie.chmod(0o400)
    (folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{port}\nlog.file.level = warning\n")
    (folder / "plugins").write_text("[].\n")
    (folder / "env").touch()
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
    given = {name: value for name, value in os.environ.items() if not name.startswith("RABBITMQ_")}
    return {
        **given,
        **{name: str(folder / value) for name, value in own.items()},
        "RABBITMQ_NODENAME": f"b{port}@localhost",
        "RABBITMQ_DIST_PORT": str(free_port()),
        "ERL_EPMD_PORT": str(names),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
    }


def _wait(node: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not _answers(port):
        if node.poll() is not None or time.monotonic() > deadline:
            told = (folder / "said").read_text(errors="replace")[-2000:]
            raise CannotStart(f"RabbitMQ did not start:\n{told}")
        time.sleep(0.1)


def _answers(port: int) -> bool:
    """Whether it speaks: what is no greeting it knows is answered with the one it does."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as probe:
            probe.sendall(_GREETING)
            return bool(probe.recv(8))
    except OSError:
        return False
