"""`leasehold ingest` as a process: killed at any moment, stopped, started twice."""

import asyncio
import os
import random
import re
import signal
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from psycopg.conninfo import conninfo_to_dict

from leasehold.simulate import Mode
from tests.parts import nursery
from tests.parts.boxes import Served, served
from tests.parts.fuse import Fuse, fused
from tests.parts.postgres import TestDatabase
from tests.parts.process import Leasehold, Place, until
from tests.sources.conftest import World

# `KILLS=200 pytest tests/sources/test_ingest.py` kills it as often.
KILLS = int(os.environ.get("KILLS", "10"))
_SILENT = "UPDATE source SET driver_until = clock_timestamp() - interval '1 second' WHERE driver IS NOT NULL"


# A piece of the statement that makes each step what it is.
STEPS = {
    "claimed": "driver_fence = driver_fence + 1",
    "handed over": "INSERT INTO offered",
    "asked": "UPDATE source_sighting AS s",
    "ended": "jsonb_build_object('started_at'",
}


class Shell:
    """Somebody at a terminal."""

    def __init__(self, it: World, folder: Path) -> None:
        self._it = it
        self._folder = folder
        self._started: list[Leasehold] = []

    def start(self, *words: str, **more: str) -> Leasehold:
        own = {name: value for name, value in os.environ.items() if not name.startswith("LEASEHOLD_")}
        environment = own | {
            "LEASEHOLD_DATABASE_URL": self._it.database.url,
            "LEASEHOLD_DATABASE_POOL_SIZE": "4",
            "LEASEHOLD_SOURCES_DIR": str(self._it.folder),
            "LEASEHOLD_DATA_DIR": str(self._folder / "data"),
            "LEASEHOLD_LOG_LEVEL": "warning",
            "COLUMNS": "120",
            **more,
        }
        out, err = (self._folder / f"{len(self._started)}.{kind}" for kind in ("out", "err"))
        process = nursery.start(list(words), self._folder, environment, out, err, module="tests.sources.ingest")
        self._started.append(Leasehold(process, out, err))
        return self._started[-1]

    async def run(self, *words: str, **more: str) -> tuple[int, Leasehold]:
        started = self.start(*words, **more)
        return await asyncio.to_thread(started.process.wait, 60), started

    def close(self) -> None:
        for one in self._started:
            one.kill()


@pytest.fixture
def boxes() -> Iterator[Served]:
    with served(people=80) as made:
        yield made


@pytest.fixture
async def fuse(database: TestDatabase) -> AsyncIterator[Fuse]:
    async with fused(database.url) as made:
        yield made


