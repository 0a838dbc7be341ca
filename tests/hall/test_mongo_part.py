"""The MongoDB of the tests: what the tests of a MongoDB store lean on."""

import gc
import os
import subprocess
import sys
import time
import warnings
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from tests.parts.mongo import Mongo, MongoDatabase
from tests.parts.process import until

Client = AsyncMongoClient[dict[str, Any]]
# A run of tests that says which mongod is its own and in which folder, and stays.
RUN = "from tests.parts.mongo import running\nwith running() as m: print(m.pid, m.folder, flush=True); input()"


@pytest.fixture
async def client(mongo_database: MongoDatabase) -> AsyncIterator[Client]:
    async with Client(mongo_database.url, w="majority", journal=True, tz_aware=True, timeoutMS=30_000) as made:
        yield made


async def test_an_acknowledged_write_outlives_a_crash(
    client: Client, mongo: Mongo, mongo_database: MongoDatabase
) -> None:
    things, before = client[mongo_database.name].things, mongo.pid
    await things.insert_one({"_id": "kept"})

    mongo.kill()
    assert not mongo.is_running()
    mongo.start()

    assert mongo.pid != before
    assert await things.find_one() == {"_id": "kept"}


async def test_a_stopped_server_comes_back_at_the_same_address(mongo: Mongo, mongo_database: MongoDatabase) -> None:
    before = mongo_database.url

    mongo.stop()
    mongo.start()

    assert mongo_database.url == before
    with mongo_database.connect() as again:
        again.admin.command("ping")


async def test_a_transaction_is_all_or_nothing(client: Client, mongo_database: MongoDatabase) -> None:
    things = client[mongo_database.name].things
    await things.insert_one({"_id": "before"})

    async with client.start_session() as session:
        await session.start_transaction()
        await things.insert_one({"_id": "undone"}, session=session)
        await session.abort_transaction()
        async with await session.start_transaction():
            await things.insert_one({"_id": "done"}, session=session)
            assert await things.count_documents({}) == 1

    assert {found["_id"] async for found in things.find()} == {"before", "done"}


async def test_an_update_can_ask_the_servers_clock(client: Client, mongo_database: MongoDatabase) -> None:
    things = client[mongo_database.name].things
    await things.insert_one({"_id": "a"})

    await things.update_one({"_id": "a"}, [{"$set": {"now": "$$NOW", "later": {"$add": ["$$NOW", 60_000]}}}])

    found = await things.find_one() or {}
    assert isinstance(found["now"], datetime)
    assert (found["later"] - found["now"]).total_seconds() == 60


async def test_a_call_to_a_dead_server_gives_up_in_time(mongo: Mongo, mongo_database: MongoDatabase) -> None:
    async with Client(mongo_database.url, timeoutMS=2000) as hasty:
        await hasty.admin.command("ping")
        mongo.kill()
        began = time.monotonic()

        # Often the first failure of all its tries, so whoever waits for a timeout error alone waits in vain.
        with pytest.raises(PyMongoError):
            await hasty[mongo_database.name].things.insert_one({})

    # Thirty seconds when nobody says anything; two were asked for.
    assert time.monotonic() - began < 10


async def test_a_client_closed_while_the_server_is_down_leaves_no_socket(
    mongo: Mongo, mongo_database: MongoDatabase
) -> None:
    mongo.kill()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(8):
            async with Client(mongo_database.url, timeoutMS=10) as client:
                with pytest.raises(PyMongoError):
                    await client.admin.command("ping")
        gc.collect()

    assert [str(warning.message) for warning in caught] == []


def test_each_test_finds_no_documents_and_the_same_indexes(mongo_database: MongoDatabase) -> None:
    with mongo_database.connect() as client:
        things = client[mongo_database.name].indexed
        things.create_index("name", name="by_name", unique=True)
        things.insert_one({"name": "a"})

        mongo_database.empty()

        assert things.count_documents({}) == 0
        assert set(things.index_information()) == {"_id_", "by_name"}


def test_a_server_that_died_by_itself_is_started_again(mongo: Mongo, mongo_database: MongoDatabase) -> None:
    psutil.Process(mongo.pid).kill()
    until(lambda: not mongo.is_running())

    mongo.start()

    with mongo_database.connect() as client:
        assert client.admin.command("ping")["ok"]


def test_nothing_is_left_of_a_run_that_was_killed() -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", RUN]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        pid, folder = run.stdout.readline().split()
        server = psutil.Process(int(pid))
        assert server.name() == "mongod"

        run.kill()

        until(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)
        until(lambda: not os.path.exists(folder))
