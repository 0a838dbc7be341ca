"""A session in a browser or a cookie jar, with an event loop: loaded at first, saved on the way and at the end."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import wait
from contextlib import suppress
from types import TracebackType
from typing import Any, Generic, Self

from leasehold.client.calls import Call
from leasehold.client.models import SessionState, UploadReport
from leasehold.client.problems import SessionUnknown
from leasehold.client.saving import Handle, Saving, log
from leasehold.client.session_calls import Health
from leasehold.client.tenure import clock
from leasehold.client.watching import AC, AsyncBrowser, Watch, context_options, health_from, parts_of

Send = Callable[[Call[SessionState]], Awaitable[SessionState]]
AsyncCheck = Callable[[Any], Health | Awaitable[Health]]

_EVERY_S = 1.0
# A browser that does not answer must not keep the account for ever.
_PATIENCE_S = 30.0


class _Open(Handle):
    def __init__(self, saving: Saving, send: Send) -> None:
        super().__init__(saving)
        self._send = send
        self._one_at_a_time = asyncio.Lock()

    async def _begin(self) -> dict[str, Any] | None:
        given = self._saving.came_along()
        if given is None:
            with suppress(SessionUnknown):
                given = await self._send(self._saving.fetch())
        return self._saving.started_from(given)

    async def _upload(self, state: Mapping[str, Any], health: Health) -> UploadReport:
        """Shielded: whoever is cancelled may go, the upload is on its way."""
        async with self._one_at_a_time:
            if self._saving.pending and not self._saving.pending.done():  # its task was cancelled
                await asyncio.to_thread(wait, [self._saving.pending])
            return await asyncio.shield(asyncio.wrap_future(self._saving.upload(state, health)))


class AsyncOpenSession(_Open):
    """A session for collectors that bring their own browser, or none."""

    storage_state: dict[str, Any]

    async def __aenter__(self) -> Self:
        self.storage_state = await self._begin() or {"cookies": [], "origins": []}
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._saving.raise_if_lost(error)

    async def save(self, state: Mapping[str, Any], *, health: Health | None = None) -> UploadReport:
        """Upload a state. It starts from what was loaded, or from what was saved last; raises if it does not arrive."""
        report = await self._upload(state, self._saving.health(health))
        self.storage_state = dict(state)
        return report


class AsyncBrowserSession(_Open, Generic[AC]):
    """A browser context that starts with the account's session and gives it back. Enter it with `async with`."""

    def __init__(
        self,
        saving: Saving,
        send: Send,
        browser: AsyncBrowser[AC],
        watch: Watch,
        health: AsyncCheck | None,
        **more: Any,
    ) -> None:
        super().__init__(saving, send)
        self._browser = browser
        self._watch = watch
        self._check = health
        self._options = context_options(more, None)
        self._context: AC | None = None
        self._watching: asyncio.Task[None] | None = None
        self._is_over = asyncio.Event()

    @property
    def context(self) -> AC:
        if self._context is None:
            raise RuntimeError("this browser session was not entered")
        return self._context

    async def __aenter__(self) -> AC:
        if self._context is not None:
            raise RuntimeError("a browser session is entered once; make another")
        state = await self._begin()
        self._context = context = await self._made(context_options(self._options, state))
        try:
            self._watch.look(await context.cookies())
        except BaseException:
            await _to_its_end(self._close())
            raise
        self._watch.accept()
        self._watching = asyncio.create_task(self._keep_watch())
        return context

    async def __aexit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        try:
            await _to_its_end(self._finish())
        finally:
            await _to_its_end(self._close())
        self._saving.raise_if_lost(error)

    async def save(self, *, health: Health | None = None) -> UploadReport:
        """Upload what the context holds now; raises if it does not arrive. Nothing needs this."""
        return await self._upload(await self._captured(), self._saving.health(health))

    async def _made(self, options: dict[str, Any]) -> AC:
        making = asyncio.ensure_future(self._browser.new_context(**options))
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            with suppress(Exception):  # nobody else would close it
                await (await making).close()
            raise

    async def _captured(self) -> dict[str, Any]:
        state: dict[str, Any] = await self.context.storage_state(**parts_of(self._saving.include))
        return state

    async def _keep_watch(self) -> None:
        while not await self._ends_within(_EVERY_S):
            if self._watch.is_time:
                with suppress(Exception):  # of the browser, then the end tells it; of the upload, then it is noted
                    await self._checkpoint()

    async def _ends_within(self, span_s: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_over.wait(), span_s)
        return self._is_over.is_set()

    async def _checkpoint(self) -> None:
        """Save a cookie that was replaced at once: a crash must not lose it. Not in a context that is signed out."""
        if not self._watch.look(await self.context.cookies()) or self._saving.said == "logged_out":
            return
        began_s = clock()
        try:
            health = await self._asked() if self._check else "unknown"
            if health != "logged_out":
                await self._upload(await self._captured(), health)
                self._watch.accept()
        finally:
            self._watch.rest(clock() - began_s)

    async def _asked(self) -> Health:
        if self._check is None:
            return "unknown"
        answer = self._check(self.context)
        return health_from(await answer if inspect.isawaitable(answer) else answer)

    async def _finish(self) -> None:
        self._is_over.set()
        if self._watching:
            await asyncio.wait([self._watching], timeout=_PATIENCE_S)
            self._watching.cancel()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                health = self._saving.said or await self._last_asked()
                state = await self._captured()
        except Exception as error:
            self._saving.failed(error)
            return
        with suppress(Exception):  # it is noted
            await self._upload(state, health)

    async def _last_asked(self) -> Health:
        try:
            return await self._asked()
        except Exception as error:
            log.warning("The health check of %s failed: %s", self.lease.account.id, type(error).__name__)
            return "unknown"

    async def _close(self) -> None:
        with suppress(Exception):  # a context of a browser that is gone is closed
            async with asyncio.timeout(_PATIENCE_S):
                await self.context.close()


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Do it to its end, whoever cancels meanwhile; that is told afterwards. What is done so limits its own time."""
    doing = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not doing.done():
        try:
            await asyncio.wait([doing])
        except asyncio.CancelledError as error:
            cancelled = error
    doing.result()
    if cancelled:
        raise cancelled
