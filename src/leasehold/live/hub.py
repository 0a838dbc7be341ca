"""All live sockets of this process: who watches what by which feed, and whether they still may."""

import asyncio
from uuid import UUID

from fastapi import WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from leasehold import logs
from leasehold.auth import Permission
from leasehold.door import SOCKET
from leasehold.live.feed import Feed
from leasehold.live.socket import CRASHED, POLICY, STOPPING, TRY_LATER, Closed, Socket, hello
from leasehold.live.tickets import Tickets
from leasehold.metrics import Metrics
from leasehold.problems import DOWN
from leasehold.runs import Runs, RunUnknown, Watchers

log = logs.get(__name__)

MOST_SOCKETS = 2000
# Who was let in is looked at again so often.
CHECK_EVERY_S = 1.0
# So many read for themselves at once.
_CATCHING_UP = 8
# A word to who does not listen is given up after this.
_GOODBYE_S = 1.0
_LINGER_S = 12.0


class Live:
    """The sockets of this process, and the feeds they share."""

    def __init__(self, runs: Runs, watchers: Watchers, tickets: Tickets, metrics: Metrics) -> None:
        self._runs = runs
        self._watchers = watchers
        self._tickets = tickets
        self._metrics = metrics
        self._feeds: dict[tuple[UUID, UUID | None], Feed] = {}
        self._sockets: set[Socket] = set()
        self._open = 0
        self._permission = Permission.RUNS_VIEW
        self._catching = asyncio.Semaphore(_CATCHING_UP)
        self._is_closed = False

    async def serve(self, websocket: WebSocket, permission: Permission) -> None:
        """One socket from its beginning to its end."""
        self._open += 1
        self._metrics.live_sockets.set(self._open)
        try:
            await websocket.accept()
            closed = await self._served(websocket, permission)
        except WebSocketDisconnect:
            closed = None
        except DOWN:
            closed = Closed(TRY_LATER, "The database cannot be reached; try again.")
        except Exception:
            log.exception("live.crashed")
            closed = Closed(CRASHED, "Something went wrong on the server; its log says more.")
        finally:
            self._open -= 1
            self._metrics.live_sockets.set(self._open)
        if closed is not None:
            await _say_goodbye(websocket, closed)

    async def check(self) -> None:
        """Close the sockets of tokens that were revoked or ran out since."""
        holders = {socket.holder for socket in self._sockets}
        if not holders:
            return
        good = await self._tickets.still_good(holders, self._permission)
        for socket in self._sockets:
            if socket.holder.token not in good:
                socket.end(Closed(POLICY, "The token was revoked, has expired, or may not see runs any more."))

    def is_watched_by_more_than(self, many: int) -> bool:
        return len(self._sockets) > many

    async def close(self) -> None:
        """Let everybody go: they find another server."""
        self._is_closed = True
        for socket in self._sockets:
            socket.end(Closed(STOPPING, "The server is stopping."))
        for feed in list(self._feeds.values()):
            await feed.close()

    async def _served(self, websocket: WebSocket, permission: Permission) -> Closed | None:
        if self._is_closed:
            return Closed(STOPPING, "The server is stopping.")
        if self._open > MOST_SOCKETS:
            return Closed(TRY_LATER, "There are too many sockets; try again later.")
        try:
            said = await hello(websocket)
            run = said.run
        except Closed as closed:
            return closed
        holder = await self._tickets.redeem(said.ticket, permission)
        if holder is None:
            return Closed(POLICY, "This ticket was used, came too late, or never was one. Get another.")
        feed = self._feed(holder.organisation, run)
        try:
            await feed.open()
            socket = Socket(websocket, holder, feed, self._catching)
            self._sockets.add(socket)
            try:
                return await socket.serve(said.subscribe.since)
            finally:
                self._sockets.discard(socket)
        except RunUnknown:
            return Closed(POLICY, "No run has this id.")
        finally:
            await self._leave(feed, (holder.organisation, run))

    def _feed(self, organisation: UUID, run: UUID | None) -> Feed:
        key = (organisation, run)
        if key not in self._feeds:
            self._feeds[key] = Feed(self._runs, self._watchers, organisation, run)
        feed = self._feeds[key]
        feed.watched_by += 1
        return feed

    async def _leave(self, feed: Feed, key: tuple[UUID, UUID | None]) -> None:
        feed.watched_by -= 1
        if feed.watched_by == 0:
            del self._feeds[key]
            await feed.close()


async def _say_goodbye(websocket: WebSocket, closed: Closed) -> None:
    """Close it with a word, and without one where nobody listens."""
    line = websocket.scope[SOCKET]
    log.info("live.closed", code=closed.code, reason=closed.reason)
    try:
        async with asyncio.timeout(_GOODBYE_S):
            if websocket.application_state is WebSocketState.CONNECTED:
                await websocket.close(closed.code, closed.reason)
    except TimeoutError:
        line.abort()
    except (WebSocketDisconnect, RuntimeError):
        return  # the other side was quicker
    asyncio.get_running_loop().call_later(_LINGER_S, line.abort)  # it may never answer
