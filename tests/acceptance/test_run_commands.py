"""`leasehold run …`: a run planned, begun, watched and steered from a shell, over the API."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from bench.zero import PLATFORM, Zero, ZeroShelf

from leasehold.auth import Role
from leasehold.collectors import Collected
from leasehold.duties import Duty
from tests.parts.listening import Listening, listening
from tests.parts.postgres import TestDatabase
from tests.parts.process import Ended, Leasehold, Place, place, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

ITEMS = 30
PLAN = ("--collector", "zero", "--category", "all")


class Gated(Zero):
    """Collects while the gate is open."""

    def __init__(self) -> None:
        super().__init__(ITEMS)
        self.gate = asyncio.Event()

    async def collect(self, payload: dict[str, Any]) -> Collected:
        await self.gate.wait()
        return await super().collect(payload)


class Shell:
    """Somebody at a terminal."""

    def __init__(self, here: Place, server: Listening, token: str, collector: Gated) -> None:
        self.server = server
        self.collector = collector
        self._here = here
        self._access = {"LEASEHOLD_URL": f"http://127.0.0.1:{server.port}", "LEASEHOLD_TOKEN": token, "COLUMNS": "120"}

    async def run(self, *words: str, **more: str) -> Ended:
        return await asyncio.to_thread(self._here.run, "run", *words, **(self._access | more))

    def start(self, *words: str) -> Leasehold:
        return self._here.start("run", *words, **self._access)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shell(_worker_database: TestDatabase, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shell]:
    _worker_database.empty()
    folder: Path = tmp_path_factory.mktemp("platforms")
    (folder / "bench.yaml").write_text(PLATFORM)
    collector, shelf = Gated(), ZeroShelf(ITEMS)
    shelf._made = {Zero.slug: collector}
    duties = {Duty.RUNS, Duty.COLLECTORS, Duty.WRITER}
    with place() as here:
        async with listening(_worker_database, duties=duties, collectors=shelf, platforms_dir=folder) as server:
            token = (await server.caller(Role.OPERATOR)).headers["authorization"].removeprefix("Bearer ")
            yield Shell(here, server, token, collector)


async def test_an_estimate_says_what_it_may_cost(shell: Shell) -> None:
    told = await shell.run("estimate", *PLAN)

    assert told.code == 0
    assert told.err.splitlines() == ["all: 30 items at $0.0000: $0.0000", "Up to $0.0000 of $25.00: ok."]


async def test_a_run_is_begun_and_watched_to_its_end(shell: Shell) -> None:
    shell.collector.gate.set()

    begun = await shell.run("start", *PLAN, "--name", "from a shell", "--yes")
    watched = await shell.run("watch", begun.out.strip())

    assert (begun.code, begun.out[:4]) == (0, "run_"), begun.err
    assert watched.code == 0, watched.err
    assert watched.out == f"{begun.out.strip()} is completed: 30 collected, 0 failed, 0 skipped, $0.0000.\n"
    assert "30/30" in watched.err


async def test_nothing_begins_unless_it_is_agreed_to(shell: Shell) -> None:
    before = len((await (await shell.server.caller()).get("/v2/runs")).json()["items"])

    asked = await shell.run("start", *PLAN)  # nobody answers

    assert asked.code == 1
    assert "Begin it, for up to $0.0000?" in asked.err
    assert len((await (await shell.server.caller()).get("/v2/runs")).json()["items"]) == before


async def test_a_run_is_paused_resumed_and_cancelled(shell: Shell) -> None:
    shell.collector.gate.clear()
    planned = await (await shell.server.caller()).post("/v2/runs", json={"collector": "zero", "categories": ["all"]})
    run = planned.json()["id"]

    told = [await shell.run(*words, run) for words in (("start", "--yes"), ("pause",), ("resume",), ("cancel",))]
    again = await shell.run("resume", run)
    watched = await shell.run("watch", run)

    assert [one.code for one in told] == [0, 0, 0, 0], told
    assert told[0].out == f"{run}\n"
    assert (again.code, again.err) == (1, "leasehold: A run that is cancelled cannot resume.\n")
    assert watched.code == 1
    assert " is cancelled: " in watched.out
    shell.collector.gate.set()


async def test_ctrl_c_leaves_the_run_alone(shell: Shell) -> None:
    shell.collector.gate.clear()
    run = (await shell.run("start", *PLAN, "--yes")).out.strip()
    watching = shell.start("watch", run)
    await asyncio.to_thread(until, lambda: "running" in watching.err or "pending" in watching.err)

    code = await asyncio.to_thread(watching.end, signal.SIGINT)

    status = (await (await shell.server.caller()).get(f"/v2/runs/{run}")).json()["status"]
    assert code == 130
    assert "The run goes on." in watching.err
    assert status in ("pending", "running")
    shell.collector.gate.set()


@pytest.mark.parametrize(
    ("words", "environment", "said"),
    [
        (("estimate", *PLAN), {"LEASEHOLD_TOKEN": ""}, "LEASEHOLD_TOKEN"),
        (("estimate", *PLAN), {"LEASEHOLD_URL": "http://127.0.0.1:1"}, "cannot be reached"),
        (("estimate", "--collector", "zero", "--category", "x"), {}, "no such category"),
        (("start",), {}, "--collector and --category"),
        (("watch", "run_x"), {}, "No run"),
    ],
)
async def test_what_cannot_be_done_is_a_sentence(
    shell: Shell, words: tuple[str, ...], environment: dict[str, str], said: str
) -> None:
    told = await shell.run(*words, **environment)

    assert told.code == 1
    assert said in told.err
    assert "Traceback" not in told.err