@pytest.fixture
def shell(it: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    made = Shell(it, tmp_path_factory.mktemp("shell"))
    yield made
    made.close()


async def test_it_reads_all_sources_at_once_and_says_so(it: World, shell: Shell) -> None:
    for name in ("stashdb", "fansdb"):
        it.declare(name, log_interval=0.05)

    code, ended = await shell.run("stashdb", "fansdb")

    assert code == 0, ended.err
    assert ended.err == ""
    for name in ("stashdb", "fansdb"):
        assert it.sighted(name) == it.served.live(name)
        count = len(it.served.live(name))
        assert f"{name} is idle: {count} seen, {count} handed over, 0 gone, 0 errors." in ended.out
        assert re.search(rf"{name} state=sweeping done=\d+/\S+ rate=\d+/s queue=0 links=0 errors=0", ended.out)


async def test_killed_at_any_moment_it_ends_as_if_it_never_was(it: World, shell: Shell) -> None:
    names = ("stashdb", "fansdb")
    for name in names:
        it.declare(name, batch_size=10)
    it.served.boxes.control.latency_ms = 20
    lot = random.Random(KILLS)  # noqa: S311
    killed = 0
    for _ in range(KILLS):
        started = shell.start(*names)
        await asyncio.to_thread(until, partial(_is_at_work, it, started, it.served.asked("stashdb")))
        await asyncio.sleep(lot.random() * 0.15)
        killed += started.process.poll() is None
        await asyncio.to_thread(started.kill)
        it.database.run(_SILENT)
    it.served.boxes.control.latency_ms = 0

    code, ended = await shell.run(*names)

    assert killed >= min(5, KILLS)
    assert code == 0, ended.err
    for name in names:
        assert it.sighted(name) == it.served.live(name)
        assert set(it.offered(name)) == it.served.live(name)
        assert set(it.offered(name).values()) == {1}  # nothing lost, and nothing twice


async def test_killed_at_each_step_it_goes_on_before_or_after_it(it: World, shell: Shell, fuse: Fuse) -> None:
    it.declare("stashdb", batch_size=20)
    place = conninfo_to_dict(it.database.url)
    through = f"postgresql://{place['user']}@127.0.0.1:{fuse.port}/{place['dbname']}"
    box, whens = it.served.boxes.boxes["stashdb"], ("before", "after")
    for step, statement in STEPS.items():
        for when in whens:
            box.touch(sorted(it.served.live("stashdb"))[-1])
            box.delete(sorted(it.served.live("stashdb"))[0])
            started: list[Leasehold] = []
            fuse.blow = lambda several=started: several[0].process.kill()  # type: ignore[misc]
            fuse.set(statement, when)  # type: ignore[arg-type]
            started.append(shell.start("--full", "stashdb", LEASEHOLD_DATABASE_URL=through))
            await asyncio.wait_for(fuse.blown.wait(), 60)
            await asyncio.to_thread(started[0].process.wait, 60)
            it.database.run(_SILENT)

            await it.sweep("stashdb", is_full=True)

            assert it.sighted("stashdb") == it.served.live("stashdb"), (step, when)
    twice = it.database.rows("SELECT source_id FROM offered GROUP BY source_id, item HAVING count(*) > 1")
    retired = it.database.rows("SELECT source_id, count(*) FROM retired GROUP BY 1 HAVING count(*) > 1")
    assert (twice, retired) == ([], [])
    assert len(it.database.rows("SELECT FROM retired")) == len(STEPS) * len(whens) - 1  # the first was never seen


def _is_at_work(it: World, started: Leasehold, asked_before: int) -> bool:
    return it.served.asked("stashdb") > asked_before + 1 or started.process.poll() is not None


async def test_ctrl_c_keeps_how_far_it_came(it: World, shell: Shell) -> None:
    it.declare("stashdb", batch_size=10)
    it.served.boxes.control.latency_ms = 50
    started = shell.start("stashdb")
    await asyncio.to_thread(until, lambda: it.offered("stashdb"))

    code = await asyncio.to_thread(started.end, signal.SIGINT)
    stopped = await it.get("stashdb")
    it.served.boxes.control.latency_ms = 0
    again, _ = await shell.run("stashdb")

    assert code == 130
    assert stopped.word == "paused"
    assert "it goes on at page" in started.out
    assert "Traceback" not in started.err
    assert again == 0
    assert set(it.offered("stashdb").values()) == {1}
    assert it.sighted("stashdb") == it.served.live("stashdb")


async def test_two_at_once_one_works_and_the_other_says_so(it: World, shell: Shell) -> None:
    it.declare("stashdb", batch_size=10, rate_limit=1500)
    first = shell.start("stashdb")
    await asyncio.to_thread(until, lambda: it.served.asked("stashdb") > 1)

    code, second = await shell.run("stashdb")
    worked = await asyncio.to_thread(first.process.wait, 60)

    assert (code, worked) == (3, 0)
    assert second.out == "stashdb: another process sweeps it; it goes on there.\n"
    assert set(it.offered("stashdb").values()) == {1}


async def test_one_that_fails_is_told_and_the_others_are_read(it: World, shell: Shell) -> None:
    it.declare("stashdb", retry_attempts=1)
    it.served.become("stashdb", Mode.DOWN)

    code, ended = await shell.run("stashdb", "fansdb")

    assert code == 1
    assert "stashdb is failed: 0 seen, 0 handed over, 0 gone, 3 errors. stashdb answered 503" in ended.out
    assert it.sighted("fansdb") == it.served.live("fansdb")


async def test_the_simulator_writes_the_files_that_lead_to_it(
    it: World, shell: Shell, here: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("written")
    words = ("--port", "0", "--people", "20", "--seed", "5", "--sources", str(folder))
    simulator = here.start("simulate", "stashbox", *words)
    await asyncio.to_thread(until, lambda: "Ctrl-C stops it." in simulator.out)
    address = re.findall(r"http://127\.0\.0\.1:\d+", simulator.out)[0]

    code, ended = await shell.run(LEASEHOLD_SOURCES_DIR=str(folder), SIMULATED_KEY="any")

    assert code == 0, ended.err
    async with httpx.AsyncClient(trust_env=False) as client:
        truth = (await client.get(f"{address}/truth?include=theporndb")).json()
    places = {(place["source"], place["source_id"]) for several in truth.values() for place in several}
    assert set(it.database.rows("SELECT source, source_id FROM offered")) == places
    assert len(truth) == 20


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "There is no source nobody in "),
        (("javstash",), "javstash is not swept. Its file says `enabled: false`."),
    ],
)
async def test_what_cannot_be_done_is_a_sentence(it: World, shell: Shell, words: tuple[str, ...], said: str) -> None:
    it.declare("javstash", enabled="false")

    code, ended = await shell.run(*words)

    assert code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err
