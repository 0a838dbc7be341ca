"""Artefacts on the command line: published at once, by hand or by a scheduler of one's own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from leasehold.accounts import MongoBooks, connect
from leasehold.artifacts import Artifacts, Elsewhere, Published, PublishFailed
from leasehold.cli_start import chosen_settings, clear_errors
from leasehold.db import Database
from leasehold.life import CannotStart, database
from leasehold.metrics import Metrics
from leasehold.migrate import migrate
from leasehold.settings import Settings

commands = typer.Typer(help="Publish static files of what is known, and the status page.", no_args_is_help=True)


@commands.callback()
def artifacts() -> None:
    """Publish static files of what is known, and the status page."""


@commands.command()
def publish(
    data: Annotated[Path | None, typer.Option("--data", help="Data folder. [LEASEHOLD_DATA_DIR]")] = None,
) -> None:
    """Publish an edition now, whenever the next is due. Exits with 2 when it could not; the last good one stands."""
    with clear_errors():
        chosen = chosen_settings(data_dir=data)
        with database(chosen) as url:
            migrate(url)
            for one in asyncio.run(_publish(chosen, url)):
                typer.echo(f"{one.path}: {one.name} version {one.version}, {one.bytes:,} bytes")


async def _publish(chosen: Settings, url: str) -> list[Published]:
    async with Database(url, pool_size=2) as db, _elsewhere(chosen) as elsewhere:
        publisher = Artifacts(db, chosen, Metrics(), elsewhere)
        try:
            return await publisher.publish(lambda line: typer.echo(line, err=True))
        except PublishFailed as failure:
            raise CannotStart(str(failure)) from None


@asynccontextmanager
async def _elsewhere(chosen: Settings) -> AsyncIterator[Elsewhere | None]:
    """Who counts accounts where MongoDB has them."""
    if chosen.pools == "postgres":
        yield None
        return
    books = MongoBooks(*connect(chosen.mongo_url.get_secret_value()))
    try:
        yield books.states
    finally:
        await books.close()
