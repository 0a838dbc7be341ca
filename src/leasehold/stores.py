"""Where everything is kept, by the settings: accounts and sessions, captures, and what crawls bring."""

from uuid import UUID

from leasehold.accounts import MongoFace, MongoPool, Pool, PostgresPool, WrongStore, connect, settle_in
from leasehold.captures import Blobs, Limits
from leasehold.captures import make as make_blobs
from leasehold.db import Database, RollBack
from leasehold.jobs import Writers, Writing
from leasehold.leases import Timekeeper
from leasehold.metrics import Metrics
from leasehold.sessions import Drawer, MongoDrawer, PostgresDrawer
from leasehold.settings import Settings
from leasehold.vault import Vault
from leasehold.writers import DataWriter, MongoTarget, PostgresTarget, Stream, Target


def pool(settings: Settings, db: Database, vault: Vault, clock: Timekeeper, metrics: Metrics, process: UUID) -> Pool:
    """Where accounts are."""
    if settings.pools == "postgres":
        return PostgresPool(db, vault, clock, process, settings.lease_max_age_seconds)
    client, name = connect(settings.mongo_url.get_secret_value())
    its_clock = Timekeeper(db, MongoFace(client, name), metrics)
    return MongoPool(db, vault, its_clock, client, name, process, settings.lease_max_age_seconds)


def drawer(settings: Settings, db: Database) -> Drawer:
    """Where sessions are: with the accounts."""
    if settings.pools == "postgres":
        return PostgresDrawer(db)
    return MongoDrawer(db, *connect(settings.mongo_url.get_secret_value()))


def blobs(settings: Settings) -> Blobs:
    """Where the bytes of captures are."""
    return make_blobs(settings.blob_url.get_secret_value(), settings.data_dir)


def limits(settings: Settings) -> Limits:
    """How much one capture may bring."""
    return Limits(settings.capture_limit_bytes, settings.capture_file_limit_bytes, files=20, meta_bytes=64 * 1024)


def writers(settings: Settings, db: Database) -> Writers:
    """What results can be written to, as far as it is configured."""
    mongo, redis = settings.mongo_url.get_secret_value(), settings.redis_url.get_secret_value()
    targets: dict[str, Target] = {"postgres": PostgresTarget(db)} | ({"mongo": MongoTarget(mongo)} if mongo else {})
    return Writers(targets, Stream(redis) if redis else None)


def data_writer(settings: Settings, writers: Writers, writing: Writing) -> DataWriter | None:
    """Who takes results out of the stream, where there is one."""
    url = settings.redis_url.get_secret_value()
    return DataWriter(url, writers.targets, writing.confirm) if url else None


async def insist(settings: Settings, db: Database) -> None:
    """Refuse to go on with another store than the one the pools are in; raises WrongStore."""
    async with db.system() as conn:
        await settle_in(conn, settings.pools)


async def wrong(settings: Settings, db: Database) -> str | None:
    """Why a server would refuse to start with the store the setting names, if it would; nothing is changed."""
    try:
        async with db.system() as conn:
            await settle_in(conn, settings.pools)
            raise RollBack
    except WrongStore as error:
        return str(error)
    return None
