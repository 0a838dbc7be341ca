"""What is kept, as lines of JSON, on the command line."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from leasehold.app import build
from leasehold.auth import DEFAULT_ORGANISATION
from leasehold.cli_start import chosen_settings, clear_errors
from leasehold.exports import Exported, Exports
from leasehold.imports import caller_of
from leasehold.life import CannotStart, database, keyring
from leasehold.migrate import migrate
from leasehold.settings import Settings

_TELL_EVERY = 10_000


def export(
    kind: Annotated[Exported, typer.Argument(help="What to export.")],
    output: Annotated[Path | None, typer.Option(help="A file; standard output when left out.")] = None,
    secrets: Annotated[
        bool, typer.Option("--secrets", help="accounts: with their secrets, to be imported elsewhere. Each is audited.")
    ] = False,
    org: Annotated[str, typer.Option("--org", help="The organisation's slug.")] = DEFAULT_ORGANISATION,
    data: Annotated[Path | None, typer.Option("--data", help="Data folder. [LEASEHOLD_DATA_DIR]")] = None,
) -> None:
    """Write everything of one kind as NDJSON, a line each. `import` reads seeds, and accounts with their secrets."""
    with clear_errors():
        if secrets and kind is not Exported.ACCOUNTS:
            raise CannotStart("--secrets goes with accounts alone.")
        chosen = chosen_settings(data_dir=data)
        with database(chosen) as url, _opened(output) as file:
            migrate(url)
            written = asyncio.run(_write(chosen, url, org, kind, file, secrets=secrets))
    typer.echo(f"{kind}: {written:,}, all of it", err=True)


async def _write(chosen: Settings, url: str, org: str, kind: Exported, file: IO[bytes], *, secrets: bool) -> int:
    """A whole leasehold that listens nowhere and does nothing by itself: accounts may be in either store."""
    app = build(chosen, url, keyring(chosen, may_make=False), duties=frozenset())
    written = 0
    async with app.router.lifespan_context(app):
        caller = await caller_of(app.state.db, org)
        exports = Exports(app.state.db, app.state.accounts, app.state.sites)
        async for line in exports.lines(caller, kind, with_secrets=secrets):
            file.write(line + b"\n")
            written += 1
            if written % _TELL_EVERY == 0:
                typer.echo(f"{kind}: {written:,}", err=True)
    return written


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[bytes]]:
    """A file that is there when all of it is, and that its owner alone may read."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    half = output.with_name(output.name + ".unfinished")
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    half.replace(output)
