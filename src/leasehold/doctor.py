"""Looks at everything a configured leasehold needs, and says what is wrong and what to do about it."""

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import psycopg
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError
from pymongo.write_concern import WriteConcern

from leasehold import alerts, amqp, artifacts, collectors, faces, platforms, sources, stores, ui
from leasehold.accounts import MongoAddressInvalid, connect, missing_indexes
from leasehold.captures import make as make_blobs
from leasehold.db import APP_ROLE, Database, WallMissing
from leasehold.embedded import EmbeddedFailed
from leasehold.keys import bring_back, census, safes
from leasehold.life import KEY_FILE, CannotStart, database, key_place, keyring
from leasehold.migrate import missing
from leasehold.problems import Problem
from leasehold.settings import Settings
from leasehold.writers import check_redis

OLDEST_POSTGRES = 150000
OLDEST_MONGO = (6, 0)
_DISK_WANTED_BYTES = 1_000_000_000
# Switched off, each of these loses what was acknowledged when the power goes.
_DURABLE = ("fsync", "full_page_writes", "synchronous_commit")

Conn = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    is_well: bool
    detail: str


def examine(settings: Settings) -> Iterator[Finding]:
    yield _interface()
    yield (folder := _folder(settings))
    if not folder.is_well:
        return
    yield _disk(settings)
    yield _blobs(settings)
    yield _artifacts(settings)
    yield _collectors(settings)
    yield _sources(settings)
    yield from asyncio.run(_neighbours(settings))
    try:
        with database(settings) as url, psycopg.connect(url, autocommit=True) as conn:
            yield from (check(conn) for check in (_version, _durability))
            yield (schema := _schema(conn))
            if schema.is_well:  # without it the role is not there
                yield (wall := _wall(url))
                if wall.is_well:
                    yield from asyncio.run(_pools(settings, url))
    except (CannotStart, EmbeddedFailed) as error:
        yield Finding("database", False, str(error))


def _folder(settings: Settings) -> Finding:
    folder = settings.data_dir
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if os.access(folder, os.W_OK | os.X_OK):
        return Finding("data folder", True, str(folder))
    return Finding("data folder", False, f"{folder} cannot be written. Change its owner, or set LEASEHOLD_DATA_DIR.")


def _disk(settings: Settings) -> Finding:
    free = shutil.disk_usage(settings.data_dir).free
    hint = "" if free > _DISK_WANTED_BYTES else " Make room: PostgreSQL stops when the disk is full."
    return Finding("disk", free > _DISK_WANTED_BYTES, f"{free / 1e9:.1f} GB free.{hint}")


def _blobs(settings: Settings) -> Finding:
    """Whether the store of captures takes a write."""
    where = "in its own store" if settings.blob_url.get_secret_value() else "in the data folder"
    try:
        blobs = make_blobs(settings.blob_url.get_secret_value(), settings.data_dir)
        blobs.discard(blobs.begin())
        blobs.close()
    except OSError as error:
        detail = f"cannot be written ({error.strerror or error}). Check LEASEHOLD_BLOB_URL and who owns the place."
        return Finding("blobs", False, detail)
    return Finding("blobs", True, f"can be written, {where}")


def _artifacts(settings: Settings) -> Finding:
    """Whether the status page could be published."""
    try:
        shelf = artifacts.make(settings.artifact_url.get_secret_value(), settings.data_dir)
    except OSError as error:
        return Finding("artifacts", False, str(error.strerror or error))
    return Finding("artifacts", *artifacts.check(shelf))


def _collectors(settings: Settings) -> Finding:
    """Whether their files can be read. One that has no credentials is not wanted yet, which is no fault."""
    folder = settings.collectors_dir
    try:
        collectors.read_prices(folder)
        for slug in ("amazon", "ebay"):
            collectors.read_collector(slug, folder)
    except collectors.CollectorsInvalid as error:
        return Finding("collectors", False, str(error))
    lacking = collectors.providers(settings).without_credentials()
    hint = "; ".join(f"{slug} has no credentials: set {names}" for slug, names in lacking.items())
    return Finding("collectors", True, hint or "amazon and ebay have credentials")


