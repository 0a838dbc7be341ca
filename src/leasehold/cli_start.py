"""What every command begins with: settings that are read, and errors that are sentences."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer

from leasehold import __version__, logs, settings
from leasehold.accounts import MongoAddressInvalid, MoveFailed, SecretsDamaged
from leasehold.backup import BackupBad, ProgramFailed
from leasehold.db import WallMissing
from leasehold.duties import DutyUnknown
from leasehold.embedded import EmbeddedFailed
from leasehold.entities import NotRecords, PoliciesInvalid
from leasehold.legacy import ImportFailed, MapInvalid
from leasehold.life import CannotStart, signals_as_exit
from leasehold.migrate import MigrationFailed, MigrationMissing, MigrationsBusy, RestoreUnfinished
from leasehold.problems import Problem
from leasehold.settings import Settings, SettingsInvalid
from leasehold.sites import VectorsMalformed


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(__version__)
        raise typer.Exit


def before_all(
    _is_version_asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What may stand before a command."""


def chosen_settings(**given: object) -> Settings:
    with clear_errors():
        chosen = settings.load(**given)
    logs.configure(chosen.log_level, chosen.log_format)
    for sentence in settings.strangers():
        typer.echo(sentence, err=True)
    signals_as_exit()
    return chosen


_EXPECTED = (
    MongoAddressInvalid,
    BackupBad,
    ProgramFailed,
    RestoreUnfinished,
    DutyUnknown,
    MoveFailed,
    ImportFailed,
    MapInvalid,
    SecretsDamaged,
    NotRecords,
    PoliciesInvalid,
    Problem,
    SettingsInvalid,
    CannotStart,
    EmbeddedFailed,
    MigrationFailed,
    MigrationsBusy,
    MigrationMissing,
    WallMissing,
    VectorsMalformed,
)


@contextmanager
def clear_errors() -> Iterator[None]:
    """What a person can put right is a sentence, not a stack trace."""
    try:
        yield
    except _EXPECTED as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}." if error.filename else str(error))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        _fail(f"That file is not JSON: {error}.")


def _fail(message: str) -> NoReturn:
    typer.echo(f"leasehold: {message}", err=True)
    raise typer.Exit(2)
