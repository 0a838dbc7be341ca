"""Makes a new place of a backup: into empty databases only, and dead to everybody who knew the old one.

A table marks the database until all is done. A restore that was cut short is not gone on with: whatever else is tried
on that database is refused, and the next one begins with an empty one.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from fastapi import FastAPI
from psycopg import sql
from pymongo.errors import PyMongoError

from leasehold import audit
from leasehold.app import build, organisations
from leasehold.auth import DEFAULT_ORGANISATION, Role, Tokens, role_wish
from leasehold.backup import captured, documents, era, programs
from leasehold.backup.folder import DUMP, BackupBad, Say, check
from leasehold.backup.manifest import Manifest
from leasehold.backup.taking import counts, insist_on_seeing_all
from leasehold.caller import Caller
from leasehold.captures import make as make_blobs
from leasehold.ids import show
from leasehold.leases import PREFIX, LeaseFilter, Leases
from leasehold.life import keyring
from leasehold.migrate import RESTORING, migrate_restored, refuse_half_restored, shipped
from leasehold.settings import Settings
from leasehold.vault import Keyring

APPLICATION_NAME = "leasehold-restore"
_AT_ONCE = 50

_FOUND = """
SELECT count(*)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'v', 'S', 'm', 'p') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""
# As the first migration makes them: they belong to the whole server, so that no dump of one database brings them.
_ROLES = """
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['leasehold_app', 'leasehold_system'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS', wanted);
        END IF;
        -- Since PostgreSQL 16 whoever makes a role may not yet work as it.
        IF NOT pg_has_role(
            current_user,
            wanted,
            CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)
        THEN
            EXECUTE format('GRANT %I TO CURRENT_USER', wanted);
        END IF;
    END LOOP;
END
$$
"""
Owner = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True)
class RestoreWish:
    """What was asked for."""

    source: Path
    keep_tokens: bool = False
    without_keys: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of it."""

    manifest: Manifest
    era: int
    revoked: int  # leases of the backup that were ended
    token: str | None  # a new admin's, of the organisation
    organisation: str


async def restore(settings: Settings, url: str, wish: RestoreWish, say: Say) -> Restored:
    """Raises BackupBad before anything is changed when this cannot be, and says what to do."""
    manifest = check(wish.source, say)
    keys = _keys(settings, manifest, may_lack=wish.without_keys)
    _refuse_newer(manifest)
    await _refuse_elsewhere(settings, manifest)
    mongo = settings.mongo_url.get_secret_value() if manifest.mongo else ""
    with psycopg.connect(url, autocommit=True, application_name=APPLICATION_NAME) as conn:
        insist_on_seeing_all(conn)
        _mark(conn, url)
        conn.execute(_ROLES)
        programs.load(url, wish.source / DUMP, len(manifest.tables), say)
        _compare(conn, manifest)
        if manifest.mongo:
            await documents.load(mongo, wish.source, manifest.mongo.collections, say)
        _bring_captures(settings, wish.source, manifest, say)
        migrate_restored(url)
        now = era.begin(conn, manifest.era, keep_tokens=wish.keep_tokens)
        if mongo:
            await era.begin_documents(mongo)
        async with _running(settings, url, keys) as app:
            revoked = await _end_all(app, manifest, now, say, keep_tokens=wish.keep_tokens)
            organisation = _whose(manifest)
            token = None if wish.keep_tokens else await _new_token(app.state.tokens, organisation)
        era.raise_fences(conn, now)
        if mongo:
            await era.raise_document_fences(mongo, now)
        conn.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(*RESTORING.split("."))))
    return Restored(manifest, now, revoked, token, organisation)


def _keys(settings: Settings, manifest: Manifest, *, may_lack: bool) -> Keyring:
    """The keys that open what is in the backup; they are kept apart from it."""
    keys = keyring(settings, may_make=may_lack or not manifest.keys)
    lacking = sorted(set(manifest.keys) - set(keys.ids))
    if lacking and not may_lack:
        sealed = sum(manifest.keys[key] for key in lacking)
        raise BackupBad(
            f"{sealed:,} secrets of this backup are sealed with {', '.join(lacking)}, and that key is not here. A "
            f"backup holds no keys: bring it into LEASEHOLD_KEYS, or the file {settings.data_dir / 'keys'}, from where "
            "you keep them. If it is lost for good, --without-keys restores everything else."
        )
    return keys


def _refuse_newer(manifest: Manifest) -> None:
    if newer := sorted(set(manifest.schema_marks) - set(shipped())):
        raise BackupBad(
            f"This backup was made by leasehold {manifest.leasehold}, which is newer: it has {newer[-1]}. "
            "Install that version, or a later one, and restore with it."
        )


async def _refuse_elsewhere(settings: Settings, manifest: Manifest) -> None:
    if manifest.pools != settings.pools:
        raise BackupBad(f"The pools of this backup are in {manifest.pools}: set LEASEHOLD_POOLS={manifest.pools}.")
    if manifest.mongo is None:
        return
    if not (address := settings.mongo_url.get_secret_value()):
        raise BackupBad(
            "This backup has documents of MongoDB: say in LEASEHOLD_MONGO_URL where an empty database for them is, as "
            "mongodb://host:port/name."
        )
    try:
        is_empty = await documents.is_empty(address)
    except PyMongoError as error:
        raise BackupBad(f"MongoDB does not answer ({type(error).__name__}). See to LEASEHOLD_MONGO_URL.") from None
    if not is_empty:
        raise BackupBad(
            "The database of LEASEHOLD_MONGO_URL is not empty, and nothing is ever restored over something. Name "
            "another one, or drop it if nobody needs it."
        )


def _mark(conn: Owner, url: str) -> None:
    refuse_half_restored(url)
    ((found,),) = conn.execute(_FOUND).fetchall()
    if found:
        raise BackupBad(
            "The database is not empty, and nothing is ever restored over something. Choose another data folder with "
            "--into, name an empty database in LEASEHOLD_DATABASE_URL, or drop this one if nobody needs it."
        )
    conn.execute(sql.SQL("CREATE TABLE {} ()").format(sql.Identifier(*RESTORING.split("."))))


def _compare(conn: Owner, manifest: Manifest) -> None:
    found = {table: rows for table, rows in counts(conn).items() if table != RESTORING}
    if wrong := sorted(table for table in {*found, *manifest.tables} if found.get(table) != manifest.tables.get(table)):
        raise BackupBad(f"Not as many rows came back as there were: {', '.join(wrong)}. Use another backup.")


def _bring_captures(settings: Settings, source: Path, manifest: Manifest, say: Say) -> None:
    if manifest.captures.left_out:
        say("captures: their bytes are not in this backup; LEASEHOLD_BLOB_URL has to lead to where they are")
        return
    blobs = make_blobs(settings.blob_url.get_secret_value(), settings.data_dir)
    try:
        captured.copy_in(source, blobs, manifest.captures.blobs, say)
    finally:
        blobs.close()


@asynccontextmanager
async def _running(settings: Settings, url: str, keys: Keyring) -> AsyncIterator[FastAPI]:
    """A whole leasehold that listens nowhere and does nothing by itself: every kind of lease ends in its own way."""
    app = build(settings, url, keys, duties=frozenset())
    async with app.router.lifespan_context(app):
        yield app


async def _end_all(app: FastAPI, manifest: Manifest, now: int, say: Say, *, keep_tokens: bool) -> int:
    """Nobody holds anything any more; booked as revoked, for whoever had it may have given it back since."""
    revoked = 0
    tokens: Tokens = app.state.tokens
    detail = {"taken_at": manifest.taken_at.isoformat(), "era": now, "tokens_revoked": not keep_tokens}
    for _, slug in await organisations(app.state.db):
        caller = await tokens.local_caller(slug)
        async with app.state.db.transaction(caller.organisation) as conn:
            await audit.record(conn, caller, "database.restored", slug, detail)
        revoked += await _end(app.state.leases, caller)
    say(f"leases: {revoked:,} that were held are revoked")
    return revoked


async def _end(leases: Leases, caller: Caller) -> int:
    revoked = 0
    while some := await leases.live(caller, LeaseFilter(None, None, None), None, _AT_ONCE):
        ended = sum(await asyncio.gather(*(leases.revoke(caller, lease.id) for lease in some)))
        if not ended:
            first = show(PREFIX, some[0].id)
            raise BackupBad(f"{first} of this backup cannot be ended: what it is on is not there. Use another backup.")
        revoked += ended
    return revoked


def _whose(manifest: Manifest) -> str:
    """Whose admin gets the new token."""
    first = manifest.organisations[:1] or [DEFAULT_ORGANISATION]
    return DEFAULT_ORGANISATION if DEFAULT_ORGANISATION in manifest.organisations else first[0]


async def _new_token(tokens: Tokens, organisation: str) -> str:
    return await tokens.create_locally(organisation, role_wish("made by restore", Role.ADMIN))
