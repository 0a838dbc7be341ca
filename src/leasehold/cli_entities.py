"""Entities on the command line: how good linking is."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from leasehold.cli_start import chosen_settings, clear_errors
from leasehold.entities import evaluate_file

commands = typer.Typer(help="Measure how records are linked to entities.", no_args_is_help=True)


@commands.callback()
def entities() -> None:
    """Measure how records are linked to entities."""


@commands.command()
def evaluate(
    file: Annotated[Path, typer.Argument(help="Records as lines of JSON, each with its `truth`.", exists=True)],
    curated: Annotated[
        list[str] | None, typer.Option(help="A source that holds each thing once; give it several times.")
    ] = None,
    shuffle: Annotated[int | None, typer.Option(help="Feed the records in another order; the same for a seed.")] = None,
    policy: Annotated[
        Path | None, typer.Option(help="Policies in YAML, as LEASEHOLD_LINKING_FILE names them.", exists=True)
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here, too.")] = None,
) -> None:
    """Learn weights from a file without its truth, link it through the real writer, and say how good that is."""
    chosen_settings()
    with clear_errors():
        say = partial(typer.echo, err=True)
        figures = asyncio.run(evaluate_file(file, curated or [], shuffle, policy, say))
    written = json.dumps(figures, indent=2)
    if json_file:
        json_file.write_text(written + "\n", encoding="utf-8")
    typer.echo(written)
