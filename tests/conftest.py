"""What every test can ask for: a real PostgreSQL and MongoDB, a clean database in each, and a whole leasehold."""

import os
import signal
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from tests.parts import mongo as mongo_parts
from tests.parts import postgres as parts
from tests.parts.house import House, house
from tests.parts.mongo import Mongo, MongoDatabase
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import Place, place

# Whoever started us may ignore hang-ups, and what the tests start would ignore them, too.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _own_settings() -> None:
    """No setting of the machine the tests run on reaches them."""
    for name in [name for name in os.environ if name.startswith("LEASEHOLD_")]:
        del os.environ[name]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The run's own PostgreSQL; it is started once, and a machine where it cannot start fails here."""
    with parts.running() as running:
        yield running


@pytest.fixture(scope="session")
def _worker_database(postgres: Postgres) -> TestDatabase:
    return parts.migrated(postgres, f"lh_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}")


@pytest.fixture
def database(_worker_database: TestDatabase) -> TestDatabase:
    """A migrated database with no rows."""
    _worker_database.empty()
    return _worker_database


@pytest.fixture(scope="session")
def mongo() -> Iterator[Mongo]:
    """The worker's own MongoDB; a machine where it cannot start fails here."""
    with mongo_parts.running() as running:
        yield running


@pytest.fixture
def mongo_database(mongo: Mongo) -> MongoDatabase:
    """A database with no documents, whatever the test before did to the server."""
    mongo.start()
    database = MongoDatabase(mongo, f"lh_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}")
    database.empty()
    return database


@pytest.fixture
async def home(database: TestDatabase) -> AsyncIterator[House]:
    """A whole leasehold on a clean database."""
    async with house(database) as made:
        yield made


@pytest.fixture
async def admin(home: House) -> httpx.AsyncClient:
    """A client that may everything in organisation `default`."""
    return await home.caller()


@pytest.fixture
def here() -> Iterator[Place]:
    """A folder to run leasehold in as a process of its own, where it never was."""
    with place() as made:
        yield made
