"""A crawler worker of the demo, as a stranger would write it: two functions, some of whose tasks fail."""

import asyncio
from collections.abc import AsyncIterator

from leasehold.client.worker import Chunk, Skipped, Task, TaskFailed, Worker
from leasehold.client.worker_http import HttpTransport


def crawler(address: str, token: str) -> Worker:
    """A worker for videos; every name that ends in a digit is trouble of its own kind."""
    worker = Worker(concurrency=6, stop_seconds=1.0, transport=HttpTransport(address, token, trust_env=False))

    @worker.task("youtube", "search")
    async def search(task: Task) -> AsyncIterator[Chunk]:
        await _fail(task, str(task.payload["query"]))
        for page in range(int(task.cursor or 0), 4):
            await asyncio.sleep(1.0)
            found = [{"id": f"{task.payload['query']}-{page}-{place}", "page": page} for place in range(5)]
            yield Chunk(found, cursor=page + 1, cost_micros=40)

    @worker.task("tiktok", "hashtag")
    async def hashtag(task: Task) -> list[dict[str, object]]:
        await _fail(task, str(task.payload["tag"]))
        await asyncio.sleep(2.0)
        return [{"id": f"{task.payload['tag']}-{place}", "likes": 10 * place} for place in range(8)]

    return worker


async def _fail(task: Task, name: str) -> None:
    await asyncio.sleep(0.5)
    match int(name[-1]):
        case 1:
            raise TaskFailed("not_found", "There is nothing by that name.")
        case 4 if task.attempt == 1:
            raise TaskFailed("rate_limited", "Come back later.")
        case 7:
            raise Skipped("seen yesterday")
        case 8:
            raise TaskFailed("parse_error", "The page makes no sense.", retryable=False)