def _sources(settings: Settings) -> Finding:
    """Whether their files can be read, and whether there is a key for each that is switched on."""
    catalogue = sources.files(settings.sources_dir)
    if catalogue.faults:
        return Finding("sources", False, " ".join(str(fault) for fault in catalogue.faults))
    wanted = [source for source in catalogue.sources.values() if source.enabled]
    try:
        for source in wanted:
            catalogue.key(source)
    except sources.KeyMissing as error:
        return Finding("sources", False, str(error))
    names = ", ".join(source.name for source in wanted)
    return Finding("sources", True, f"{names or 'none'} {'is' if len(wanted) < 2 else 'are'} on")


async def _neighbours(settings: Settings) -> list[Finding]:
    """Whatever is configured besides PostgreSQL, and what a platform's file needs although it is not."""
    found = platforms.read(settings.platforms_dir or platforms.SHIPPED).platforms.values()
    findings = []
    over_it = [one.slug for one in found if one.transport == "amqp"]
    if settings.amqp_url.get_secret_value():
        findings.append(Finding("RabbitMQ", *await amqp.check(settings.amqp_url, over_it)))
    elif over_it:
        findings.append(_missing("RabbitMQ", "LEASEHOLD_AMQP_URL", "amqp://user:password@host/vhost", over_it))
    streamed = [one.slug for one in found if one.writer.phase is platforms.Phase.STREAM]
    if settings.redis_url.get_secret_value():
        findings.append(Finding("Redis", *await check_redis(settings.redis_url.get_secret_value())))
    elif streamed:
        findings.append(_missing("Redis", "LEASEHOLD_REDIS_URL", "redis://host:port/0", streamed))
    written = [one.slug for one in found if "mongo" in (one.writer.target, one.writer.shadow)]
    if written and settings.pools != "mongo":  # else it is looked at with the pools
        if settings.mongo_url.get_secret_value():
            findings.append(await _mongo(settings))
        else:
            findings.append(_missing("mongo", "LEASEHOLD_MONGO_URL", "mongodb://host:port/name", written))
    if settings.alert_url.get_secret_value():
        secret = settings.alert_secret.get_secret_value()
        findings.append(Finding("alerts", *await alerts.check(settings.alert_url.get_secret_value(), secret)))
    if settings.faces_file:
        checked = await faces.check(settings.faces_file, allow_private=settings.faces_allow_private)
        findings.append(Finding("faces", *checked))
    return findings


def _missing(what: str, setting: str, example: str, slugs: Sequence[str]) -> Finding:
    """Somebody's file needs it and no setting says where it is."""
    return Finding(what, False, f"is needed by {', '.join(sorted(slugs))}, and {setting} is empty. Set it: {example}.")


def _interface() -> Finding:
    built = ui.folder()
    return Finding("UI", built is not None, str(built) if built else "is not built. Run `make setup` in the checkout.")


def _version(conn: Conn) -> Finding:
    number, text = conn.info.server_version, conn.info.parameter_status("server_version") or "?"
    return Finding("PostgreSQL", number >= OLDEST_POSTGRES, f"{text} (15 or newer is needed)")


def _durability(conn: Conn) -> Finding:
    off = [name for name in _DURABLE if conn.execute("SELECT current_setting(%s::text)", [name]).fetchone() == ("off",)]
    detail = f"{', '.join(off)} is off: acknowledged work can be lost. Switch it on." if off else "all switches on"
    return Finding("durability", not off, detail)


def _schema(conn: Conn) -> Finding:
    there = conn.execute("SELECT to_regclass('schema_mark') IS NOT NULL").fetchone() == (True,)
    marks = {str(name) for (name,) in conn.execute("SELECT name FROM schema_mark")} if there else set()
    left = missing(marks)
    return Finding("schema", not left, f"lacks {', '.join(left)}. Run `leasehold migrate`." if left else "up to date")


