"""What every test can ask for: a real PostgreSQL, MongoDB and RabbitMQ, a clean place in each, a whole leasehold."""

import os
import signal
from collections.abc import AsyncIterator, Generator, Iterator

import httpx
import pytest

from tests.parts import canaries, scratch
from tests.parts import mongo as mongo_parts
from tests.parts import postgres as parts
from tests.parts import rabbit as rabbit_parts
from tests.parts import redis as redis_parts
from tests.parts.house import House, house
from tests.parts.mongo import Mongo, MongoDatabase
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import Place, place
from tests.parts.rabbit import Rabbit
from tests.parts.redis import RedisServer

scratch.settle()

# Whoever started us may ignore hang-ups and interrupts, as in the background of a shell, and what the tests start would
# ignore them, too.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """No test passes that told a secret."""
    report = yield
    canaries.fail_if_told(report)
    return report


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


@pytest.fixture
def durable(postgres: Postgres) -> Iterator[None]:
    """The run's PostgreSQL waits for the disk while a test looks at how it is set."""
    with parts.durable(postgres):
        yield


@pytest.fixture(scope="session")
def _worker_database(postgres: Postgres) -> Iterator[TestDatabase]:
    made = parts.migrated(postgres, f"lh_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}")
    yield made
    made.empty()  # what the last test left is looked at, too


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


@pytest.fixture(scope="session")
def _redis() -> Iterator[RedisServer]:
    with redis_parts.running() as running:
        yield running


@pytest.fixture(scope="session")
def rabbit() -> Iterator[Rabbit]:
    """The worker's own RabbitMQ; a machine where it cannot start fails here."""
    with rabbit_parts.running() as running:
        yield running


@pytest.fixture
def redis_server(_redis: RedisServer) -> RedisServer:
    """The worker's own Redis with nothing in it; a machine where it cannot start fails here."""
    _redis.start()
    with _redis.client() as client:
        client.flushall()
    return _redis


@pytest.fixture
def amqp_url(rabbit: Rabbit) -> str:
    """The address of a virtual host with nothing in it, whatever the test before did to the node."""
    rabbit.start()
    return rabbit.url(rabbit.vhost())


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
