"""A port on loopback behind which somebody listens in: each connection to it goes on to a server, both ways."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Protocol

from psycopg.conninfo import conninfo_to_dict

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter


class Line(Protocol):
    """One connection: what is done with all that goes over it. Either way ends the line by returning."""

    async def out(self, reader: Reader) -> None: ...
    async def back(self, reader: Reader) -> None: ...


Dial = Callable[[], Awaitable[tuple[Reader, Writer]]]


def to_postgres(url: str) -> Dial:
    """Opens connections to the PostgreSQL at an address, by its socket."""
    place = conninfo_to_dict(url)
    return partial(asyncio.open_unix_connection, f"{place['host']}/.s.PGSQL.{place.get('port') or 5432}")


@asynccontextmanager
async def relay(dial: Dial, line: Callable[[Writer, Writer], Line]) -> AsyncIterator[int]:
    """The port. `dial` opens a connection to the server; a line is given both writers, that to the client first."""
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: Reader, writer: Writer) -> None:
        with suppress(OSError):
            far_reader, far_writer = await dial()
            made = line(writer, far_writer)
            ways = [asyncio.create_task(made.out(reader)), asyncio.create_task(made.back(far_reader))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
                far_writer.close()
        writer.close()

    def accept(reader: Reader, writer: Writer) -> None:
        task = asyncio.create_task(serve(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)
        task.add_done_callback(lambda _done: writer.close())

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