def _wall(url: str) -> Finding:
    """The role requests work as: row-level security binds nobody who owns a table or may step over it."""
    try:
        asyncio.run(_open(url))
    except WallMissing as error:
        return Finding("role", False, str(error))
    except psycopg.Error as error:
        detail = f"cannot be used: {str(error).splitlines()[0]}. Run `leasehold migrate` as the database's owner."
        return Finding("role", False, detail)
    return Finding("role", True, f"{APP_ROLE} is bound by row-level security")


async def _open(url: str) -> None:
    async with Database(url, pool_size=2):
        pass  # opening looks at the role


async def _pools(settings: Settings, url: str) -> list[Finding]:
    """Where the accounts are, and whether their secrets can be opened."""
    async with Database(url, pool_size=2) as db:
        wrong = await stores.wrong(settings, db)
        findings = [Finding("pools", wrong is None, wrong or f"are in {settings.pools}")]
        if settings.pools == "mongo":
            findings.append(await _mongo(settings))
        if all(finding.is_well for finding in findings):  # else there is no saying which keys are needed
            findings.append(await _keys(db, settings))
    return findings


async def _mongo(settings: Settings) -> Finding:
    if not (address := settings.mongo_url.get_secret_value()):
        return Finding("mongo", False, "LEASEHOLD_MONGO_URL is empty. Say where it is, as mongodb://host:port/name.")
    try:
        client, name = connect(address)
    except MongoAddressInvalid as error:
        return Finding("mongo", False, str(error))
    async with client:
        try:
            version = (await client.server_info())["version"]
            wrong = await _wrong_with_mongo(client, name, version)
            if wrong is None and settings.pools == "mongo" and (lacking := await missing_indexes(client, name)):
                wrong = f"lacks the indexes {', '.join(lacking)}. A server makes them when it starts."
        except PyMongoError as error:
            return Finding("mongo", False, f"LEASEHOLD_MONGO_URL: MongoDB does not answer ({_reason(error)}).")
    return Finding("mongo", wrong is None, wrong or f"{version} (6.0 or newer is needed), writes reach a majority")


async def _wrong_with_mongo(client: AsyncMongoClient[dict[str, object]], name: str, version: str) -> str | None:
    hello = await client.admin.command("hello")
    if "setName" not in hello:
        return "is no replica set. Start mongod with --replSet, and run rs.initiate() in it once."
    if not hello.get("isWritablePrimary"):
        return "is not the primary. Take directConnection out of LEASEHOLD_MONGO_URL, and put replicaSet in."
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_MONGO:
        return f"{version} is too old: 6.0 or newer is needed."
    marks = client[name].get_collection("readiness", write_concern=WriteConcern(w="majority", j=True))
    try:
        await marks.update_one({"_id": "doctor"}, {"$currentDate": {"at": True}}, upsert=True)
    except PyMongoError as error:
        return f"takes no write that reaches a majority ({_reason(error)})."
    return None


def _reason(error: PyMongoError) -> str:
    """The first of what it says; what follows describes all there is to know of the servers."""
    return str(error).split(" (configured", 1)[0].split(", full error", 1)[0][:200]


async def _keys(db: Database, settings: Settings) -> Finding:
    try:
        async with safes(db, settings) as found:
            used = await census(found)
        if not used and not _has_keys(settings):
            return Finding("keys", True, "none yet, and nothing sealed: `leasehold up` makes one")
        keys = keyring(settings, may_make=False)
    except (CannotStart, MongoAddressInvalid, Problem) as error:
        return Finding("keys", False, str(error))
    unknown = {key_id: count for key_id, count in used.items() if keys.find(key_id) is None}
    if unknown:
        lost = f"{sum(unknown.values()):,} secrets are sealed with {', '.join(sorted(unknown))}, which is not in"
        return Finding("keys", False, f"{lost} {key_place(settings)}. {bring_back(settings)}")
    older = used.total() - used[keys.newest.id]
    left = f", {older:,} of them under an older key" if older else ""
    return Finding("keys", True, f"{keys.newest.id} seals; {used.total():,} sealed{left}")


def _has_keys(settings: Settings) -> bool:
    return bool(settings.keys.get_secret_value()) or os.path.lexists(settings.data_dir / KEY_FILE)
