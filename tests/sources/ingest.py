"""`leasehold ingest` as a process, with the stand-in for the writer: `python -m tests.sources.ingest SOURCE…`."""

import typer

from leasehold.cli_ingest import ingest_command
from tests.sources.standin import OUTLET

if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(ingest_command(OUTLET))
    app()
