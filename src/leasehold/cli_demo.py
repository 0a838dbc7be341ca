"""`leasehold demo`: everything at once, in a world that is simulated."""

from pathlib import Path
from typing import Annotated

import typer

from leasehold import logs
from leasehold.cli_start import clear_errors
from leasehold.demo import Task, compare_until_done, play_until_stopped
from leasehold.life import signals_as_exit


def demo(
    data: Annotated[
        Path | None, typer.Option(help="A new folder to keep it in; without it nothing is kept.", file_okay=False)
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    seconds: Annotated[float | None, typer.Option(min=1, help="Stop by itself after so long.")] = None,
    seed: Annotated[int, typer.Option(help="Another world for another number.")] = 1,
    without_leases: Annotated[
        bool, typer.Option("--without-leases", help="Do the same work without leases and with them, and compare.")
    ] = False,
    visits: Annotated[int, typer.Option(min=1, max=10_000, help="With --without-leases: how many visits each.")] = 100,
) -> None:
    """Run leasehold in a simulated world: no configuration, nothing outside of this machine, nothing left behind."""
    logs.configure("error", "console")
    signals_as_exit()
    with clear_errors():
        if without_leases:
            compare_until_done(data, port, Task(seed=seed, visits=visits), typer.echo)
        else:
            play_until_stopped(data, port, seconds, seed, typer.echo)
