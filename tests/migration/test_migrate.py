"""Migrations: once each, however many start at once, and whatever the last one died of."""

import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from leasehold.migrate import (
    LOCK_KEY,
    MigrationFailed,
    MigrationMissing,
    MigrationsBusy,
    folder,
    migrate,
    missing,
    shipped,
)
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import PATIENCE_S, until

MIGRATE = """
import pathlib, sys
from leasehold.migrate import migrate
print(*migrate(sys.argv[1], files=pathlib.Path(sys.argv[2])))
"""
MARK = "INSERT INTO schema_mark (name) VALUES ('0900_more');"
SLEEPING = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = 'SELECT pg_sleep(600)'"


@pytest.fixture
def fresh(postgres: Postgres, worker_id: str) -> TestDatabase:
    """A database with nothing in it."""
    return postgres.create(f"lh_migrate_{worker_id}")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A copy of the shipped files, for a test to add one of its own."""
    return Path(shutil.copytree(folder(), tmp_path / "migrations"))


def start(database: TestDatabase, files: Path) -> subprocess.Popen[str]:
    """A migrator in a process of its own; it prints what it applied."""
    return subprocess.Popen(
        [sys.executable, "-c", MIGRATE, database.url, str(files)], stdout=subprocess.PIPE, text=True
    )


def marks(database: TestDatabase) -> list[Any]:
    return database.rows("SELECT name, at FROM schema_mark ORDER BY name")


def test_each_migration_is_applied_once_when_many_start_at_once(fresh: TestDatabase) -> None:
    migrators = [start(fresh, folder()) for _ in range(4)]

    told = [migrator.communicate(timeout=PATIENCE_S)[0] for migrator in migrators]

    assert [migrator.returncode for migrator in migrators] == [0] * 4
    assert sorted(told) == ["\n"] * 3 + [" ".join(shipped()) + "\n"]
    assert [name for name, _ in marks(fresh)] == shipped()


def test_who_only_looks_is_not_ended_by_who_migrates(fresh: TestDatabase) -> None:
    migrate(fresh.url)

    with ThreadPoolExecutor(8) as threads:
        applied = list(threads.map(lambda _: migrate(fresh.url), range(64)))

    assert applied == [[]] * 64


def test_a_killed_migrator_is_followed_by_one_that_completes(fresh: TestDatabase, files: Path) -> None:
    more = files / "0900_more.sql"
    more.write_text("CREATE TABLE more (id int); SELECT pg_sleep(600)")
    with start(fresh, files) as killed:
        until(lambda: fresh.rows(SLEEPING))
        killed.send_signal(signal.SIGKILL)
    assert fresh.rows(SLEEPING)  # PostgreSQL has not noticed, and holds the locks of half a migration
    more.write_text(f"CREATE TABLE more (id int); {MARK}")

    applied = migrate(fresh.url, files=files)

    assert applied == ["0900_more"]
    assert not fresh.rows(SLEEPING)
    assert fresh.rows("SELECT * FROM more") == []


def test_a_lock_row_that_yoyo_left_does_not_stop_a_start(fresh: TestDatabase) -> None:
    fresh.run("CREATE TABLE yoyo_lock (locked int PRIMARY KEY DEFAULT 1, ctime timestamp, pid int NOT NULL)")
    fresh.run("INSERT INTO yoyo_lock VALUES (1, now(), 1)")

    assert migrate(fresh.url) == shipped()

    fresh.run("INSERT INTO yoyo_lock VALUES (1, now(), 1)")
    assert migrate(fresh.url) == []


def test_what_was_applied_but_not_noted_is_not_applied_again(fresh: TestDatabase) -> None:
    migrate(fresh.url)
    before = marks(fresh)
    fresh.run("DELETE FROM _yoyo_migration; DELETE FROM _yoyo_log")

    applied = migrate(fresh.url)

    assert applied == []
    assert marks(fresh) == before
    assert [name for (name,) in fresh.rows("SELECT migration_id FROM _yoyo_migration ORDER BY 1")] == shipped()


def test_a_newer_database_is_fine_for_older_code(fresh: TestDatabase, files: Path) -> None:
    (files / "0900_more.sql").write_text(MARK)
    migrate(fresh.url, files=files)

    applied = migrate(fresh.url)

    assert applied == []
    assert missing({name for name, _ in marks(fresh)}) == []


def test_what_a_database_lacks_is_told_in_order() -> None:
    assert missing(set()) == shipped()
    assert missing({shipped()[0], "0900_more"}) == shipped()[1:]


@pytest.mark.parametrize("file", sorted(folder().iterdir()), ids=lambda file: file.name)
def test_every_file_is_numbered_and_ends_by_writing_its_own_mark(file: Path) -> None:
    assert file.name[:5].rstrip("_").isdigit()
    assert file.suffix == ".sql"

    last = file.read_text(encoding="utf-8").rstrip().splitlines()[-1]

    assert last == f"INSERT INTO schema_mark (name) VALUES ('{file.stem}');"


def test_no_two_files_have_the_same_number() -> None:
    numbers = [name[:4] for name in shipped()]

    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]


def test_a_failing_file_is_named_and_leaves_nothing_of_itself(fresh: TestDatabase, files: Path) -> None:
    (files / "0900_more.sql").write_text(f"CREATE TABLE more (id int); {MARK} SELECT 1 / 0;")

    with pytest.raises(MigrationFailed, match="0900_more failed: division by zero"):
        migrate(fresh.url, files=files)

    assert fresh.rows("SELECT to_regclass('more')") == [(None,)]
    assert [name for name, _ in marks(fresh)] == shipped()
    assert migrate(fresh.url) == []


def test_a_file_that_leaves_no_mark_is_named(fresh: TestDatabase, files: Path) -> None:
    (files / "0900_more.sql").write_text("CREATE TABLE more (id int);")

    with pytest.raises(MigrationMissing, match="0900_more"):
        migrate(fresh.url, files=files)


def test_a_migrator_waits_for_another_only_so_long(fresh: TestDatabase) -> None:
    with fresh.connect() as other:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK_KEY])

        with pytest.raises(MigrationsBusy, match="Another process is migrating"):
            migrate(fresh.url, patience_seconds=0.2)

    assert migrate(fresh.url) == shipped()
