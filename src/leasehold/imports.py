"""What the command line brings in: accounts and seeds out of files, and what a map names out of an old MongoDB."""

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from fastapi import FastAPI

from leasehold import accounts, seeds
from leasehold.app import build, organisations
from leasehold.auth import DEFAULT_ORGANISATION, Tokens
from leasehold.caller import Caller
from leasehold.db import Database
from leasehold.legacy import (
    Compared,
    FileReport,
    FirstOnes,
    LegacyImport,
    LegacyMap,
    Progress,
    Source,
    Wish,
    compare,
    read_map,
)
from leasehold.life import CannotStart, keyring
from leasehold.settings import Settings
from leasehold.sites import Sites

T = TypeVar("T")
Say = Callable[[str], None]
_AT_ONCE = 5_000
_ENDINGS = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".opml": "opml", ".xml": "opml"}
_NAMED = 100


@dataclass(frozen=True, slots=True)
class LegacyWish:
    """What `import legacy-mongo` was asked for."""

    url: str
    map: LegacyMap
    digest: bytes  # of the map, as it is written
    report: Path
    organisation: str
    dry_run: bool


def legacy_wish(url: str, file: Path, report: Path, organisation: str, *, dry_run: bool) -> LegacyWish:
    """Raises MapInvalid before anything is opened."""
    raw = file.read_bytes()
    return LegacyWish(url, read_map(raw), hashlib.sha256(raw).digest(), report, organisation, dry_run)


async def import_accounts(settings: Settings, url: str, file: Path, organisation: str, say: Say) -> bool:
    """Whether every line was taken."""
    read = {"csv": accounts.from_csv, "ndjson": accounts.from_ndjson}[_format(file, "csv", "ndjson")]
    lines = read(_text(file))
    created = updated = 0
    rejected: list[tuple[int, str]] = []
    async with _running(settings, url) as app:
        caller = await caller_of(app.state.db, organisation)
        for some in _pieces(lines):
            taken = await accounts.take_in(app.state.accounts, caller, some)
            created, updated = created + taken.created, updated + taken.updated
            rejected += taken.rejected
    return _tell("accounts", created, updated, rejected, say)


async def import_seeds(settings: Settings, url: str, file: Path, site: str | None, organisation: str, say: Say) -> bool:
    """Whether every line was taken."""
    form = _format(file, "csv", "ndjson", "opml")
    created = updated = 0
    rejected: list[tuple[int, str]] = []
    async with _running(settings, url) as app:
        garden: seeds.Seeds = app.state.seeds
        caller = await caller_of(app.state.db, organisation)
        if site is not None and not await garden.known_sites(caller, [site]):
            raise CannotStart("--site: no site of the organisation has this slug.")
        registry = await garden.registry(caller)
        try:
            for some in _pieces(_seed_lines(file, form, site)):
                items = [(line.number, seeds.from_line(registry, line, site)) for line in some]
                rejected += [(number, item) for number, item in items if isinstance(item, str)]
                made = await garden.upsert(caller, [item for _, item in items if not isinstance(item, str)])
                created, updated = created + made.created, updated + made.updated
        except seeds.NotThatFormat as error:
            raise CannotStart(f"{file.name}: {error}") from None
    return _tell("seeds", created, updated, rejected, say)


def _seed_lines(file: Path, form: str, site: str | None) -> Iterator[seeds.FileLine]:
    if form == "opml":
        return seeds.from_opml(file.read_bytes(), site)
    return seeds.from_csv(_text(file)) if form == "csv" else seeds.from_ndjson(_text(file))


def _format(file: Path, *taken: str) -> str:
    form = _ENDINGS.get(file.suffix.lower())
    if form not in taken:
        known = ", ".join(ending for ending, name in _ENDINGS.items() if name in taken)
        raise CannotStart(f"{file.name}: what is in a file is told by how its name ends; known are {known}.")
    return form


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CannotStart(f"{file.name} is not UTF-8.") from None


def _pieces(lines: Iterable[T]) -> Iterator[list[T]]:
    left = iter(lines)
    while some := list(islice(left, _AT_ONCE)):
        yield some


def _tell(what: str, created: int, updated: int, rejected: list[tuple[int, str]], say: Say) -> bool:
    for number, detail in rejected[:_NAMED]:
        say(f"line {number}: {detail}")
    if len(rejected) > _NAMED:
        say(f"and {len(rejected) - _NAMED:,} more")
    say(f"{what}: {created:,} created, {updated:,} updated, {len(rejected):,} rejected")
    return not rejected


async def import_legacy(settings: Settings, url: str, wish: LegacyWish, say: Say) -> tuple[bool, bool]:
    """Whether what is here is what was read, and whether every document was good."""
    async with Source(wish.url) as source, Database(url, pool_size=4) as db:
        await source.insist(wish.map)
        caller = await caller_of(db, wish.organisation)
        which = hashlib.sha256(wish.digest + source.name.encode()).digest()
        chosen = Wish(caller, wish.map, which, wish.dry_run, settings.allow_special_hosts)
        running = LegacyImport(db, Sites(db, {}), source, chosen, say)
        now = await running.progress()
        with _report(wish, now) as report:
            await running.run(now, report)
        compared = [] if wish.dry_run else await compare(db, caller.organisation)
        if not wish.dry_run:
            await running.finish()
    bad = sum(tally.bad for tally in now.tallies.values())
    for line in _summary(now, compared, wish, report, bad):
        say(line)
    return all(one.agree for one in compared), not bad


@contextmanager
def _report(wish: LegacyWish, now: Progress) -> Iterator[FileReport | FirstOnes]:
    report = FirstOnes() if wish.dry_run else FileReport(wish.report, now.report_bytes)
    try:
        yield report
    finally:
        report.close()


def _summary(
    now: Progress, compared: list[Compared], wish: LegacyWish, report: FileReport | FirstOnes, bad: int
) -> Iterator[str]:
    yield ""
    yield f"{'':<10}{'read':>12}{'imported':>12}{'there':>12}{'bad':>12}"
    for kind, tally in now.tallies.items():
        yield f"{kind:<10}{tally.read:>12,}{tally.imported:>12,}{tally.there:>12,}{tally.bad:>12,}"
    yield ""
    for one in compared:
        verdict = "agree" if one.agree else "DIFFER: rows were changed past leasehold, or while this ran"
        yield f"{one.kind}s: read {one.read}, here {one.here}; {verdict}"
    if isinstance(report, FirstOnes):
        yield from report.lines
        yield f"This was a dry run: nothing was written. {bad:,} documents are bad."
    elif bad:
        yield f"{bad:,} documents are bad and were not imported; each is in {report.path}"


async def caller_of(db: Database, organisation: str) -> Caller:
    """The command line in that organisation; only `default` is made where there is none."""
    known = {slug for _, slug in await organisations(db)}
    if organisation not in known | {DEFAULT_ORGANISATION}:
        raise CannotStart("--org: there is no such organisation. `leasehold tokens create --org …` makes one.")
    return await Tokens(db).local_caller(organisation)


@asynccontextmanager
async def _running(settings: Settings, url: str) -> AsyncIterator[FastAPI]:
    """A whole leasehold that listens nowhere: accounts may be in either store, and what waits for them is told."""
    app = build(settings, url, keyring(settings, may_make=False))
    async with app.router.lifespan_context(app):
        yield app
