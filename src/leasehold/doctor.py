"""Looks at everything a configured leasehold needs, and says what is wrong and what to do about it."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import psycopg

from leasehold import ui
from leasehold.db import APP_ROLE, Database, WallMissing
from leasehold.embedded import EmbeddedFailed
from leasehold.life import CannotStart, database
from leasehold.migrate import missing
from leasehold.settings import Settings

OLDEST_POSTGRES = 150000
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
    try:
        with database(settings) as url, psycopg.connect(url, autocommit=True) as conn:
            yield from (check(conn) for check in (_version, _durability))
            yield (schema := _schema(conn))
            if schema.is_well:  # without it the role is not there
                yield _wall(url)
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
