"""The test run's own PostgreSQL: one cluster for all workers, one migrated database for each."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from leasehold.embedded import Embedded
from leasehold.migrate import migrate

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


class TestDatabase:
    """One database, as its owner: tests look and arrange here past every wall."""

    __test__ = False

    def __init__(self, url: str) -> None:
        self.url = url

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    def rows(self, query: str, *values: object) -> list[Any]:
        with self.connect() as conn:
            return conn.execute(query.encode(), values).fetchall()

    def run(self, statement: str, *values: object) -> None:
        with self.connect() as conn:
            conn.execute(statement.encode(), values)

    def empty(self) -> None:
        """Delete every row; a millisecond, where a new database would take a hundred."""
        with self.connect() as conn:
            tables = conn.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND NOT tablename = ANY(%s)", [list(_KEPT)]
            ).fetchall()
            # Past the audit's own guard and foreign keys: this is the one place that may.
            conn.execute("SET session_replication_role = replica")
            for (table,) in tables:
                conn.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
            conn.execute(
                "UPDATE pool SET store = 'postgres', moving_to = NULL WHERE store = 'mongo' OR moving_to IS NOT NULL"
            )


@contextmanager
def running() -> Iterator[Postgres]:
    folder = run_folder()
    cluster = Embedded(folder)
    cluster.start()
    try:
        yield Postgres(cluster)
    finally:
        cluster.stop()
        if not cluster.is_running():
            shutil.rmtree(folder, ignore_errors=True)


def migrated(postgres: Postgres, name: str) -> TestDatabase:
    database = postgres.create(name)
    migrate(database.url)
    return database
