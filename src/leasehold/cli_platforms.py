"""Platforms on the command line: whether files are right, what a folder would change, whether jobs come through."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NoReturn

import httpx
import typer

from leasehold import collectors, platforms
from leasehold.canary import Canary, CanaryFailed
from leasehold.client import Leasehold, ProblemError
from leasehold.settings import Settings, of_a_client

commands = typer.Typer(help="Look at the files of platforms.", no_args_is_help=True)

Folder = Annotated[Path | None, typer.Argument(help="A folder of platforms; those in force when left out.")]


@commands.command()
def check(folder: Folder = None) -> None:
    """Read every file, and say what is wrong where. Exits with 1 when anything is.

    A price that the collectors' own table contradicts is told and counts for nothing: runs go by that table.
    """
    found = platforms.read(folder or _in_force())
    for fault in found.faults:
        typer.echo(str(fault), err=True)
    for platform in found.platforms.values():
        kinds = ", ".join(platform.task_types)
        typer.echo(f"{platform.slug}: {platform.transport}, {platform.limits.concurrency} at once: {kinds}")
    for line in _second_prices(found.platforms):
        typer.echo(f"Warning: {line}", err=True)
    if found.faults:
        raise typer.Exit(1)
    if not found.platforms:
        typer.echo(f"No platforms in {folder or _in_force()}: put a file NAME.yaml there.", err=True)
        raise typer.Exit(1)


@commands.command()
def diff(
    folder: Annotated[Path, typer.Argument(help="The folder that would take the place of those in force.")],
) -> None:
    """Say what another folder would change. Exits with 1 when a file of it is wrong."""
    now, then = platforms.read(_in_force()), platforms.read(folder)
    for fault in then.faults:
        typer.echo(str(fault), err=True)
    lines = list(platforms.compare(now.platforms, then.platforms))
    typer.echo("\n".join(lines) or "Nothing differs.")
    if then.faults:
        raise typer.Exit(1)


@commands.command()
def canary(
    slug: Annotated[str, typer.Argument(help="The platform.")],
    task_type: Annotated[str | None, typer.Option(help="The type of task; its first when left out.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="How many seconds to follow it.")] = 60.0,
    url: Annotated[str | None, typer.Option(help="The server. [LEASEHOLD_URL]")] = None,
) -> None:
    """Send the example of a platform through as one job, and say where it came to. The token is in LEASEHOLD_TOKEN."""
    address, token = of_a_client()
    if not (url or address) or not token:
        _refuse("Set LEASEHOLD_URL (or --url) and LEASEHOLD_TOKEN: a canary goes through the API like any job.")
    try:
        with Leasehold(url or address, token) as lh:
            bird = Canary(lh, slug, task_type, timeout)
            for line in bird.fly():
                typer.echo(line)
    except (CanaryFailed, ProblemError) as error:
        _refuse(str(error))
    except httpx.TransportError as error:
        _refuse(f"{url or address} cannot be reached ({type(error).__name__}).")
    if not bird.is_home:
        raise typer.Exit(1)


def _refuse(message: str) -> NoReturn:
    typer.echo(f"leasehold: {message}", err=True)
    raise typer.Exit(1)


def _second_prices(found: Mapping[str, platforms.Platform]) -> list[str]:
    try:
        return list(collectors.second_prices(found, Settings().collectors_dir))
    except collectors.CollectorsInvalid as error:
        return [str(error)]


def _in_force() -> Path:
    return Settings().platforms_dir or platforms.SHIPPED
