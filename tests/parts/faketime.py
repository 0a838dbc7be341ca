"""A clock that jumps when a test says so, for programs that are started with it: libfaketime, preloaded."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from leasehold.embedded import Embedded
from tests.parts import mongo as mongo_parts
from tests.parts.mongo import Mongo
from tests.parts.postgres import Postgres


class WallClock:
    """The time of day as some programs see it; a monotonic clock goes on as it does."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "offset"
        self.jump_to(0)

    @property
    def environment(self) -> Mapping[str, str]:
        """What a program has to be started with."""
        return {
            "LD_PRELOAD": str(_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def jump_to(self, seconds: float) -> None:
        """So far ahead of the true time it is from now on, or so far behind."""
        self._seconds = seconds
        half = self._file.with_suffix(".new")
        half.write_text(f"{seconds:+f}\n")
        half.chmod(0o644)
        half.rename(self._file)  # nobody reads half a line

    def jump(self, seconds: float) -> None:
        """By so much, from where it is."""
        self.jump_to(self._seconds + seconds)


class _Embedded(Embedded):
    def __init__(self, data_dir: Path, clock: WallClock) -> None:
        super().__init__(data_dir)
        self.environment = {**Embedded.environment, **clock.environment}


@contextmanager
def wall_clock() -> Iterator[WallClock]:
    folder = Path(tempfile.mkdtemp(prefix="leasehold-clock-"))
    folder.chmod(0o755)  # PostgreSQL's own user reads it, too
    try:
        yield WallClock(folder)
    finally:
        shutil.rmtree(folder)


@contextmanager
def jumping_postgres() -> Iterator[tuple[Postgres, WallClock]]:
    folder = Path(tempfile.mkdtemp(prefix="leasehold-jumping-"))
    folder.chmod(0o755)
    with wall_clock() as clock:
        cluster = _Embedded(folder, clock)
        cluster.start()
        try:
            yield Postgres(cluster), clock
        finally:
            clock.jump_to(0)
            cluster.stop()
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def jumping_mongo() -> Iterator[tuple[Mongo, WallClock]]:
    with wall_clock() as clock, mongo_parts.running(clock.environment) as mongo:
        yield mongo, clock


def _library() -> Path:
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        pytest.fail("libfaketime is not installed. Run `make services`.")
    assert os.access(found[0], os.R_OK)
    return found[0]
