"""The life of a leasehold process: what it takes before it serves, and what it gives back however it ends."""

import asyncio
import fcntl
import json
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO

import uvloop
from fastapi import FastAPI
from psycopg import OperationalError, ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from leasehold import __version__, duties, memory, server, stores, tracing
from leasehold.accounts import WrongStore
from leasehold.app import build, edged
from leasehold.auth import Tokens
from leasehold.db import Database
from leasehold.embedded import Embedded
from leasehold.migrate import migrate
from leasehold.settings import Settings
from leasehold.settings import traces as traces_wanted
from leasehold.vault import Keyring, KeysInvalid

KEY_FILE = "keys"


class CannotStart(Exception):
    """Something stands in the way; the message says what to do about it."""


def signals_as_exit() -> None:
    """Let SIGTERM, SIGINT and a closed terminal unwind the stack, so that everything on the way is given back."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # else somebody, like nohup, wants it to be ignored
        signal.signal(signal.SIGHUP, lambda _number, _frame: signal.raise_signal(signal.SIGTERM))


def _leave(_number: int, _frame: FrameType | None) -> None:
    _ignore_signals()
    sys.exit(0)


def _ignore_signals() -> None:
    # An impatient second Ctrl-C must not leave PostgreSQL behind.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """The owner's address of the database, with embedded PostgreSQL running behind it if none is configured."""
    with _database(settings) as (url, _embedded):
        yield url


@contextmanager
def _database(settings: Settings) -> Iterator[tuple[str, Embedded | None]]:
    if url := settings.database_url.get_secret_value():
        _refuse_unreadable(url)
        try:
            yield url, None
        except OperationalError as error:
            raise CannotStart(
                f"LEASEHOLD_DATABASE_URL: the database does not answer ({str(error).splitlines()[0]})."
            ) from None
        return
    embedded = Embedded(settings.data_dir)
    try:
        yield embedded.start(), embedded
    finally:
        _ignore_signals()
        embedded.stop()


