"""The command line: each command a few lines over what the rest of the house does."""

import asyncio
import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from leasehold import __version__, keys, logs, settings
from leasehold.accounts import MongoAddressInvalid, MoveFailed, SecretsDamaged
from leasehold.app import organisations
from leasehold.auth import DEFAULT_ORGANISATION, Role, Tokens, role_wish
from leasehold.captures import make as make_blobs
from leasehold.cli_platforms import commands as platform_commands
from leasehold.db import Database, WallMissing
from leasehold.doctor import Finding, examine
from leasehold.embedded import EmbeddedFailed
from leasehold.imports import import_accounts, import_legacy, import_seeds, legacy_wish
from leasehold.legacy import ImportFailed, MapInvalid
from leasehold.life import CannotStart, database, serve_until_stopped, signals_as_exit
from leasehold.migrate import MigrationFailed, MigrationMissing, MigrationsBusy, migrate
from leasehold.problems import Problem
from leasehold.relocation import bookkeeper, move_pools, purge_pools
from leasehold.sessions import conformance as session_vectors
from leasehold.settings import Settings, SettingsInvalid
from leasehold.sites import conformance as url_vectors
from leasehold.sites.conformance import Outcome, VectorsMalformed
from leasehold.verify import captures_of, findings_of, leftovers

app = typer.Typer(
    help="leasehold: the control plane for an organisation's web collectors.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
tokens = typer.Typer(help="Make tokens on the server itself.", no_args_is_help=True)
bench = typer.Typer(help="Measure this version on this machine.", no_args_is_help=True)
conformance = typer.Typer(help="Run a file of published vectors against this version.", no_args_is_help=True)
key_commands = typer.Typer(help="Change the keys that secrets are sealed with.", no_args_is_help=True)
imports = typer.Typer(help="Bring in accounts, seeds, or what an older system has.", no_args_is_help=True)
app.add_typer(tokens, name="tokens")
app.add_typer(imports, name="import")
app.add_typer(key_commands, name="keys")
app.add_typer(conformance, name="conformance")
app.add_typer(bench, name="bench")
app.add_typer(platform_commands, name="platforms")

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


def _say(line: str) -> None:
    print(line, flush=True)


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
        _tell(finding)
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
            all_well = asyncio.run(_verify(chosen, url))
            if captures:
                all_well = asyncio.run(_verify_captures(chosen, url, repair)) and all_well
    _exit_unless(all_well)


async def _verify(chosen: Settings, url: str) -> bool:
    all_well = True
    async with Database(url, pool_size=2) as db, bookkeeper(chosen, db) as keep:
        everybody = await organisations(db)
        for organisation, slug in everybody:
            async for finding in findings_of(db, keep, organisation, slug):
                _tell(finding)
                all_well = all_well and finding.is_well
    if not everybody:
        print("nothing to verify: there is no organisation yet")
    return all_well


async def _verify_captures(chosen: Settings, url: str, repair: bool) -> bool:
    blobs = make_blobs(chosen.blob_url.get_secret_value(), chosen.data_dir)
    async with Database(url, pool_size=2) as db:
        everybody = await organisations(db)
        findings = [await captures_of(db, blobs, organisation, slug) for organisation, slug in everybody]
        findings.append(await leftovers(db, blobs, [organisation for organisation, _ in everybody], repair=repair))
    for finding in findings:
        _tell(finding)
    return all(finding.is_well for finding in findings)


def _tell(finding: Finding) -> None:
    print(f"{'ok  ' if finding.is_well else 'FAIL'}  {finding.what:<12} {finding.detail}")


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


@bench.command("leases")
def bench_leases(
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything that was measured here.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each variant takes its turn.")] = 3,
    seconds: Annotated[float, typer.Option(min=1, help="How long one measurement takes.")] = 4,
    accounts: Annotated[int, typer.Option(min=1000, help="The largest pool.")] = 1_000_000,
) -> None:
    """Measure acquire and release over HTTP against plain transactions, pgbench and bare MongoDB; prints ratios."""
    with _clear_errors():
        _benchmark("leases").run(json_file, rounds, seconds, accounts)


@bench.command("sessions")
def bench_sessions(
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything that was measured here.")] = None,
    rounds: Annotated[int, typer.Option(min=3, help="How often each variant takes its turn.")] = 15,
) -> None:
    """Measure the merge of a browser state against a plain merge of dictionaries; prints ratios."""
    with _clear_errors():
        _benchmark("sessions").run(json_file, rounds)


@bench.command("seeds")
def bench_seeds(
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything that was measured here.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each variant takes its turn.")] = 5,
    times: Annotated[int, typer.Option(min=10, help="How many acquires one measurement takes.")] = 100,
    many: Annotated[int, typer.Option("--seeds", min=1000, help="The largest garden.")] = 1_000_000,
) -> None:
    """Measure what handing out a seed costs as they become many, as most are not due, and over hundreds of sites."""
    with _clear_errors():
        _benchmark("seeds").run(json_file, rounds, times, many)


@bench.command("captures")
def bench_captures(
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything that was measured here.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each variant takes its turn.")] = 7,
    megabytes: Annotated[int, typer.Option(min=1, max=500, help="How large an upload is.")] = 100,
) -> None:
    """Measure uploads against cp and fsync of the same bytes, and what they cost the server in memory."""
    with _clear_errors():
        _benchmark("captures").run(json_file, rounds, megabytes)


def _benchmark(name: str) -> Any:
    """The benchmark of that name. They stand beside the package's sources, where no installed command looks."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    if importlib.util.find_spec("bench") is None:
        raise CannotStart("The benchmarks are in the checkout, not in the package. Run this there.")
    return importlib.import_module(f"bench.{name}")


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


def _settings(**given: object) -> Settings:
    with _clear_errors():
        chosen = settings.load(**given)
    logs.configure(chosen.log_level, chosen.log_format)
    for sentence in settings.strangers():
        print(sentence, file=sys.stderr)
    signals_as_exit()
    return chosen


_EXPECTED = (
    MongoAddressInvalid,
    MoveFailed,
    ImportFailed,
    MapInvalid,
    SecretsDamaged,
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
def _clear_errors() -> Iterator[None]:
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
    print(f"leasehold: {message}", file=sys.stderr)
    raise typer.Exit(2)
