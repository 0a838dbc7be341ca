"""Takes a backup beside running servers: one moment of PostgreSQL, one of MongoDB, and the bytes of captures."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import IsolationLevel, sql

from leasehold import __version__, keys
from leasehold.backup import captured, documents, programs
from leasehold.backup.folder import DUMP, BackupBad, Draft, Say
from leasehold.backup.manifest import FORMAT, Captured, Documents, Manifest, Part
from leasehold.captures import make as make_blobs
from leasehold.db import Database
from leasehold.migrate import missing
from leasehold.settings import Settings

APPLICATION_NAME = "leasehold-backup"

_BOUND = "SELECT rolname FROM pg_roles WHERE rolname = current_user AND NOT (rolsuper OR rolbypassrls)"
_TABLES = """
SELECT n.nspname, c.relname
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
 ORDER BY 1, 2
"""
_FACTS = """
SELECT pg_export_snapshot(), clock_timestamp(), current_setting('server_version'), audit_era(),
       (SELECT store FROM pool), (SELECT moving_to FROM pool),
       (SELECT array_agg(name ORDER BY name) FROM schema_mark), (SELECT array_agg(slug ORDER BY slug) FROM organisation)
"""
_BLOBS = "SELECT organisation, sha256, size FROM blob WHERE in_use ORDER BY organisation, sha256"
_STILL_USED = """
SELECT EXISTS (SELECT FROM blob WHERE in_use AND organisation = %(organisation)s::uuid AND sha256 = %(sha256)s::bytea)
"""


@dataclass(frozen=True, slots=True)
class _Moment:
    """PostgreSQL as one transaction sees it, for as long as that is open."""

    conn: psycopg.Connection[Any]
    snapshot: str
    at: datetime
    server: str
    era: int
    pools: str
    marks: list[str]
    organisations: list[str]
    tables: dict[str, int]


async def take(settings: Settings, url: str, target: Path, say: Say, *, without_captures: bool) -> Manifest:
    """Make a backup at a place where nothing is yet. Raises BackupBad; nothing is left of one that failed."""
    draft = Draft(target)
    draft.begin()
    try:
        with _moment(url, has_mongo=bool(settings.mongo_url.get_secret_value())) as moment:
            say(f"PostgreSQL as of {moment.at:%Y-%m-%d %H:%M:%S} UTC: {sum(moment.tables.values()):,} rows")
            async with _documents(settings) as pinned:
                mongo = Documents(collections=await pinned.copy(draft, say)) if pinned else None
            programs.dump(url, moment.snapshot, draft.folder / DUMP, len(moment.tables), say)
            draft.adopt(DUMP)
            bytes_ = _captures(settings, url, moment, draft, say, without=without_captures)
        needed = await _keys(settings, url)

        def manifest(sums: str, total: Part) -> Manifest:
            return Manifest(
                format=FORMAT,
                leasehold=__version__,
                taken_at=moment.at,
                postgresql=moment.server,
                schema_marks=moment.marks,
                era=moment.era,
                pools=moment.pools,
                organisations=moment.organisations,
                keys=needed,
                tables=moment.tables,
                mongo=mongo,
                captures=bytes_,
                sums_sha256=sums,
                total=total,
            )

        return draft.finish(manifest)
    except BaseException:
        draft.discard()
        raise


def insist_on_seeing_all(conn: psycopg.Connection[Any]) -> None:
    """The wall binds the owner, too; a backup by one that it binds would be empty."""
    for (role,) in conn.execute(_BOUND).fetchall():
        raise BackupBad(
            f"The role {role} of LEASEHOLD_DATABASE_URL sees no rows past the wall between organisations. Let an "
            f'administrator of PostgreSQL run: ALTER ROLE "{role}" BYPASSRLS. Servers stay bound by the wall.'
        )


def _insist_on_this_version(conn: psycopg.Connection[Any]) -> None:
    ((is_there,),) = conn.execute("SELECT to_regclass('schema_mark') IS NOT NULL").fetchall()
    marks = {name for (name,) in conn.execute("SELECT name FROM schema_mark")} if is_there else set()
    if not marks:
        raise BackupBad("There is nothing to back up: this database was never used by leasehold.")
    if lacking := missing(marks):
        raise BackupBad(
            f"This database is of an older version: it lacks {lacking[0]}. Back it up with the version that runs on "
            "it, or bring it up to date first, with `leasehold migrate`."
        )


@contextmanager
def _moment(url: str, *, has_mongo: bool) -> Iterator[_Moment]:
    with psycopg.connect(url, autocommit=True, application_name=APPLICATION_NAME) as conn:
        insist_on_seeing_all(conn)
        _insist_on_this_version(conn)
        conn.isolation_level = IsolationLevel.REPEATABLE_READ
        conn.read_only = True
        with conn.transaction():
            ((snapshot, at, server, era, pools, moving, marks, organisations),) = conn.execute(_FACTS).fetchall()
            if moving is not None:
                raise BackupBad("The pools are on their way to another store. Let `leasehold migrate-pools` end first.")
            if pools == "mongo" and not has_mongo:
                raise BackupBad(
                    "The accounts are in mongo: say in LEASEHOLD_MONGO_URL where, as mongodb://host:port/name."
                )
            yield _Moment(conn, snapshot, at, server, era, pools, marks, organisations or [], counts(conn))


def _count(conn: psycopg.Connection[Any], schema: str, table: str) -> int:
    ((rows,),) = conn.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))).fetchall()
    return int(rows)


def counts(conn: psycopg.Connection[Any]) -> dict[str, int]:
    """The rows of every table that is backed up."""
    return {f"{schema}.{table}": _count(conn, schema, table) for schema, table in conn.execute(_TABLES).fetchall()}


@asynccontextmanager
async def _documents(settings: Settings) -> AsyncIterator[documents.Pinned | None]:
    """MongoDB, where there is one: pools, sessions and results may be in it."""
    if not (address := settings.mongo_url.get_secret_value()):
        yield None
        return
    async with documents.pinned(address) as found:
        yield found


def _captures(settings: Settings, url: str, moment: _Moment, draft: Draft, say: Say, *, without: bool) -> Captured:
    if without:
        return Captured(left_out=True, blobs=0, bytes=0, gone=[], lost=[])
    blobs = make_blobs(settings.blob_url.get_secret_value(), settings.data_dir)
    try:
        with moment.conn.cursor(name="blobs") as rows:
            rows.execute(_BLOBS)
            found = captured.copy_out(rows, blobs, draft, say)
    finally:
        blobs.close()
    # Whoever removed a capture meanwhile took its bytes along; that is no loss.
    with psycopg.connect(url, autocommit=True, application_name=APPLICATION_NAME) as conn:
        lost = [path for path in found.lost if _is_used(conn, path)]
    return found.model_copy(update={"lost": lost, "gone": [path for path in found.lost if path not in lost]})


def _is_used(conn: psycopg.Connection[Any], path: str) -> bool:
    organisation, *_, name = path.split("/")
    ((used,),) = conn.execute(_STILL_USED, {"organisation": organisation, "sha256": bytes.fromhex(name)}).fetchall()
    return bool(used)


async def _keys(settings: Settings, url: str) -> dict[str, int]:
    async with Database(url, pool_size=2) as db, keys.safes(db, settings) as found:
        return dict(await keys.census(found))
