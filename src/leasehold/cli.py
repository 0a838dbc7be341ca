"""The command line: each command a few lines over what the rest of the house does."""

import asyncio
import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from leasehold import __version__, keys
from leasehold.auth import DEFAULT_ORGANISATION, Role, Tokens, role_wish
from leasehold.cli_artifacts import commands as artifact_commands
from leasehold.cli_backup import backup, restore
from leasehold.cli_bench import bench
from leasehold.cli_demo import demo
from leasehold.cli_entities import commands as entity_commands
from leasehold.cli_export import export
from leasehold.cli_ingest import ingest_command
from leasehold.cli_platforms import commands as platform_commands
from leasehold.cli_runs import commands as run_commands
from leasehold.cli_simulate import commands as simulations
from leasehold.cli_start import before_all
from leasehold.cli_start import chosen_settings as _settings
from leasehold.cli_start import clear_errors as _clear_errors
from leasehold.cli_verify import line_of, verify, verify_captures
from leasehold.cli_worker import worker
from leasehold.db import Database
from leasehold.doctor import examine
from leasehold.identity import OUTLET, writing
from leasehold.imports import import_accounts, import_legacy, import_seeds, legacy_wish
from leasehold.life import CannotStart, database, serve_until_stopped, work_until_stopped
from leasehold.migrate import migrate
from leasehold.relocation import move_pools, purge_pools
from leasehold.sessions import conformance as session_vectors
from leasehold.sites import conformance as url_vectors
from leasehold.sites.conformance import Outcome

