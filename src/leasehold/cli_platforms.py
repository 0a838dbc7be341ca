"""Platforms on the command line: whether the files are right, and what a new folder would change."""

from pathlib import Path
from typing import Annotated

import typer

from leasehold import platforms
from leasehold.settings import Settings

commands = typer.Typer(help="Look at the files of platforms.", no_args_is_help=True)

Folder = Annotated[Path | None, typer.Argument(help="A folder of platforms; those in force when left out.")]


@commands.command()
def check(folder: Folder = None) -> None:
    """Read every file, and say what is wrong where. Exits with 1 when anything is."""
    found = platforms.read(folder or _in_force())
    for fault in found.faults:
        typer.echo(str(fault), err=True)
    for platform in found.platforms.values():
        kinds = ", ".join(platform.task_types)
        typer.echo(f"{platform.slug}: {platform.transport}, {platform.limits.concurrency} at once: {kinds}")
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


def _in_force() -> Path:
    return Settings().platforms_dir or platforms.SHIPPED
