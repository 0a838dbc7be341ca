"""The test run's own PostgreSQL: one cluster for all workers, one migrated database for each."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import sql

from leasehold.embedded import Embedded
from leasehold.migrate import migrate
from tests.parts import canaries

# What is there once and for all; everything else is emptied between tests.
_KEPT = ("pool", "schema_mark", "readiness", "yoyo_lock", "_yoyo_log", "_yoyo_migration", "_yoyo_version")


def run_folder() -> Path:
    """One folder for all workers of a run. Not pytest's own: that is closed to the user PostgreSQL runs as."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
    folder = Path(tempfile.gettempdir()) / f"leasehold-tests-{run[:12]}"
    folder.mkdir(mode=0o755, exist_ok=True)
    return folder


class Postgres:
    """A running cluster and how to get a database in it."""

    def __init__(self, cluster: Embedded) -> None:
        self.cluster = cluster

    def create(self, name: str) -> "TestDatabase":
        with psycopg.connect(self.cluster.url("postgres"), autocommit=True) as conn:
            conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
            conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return TestDatabase(self.cluster.url(name))

    def kill(self) -> None:
        """End it as a crash would, workers and all. Only for one that nobody shares."""
        postmaster = psutil.Process(self.cluster.pid)
        for process in [postmaster, *postmaster.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def start(self) -> None:
        """Start it again, and wait until it takes connections."""
        self.cluster.revive()


class TestDatabase:
    """One database, as its owner: tests look and arrange here past every wall."""

    __test__ = False

    def __init__(self, url: str) -> None:
        self.url = url
        self._used_by = ""

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    def rows(self, query: str, *values: object) -> list[Any]:
        with self.connect() as conn:
            return conn.execute(query.encode(), values).fetchall()

    def run(self, statement: str, *values: object) -> None:
        with self.connect() as conn:
            conn.execute(statement.encode(), values)

    def empty(self) -> None:
        """Delete every row; a millisecond, where a new database would take a hundred. No secret may stand in one."""
        leaks = []
        with self.connect() as conn:
            tables = _used_tables(conn)
            # Past the audit's own guard and foreign keys: this is the one place that may.
            conn.execute("SET session_replication_role = replica")
            for table in tables:
                gone = conn.execute(
                    sql.SQL(
                        "WITH gone AS (DELETE FROM {} t RETURNING t.*::text AS line)"
                        " SELECT 1 FROM gone WHERE line ~ %s LIMIT 1"
                    ).format(sql.Identifier(*table)),
                    [canaries.pattern()],
                )
                leaks += [table[1]] if gone.fetchone() else []
            conn.execute(
                "UPDATE pool SET store = 'postgres', moving_to = NULL WHERE store = 'mongo' OR moving_to IS NOT NULL"
            )
        used_by, self._used_by = self._used_by, os.environ.get("PYTEST_CURRENT_TEST", "")
        if leaks:
            raise canaries.SecretLeaked(f"a secret stood in {', '.join(leaks)}, since {used_by}")


def _used_tables(conn: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    """Those with a row, all asked in one go: most tests touch a few of many."""
    tables = conn.execute(
        "SELECT schemaname, tablename FROM pg_tables"
        " WHERE schemaname IN ('public', 'faces') AND NOT tablename = ANY(%s)",
        [list(_KEPT)],
    ).fetchall()
    questions = [
        sql.SQL("SELECT {}, {} WHERE EXISTS (SELECT FROM {})").format(*table, sql.Identifier(*table))
        for table in tables
    ]
    return conn.execute(sql.SQL(" UNION ALL ").join(questions)).fetchall()


@contextmanager
def running() -> Iterator[Postgres]:
    folder = run_folder()
    cluster = Embedded(folder)
    cluster.start()
    _hurry(cluster)
    try:
        yield Postgres(cluster)
    finally:
        cluster.stop()
        if not cluster.is_running():
            try:
                canaries.check_files(folder)  # its logs, and rows that are long deleted
            finally:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def alone() -> Iterator[Postgres]:
    """A cluster of one's own, to be killed. It waits for the disk as in life."""
    folder = Path(tempfile.mkdtemp(prefix="leasehold-postgres-"))
    folder.chmod(0o755)
    cluster = Embedded(folder)
    cluster.start()
    try:
        yield Postgres(cluster)
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _hurry(cluster: Embedded) -> None:
    """Do not wait for the disk: only a machine that loses its power would need that."""
    _set_fsync(cluster, "off")


@contextmanager
def durable(postgres: Postgres) -> Iterator[None]:
    """PostgreSQL as it is in life, for those who look at how it is set."""
    _set_fsync(postgres.cluster, "on")
    try:
        yield
    finally:
        _set_fsync(postgres.cluster, "off")


def _set_fsync(cluster: Embedded, value: str) -> None:
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as conn:
        conn.execute(sql.SQL("ALTER SYSTEM SET fsync = {}").format(sql.Literal(value)))
        conn.execute("SELECT pg_reload_conf()")


def migrated(postgres: Postgres, name: str) -> TestDatabase:
    database = postgres.create(name)
    migrate(database.url)
    return database
