"""Bring a database to this version's schema; safe when many start at once and when one is killed half-way."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import psycopg
from yoyo import read_migrations
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
from yoyo.connections import DatabaseURI
from yoyo.exceptions import BadMigration

# Any number, as long as it is ours alone: the key of the lock that one migrator holds.
LOCK_KEY = 0x6C656173
APPLICATION_NAME = "leasehold-migrate"
# Of those who only look or wait: a migrator ends what else it finds under its own name.
LOOKING = "leasehold-migrate-lock"
PATIENCE_SECONDS = 300.0
# A table that is there while a database is being restored, and no longer.
RESTORING = "public.restore_under_way"


class MigrationsBusy(Exception):
    """Another process has been migrating this database for too long."""


class MigrationFailed(Exception):
    """A migration could not be applied; the message names it, and nothing of it is left."""


class RestoreUnfinished(Exception):
    """The database is being restored, or that was cut short: what is in it is not to be used."""


class MigrationMissing(Exception):
    """A migration left no mark although it was applied."""


class _Backend(PostgresqlPsycopgBackend):  # type: ignore[misc]
    """yoyo's own, but it connects by our address as it stands instead of taking it apart."""

    def __init__(self, url: str) -> None:
        self._url = url
        super().__init__(DatabaseURI("postgresql+psycopg", "", "", "", None, "", {}), "_yoyo_migration")

    def connect(self, _dburi: Any) -> psycopg.Connection[Any]:
        return psycopg.connect(self._url, autocommit=True, application_name=APPLICATION_NAME)

    def init_connection(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute("SET lock_timeout = '30s'")

    def copy(self) -> "_Backend":
        return _Backend(self._url)


def folder() -> Path:
    """Where the numbered files are, in a checkout and in a wheel alike."""
    return Path(str(resources.files("leasehold") / "migrations"))


def shipped(files: Path | None = None) -> list[str]:
    return sorted(file.stem for file in (files or folder()).glob("[0-9]*.sql"))


def migrate(url: str, patience_seconds: float = PATIENCE_SECONDS, files: Path | None = None) -> list[str]:
    """Apply what is missing and return its names. `files` is another folder than the one we ship."""
    refuse_half_restored(url)
    return migrate_restored(url, patience_seconds, files)


def migrate_restored(url: str, patience_seconds: float = PATIENCE_SECONDS, files: Path | None = None) -> list[str]:
    """The same for who is restoring it."""
    with _alone(url, patience_seconds), _Backend(url) as backend:
        # Whoever left this row is dead: the lock that counts is the one held here.
        backend.init_database()
        backend.break_lock()
        migrations = read_migrations(str(files or folder()))
        _believe_marks(backend, migrations)
        applied = backend.to_apply(migrations)
        for migration in applied:
            _apply(backend, migration)
        _insist(_marks(backend.connection), files)
        return [migration.id for migration in applied]


def refuse_half_restored(url: str) -> None:
    """Every command comes by here before it does anything; raises RestoreUnfinished."""
    with psycopg.connect(url, autocommit=True, application_name=LOOKING) as conn:
        row = conn.execute("SELECT to_regclass(%s::text)", [RESTORING]).fetchone()
    if row is not None and row[0] is not None:
        raise RestoreUnfinished(
            "This database is being restored, or that was cut short. If `leasehold restore` is at work, let it end. "
            "Else restore again into an empty database: another data folder with --into, or drop this database and "
            "make it anew; where the pools are in MongoDB, drop that database, too."
        )


def missing(marks: set[str], files: Path | None = None) -> list[str]:
    """What this version ships and a database with these marks has not; a newer database has more, and that is fine."""
    return [name for name in shipped(files) if name not in marks]


def _apply(backend: _Backend, migration: Any) -> None:
    try:
        backend.apply_one(migration)
    except (psycopg.Error, BadMigration) as error:
        raise MigrationFailed(f"Migration {migration.id} failed: {str(error).splitlines()[0]}") from error


def _insist(marks: set[str], files: Path | None) -> None:
    if left := missing(marks, files):
        raise MigrationMissing(f"These migrations did not apply: {', '.join(left)}. Reinstall leasehold and try again.")


def _believe_marks(backend: _Backend, migrations: Any) -> None:
    # yoyo notes an applied file in a second transaction. Who dies between the two leaves a file applied but not
    # noted; the mark that each file writes inside its own transaction tells.
    applied = set(backend.get_applied_migration_hashes())
    for migration in migrations:
        if migration.hash not in applied and migration.id in _marks(backend.connection):
            with backend.transaction():
                backend.mark_one(migration)


def _marks(conn: psycopg.Connection[Any]) -> set[str]:
    row = conn.execute("SELECT to_regclass('schema_mark') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return set()
    return {name for (name,) in conn.execute("SELECT name FROM schema_mark")}


@contextmanager
def _alone(url: str, patience_seconds: float) -> Iterator[None]:
    """Hold the migrators' lock. Polled, because a blocked lock statement would hang CREATE INDEX CONCURRENTLY."""
    deadline = time.monotonic() + patience_seconds
    with psycopg.connect(url, autocommit=True, application_name=LOOKING) as conn:
        while not _holds(conn.execute("SELECT pg_try_advisory_lock(%s::bigint)", [LOCK_KEY])):
            if time.monotonic() > deadline:
                raise MigrationsBusy(
                    "Another process is migrating this database. Wait for it, or end it "
                    f"(application_name {APPLICATION_NAME!r} in pg_stat_activity)."
                )
            time.sleep(0.1)
        _end_orphans(conn)
        yield


def _holds(cursor: psycopg.Cursor[Any]) -> bool:
    row = cursor.fetchone()
    return row is not None and bool(row[0])


def _end_orphans(conn: psycopg.Connection[Any]) -> None:
    # A migrator that was killed gives its lock back at once, but PostgreSQL goes on with the statement it was in.
    conn.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = %s::text",
        [APPLICATION_NAME],
    )
