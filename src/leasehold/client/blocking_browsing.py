"""A session in a browser or a cookie jar, without an event loop: loaded at first, saved on the way and at the end."""

from collections.abc import Callable, Mapping
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
from leasehold.client.watching import Browser, C, Watch, context_options, health_from, parts_of

Send = Callable[[Call[SessionState]], SessionState]
Check = Callable[[Any], Health]

_EVERY_S = 0.25
# Objects of a blocking Playwright belong to their thread, so nobody can look at them from another. This event comes
# whenever a page has loaded something, while the thread waits for the browser.
_EVENT = "requestfinished"


class _Open(Handle):
    def __init__(self, saving: Saving, send: Send) -> None:
        super().__init__(saving)
        self._send = send

    def _begin(self) -> dict[str, Any] | None:
        given = self._saving.came_along()
        if given is None:
            with suppress(SessionUnknown):
                given = self._send(self._saving.fetch())
        return self._saving.started_from(given)

    def _upload(self, state: Mapping[str, Any], health: Health) -> UploadReport:
        if self._saving.pending:
            wait([self._saving.pending])
        return self._saving.upload(state, health).result()


class OpenSession(_Open):
    """A session for collectors that bring their own browser, or none."""

    storage_state: dict[str, Any]

    def __enter__(self) -> Self:
        self.storage_state = self._begin() or {"cookies": [], "origins": []}
        return self

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._saving.raise_if_lost(error)

    def save(self, state: Mapping[str, Any], *, health: Health | None = None) -> UploadReport:
        """Upload a state. It starts from what was loaded, or from what was saved last; raises if it does not arrive."""
        report = self._upload(state, self._saving.health(health))
        self.storage_state = dict(state)
        return report


class BrowserSession(_Open, Generic[C]):
    """A browser context that starts with the account's session and gives it back. Enter it with `with`."""

    def __init__(
        self, saving: Saving, send: Send, browser: Browser[C], watch: Watch, health: Check | None, **more: Any
    ) -> None:
        super().__init__(saving, send)
        self._browser = browser
        self._watch = watch
        self._check = health
        self._options = context_options(more, None)
        self._context: C | None = None
        self._is_looking = False
        self._looked_s = 0.0

    @property
    def context(self) -> C:
        if self._context is None:
            raise RuntimeError("this browser session was not entered")
        return self._context

    def __enter__(self) -> C:
        if self._context is not None:
            raise RuntimeError("a browser session is entered once; make another")
        state = self._begin()
        self._context = context = self._browser.new_context(**context_options(self._options, state))
        try:
            self._watch.look(context.cookies())
            self._watch.accept()
            context.on(_EVENT, self._noticed)
        except BaseException:
            self._close()
            raise
        return context

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        try:
            self._finish()
        finally:
            self._close()
        self._saving.raise_if_lost(error)

    def save(self, *, health: Health | None = None) -> UploadReport:
        """Upload what the context holds now; raises if it does not arrive. Nothing needs this."""
        return self._upload(self._captured(), self._saving.health(health))

    def _captured(self) -> dict[str, Any]:
        state: dict[str, Any] = self.context.storage_state(**parts_of(self._saving.include))
        return state

    def _noticed(self, _request: object) -> None:
        """A page has loaded something. The upload goes on by itself while the work does."""
        is_sending = self._saving.pending is not None and not self._saving.pending.done()
        if self._is_looking or is_sending or not self._watch.is_time or clock() < self._looked_s + _EVERY_S:
            return
        self._is_looking = True
        try:
            self._checkpoint()
        except Exception:  # of the browser, then the end tells it
            log.debug("A look at the cookies of %s failed.", self.lease.account.id)
        finally:
            self._is_looking, self._looked_s = False, clock()

    def _checkpoint(self) -> None:
        """Save a cookie that was replaced at once: a crash must not lose it. Not in a context that is signed out."""
        if not self._watch.look(self.context.cookies()) or self._saving.said == "logged_out":
            return
        began_s = clock()
        try:
            health = self._asked() if self._check else "unknown"
            if health != "logged_out":
                self._saving.upload(self._captured(), health)
                self._watch.accept()
        finally:
            self._watch.rest(clock() - began_s)

    def _asked(self) -> Health:
        return "unknown" if self._check is None else health_from(self._check(self.context))

    def _finish(self) -> None:
        self._is_looking = True
        try:
            health = self._saving.said or self._last_asked()
            state = self._captured()
        except Exception as error:
            self._saving.failed(error)
            return
        with suppress(Exception):  # it is noted
            self._upload(state, health)

    def _last_asked(self) -> Health:
        try:
            return self._asked()
        except Exception as error:
            log.warning("The health check of %s failed: %s", self.lease.account.id, type(error).__name__)
            return "unknown"

    def _close(self) -> None:
        with suppress(Exception):  # a context of a browser that is gone is closed
            self.context.close()
