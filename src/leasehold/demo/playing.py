"""Puts the demo on: a place of its own, the world, leasehold, and then the story; and clears all of it away."""

import asyncio
import shutil
import signal
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from leasehold import settings
from leasehold.client import AsyncLeasehold
from leasehold.demo.comparing import Outcome, Task, table, with_leases, without_leases
from leasehold.demo.office import Office
from leasehold.demo.story import Story
from leasehold.demo.world import world, write_files
from leasehold.life import CannotStart, serving, signals_as_exit
from leasehold.settings import Settings

Say = Callable[[str], None]
T = TypeVar("T")

_TOUR = """Look at:

  Sites      two boards behind a login. The forum moves to another domain every minute or so.
  Accounts   some in use, some resting, some blocked: a colleague uses one by hand now and then.
  Sessions   each with its versions; they go along when the forum moves.
  Seeds      threads that are due, and how their rhythm follows what is new in them.
  Captures   what collectors brought home; an archive takes them, and rejects some.
  Leases     who holds what at this moment.
  Runs       one that goes on, one whose budget is used up, one whose provider goes down and comes back.
  Jobs       crawls on two platforms, and on one that nobody works on; dead letters with their reasons.
  Parity     the results of one platform, written to two places, and whether both hold the same.
  Entities   people of three stash-boxes, put together, with reviews for a person to decide."""


def play_until_stopped(data: Path | None, port: int, seconds: float | None, seed: int, say: Say) -> None:
    """Run the demo until SIGINT or SIGTERM, or for so many seconds."""
    say("Starting leasehold, two boards, two providers and three stash-boxes …")
    with _folder(data) as folder, world(seed) as made:
        files = write_files(folder / "world", made)
        chosen = _settings(folder, port, **made.market.settings, **files)
        with serving(chosen) as leasehold:
            say(_welcome(leasehold.address, str(leasehold.token), data))
            story = Story(made, leasehold.address, str(leasehold.token), seed, say)
            _until_told(story.play(), seconds)
            say("Stopping …")


def compare_until_done(data: Path | None, port: int, task: Task, say: Say) -> None:
    """Do the same work without leases and with them, and say what came of each."""
    say(
        f"{task.collectors} collectors share {task.accounts} accounts of a board that blocks whoever is in two places "
        f"at once.\nThey have {task.visits} visits for its {task.pages} pages; halfway the board moves to another name."
    )
    with _folder(data) as folder:
        say("\nWithout leases: accounts, cookies and what is done stand in a file they share.")
        before = _until_told(without_leases(task, folder, say), None)
        if before is None:
            return
        signals_as_exit()
        say("\nWith leases: starting leasehold …")
        with serving(_settings(folder, port)) as leasehold:
            after = _until_told(_leased(leasehold.address, str(leasehold.token), task, say), None)
    if after:
        say(f"\n{table(before, after)}\n")


async def _leased(address: str, token: str, task: Task, say: Say) -> Outcome:
    office = Office(address, token)
    collecting = await office.token("collectors", "collector")
    await office.close()
    async with (
        AsyncLeasehold(address, token, trust_env=False) as manager,
        AsyncLeasehold(address, collecting, trust_env=False) as lh,
    ):
        return await with_leases(task, manager, lh, say)


def _settings(folder: Path, port: int, **more: Any) -> Settings:
    """Nothing that is configured on this machine is touched."""
    return settings.alone(
        data_dir=folder / "data", port=port, allow_special_hosts=True, shutdown_timeout_seconds=2, **more
    )


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    """The folder that was given, if there is nothing in it, or one that is gone afterwards."""
    if given is not None:
        folder = given.expanduser().absolute()
        if folder.exists() and any(folder.iterdir()):
            raise CannotStart(f"{folder} is not empty, and the demo begins with nothing. Choose another --data.")
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    folder = Path(tempfile.mkdtemp(prefix="leasehold-demo-"))
    folder.chmod(0o755)  # PostgreSQL's own user has to walk in, where root runs this
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _until_told(work: Coroutine[Any, Any, T], seconds: float | None) -> T | None:
    """Do it to its end, unless a signal or the time ends it before: then it is None."""

    async def watched() -> T | None:
        task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()

        def stop(*_signal: object) -> None:
            with suppress(RuntimeError):  # it is over already
                loop.call_soon_threadsafe(task.cancel)

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)  # not the loop's own way, which ends with the loop: PostgreSQL still runs then
        if seconds is not None:
            loop.call_later(seconds, stop)
        with suppress(asyncio.CancelledError):
            return await task
        return None

    return asyncio.run(watched())


def _welcome(address: str, token: str, data: Path | None) -> str:
    where = f"{data}, which stays afterwards" if data else "in a folder that is gone afterwards"
    return f"""The demo is up

  UI    {address}/ui/
  API   {address}/docs
  data  {where}

This is the admin token. Paste it into the UI:

  {token}

{_TOUR}

It takes a minute until all of it is alive. Ctrl-C stops it.
"""
