"""The Redis stream while nobody takes anything out of it: it does not grow, and nothing is lost."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from leasehold.writers import stream
from tests.jobs.conftest import platform
from tests.parts.broker import Broker, chunk, last
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.redis import RedisServer

LATER = "UPDATE receipt SET streamed_at = streamed_at - interval '2 minutes'"


class Scene:
    """A house without a data-writer, whose writer goes when it is told to; `alpha` writes by way of the stream."""

    def __init__(self, home: House, broker: Broker, redis: RedisServer) -> None:
        self.home = home
        self.broker = broker
        self.redis = redis

    async def bring(self) -> None:
        """A job with two chunks that are to be written."""
        await self.broker.submit(job_id="j")
        lease = await self.broker.take()
        await self.broker.bring(chunk(lease, "p1", {"n": 1}), chunk(lease, "p2", {"n": 2}), last(lease))

    async def write(self) -> int:
        """Let the writer go; how many lie in the stream then."""
        await self.home.app.state.jobs.writing.step(self._organisations())
        return self.length()

    def length(self) -> int:
        with self.redis.client() as client:
            return int(client.xlen(stream.STREAM))

    async def keep(self) -> Any:
        """Let a data-writer take out what there is; the job after that."""
        jobs = self.home.app.state.jobs
        taker = stream.DataWriter(self.redis.url, jobs.writing.writers.targets, jobs.writing.confirm)
        await taker.open()
        try:
            await taker.step()
        finally:
            await taker.close()
        return await self.broker.job("j")

    def _organisations(self) -> list[Any]:
        return [row[0] for row in self.home.database.rows("SELECT id FROM organisation")]


@pytest.fixture
async def scene(database: TestDatabase, tmp_path: Path, redis_server: RedisServer) -> AsyncIterator[Scene]:
    (tmp_path / "alpha.yaml").write_text(platform("alpha") + "writer: {target: postgres, phase: stream}\n")
    async with house(database, duties=(), platforms_dir=tmp_path, redis_url=redis_server.url) as home:
        yield Scene(home, Broker(await home.caller()), redis_server)


async def test_what_lies_in_the_stream_is_not_put_there_again(scene: Scene) -> None:
    await scene.bring()
    lengths = [await scene.write()]

    for _ in range(3):
        scene.home.database.run(LATER)
        lengths.append(await scene.write())
    done = await scene.keep()

    assert lengths == [2, 2, 2, 2]
    assert (done["status"], scene.length()) == ("completed", 0)
    assert await scene.broker.documents("j") == [{"n": 1}, {"n": 2}]


async def test_what_the_stream_has_lost_goes_into_it_again_beside_what_it_has(scene: Scene) -> None:
    await scene.bring()
    await scene.write()
    with scene.redis.client() as client:
        ((first, _),) = client.xrange(stream.STREAM, count=1)
        client.xdel(stream.STREAM, first)
    early = await scene.write()
    scene.home.database.run(LATER)

    late = await scene.write()
    done = await scene.keep()

    assert (early, late) == (1, 2)
    assert (done["status"], await scene.broker.documents("j")) == ("completed", [{"n": 1}, {"n": 2}])


async def test_a_full_stream_takes_no_more_until_something_is_taken_out(scene: Scene) -> None:
    with scene.redis.client() as client, client.pipeline() as pipe:
        for _ in range(stream.MOST - 1):
            pipe.xadd(stream.STREAM, {"chunk": b"of somebody else"})
        pipe.execute()
    await scene.bring()

    full = [await scene.write(), await scene.write()]
    waiting = await scene.broker.job("j")
    with scene.redis.client() as client:
        client.delete(stream.STREAM)
    scene.home.database.run(LATER)
    await scene.write()
    done = await scene.keep()

    assert full == [stream.MOST, stream.MOST]
    assert (waiting["status"], waiting["sub_status"]) == ("processing", "writing")
    assert (done["status"], await scene.broker.documents("j")) == ("completed", [{"n": 1}, {"n": 2}])
