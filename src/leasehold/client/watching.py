"""What Playwright's objects look like from here, and when the cookies of a context are worth an upload. No I/O."""

from collections.abc import Awaitable, Collection, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from leasehold.client.session_calls import Health, Part
from leasehold.client.tenure import clock

# Captures are apart by at least this, and take no more than a tenth of the time.
_APART_S = 2.0
_SHARE = 10.0

HEALTHS = frozenset({"ok", "logged_out", "unknown"})


class AsyncContext(Protocol):
    """A `BrowserContext` of playwright.async_api, or what behaves so."""

    def cookies(self, *args: Any, **kwargs: Any) -> Awaitable[Iterable[Any]]: ...
    def storage_state(self, *args: Any, **kwargs: Any) -> Awaitable[Any]: ...
    def close(self, *args: Any, **kwargs: Any) -> Awaitable[None]: ...


class Context(Protocol):
    """A `BrowserContext` of playwright.sync_api, or what behaves so."""

    def cookies(self, *args: Any, **kwargs: Any) -> Iterable[Any]: ...
    def storage_state(self, *args: Any, **kwargs: Any) -> Any: ...
    def close(self, *args: Any, **kwargs: Any) -> None: ...
    def on(self, *args: Any, **kwargs: Any) -> None: ...


AC = TypeVar("AC", bound=AsyncContext, covariant=True)
C = TypeVar("C", bound=Context, covariant=True)


class AsyncBrowser(Protocol[AC]):
    """A `Browser` of playwright.async_api."""

    def new_context(self, *args: Any, **kwargs: Any) -> Awaitable[AC]: ...


class Browser(Protocol[C]):
    """A `Browser` of playwright.sync_api."""

    def new_context(self, *args: Any, **kwargs: Any) -> C: ...


class Watch:
    """Says when to capture: when a watched cookie is new or has another value.

    One that is gone is no reason: that is how a site signs somebody out, and what it means is for the block to say.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._saved: frozenset[tuple[Any, ...]] = frozenset()
        self._seen = self._saved
        self._next_s = 0.0

    @property
    def is_time(self) -> bool:
        return bool(self._names) and clock() >= self._next_s

    def look(self, cookies: Iterable[Mapping[str, Any]]) -> bool:
        """Whether these cookies are worth an upload."""
        watched = (one for one in cookies if one["name"] in self._names)
        self._seen = frozenset(
            (one["name"], one["domain"], one["path"], one.get("partitionKey"), one["value"]) for one in watched
        )
        return not self._seen <= self._saved

    def accept(self) -> None:
        """What was looked at last is saved, or was there from the beginning."""
        self._saved = self._seen

    def rest(self, took_s: float) -> None:
        """A capture took this long: leave the browser in peace for a while."""
        self._next_s = clock() + max(_APART_S, took_s * _SHARE)


def parts_of(include: Iterable[Part]) -> dict[str, bool]:
    """The options of `storage_state` that capture what was asked for; a Playwright without one is not asked for it."""
    names = {"indexeddb": "indexed_db", "opfs": "opfs"}
    return {names[part]: True for part in include}


def context_options(given: Mapping[str, Any], state: Mapping[str, Any] | None) -> dict[str, Any]:
    """What `new_context` is called with."""
    if "storage_state" in given:
        raise TypeError("the state comes from the session; browser_session takes no storage_state")
    return dict(given) | ({"storage_state": state} if state is not None else {})


def health_from(answer: Any) -> Health:
    """What a health check answered."""
    if answer not in HEALTHS:
        raise ValueError("a health check answers 'ok', 'logged_out' or 'unknown'")
    health: Health = answer
    return health