def _refuse_unreadable(url: str) -> None:
    # What libpq says of an address it cannot take apart quotes pieces of it, and with them the password.
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError:
        parts = {"host": "", "port": "?"}
    if "@" in str(parts.get("host", ""))[1:] or not re.fullmatch(r"[0-9,]*", str(parts.get("port", ""))):
        raise CannotStart(
            "LEASEHOLD_DATABASE_URL cannot be read as postgresql://user:password@host:port/database. "
            "Percent-encode what is neither letter nor digit in the user and the password (@ is %40)."
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that it takes to serve: a database that is migrated, a socket that listens, an app that is built."""

    app: FastAPI
    listener: socket.socket
    address: str
    token: str | None  # of the first admin, if somebody must be told it


def serve_until_stopped(settings: Settings, verb: str, say: Callable[[str], None]) -> None:
    """Serve the API until SIGINT or SIGTERM. `up` is alone in its data folder; `serve` may have company."""
    with _prepared(settings, verb) as ready:

        def welcome() -> None:
            memory.settle()
            say(_welcome(settings, ready.address, ready.token))
            sys.stdout.flush()

        _server(ready, settings, welcome).run(sockets=[ready.listener])


@contextmanager
def serving(settings: Settings) -> Iterator[Prepared]:
    """What `up` does, in a thread, for as long as the block runs; gives what it is once it answers."""
    with _prepared(settings, "up") as ready:
        answers = threading.Event()
        served = _server(ready, settings, answers.set)
        failed: list[BaseException] = []

        def run() -> None:
            try:
                served.run(sockets=[ready.listener])
            except BaseException as error:
                failed.append(error)
            finally:
                answers.set()

        thread = threading.Thread(target=run, name="leasehold-up")
        thread.start()
        try:
            answers.wait()
            if failed or not served.started:
                raise CannotStart("The server did not start; the log above says why.")
            yield ready
        finally:
            _ignore_signals()
            served.stop()
            thread.join()


@contextmanager
def _prepared(settings: Settings, verb: str) -> Iterator[Prepared]:
    with ExitStack() as stack, _alone_if(verb == "up", settings.data_dir) as note:
        keys = keyring(settings, may_make=verb == "up")
        _refuse_without_mongo(settings)
        traces = stack.enter_context(_traces())
        listener = _listen(settings)
        address = f"http://{_host(settings.host)}:{listener.getsockname()[1]}"
        note(address)
        with _database(settings) as (url, embedded):
            token = _prepare(settings, url)
            wanted = duties.ALL if verb == "up" else duties.OF_A_SERVER
            app = build(settings, url, keys, duties=wanted, traces=traces)
            if embedded:
                app.state.background.add("embedded-postgres", partial(asyncio.to_thread, embedded.revive), every_s=1.0)
            yield Prepared(app, listener, address, token)


def _server(ready: Prepared, settings: Settings, on_ready: Callable[[], None]) -> server.Server:
    def stopping() -> None:
        ready.app.state.health.is_draining = True
        for room in ready.app.state.rooms:
            room.close()

    return server.make(edged(ready.app), settings, on_ready, stopping)


def work_until_stopped(settings: Settings, only: str | None, say: Callable[[str], None]) -> None:
    """Do background work without answering requests, until SIGINT or SIGTERM. Any number may run beside each other."""
    wanted = duties.read(only)
    keys = keyring(settings, may_make=False)
    _refuse_without_mongo(settings)
    with _traces() as traces, database(settings) as url:
        _prepare(settings, url)
        app = build(settings, url, keys, duties=wanted, traces=traces)

        async def work() -> None:
            stopped = asyncio.Event()
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, stopped.set)
            async with app.router.lifespan_context(app):
                say(f"leasehold {__version__} works: {', '.join(sorted(wanted))}. Ctrl-C stops it.")
                sys.stdout.flush()
                await stopped.wait()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(work())


@contextmanager
def _traces() -> Iterator[tracing.Traces | None]:
    """What is traced, if OpenTelemetry's variables ask for it; all of it is sent before we go."""
    try:
        traces = tracing.make(*traces_wanted())
    except tracing.TracesMissing as error:
        raise CannotStart(str(error)) from None
    try:
        yield traces
    finally:
        if traces is not None:
            traces.close()


def _refuse_without_mongo(settings: Settings) -> None:
    if settings.pools == "mongo" and not settings.mongo_url.get_secret_value():
        raise CannotStart("LEASEHOLD_POOLS is mongo: say in LEASEHOLD_MONGO_URL where, as mongodb://host:port/name.")


def key_place(settings: Settings) -> str:
    """Where the keys are, as people are told."""
    return "LEASEHOLD_KEYS" if settings.keys.get_secret_value() else str(settings.data_dir / KEY_FILE)


def keyring(settings: Settings, *, may_make: bool) -> Keyring:
    """The keys that open secrets: from the setting, else from the data folder; `up` makes one where there is none."""
    file = settings.data_dir / KEY_FILE
    try:
        if given := settings.keys.get_secret_value():
            return Keyring.parse(given)
        if may_make:
            settings.data_dir.mkdir(parents=True, exist_ok=True)
            return Keyring.create_file(file)
        if file.exists():
            return Keyring.from_file(file)
    except KeysInvalid as error:
        raise CannotStart(str(error)) from None
    raise CannotStart(
        "There is no key to seal secrets with. Set LEASEHOLD_KEYS to id:base64 of 32 random bytes, such as "
        f'LEASEHOLD_KEYS="k1:$(openssl rand -base64 32)", and keep it safe; `up` would make one in {file}.'
    )


def _prepare(settings: Settings, url: str) -> str | None:
    """Migrate, and make the first admin of an empty database; returns the token if somebody must be told it."""
    migrate(url)
    given = settings.bootstrap_token.get_secret_value() if settings.bootstrap_token else None
    return asyncio.run(_first_token(settings, url, given))


async def _first_token(settings: Settings, url: str, given: str | None) -> str | None:
    async with Database(url, pool_size=2) as db:
        try:
            await stores.insist(settings, db)
        except WrongStore as error:
            raise CannotStart(str(error)) from None
        return await Tokens(db).bootstrap(given)


def _welcome(settings: Settings, address: str, token: str | None) -> str:
    lines = [f"leasehold {__version__} is up", "", f"  UI    {address}/ui/", f"  API   {address}/docs"]
    if not settings.database_url.get_secret_value():
        lines.append(f"  data  {settings.data_dir}")
    if token:
        lines += [
            "",
            "First start: this is the admin token. It is shown this once; keep it safe.",
            "",
            f"  {token}",
            "",
            "Paste it into the UI, or use it from a shell:",
            f'  curl -H "Authorization: Bearer {token}" {address}/v2/sites',
        ]
    else:
        lines += [
            "",
            "Sign in with a token you have, or make another:",
            f"  {_command(settings)} tokens create --role admin",
        ]
    return "\n".join([*lines, "", "Ctrl-C stops it."])


def _command(settings: Settings) -> str:
    """How to run another command on this data folder, from any folder."""
    environment = "" if settings.database_url.get_secret_value() else f"LEASEHOLD_DATA_DIR={settings.data_dir} "
    return f"{environment}{Path(sys.executable).parent / 'leasehold'}"


def _listen(settings: Settings) -> socket.socket:
    try:
        return server.listen(settings.host, settings.port)
    except OSError as error:
        raise CannotStart(
            f"Cannot listen on {settings.host}:{settings.port} ({error.strerror}). "
            "Choose another with --port or LEASEHOLD_PORT; --port 0 takes a free one."
        ) from None


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@contextmanager
def _alone_if(wanted: bool, data_dir: Path) -> Iterator[Callable[[str], None]]:
    """Hold the data folder against a second `up`, and leave word of who holds it."""
    if not wanted:
        yield lambda _address: None
        return
    data_dir.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(data_dir / "up.lock", os.O_RDWR | os.O_CREAT, 0o600), "r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(_occupied(data_dir, lock)) from None

        def note(address: str) -> None:
            lock.seek(0)
            lock.truncate()
            lock.write(json.dumps({"pid": os.getpid(), "address": address}))
            lock.flush()

        yield note


def _occupied(data_dir: Path, lock: IO[str]) -> str:
    lock.seek(0)
    try:
        holder = json.loads(lock.read())
        where = f" at {holder['address']} (pid {holder['pid']})"
    except ValueError:
        where = ""
    return (
        f"leasehold is already running{where} with the data folder {data_dir}. "
        "Use that one, stop it first, or choose another folder with --data."
    )
