"""A load generator that costs little: raw HTTP/1.1 over kept connections, acquire and release in pairs.

Run as a process of its own (`python -m bench.load`), so that what it costs is the same for every server it is set on.
"""

import argparse
import asyncio
import json
import random
import time
from dataclasses import dataclass, field


@dataclass
class Tally:
    """What one run brought."""

    pairs: int = 0
    empty: int = 0
    errors: int = 0
    seconds: list[float] = field(default_factory=list)  # of each acquire and each release


class Connection:
    """One kept connection."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self._host, self._port = host, port
        self._head = f"Host: {host}:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        head = f"POST {path} HTTP/1.1\r\n{self._head}Content-Length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        status = int(answer[9:12])
        at = answer.lower().index(b"content-length:") + 15
        length = int(answer[at : answer.index(b"\r", at)])
        return status, await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.close()


async def pairs(connection: Connection, sites: int, until: float, tally: Tally, rng: random.Random) -> None:
    clock = time.perf_counter
    while clock() < until:
        site = rng.randrange(sites)
        began = clock()
        status, answer = await connection.post(
            "/v2/accounts/acquire", b'{"site":"s%d","owner":"bench","ttl_seconds":600}' % site
        )
        took = clock() - began
        if status != 200:
            tally.errors += 1
            continue
        at = answer.find(b'"lease_')
        if at < 0:
            tally.empty += 1
            continue
        lease = answer[at + 1 : at + 39].decode()
        began = clock()
        status, _ = await connection.post(f"/v2/leases/{lease}/release", b'{"outcome":"ok"}')
        tally.seconds += [took, clock() - began]
        tally.pairs += status == 200
        tally.errors += status != 200


async def run(host: str, port: int, token: str, clients: int, sites: int, seconds: float) -> dict[str, float]:
    connections = [Connection(host, port, token) for _ in range(clients)]
    for connection in connections:
        await connection.open()
    tally = Tally()
    began = time.perf_counter()
    until = began + seconds
    await asyncio.gather(
        *(pairs(connection, sites, until, tally, random.Random(n)) for n, connection in enumerate(connections))
    )
    took = time.perf_counter() - began
    for connection in connections:
        connection.close()
    times = sorted(tally.seconds) or [0.0]
    return {
        "pairs_per_second": tally.pairs / took,
        "p50_ms": 1000 * times[len(times) // 2],
        "p99_ms": 1000 * times[int(len(times) * 0.99)],
        "empty": tally.empty,
        "errors": tally.errors,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, kind in (("port", int), ("token", str), ("clients", int), ("sites", int), ("seconds", float)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    given = parser.parse_args()
    try:
        import uvloop

        found = uvloop.run(run("127.0.0.1", given.port, given.token, given.clients, given.sites, given.seconds))
    except ImportError:
        found = asyncio.run(run("127.0.0.1", given.port, given.token, given.clients, given.sites, given.seconds))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
