"""Workers as processes of their own: killed, stopped, told to leave, and started wrongly."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from leasehold.client.worker_models import Task
from tests.client.works import Works, running, until

# Three chunks, with a file for each that says how far it came; it goes on after the second when it is let.
CRAWLER = """
import asyncio, pathlib
worker = Worker(stop_seconds=1, concurrency=1)
@worker.task("alpha", "page")
async def page(task):
    for n in range(1 if task.cursor is None else task.cursor + 1, 4):
        yield Chunk([{"n": n}], cursor=n)
        pathlib.Path(f"{NAME}-{n}").touch()
        while n == 2 and not pathlib.Path("go").exists():
            await asyncio.sleep(0.02)
"""


def crawler(name: str) -> str:
    return f"NAME = {name!r}\n{CRAWLER}"


async def came_to(works: Works, job: str, results: int) -> dict[str, Any]:
    return await works.seen(job, lambda found: found["result_count"] >= results)


async def test_a_worker_that_is_killed_loses_nothing_and_brings_nothing_twice(works: Works, tmp_path: Path) -> None:
    await works.submit("one")
    with works.process(tmp_path, crawler("first"), "first") as first:
        await came_to(works, "one", 2)
        first.kill()
        (tmp_path / "go").touch()
        with works.process(tmp_path, crawler("second"), "second"):
            job = await works.over("one")

    assert (job["status"], job["result_count"]) == ("completed", 3)
    assert (job["parts"][0]["losses"], job["parts"][0]["fence"], job["attempt"]) == (1, 2, 1)
    assert await works.broker.documents("one") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert not (tmp_path / "second-1").exists()  # it went on where the first had come to
    assert (await works.broker.books())["alpha"]["unaccounted"] == 0


async def test_a_worker_that_sleeps_past_its_lease_wakes_up_to_nothing(works: Works, tmp_path: Path) -> None:
    await works.submit("one")
    with works.process(tmp_path, crawler("first"), "first") as first:
        await came_to(works, "one", 2)
        first.send_signal(signal.SIGSTOP)
        with works.process(tmp_path, crawler("second"), "second"):
            await works.seen("one", lambda job: job["parts"][0]["fence"] == 2)
            (tmp_path / "go").touch()
            done = await works.over("one")
            (tmp_path / "go").unlink()
            first.send_signal(signal.SIGCONT)
            await until(lambda: b"lost" in (tmp_path / "first.log").read_bytes())
            (tmp_path / "go").touch()
            await asyncio.sleep(0.5)
    job = await works.broker.job("one")

    assert (done["status"], job["status"], job["parts"][0]["fence"]) == ("completed", "completed", 2)
    assert await works.broker.documents("one") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert not (tmp_path / "first-3").exists()
    assert (await works.broker.books())["alpha"]["unaccounted"] == 0
    assert await works.broker.dead() == []


async def test_a_worker_that_is_told_to_leave_gives_its_tasks_back(works: Works, tmp_path: Path) -> None:
    await works.submit("one")
    with works.process(tmp_path, crawler("first"), "first") as first:
        await came_to(works, "one", 2)
        first.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(first.wait, 30)
    job = await works.broker.job("one")

    assert code == 0
    assert (job["status"], job["sub_status"], job["parts"][0]["losses"]) == ("pending", "returned", 0)
    assert await works.leases() == []


async def test_leases_are_renewed_while_a_crawler_blocks_its_own_process(works: Works, tmp_path: Path) -> None:
    code = """
    import time
    worker = Worker()
    @worker.task("alpha", "page")
    async def page(task):
        time.sleep(7)  # of a lease of 5 seconds
        return [{"n": 1}]
    """
    await works.submit("one")
    with works.process(tmp_path, code):
        job = await works.over("one")

    assert (job["status"], job["parts"][0]["losses"]) == ("completed", 0)


async def command(folder: Path, *words: str, **environment: str) -> tuple[int, str, str]:
    run = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "leasehold",
        *words,
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(run.communicate(), 60)
    except TimeoutError:
        run.kill()
        raise
    return run.returncode or 0, out.decode(), err.decode()


@pytest.mark.parametrize(
    ("words", "environment", "said"),
    [
        ("crawl", {"LEASEHOLD_URL": "http://127.0.0.1:1"}, "There is no token: set LEASEHOLD_TOKEN"),
        ("crawl", {"LEASEHOLD_TOKEN": "lh_x"}, "no server to work for: set LEASEHOLD_URL"),
        ("nowhere", {}, "There is no module nowhere here"),
        ("crawl:other", {}, "crawl has no worker other; it has worker"),
        ("empty", {}, "There is no worker in empty"),
        ("needs", {}, "needs imports something_else, which is not installed"),
        ("crawl", {"LEASEHOLD_URL": "nonsense", "LEASEHOLD_TOKEN": "lh_x"}, "nonsense is no address"),
    ],
)
async def test_a_worker_that_is_started_wrongly_says_what_to_do(
    tmp_path: Path, words: str, environment: dict[str, str], said: str
) -> None:
    code = "from leasehold.client.worker import Worker\nworker = Worker()\n"
    function = "@worker.task('alpha', 'page')\nasync def page(task): ...\n"
    (tmp_path / "crawl.py").write_text(code + function)
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "needs.py").write_text("import something_else")

    returned, _, err = await command(tmp_path, "worker", words, **environment)

    assert returned == 2
    assert said in err
    assert "Traceback" not in err


async def test_the_command_says_what_it_works_on(works: Works, tmp_path: Path) -> None:
    with works.process(tmp_path, crawler("one")):
        await until(lambda: b"stops it" in (tmp_path / "one.log").read_bytes())
        printed = (tmp_path / "one.log").read_text()

    assert printed.splitlines()[0] == f"worker: alpha: page (1 at once, from {works.url})"


def test_the_sdk_alone_is_enough_for_a_worker() -> None:
    code = """
