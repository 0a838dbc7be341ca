"""Producers and workers for the benchmark of jobs, in a process of their own: raw HTTP over kept connections."""

import argparse
import asyncio
import json
import time

import orjson

from bench.load import Connection

PLATFORM = "bench"


async def produce(connection: Connection, jobs: int, batch: int) -> None:
    request = {"platform": PLATFORM, "task_type": "page", "payload": {"page": "front"}}
    for first in range(0, jobs, batch):
        many = min(batch, jobs - first)
        if many == 1:
            status, answer = await connection.post("/v2/jobs", orjson.dumps(request))
        else:
            status, answer = await connection.post("/v2/jobs/batch", orjson.dumps({"items": [request] * many}))
        if status != 202:
            raise RuntimeError(answer.decode())


async def work(connection: Connection, batch: int, left: list[int]) -> None:
    ask = orjson.dumps({"owner": "bench", "platforms": [PLATFORM], "limit": batch, "wait_seconds": 1})
    while left[0] > 0:
        status, answer = await connection.post("/v2/tasks/acquire", ask)
        if status != 200:
            raise RuntimeError(answer.decode())
        tasks = [lease["task"] for lease in orjson.loads(answer)["leases"]]
        if not tasks:
            continue
        names = ("job_id", "attempt", "fence", "platform", "task_type")
        results = [
            {
                **{name: task[name] for name in names},
                "status": "success",
                "final": True,
                "cursor": 1,
                "payload_chunk": [{"title": "front", "words": ["one", "two"]}],
            }
            for task in tasks
        ]
        status, answer = await connection.post("/v2/tasks/results", orjson.dumps({"items": results}))
        told = orjson.loads(answer)["items"]
        if status != 202 or any(one["verdict"] != "accepted" for one in told):
            raise RuntimeError(answer.decode())
        left[0] -= len(tasks)


async def through(port: int, token: str, jobs: int, batch: int, submit: int, crowd: int) -> float:
    """Jobs per second from the first request to the last result, written and completed."""
    producers = [Connection("127.0.0.1", port, token) for _ in range(crowd)]
    workers = [Connection("127.0.0.1", port, token) for _ in range(crowd)]
    for connection in [*producers, *workers]:
        await connection.open()
    left = [jobs]
    began = time.perf_counter()
    shares = [jobs // crowd + (n < jobs % crowd) for n in range(crowd)]
    await asyncio.gather(
        *(produce(connection, share, submit) for connection, share in zip(producers, shares, strict=True)),
        *(work(connection, batch, left) for connection in workers),
    )
    took = time.perf_counter() - began
    for connection in [*producers, *workers]:
        connection.close()
    return jobs / took


async def latency(port: int, token: str, times: int) -> list[float]:
    """Seconds from the answer to a request, which comes after its commit, to a waiting worker's hands."""
    producer, worker = Connection("127.0.0.1", port, token), Connection("127.0.0.1", port, token)
    await producer.open()
    await worker.open()
    request = orjson.dumps({"platform": PLATFORM, "task_type": "page", "payload": {"page": "front"}})
    ask = orjson.dumps({"owner": "light", "platforms": [PLATFORM], "wait_seconds": 10})
    found = []
    for _ in range(times):
        waiting = asyncio.create_task(worker.post("/v2/tasks/acquire", ask))
        await asyncio.sleep(0.05)  # it waits by now
        await producer.post("/v2/jobs", request)
        committed = time.perf_counter()
        _, answer = await waiting
        found.append(max(0.0, time.perf_counter() - committed))
        task = orjson.loads(answer)["leases"][0]["task"]
        names = ("job_id", "attempt", "fence", "platform", "task_type")
        last = {**{name: task[name] for name in names}, "status": "success", "final": True}
        await worker.post("/v2/tasks/results", orjson.dumps({"items": [last]}))
    producer.close()
    worker.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, kind in (("port", int), ("token", str), ("jobs", int), ("batch", int), ("submit", int), ("crowd", int)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    parser.add_argument("--latency", type=int, default=0)
    given = parser.parse_args()
    if given.latency:
        print(json.dumps({"seconds": asyncio.run(latency(given.port, given.token, given.latency))}))
        return
    rate = asyncio.run(through(given.port, given.token, given.jobs, given.batch, given.submit, given.crowd))
    print(json.dumps({"jobs_per_second": rate}))


if __name__ == "__main__":
    main()
