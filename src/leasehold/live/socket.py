"""The life of one socket: it says who it is, is told where things are, and then what happens, as long as it may."""

import asyncio
from typing import Annotated
from uuid import UUID

import orjson
from fastapi import WebSocket
from pydantic import Field, ValidationError
from starlette.websockets import WebSocketDisconnect
from uvicorn.protocols.utils import ClientDisconnected

from leasehold.door import SOCKET
from leasehold.ids import parse
from leasehold.live.feed import BURST_S, PAGE, Entry, Feed, Start, collapsed, framed_as_text
from leasehold.live.tickets import LONGEST, Holder
from leasehold.problems import Problem
from leasehold.runs import RUN
from leasehold.strict import Strict, check

PING_S = 15.0
# Who asks for more than so many events from before begins with a snapshot.
MOST_BEHIND = 1000
# A reader that takes longer than this for a burst is too slow.
SEND_S = 10.0
FIRST_S = 10.0
_PING = framed_as_text({"type": "ping"})

POLICY = 1008
CRASHED = 1011
STOPPING = 1012
TRY_LATER = 1013


class Subscribe(Strict):
    run_id: Annotated[str, Field(max_length=200)] | None = None
    since: Annotated[int, Field(ge=0, le=2**62)] | None = None


class Hello(Strict):
    """The first message, and the only one."""

    ticket: Annotated[str, Field(max_length=LONGEST)]
    subscribe: Subscribe

    @property
    def run(self) -> UUID | None:
        return None if self.subscribe.run_id is None else _run(self.subscribe.run_id)


class Closed(Exception):
    """How a socket is closed, and why, in a sentence for who is at its other end."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def _run(text: str) -> UUID:
    found = parse(RUN, text)
    if found is None:
        raise Closed(POLICY, "No run has this id.")
    return found


async def hello(websocket: WebSocket) -> Hello:
    """What a socket says first; raises Closed when that is not as it should be or does not come."""
    try:
        async with asyncio.timeout(FIRST_S):
            message = await websocket.receive()
    except TimeoutError:
        raise Closed(POLICY, f"The first message must come within {FIRST_S:g} seconds.") from None
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))
    if message.get("text") is None:
        raise Closed(POLICY, "Send text, not bytes.")
    try:
        document = orjson.loads(message["text"])
        check(document)
        said = Hello.model_validate(document)
    except (orjson.JSONDecodeError, Problem):
        raise Closed(POLICY, "The first message is not JSON that can be read.") from None
    except ValidationError as error:
        raise Closed(POLICY, _wrong(error)) from None
    return said


def _wrong(error: ValidationError) -> str:
    # Never what was given: the ticket is in it. The names of fields are the client's own, so they are cut short.
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])[:40]
    return f"{place or 'The message'}: {first['msg']}"[:110]


class Socket:
    """One who watches."""

    def __init__(self, websocket: WebSocket, holder: Holder, feed: Feed, catching: asyncio.Semaphore) -> None:
        self.holder = holder
        self._websocket = websocket
        self._feed = feed
        self._catching = catching
        self._at = 0
        self._seen: dict[UUID, int] = {}
        self._end: asyncio.Future[Closed | None] = asyncio.get_running_loop().create_future()

    def end(self, closed: Closed) -> None:
        if not self._end.done():
            self._end.set_result(closed)

    async def serve(self, since: int | None) -> Closed | None:
        """Tell it everything until one side ends it; None when the other side did."""
        telling = asyncio.create_task(self._tell(since))
        hearing = asyncio.create_task(self._hear())
        try:
            await asyncio.wait({telling, hearing, self._end}, return_when=asyncio.FIRST_COMPLETED)
            if self._end.done():
                return self._end.result()
            return hearing.result() if hearing.done() else telling.result()
        except ClientDisconnected:
            return None
        finally:
            for task in (telling, hearing):
                task.cancel()
            await asyncio.gather(telling, hearing, return_exceptions=True)

    async def _hear(self) -> Closed | None:
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        return Closed(POLICY, "Nothing more is to be said after the first message.")

    async def _tell(self, since: int | None) -> Closed | None:
        try:
            await self._begin(since)
            while True:
                await self._go_on()
        except TimeoutError:
            return Closed(TRY_LATER, "You read too slowly; connect again with `since`.")

    async def _begin(self, since: int | None) -> None:
        start = await self._feed.start(since or 0)
        latest = start.seen.get(self._feed.run, 0) if self._feed.run else 0
        if since is not None and self._feed.run and latest - MOST_BEHIND <= since <= latest:
            self._seen = {self._feed.run: since}
            self._at = start.at if since == latest else -1  # before everything: what is missing is read
        else:
            await self._begin_with(start)

    async def _begin_with(self, start: Start) -> None:
        await self._send(start.framed)
        self._at, self._seen = start.at, dict(start.seen)

    async def _go_on(self) -> None:
        burst = self._feed.after(self._at)
        if burst is None:
            await self._catch_up()
        elif burst:
            await self._send(self._joined(burst))
            self._at += len(burst)
            if self._feed.run:
                self._seen[self._feed.run] = max(self._seen.get(self._feed.run, 0), burst[-1].seq)
        else:
            await self._wait()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(PING_S):
                await self._feed.changed()
        except TimeoutError:
            await self._send(_PING)

    async def _catch_up(self) -> None:
        """Read what is not at hand any more: events of a run out of the database, of all runs where they are now."""
        if self._feed.run is None:
            await self._begin_with(await self._feed.restart())
            return
        async with self._catching:  # few at once: what is read here is kept until it is sent
            top = self._feed.top
            page = await self._feed.page(self._seen.get(self._feed.run, 0))
            await self._send(b"".join(entry.framed for entry in collapsed(page, {})))
        if page:
            self._seen[self._feed.run] = page[-1].seq
        if len(page) < PAGE:
            self._at = top  # whatever the feed had read by then was committed, and so it was found
        else:
            await asyncio.sleep(BURST_S)

    def _joined(self, burst: list[Entry]) -> bytes:
        if all(entry.seq > self._seen.get(entry.run, 0) for entry in burst):
            return self._feed.joined(self._at)
        return b"".join(entry.framed for entry in collapsed(burst, self._seen))

    async def _send(self, framed: bytes) -> None:
        async with asyncio.timeout(SEND_S):
            await self._websocket.scope[SOCKET].write(framed)
