"""Sources on the command line: sweeps them in this very process, and shows how far each one is."""

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
import uvloop
from rich.console import Console
from rich.live import Live
from rich.table import Table

from leasehold.auth import DEFAULT_ORGANISATION, Tokens
from leasehold.caller import Caller
from leasehold.cli_start import chosen_settings, clear_errors
from leasehold.db import Database
from leasehold.life import CannotStart, database, keyring
from leasehold.migrate import migrate
from leasehold.settings import Settings
from leasehold.sources import LEASE_S, Outlet, Sources, Standing, files
from leasehold.vault import Keyring

# How it ended.
DONE, FAILED, BUSY, INTERRUPTED = 0, 1, 3, 130
_SHOW_EVERY_S = 0.25
_FOLLOW_EVERY_S = 60.0
_COLUMNS = ("state", "done", "rate", "queue", "links", "errors")


@dataclass
class Ingest:
    """The sweeps that one command drives."""

    sources: Sources
    caller: Caller
    names: Sequence[str]
    is_full: bool
    tasks: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)
    busy: set[str] = field(default_factory=set)  # driven by another
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def take_up(self, name: str) -> None:
        """Drive one. A lease that nobody renews belongs to somebody who died: it is waited for."""
        before = None
        for _ in range(int(LEASE_S / _SHOW_EVERY_S) + 4):
            if task := await self.sources.take_up(self.caller, name, is_full=self.is_full):
                self.tasks[name] = task
                return
            state = (await self.sources.get(self.caller, name)).state
            until = state.driven_until if state else None
            if self.stopped.is_set() or (before and until and until > before):
                break
            before = before or until
            await asyncio.sleep(_SHOW_EVERY_S)
        self.busy.add(name)

    async def standings(self) -> list[Standing]:
        return [await self.sources.get(self.caller, name) for name in self.names]

    def own(self, standings: Sequence[Standing]) -> list[Standing]:
        """Those that this command drives."""
        return [standing for standing in standings if standing.name not in self.busy]

    @property
    def is_over(self) -> bool:
        return all(task.done() for task in self.tasks.values())

    async def interrupt(self) -> None:
        """Stop what this command drives; how far it came is kept."""
        for name, task in self.tasks.items():
            if not task.done():
                await self.sources.stop(self.caller, name)
        await self.sources.sweepers.close()


# What goes on beside the sweeps, for an organisation.
Beside = Callable[[Database, Settings, Keyring, UUID], AbstractAsyncContextManager[None]]


def ingest_command(outlet: Outlet, beside: Beside | None = None) -> Callable[..., None]:
    """The command, for records that go there."""

    def ingest(
        names: Annotated[
            list[str] | None, typer.Argument(metavar="SOURCE…", help="All that are on, if left out.")
        ] = None,
        full: Annotated[bool, typer.Option("--full", help="Read everything again, not only what has changed.")] = False,
        once: Annotated[
            bool, typer.Option("--once/--follow", help="End with the sweeps, or go on with what changes, for ever.")
        ] = True,
        org: Annotated[str, typer.Option("--org", help="The organisation's slug.")] = DEFAULT_ORGANISATION,
        data: Annotated[Path | None, typer.Option("--data", help="Data folder. [LEASEHOLD_DATA_DIR]")] = None,
    ) -> None:
        """Sweep sources in this process, all at once. Exits with 0 when all is read, 1 when one failed, 3 when another
        process sweeps one of them, 130 after Ctrl-C; how far they came is kept."""
        with clear_errors():
            chosen = chosen_settings(data_dir=data)
            with database(chosen) as url:
                migrate(url)
                with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                    code = runner.run(
                        _ingest(chosen, url, outlet, beside, names or [], org, is_full=full, is_once=once)
                    )
        raise typer.Exit(code)

    return ingest


async def _ingest(
    settings: Settings,
    url: str,
    outlet: Outlet,
    beside: Beside | None,
    names: Sequence[str],
    org: str,
    *,
    is_full: bool,
    is_once: bool,
) -> int:
    async with Database(url, settings.database_pool_size) as db:
        sources = Sources(db, files(settings.sources_dir), outlet, settings.source_queue_bytes)
        caller = await Tokens(db).local_caller(org)
        ingest = Ingest(sources, caller, _chosen(sources, names), is_full)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ingest.stopped.set)
        try:
            async with AsyncExitStack() as stack:
                if beside is not None:
                    keys = keyring(settings, may_make=not settings.database_url.get_secret_value())
                    await stack.enter_async_context(beside(db, settings, keys, caller.organisation))
                return await _run(ingest, is_once=is_once)
        finally:
            await sources.sweepers.close()