app = typer.Typer(
    help="leasehold: the control plane for an organisation's web collectors.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
tokens = typer.Typer(help="Make tokens on the server itself.", no_args_is_help=True)
conformance = typer.Typer(help="Run a file of published vectors against this version.", no_args_is_help=True)
key_commands = typer.Typer(help="Change the keys that secrets are sealed with.", no_args_is_help=True)
imports = typer.Typer(help="Bring in accounts, seeds, or what an older system has.", no_args_is_help=True)
app.add_typer(tokens, name="tokens")
app.add_typer(imports, name="import")
app.add_typer(key_commands, name="keys")
app.add_typer(conformance, name="conformance")
app.add_typer(bench, name="bench")
app.add_typer(platform_commands, name="platforms")
app.add_typer(run_commands, name="run")
app.add_typer(entity_commands, name="entities")
app.add_typer(artifact_commands, name="artifacts")
app.add_typer(simulations, name="simulate")
app.command()(worker)
app.command()(backup)
app.command()(restore)
app.command()(export)
app.command()(demo)
app.command("ingest")(ingest_command(OUTLET, writing))
app.callback()(before_all)
_say = partial(print, flush=True)


Data = Annotated[Path | None, typer.Option("--data", help="Data folder. [LEASEHOLD_DATA_DIR]")]
Host = Annotated[str | None, typer.Option("--host", help="Address to listen on. [LEASEHOLD_HOST]")]
Organisation = Annotated[str, typer.Option("--org", help="The organisation's slug.")]
Strictly = Annotated[bool, typer.Option("--strict", help="Exit with 1 when anything was bad and left out.")]
Port = Annotated[int | None, typer.Option("--port", help="Port to listen on; 0 takes a free one. [LEASEHOLD_PORT]")]


@app.command()
def up(data: Data = None, host: Host = None, port: Port = None) -> None:
    """Run everything in one process, on embedded PostgreSQL unless LEASEHOLD_DATABASE_URL says otherwise."""
    with _clear_errors():
        serve_until_stopped(_settings(data_dir=data, host=host, port=port), "up", print)


@app.command()
def serve(data: Data = None, host: Host = None, port: Port = None) -> None:
    """Run the API alone. Several may run beside each other on one database."""
    with _clear_errors():
        serve_until_stopped(_settings(data_dir=data, host=host, port=port), "serve", print)


@app.command()
def work(
    only: Annotated[
        str | None,
        typer.Option(help="Some of it, by commas: dispatcher, aggregator, writer, data-writer, reaper …"),
    ] = None,
    data: Data = None,
) -> None:
    """Do background work without answering requests. Several may run beside each other on one database."""
    with _clear_errors():
        work_until_stopped(_settings(data_dir=data), only, print)


@app.command("migrate")
def migrate_command(data: Data = None) -> None:
    """Bring the database to this version's schema."""
    with _clear_errors(), database(_settings(data_dir=data)) as url:
        applied = migrate(url)
    print("\n".join(f"applied {name}" for name in applied) or "nothing to apply")


@app.command("migrate-pools")
def migrate_pools(
    to: Annotated[
        str | None, typer.Option(help="postgres or mongo; the store LEASEHOLD_POOLS names, else the other one.")
    ] = None,
    purge: Annotated[
        bool, typer.Option("--purge", help="Remove what an earlier move left behind, and move nothing.")
    ] = False,
    data: Data = None,
) -> None:
    """Move accounts with their leases between PostgreSQL and MongoDB, or go on with a move that was stopped."""
    with _clear_errors():
        chosen = _settings(data_dir=data)
        if to not in (None, "postgres", "mongo"):
            raise CannotStart("--to takes postgres or mongo.")
        with database(chosen) as url:
            migrate(url)
            print(asyncio.run(purge_pools(chosen, url) if purge else move_pools(chosen, url, to, _say)))


@tokens.command("create")
def create_token(
    role: Annotated[Role, typer.Option(help="What the token may do.")],
    org: Annotated[
        str, typer.Option(help="The organisation's slug; it is made if there is none.")
    ] = DEFAULT_ORGANISATION,
    name: Annotated[
        str, typer.Option(help="What the token is for, for whoever reads the list.")
    ] = "made on the server",
    data: Data = None,
) -> None:
    """Make a token and print it, alone, on standard output. It is shown this once."""
    with _clear_errors():
        _refuse_odd(org, name)
    with _clear_errors(), database(_settings(data_dir=data)) as url:
        migrate(url)
        print(asyncio.run(_create_token(url, org, name, role)))


def _refuse_odd(organisation: str, name: str) -> None:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", organisation):
        raise CannotStart(
            "--org takes a slug: 1 to 63 small letters, digits, - and _, beginning with a letter or digit."
        )
    if not name.isprintable() or not 0 < len(name) <= 500:
        raise CannotStart("--name takes one line of 1 to 500 characters.")


async def _create_token(url: str, organisation: str, name: str, role: Role) -> str:
    async with Database(url, pool_size=2) as db:
        return await Tokens(db).create_locally(organisation, role_wish(name, role))


@imports.command("accounts")
def import_accounts_command(
    file: Annotated[Path, typer.Argument(help="CSV or NDJSON, as the name ends.")],
    org: Organisation = DEFAULT_ORGANISATION,
    strict: Strictly = False,
    data: Data = None,
) -> None:
    """Add or update accounts out of a file, by site and username."""
    with _clear_errors():
        chosen = _settings(data_dir=data)
        with database(chosen) as url:
            migrate(url)
            all_good = asyncio.run(import_accounts(chosen, url, file, org, _say))
    _exit_unless(all_good or not strict)


@imports.command("seeds")
def import_seeds_command(
    file: Annotated[Path, typer.Argument(help="CSV, NDJSON or OPML, as the name ends.")],
    site: Annotated[str | None, typer.Option(help="The site of lines that name none.")] = None,
    org: Organisation = DEFAULT_ORGANISATION,
    strict: Strictly = False,
    data: Data = None,
) -> None:
    """Add or change seeds out of a file, by their address."""
    with _clear_errors():
        chosen = _settings(data_dir=data)
        with database(chosen) as url:
            migrate(url)
            all_good = asyncio.run(import_seeds(chosen, url, file, site, org, _say))
    _exit_unless(all_good or not strict)


@imports.command("legacy-mongo")
def import_legacy_command(
    url: Annotated[str, typer.Argument(help="mongodb://user:password@host:port/name; - reads it from standard input.")],
    mapped: Annotated[Path, typer.Option("--map", help="What is where, in TOML: docs/migration-from-mongo.md.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read everything and write nothing.")] = False,
    report: Annotated[Path, typer.Option(help="Where bad documents are told.")] = Path("legacy-bad.ndjson"),
    org: Organisation = DEFAULT_ORGANISATION,
    strict: Strictly = False,
    data: Data = None,
) -> None:
    """Bring sites, their addresses and records of captures out of a MongoDB, or go on where that was stopped."""
    with _clear_errors():
        chosen = _settings(data_dir=data)
        address = sys.stdin.readline().strip() if url == "-" else url
        wish = legacy_wish(address, mapped, report, org, dry_run=dry_run)
        with database(chosen) as own:
            migrate(own)
            agree, all_good = asyncio.run(import_legacy(chosen, own, wish, _say))
    _exit_unless(agree and (all_good or not strict))


def _exit_unless(well: bool) -> None:
    if not well:
        raise typer.Exit(1)


@key_commands.command("rotate")
def rotate_keys(
    finish: Annotated[
        bool, typer.Option("--finish", help="Make no key; remove those that no secret needs any more.")
    ] = False,
    data: Data = None,
) -> None:
    """Bring every secret under a new key while servers run, or go on with that where it was cut short."""
    with _clear_errors():
        chosen = _settings(data_dir=data)
        keys.finish(chosen, _say) if finish else keys.begin(chosen, _say)


@app.command()
def doctor(data: Data = None) -> None:
    """Check every configured service and say what is wrong."""
    with _clear_errors():
        findings = list(examine(_settings(data_dir=data)))
    for finding in findings:
        print(line_of(finding))
    _exit_unless(all(finding.is_well for finding in findings))


@app.command("verify")
def verify_command(
    captures: Annotated[
        bool, typer.Option("--captures", help="Also read and hash every file of every capture again.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="With --captures: remove what is in the blob store for nobody.")
    ] = False,
    data: Data = None,
) -> None:
    """Check that nothing in the audit was changed or removed, and that the books of leases balance."""
    with _clear_errors():
        if repair and not captures:
            raise CannotStart("--repair goes with --captures.")
        chosen = _settings(data_dir=data)
        with database(chosen) as url:
            migrate(url)
            all_well = asyncio.run(verify(chosen, url, _say))
            if captures:
                all_well = asyncio.run(verify_captures(chosen, url, _say, repair=repair)) and all_well
    _exit_unless(all_well)


@conformance.command("urls")
def conformance_urls(file: Annotated[Path, typer.Argument(help="A file like tests/data/urls/vectors.json.")]) -> None:
    """Check how URLs are resolved and rewritten against a file of vectors."""
    _report(file, url_vectors.run_vectors)


@conformance.command("sessions")
def conformance_sessions(
    file: Annotated[Path, typer.Argument(help="A file like tests/data/sessions/merge_vectors.json.")],
) -> None:
    """Check how browser states are merged against a file of vectors, in every order of their uploads."""
    _report(file, session_vectors.run_vectors)


def _report(file: Path, run: Callable[[Any], Iterator[Outcome]]) -> None:
    with _clear_errors():
        results = list(run(json.loads(file.read_text(encoding="utf-8"))))
    failed = [result for result in results if not result.passed]
    for result in failed:
        print(result.difference)
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    _exit_unless(not failed)


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)
