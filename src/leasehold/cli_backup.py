"""Backups on the command line: made, checked, and a new place made of one."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from leasehold import backup as backups
from leasehold.cli_start import chosen_settings, clear_errors
from leasehold.cli_verify import verify
from leasehold.life import CannotStart, database, key_place
from leasehold.migrate import refuse_half_restored

Data = Annotated[Path | None, typer.Option("--data", help="Data folder. [LEASEHOLD_DATA_DIR]")]


def backup(
    target: Annotated[Path, typer.Argument(help="The folder to make; nothing may be there yet.")],
    check: Annotated[bool, typer.Option("--check", help="Make none: read the one that is there again.")] = False,
    without_captures: Annotated[
        bool, typer.Option("--without-captures", help="Leave out the bytes of captures: their store has its own.")
    ] = False,
    data: Data = None,
) -> None:
    """Copy everything that is kept into a folder, beside running servers. The keys are NOT in it."""
    with clear_errors():
        chosen = chosen_settings(data_dir=data)
        if check:
            backups.check(target, _say)
            return
        with database(chosen) as url:
            refuse_half_restored(url)
            made = asyncio.run(backups.take(chosen, url, target, _say, without_captures=without_captures))
    _say(f"{target} is whole: {made.total.files:,} files, {made.total.bytes:,} bytes, era {made.era}.")
    if made.keys:
        _say(f"The keys are NOT in it. To open its secrets it takes {', '.join(sorted(made.keys))}.")
        _say(f"Keep a copy of {key_place(chosen)} somewhere else.")
    if made.captures.gone:
        _say(f"{len(made.captures.gone):,} blobs were removed by their owners meanwhile, and are not in it.")
    if made.captures.lost:
        _say(f"{len(made.captures.lost):,} blobs are missing or damaged in the store; the manifest names them.")
        _say("`leasehold verify --captures` says whose they are.")
        raise typer.Exit(1)


def restore(
    source: Annotated[Path, typer.Argument(help="The folder that `leasehold backup` made.")],
    into: Annotated[
        Path | None, typer.Option("--into", "--data", help="Data folder; empty but for keys. [LEASEHOLD_DATA_DIR]")
    ] = None,
    keep_tokens: Annotated[
        bool, typer.Option("--keep-tokens", help="Let the tokens of the backup work again. Else all are revoked.")
    ] = False,
    without_keys: Annotated[
        bool, typer.Option("--without-keys", help="Go on although keys are missing: what they sealed stays closed.")
    ] = False,
) -> None:
    """Make a new place of a backup, in empty databases. Leases of before are dead, and so are tokens."""
    with clear_errors():
        chosen = chosen_settings(data_dir=into)
        if chosen.database_url.get_secret_value() and into is not None:
            raise CannotStart("--into names a data folder, and LEASEHOLD_DATABASE_URL says the database is elsewhere.")
        wish = backups.RestoreWish(source, keep_tokens=keep_tokens, without_keys=without_keys)
        with database(chosen) as url:
            made = asyncio.run(backups.restore(chosen, url, wish, _say))
            is_well = asyncio.run(verify(chosen, url, _say))
    when = made.manifest.taken_at
    _say(
        f"Restored as of {when:%Y-%m-%d %H:%M:%S} UTC, in era {made.era}: fences begin above all that were ever given."
    )
    if made.token is None:
        _say("The tokens of the backup work again.")
    else:
        _say("All tokens of the backup are revoked; `leasehold tokens create` makes others.")
        _say(f"This is a new admin token of {made.organisation}. It is shown this once; keep it safe.")
        typer.echo(made.token)
    if not is_well:
        _say("The books do not balance; see above. Compare with another backup before anybody works with it.")
        raise typer.Exit(1)


def _say(line: str) -> None:
    typer.echo(line, err=True)
