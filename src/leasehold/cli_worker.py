"""`leasehold worker`: runs the workers of a module."""

from typing import Annotated

import typer

from leasehold.client.worker_command import run


def worker(
    module: Annotated[str, typer.Argument(help="MODULE or MODULE:NAME, importable from the current folder.")],
    concurrency: Annotated[int | None, typer.Option(min=1, help="How many tasks at once.")] = None,
    url: Annotated[str | None, typer.Option(help="The server, or a broker's amqp:// address. [LEASEHOLD_URL]")] = None,
) -> None:
    """Run the workers of a module until SIGTERM or Ctrl-C. The token is in LEASEHOLD_TOKEN."""
    raise typer.Exit(run(module, concurrency, url))