import sys
class Only:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("typer", "fastapi", "psycopg", "aio_pika", "orjson", "yaml"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Only())
sys.argv = ["leasehold", "worker", "nowhere"]
from leasehold.__main__ import main
main()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ran.returncode == 2
    assert ran.stderr.startswith("leasehold: There is no module nowhere here")


async def test_a_canary_says_how_far_it_came(works: Works, tmp_path: Path) -> None:
    environment = {"LEASEHOLD_URL": works.url, "LEASEHOLD_TOKEN": await works.home.token()}
    worker = works.worker()

    @worker.task("alpha", "page")
    async def page(_task: Task) -> list[Any]:
        await asyncio.sleep(0.5)
        return [{"n": 1}]

    alone = await command(tmp_path, "platforms", "canary", "alpha", "--timeout", "1", **environment)
    async with running(worker):
        code, out, err = await command(tmp_path, "platforms", "canary", "alpha", **environment)

    lines = [line.split(":")[0].split(" to ")[0] for line in out.splitlines() if not line.startswith("  ")]
    assert (code, err) == (0, "")
    assert lines == ["accepted", "dispatched", "first result", "written", "completed"]
    assert alone[0] == 1
    assert "no worker has asked for it yet" in alone[1].splitlines()[-1]


async def test_a_canary_that_fails_says_with_what(works: Works, tmp_path: Path) -> None:
    environment = {"LEASEHOLD_URL": works.url, "LEASEHOLD_TOKEN": await works.home.token()}
    worker = works.worker()

    @worker.task("alpha", "search")
    async def search(_task: Task) -> None:
        raise KeyError("title")

    async with running(worker):
        words = ("platforms", "canary", "alpha", "--task-type", "search")
        code, out, _ = await command(tmp_path, *words, **environment)

    assert code == 1
    assert out.splitlines()[-1] == "stopped: failed. crawler_error: KeyError: 'title'"


@pytest.mark.parametrize(
    ("words", "said"),
    [(["nowhere"], "No platform"), (["alpha", "--task-type", "nothing"], "has no type nothing, only page, search")],
)
async def test_a_canary_that_cannot_be_sent_says_why(works: Works, tmp_path: Path, words: list[str], said: str) -> None:
    environment = {"LEASEHOLD_URL": works.url, "LEASEHOLD_TOKEN": await works.home.token()}

    code, _, err = await command(tmp_path, "platforms", "canary", *words, **environment)
    nobody = await command(tmp_path, "platforms", "canary", *words)

    assert (code, nobody[0]) == (1, 1)
    assert said in err
    assert "LEASEHOLD_TOKEN" in nobody[2]