def _chosen(sources: Sources, names: Sequence[str]) -> list[str]:
    for fault in sources.catalogue.faults:
        typer.echo(f"leasehold: {fault}", err=True)
    known = sources.catalogue.sources
    wanted = list(dict.fromkeys(names)) or [name for name, source in known.items() if source.enabled]
    if unknown := [name for name in wanted if name not in known]:
        raise CannotStart(f"There is no source {', '.join(unknown)} in {sources.catalogue.folder}.")
    if not wanted:
        raise CannotStart(f"No source in {sources.catalogue.folder} is switched on: say `enabled: true` in its file.")
    return wanted


async def _run(ingest: Ingest, *, is_once: bool) -> int:
    display = _display(ingest)
    with display:
        while True:
            await asyncio.gather(*(ingest.take_up(name) for name in ingest.names))
            while not ingest.is_over and not ingest.stopped.is_set():
                display.show(ingest.own(await ingest.standings()))
                await _rest(ingest, _SHOW_EVERY_S)
            if not ingest.stopped.is_set() and not is_once:
                await _rest(ingest, _FOLLOW_EVERY_S)
            if ingest.stopped.is_set() or is_once:
                break
            ingest.is_full = False  # that was done; from here on it is what changes
        was_interrupted = ingest.stopped.is_set() and not ingest.is_over
        await ingest.interrupt()
        standings = await ingest.standings()
        display.show(ingest.own(standings))
    for standing in standings:
        typer.echo(_summary(standing, standing.name in ingest.busy))
    if was_interrupted:
        return INTERRUPTED
    words = {standing.word for standing in ingest.own(standings)}
    return FAILED if words - {"idle"} else BUSY if ingest.busy else DONE


async def _rest(ingest: Ingest, seconds: float) -> None:
    """Until then, or until somebody stops us."""
    sleeping = [
        asyncio.ensure_future(ingest.stopped.wait()),
        *(task for task in ingest.tasks.values() if not task.done()),
    ]
    try:
        await asyncio.wait(sleeping, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sleeping[0].cancel()


def _summary(standing: Standing, is_busy: bool) -> str:
    state = standing.state
    if is_busy or state is None:
        return f"{standing.name}: another process sweeps it; it goes on there."
    counts = f"{state.seen:,} seen, {state.handed:,} handed over, {state.gone:,} gone, {state.errors:,} errors"
    error = f" {state.last_error}" if state.last_error else ""
    return f"{standing.name} is {standing.word}: {counts}.{error} {standing.next_step}"


class _Plain:
    """A line for each source from time to time: for files and other programs."""

    def __init__(self, intervals_s: dict[str, float]) -> None:
        self._intervals_s = intervals_s
        self._next: dict[str, float] = dict.fromkeys(intervals_s, 0.0)

    def __enter__(self) -> "_Plain":
        return self

    def __exit__(self, *_raised: object) -> None:
        return

    def show(self, standings: Sequence[Standing]) -> None:
        now = asyncio.get_running_loop().time()
        for standing in standings:
            if now >= self._next[standing.name] and standing.state:
                self._next[standing.name] = now + self._intervals_s[standing.name]
                typer.echo(f"{standing.name} {' '.join(f'{name}={value}' for name, value in _row(standing).items())}")
                sys.stdout.flush()


class _Table:
    """One line for each source that changes in its place: for people."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=8)

    def __enter__(self) -> "_Table":
        self._live.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._live.__exit__(None, None, None)

    def show(self, standings: Sequence[Standing]) -> None:
        table = Table("source", *_COLUMNS)
        for standing in standings:
            table.add_row(standing.name, *_row(standing).values())
        self._live.update(table)


def _display(ingest: Ingest) -> "_Plain | _Table":
    console = Console()
    if console.is_terminal:
        return _Table(console)
    return _Plain({name: ingest.sources.catalogue.sources[name].log_interval for name in ingest.names})


def _row(standing: Standing) -> dict[str, str]:
    state = standing.state
    expected = state.expected if state else None
    told = (
        standing.word,
        f"{state.seen if state else 0}/{'?' if expected is None else expected}",
        f"{state.per_second if state else 0:.0f}/s",
        f"{standing.queued_bytes}",
        f"{standing.links}",
        f"{state.errors if state else 0}",
    )
    return dict(zip(_COLUMNS, told, strict=True))
