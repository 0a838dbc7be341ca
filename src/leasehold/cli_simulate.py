"""Simulations on the command line: services of others, served on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from leasehold.cli_start import chosen_settings, clear_errors
from leasehold.life import CannotStart
from leasehold.simulate import (
    BOX_NAMES,
    Board,
    Control,
    Goods,
    People,
    StashBoxes,
    serve_board,
    serve_boxes,
    serve_providers,
)

commands = typer.Typer(help="Serve services of others as they would answer.", no_args_is_help=True)


@commands.callback()
def simulate() -> None:
    """Serve services of others as they would answer."""


Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")]


@commands.command()
def providers(
    port: Port,
    items: Annotated[int, typer.Option(min=0, max=1_000_000, help="Products in each category.")] = 500,
    latency_ms: Annotated[int, typer.Option(min=0, help="How long each answer takes.")] = 0,
    slow_ms: Annotated[int, typer.Option(min=0, help="How much longer in mode `slow`.")] = 3000,
    missing_every: Annotated[
        int, typer.Option(min=0, help="Each so-manieth product is listed and does not exist; 0 for none.")
    ] = 0,
) -> None:
    """Serve Oxylabs at /oxylabs and eBay at /ebay, and /control, which makes them fail."""
    chosen_settings()
    with clear_errors(), _listening(port):
        serve_providers(port, Goods(items, missing_every), Control(latency_ms, slow_ms), typer.echo)


@commands.command()
def board(
    port: Port,
    accounts: Annotated[int, typer.Option(min=1, max=10_000, help="How many accounts it has.")] = 20,
    threads: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many threads to read.")] = 60,
    seed: Annotated[int, typer.Option(help="Other accounts and threads for another number.")] = 1,
    host: Annotated[str, typer.Option(help="Where it lives at first.")] = "board.localhost",
) -> None:
    """Serve a board behind a login that blocks accounts used twice at once, moves on demand, and tells the /truth."""
    chosen_settings()
    with clear_errors(), _listening(port):
        serve_board(port, Board(accounts, threads, seed, host), typer.echo)


@commands.command()
def stashbox(
    port: Port,
    people: Annotated[int, typer.Option(min=0, max=1_000_000, help="How many people there are.")] = 500,
    seed: Annotated[int, typer.Option(help="Other people for another number.")] = 1,
    boxes: Annotated[int, typer.Option(min=1, max=len(BOX_NAMES), help="How many stash-boxes.")] = 3,
    latency_ms: Annotated[int, typer.Option(min=0, help="How long each answer takes.")] = 0,
    slow_ms: Annotated[int, typer.Option(min=0, help="How much longer in mode `slow`.")] = 3000,
    images: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="Pictures, `<person>.png` or `<person>/…`.")
    ] = None,
    sources: Annotated[Path | None, typer.Option(file_okay=False, help="Write a source file for each here.")] = None,
) -> None:
    """Serve stash-boxes at /NAME/graphql and ThePornDB at /theporndb, with overlapping people and the /truth."""
    chosen_settings()
    with clear_errors():
        made = StashBoxes(People(people, seed), boxes, images)
        made.control.latency_ms, made.control.slow_ms = latency_ms, slow_ms
        with _listening(port):
            serve_boxes(port, made, sources, typer.echo)


@contextmanager
def _listening(port: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotStart(f"Cannot listen on port {port} ({error.strerror}). --port 0 takes a free one.") from None
