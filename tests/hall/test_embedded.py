"""Embedded PostgreSQL: who keeps it running, who stops it, and what it finds after a crash."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import psutil
import psycopg
import pytest

from leasehold.embedded import SYSTEM_USER, Embedded, EmbeddedFailed
from tests.parts.process import PATIENCE_S, Place, place, until

# Another process that uses the folder, says so, and stays until its standard input ends.
USE = "import sys, pathlib, leasehold.embedded as e; e.Embedded(pathlib.Path(sys.argv[1])).start(); print(); input()"


@pytest.fixture(scope="module")
def _lived_in() -> Iterator[Place]:
    with place() as made:
        cluster = Embedded(made.data)
        cluster.start()
        cluster.stop()
        yield made


@pytest.fixture
def home(_lived_in: Place) -> Iterator[Place]:
    """A place where PostgreSQL was, and was stopped."""
    yield _lived_in
    _lived_in.clear()


def is_answering(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_the_last_user_of_a_folder_stops_it_and_the_first_does_not(home: Place) -> None:
    first, last = Embedded(home.data), Embedded(home.data)
    url = first.start()
    assert last.start() == url

    first.stop()

    assert is_answering(url)
    last.stop()
    assert home.processes() == []


def test_a_user_that_was_killed_does_not_count(home: Place) -> None:
    survivor = Embedded(home.data)
    survivor.start()
    command = [sys.executable, "-c", USE, str(home.data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"\n"
        other.kill()

    survivor.stop()

    assert home.processes() == []


def test_half_a_cluster_is_cleared_away(here: Place) -> None:
    half = here.data / "postgres.new"
    (half / "base").mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    cluster = Embedded(here.data)

    url = cluster.start()

    assert is_answering(url)
    assert not half.exists()
    cluster.stop()


def test_a_folder_of_somebody_elses_is_refused_and_left_alone(here: Place) -> None:
    letter = here.data / "postgres" / "letter.txt"
    letter.parent.mkdir(parents=True)
    letter.write_text("mine")
    cluster = Embedded(here.data)

    with pytest.raises(EmbeddedFailed, match="holds something that is no PostgreSQL"):
        cluster.start()

    cluster.stop()
    assert list(letter.parent.iterdir()) == [letter]
    assert letter.read_text() == "mine"
    assert not (here.data / "postgres.new").exists()


def lock_file(pid: int, home: Place) -> str:
    return f"{pid}\n{home.home}\n1700000000\n5432\n{home.home}\n\n"


def starts_despite(home: Place, stale: str) -> bool:
    """Whether PostgreSQL starts although its two lock files are there and say this."""
    for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
        (home.home / name).write_text(stale)
        shutil.chown(home.home / name, home.home.owner(), home.home.group())
    cluster = Embedded(home.data)
    try:
        return is_answering(cluster.start()) and home.postmaster.name() == "postgres"
    finally:
        cluster.stop()


@contextmanager
def child(*command: str) -> Iterator[int]:
    """A process that nobody has buried, of the user PostgreSQL runs as: it knows not to mind anybody else's."""
    user = SYSTEM_USER if os.geteuid() == 0 else None
    with subprocess.Popen(command, user=user) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def test_a_pid_file_that_names_a_living_stranger_does_not_stop_a_start(home: Place) -> None:
    with child("sleep", "600") as stranger:
        assert starts_despite(home, lock_file(stranger, home))
        assert psutil.Process(stranger).status() == psutil.STATUS_SLEEPING


def test_a_pid_file_that_names_a_dead_process_nobody_buried_does_not_stop_a_start(home: Place) -> None:
    with child("true") as dead:
        until(lambda: psutil.Process(dead).status() == psutil.STATUS_ZOMBIE)

        assert starts_despite(home, lock_file(dead, home))


@pytest.mark.parametrize("text", ["", "\n", "17", "not a pid\n"])
def test_a_pid_file_that_was_cut_off_does_not_stop_a_start(home: Place, text: str) -> None:
    assert starts_despite(home, text)


def test_workers_that_outlive_a_killed_postgres_are_waited_for(home: Place) -> None:
    first, second = Embedded(home.data), Embedded(home.data)
    with closing(psycopg.connect(first.start(), autocommit=True)) as conn:
        worker, postmaster = psutil.Process(conn.info.backend_pid), home.postmaster
        worker.suspend()  # and so deaf to the death of its postmaster
        postmaster.kill()
        until(lambda: postmaster not in home.processes())
        assert worker in home.processes()

        with ThreadPoolExecutor(1) as pool:
            starting = pool.submit(second.start)
            with pytest.raises(TimeoutError):
                starting.result(1)
            worker.resume()
            url = starting.result(PATIENCE_S)

        assert worker not in home.processes()
    assert is_answering(url)
    first.stop()
    second.stop()
    assert home.processes() == []


def test_a_postgres_that_cannot_start_says_why(home: Place) -> None:
    setting = home.home / "postgresql.auto.conf"
    setting.write_text("hba_file = '/nowhere/pg_hba.conf'\n")
    cluster = Embedded(home.data)

    with pytest.raises(EmbeddedFailed, match=r"could not load /nowhere/pg_hba\.conf"):
        cluster.start()

    cluster.stop()
    setting.write_text("")


def test_a_long_path_has_its_socket_elsewhere_and_nobody_else_may_have_been_there_first() -> None:
    with place("/".join(["a-rather-long-name"] * 8)) as here:
        cluster = Embedded(here.data)
        cluster.start()
        sockets = here.socket_folder
        assert sockets.exists()
        cluster.stop()
        assert not sockets.exists()
        sockets.symlink_to(here.folder)

        with pytest.raises(EmbeddedFailed, match="belongs to somebody else"):
            cluster.start()

        cluster.stop()
        sockets.unlink()
