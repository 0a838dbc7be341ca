"""The client for code with an event loop; call for call the same as the blocking one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import wraps
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

import httpx

from leasehold import __version__
from leasehold.client import calls, captures, holding, job_calls, seed_calls, session_calls, transport, wishes
from leasehold.client.browsing import AsyncBrowserSession, AsyncCheck, AsyncOpenSession
from leasehold.client.calls import Call
from leasehold.client.capture_models import Capture
from leasehold.client.fetching import Fetching, document_of
from leasehold.client.holding import HeldAccount, Holding, Work
from leasehold.client.interruption import Interruption
from leasehold.client.keeper import Keeper
from leasehold.client.models import Account, Grants, Lease, Page, Session, Site
from leasehold.client.problems import ProblemError
from leasehold.client.saving import Saving
from leasehold.client.seed_models import Seed
from leasehold.client.session_calls import Part, Source
from leasehold.client.watching import AC, AsyncBrowser, Watch
from leasehold.client.wishes import Asking, Owner, Wish

P = ParamSpec("P")
T = TypeVar("T")
H = TypeVar("H")


class _Resource:
    def __init__(self, client: "AsyncLeasehold") -> None:
        self._client = client


def _sent(make: Callable[P, Call[T]]) -> Callable[Concatenate[_Resource, P], Awaitable[T]]:
    """The method that sends a call; its signature and documentation are the call's own."""

    @wraps(make)
    async def method(self: _Resource, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._client.send(make(*args, **kwargs))

    return method


async def _every(page: Callable[[str | None], Awaitable[Page[T]]]) -> AsyncIterator[T]:
    cursor: str | None = None
    while True:
        found = await page(cursor)
        for item in found.items:
            yield item
        cursor = found.next_cursor
        if cursor is None:
            return


class Sites(_Resource):
    """Places to collect from."""

    create = _sent(calls.create_site)
    get = _sent(calls.get_site)
    page = _sent(calls.list_sites)
    change = _sent(calls.change_site)
    delete = _sent(calls.delete_site)
    move = _sent(calls.move_site)
    pause = _sent(calls.pause_site)
    resume = _sent(calls.resume_site)
    explain = _sent(calls.explain_site)
    rewrite = _sent(calls.rewrite_urls)

    def all(self) -> AsyncIterator[Site]:
        """Every site, page after page."""
        return _every(lambda cursor: self.page(limit=500, cursor=cursor))


class Accounts(_Resource):
    """Logins at sites."""

    create = _sent(calls.create_account)
    import_ = _sent(calls.import_accounts)
    get = _sent(calls.get_account)
    page = _sent(calls.list_accounts)
    change = _sent(calls.change_account)
    delete = _sent(calls.delete_account)
    reveal = _sent(calls.reveal_account)
    acquire = _sent(calls.acquire_accounts)
    reclaim = _sent(calls.reclaim_accounts)
    stats = _sent(calls.account_stats)
    history = _sent(calls.account_history)

    def all(
        self,
        *,
        site: str | None = None,
        state: str | None = None,
        labels: Mapping[str, str] | None = None,
        q: str | None = None,
    ) -> AsyncIterator[Account]:
        """Every account that fits, page after page."""
        return _every(lambda cursor: self.page(site=site, state=state, labels=labels, q=q, limit=500, cursor=cursor))


class Seeds(_Resource):
    """Addresses that are visited again and again."""

    upsert = _sent(seed_calls.upsert_seeds)
    import_ = _sent(seed_calls.import_seeds)
    get = _sent(seed_calls.get_seed)
    page = _sent(seed_calls.list_seeds)
    change = _sent(seed_calls.change_seed)
    delete = _sent(seed_calls.delete_seed)
    acquire = _sent(seed_calls.acquire_seeds)
    release = _sent(seed_calls.release)
    histogram = _sent(seed_calls.seed_histogram)

    def all(
        self,
        *,
        site: str | None = None,
        due: bool | None = None,
        enabled: bool | None = None,
        kind: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Seed]:
        """Every seed that fits, page after page."""
        return _every(
            lambda cursor: self.page(
                site=site, due=due, enabled=enabled, kind=kind, labels=labels, limit=500, cursor=cursor
            )
        )


class Leases(_Resource):
    """Who holds what. A block that holds accounts does all of this by itself."""

    page = _sent(calls.list_leases)
    heartbeat = _sent(calls.heartbeat)
    heartbeat_all = _sent(calls.heartbeat_all)
    release = _sent(calls.release)
    revoke = _sent(calls.revoke_lease)
    revoke_owner = _sent(calls.revoke_owner)

    def all(
        self, *, kind: str | None = None, site: str | None = None, owner: str | None = None
    ) -> AsyncIterator[Lease]:
        """Every lease that is held now, page after page."""
        return _every(lambda cursor: self.page(kind=kind, site=site, owner=owner, limit=500, cursor=cursor))


class Jobs(_Resource):
    """Crawls that are asked for. Workers have a module of their own: `leasehold.client.worker`."""

    submit = _sent(job_calls.submit_job)
    get = _sent(job_calls.get_job)
    explain = _sent(job_calls.explain_job)
    platform = _sent(job_calls.get_platform)


class Captures(_Resource):
    """What visits brought home."""

    upload = _sent(captures.upload_capture)
    get = _sent(captures.get_capture)
    page = _sent(captures.list_captures)
    audit = _sent(captures.capture_audit)
    acquire = _sent(captures.acquire_captures)
    release = _sent(calls.release)
    requeue = _sent(captures.requeue_capture)
    delete = _sent(captures.delete_capture)

    def all(
        self,
        *,
        site: str | None = None,
        state: str | None = None,
        since: datetime | None = None,
        url: str | None = None,
    ) -> AsyncIterator[Capture]:
        """Every capture that fits, page after page."""
        return _every(lambda cursor: self.page(site=site, state=state, since=since, url=url, limit=500, cursor=cursor))

    async def download(self, capture_id: str, name: str, to: str | PathLike[str]) -> Path:
        """Fetch a file of a capture to a path, going on where an earlier attempt was cut off; its hash is checked."""
        with Fetching(await self.get(capture_id), name, Path(to)) as fetching:
            while not fetching.is_whole:
                pause_s = await self._fetch_some(fetching)
                await asyncio.sleep(pause_s)
            return fetching.end()

    async def _fetch_some(self, fetching: Fetching) -> float:
        """Fetch as much as comes; returns how long to wait before asking for more."""
        try:
            async with self._client.stream(fetching.request) as answer:
                if answer.is_success:
                    fetching.begin(answer.status_code)
                    async for piece in answer.aiter_bytes():
                        fetching.write(piece)
                    return 0.0
                await answer.aread()
                if refusal := fetching.refusal(answer.status_code, document_of(answer)):
                    raise refusal
        except httpx.TransportError as error:
            return fetching.pause_after(error)
        return fetching.pause_after(None)


class Sessions(_Resource):
    """Browser states of accounts. A block that works with one does the loading and saving by itself."""

    get = _sent(session_calls.get_session)
    upload = _sent(session_calls.upload_session)
    page = _sent(session_calls.list_sessions)
    versions = _sent(session_calls.session_versions)
    entries = _sent(session_calls.session_entries)
    roll_back = _sent(session_calls.roll_back_session)
    undo = _sent(session_calls.undo_upload)
    decide = _sent(session_calls.decide_upload)
    delete = _sent(session_calls.delete_session)

    def all(self, *, site: str | None = None) -> AsyncIterator[Session]:
        """Every session there is, page after page."""
        return _every(lambda cursor: self.page(site=site, limit=500, cursor=cursor))


class Block(Generic[H]):
    """Holds accounts from `async with` to its end. When they are lost the task is cancelled, and LeaseLost raised."""

    def __init__(self, client: "AsyncLeasehold", wish: Wish, pick: Callable[[Holding], H]) -> None:
        self._client = client
        self._wish = wish
        self._pick = pick
        self._entered: tuple[Holding, Interruption] | None = None

    async def __aenter__(self) -> H:
        if self._entered:
            raise RuntimeError("a block is entered once; make another")
        interruption = Interruption()
        held = await self._client._begin(self._wish)
        self._entered = held, interruption
        held.tell(interruption)
        return self._pick(held)

    async def __aexit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._entered is None:
            raise RuntimeError("this block was never entered")
        held, interruption = self._entered
        is_ours = interruption.end(error)
        # Shielded: who is in a hurry may go, the release is on its way.
        await asyncio.shield(asyncio.wrap_future(held.leave(error)))
        if held.lost and (is_ours or error is None):
            raise held.lost


def _held(
    make: Callable[P, Wish], pick: Callable[[Holding], H]
) -> Callable[Concatenate["AsyncLeasehold", P], Block[H]]:
    """The method that holds what is wished for; its signature and documentation are the wish's own."""

    @wraps(make)
    def method(self: "AsyncLeasehold", /, *args: P.args, **kwargs: P.kwargs) -> Block[H]:
        return Block(self, make(*args, **kwargs), pick)

    return method


class AsyncLeasehold:
    """A leasehold server. Use it as an async context manager, or `close` it."""

    account = _held(wishes.account, lambda held: held.leases[0])
    accounts_held = _held(wishes.accounts_held, lambda held: held.leases)
    checkout = _held(wishes.checkout, Work)

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = 60.0,
        renewal_transport: Callable[[], httpx.AsyncBaseTransport] | None = None,
        **options: Any,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=url, headers=transport.headers(token, __version__), timeout=timeout_s, **options
        )
        self._keeper = Keeper(transport.connector(url, self._http.headers, renewal_transport, options))
        self._owner = Owner()
        self.sites = Sites(self)
        self.accounts = Accounts(self)
        self.seeds = Seeds(self)
        self.leases = Leases(self)
        self.captures = Captures(self)
        self.jobs = Jobs(self)
        self.sessions = Sessions(self)

    async def send(self, call: Call[T]) -> T:
        """Send a call, again where that is harmless, and read its answer."""
        with transport.prepared(call, self._http.timeout) as request:
            for pause_s in transport.pauses(call):
                try:
                    answer = await self._http.request(**transport.timed(call, request))
                except httpx.TransportError:
                    await asyncio.sleep(pause_s)
                    continue
                if not transport.is_worth_another(answer):
                    return transport.read(call, answer)
                await asyncio.sleep(transport.asked_pause(answer, pause_s))
            return transport.read(call, await self._http.request(**transport.timed(call, request)))

    def stream(self, request: Mapping[str, Any]) -> AbstractAsyncContextManager[httpx.Response]:
        """Send a request whose answer is read as it arrives."""
        return self._http.stream(**request)

    def browser_session(
        self,
        lease: HeldAccount,
        browser: AsyncBrowser[AC],
        *,
        watch: Collection[str] = ("sid",),
        include: Collection[Part] = (),
        health: AsyncCheck | None = None,
        **context_options: Any,
    ) -> AsyncBrowserSession[AC]:
        """A browser context that starts with the session of the account you hold, and gives it back when it ends.

        A `watch`ed cookie that is replaced is saved at once. `health` is given the context before each upload and
        answers `ok`, `logged_out` or `unknown`. `context_options` go to `browser.new_context`.
        """
        saving = self._saving(lease, "context", include)
        return AsyncBrowserSession(saving, self.send, browser, Watch(watch), health, **context_options)

    def session(
        self, lease: HeldAccount, *, source: Source = "api", include: Collection[Part] = ()
    ) -> AsyncOpenSession:
        """The session of the account you hold, without a browser of ours: load it, work, `save` what came of it."""
        return AsyncOpenSession(self._saving(lease, source, include), self.send)

    def _saving(self, lease: HeldAccount, source: Source, include: Collection[Part]) -> Saving:
        self._keeper = self._keeper.here()
        return Saving(self._keeper, lease, source, tuple(include))

    async def _begin(self, wish: Wish) -> Holding:
        """Ask until there is something, and begin to keep it."""
        self._keeper, asking = self._keeper.here(), Asking(wish, str(self._owner))
        while True:
            try:
                found = await self.send(asking.call)
                if found.leases:
                    return await _begun(self._keeper, wish, found, asking.sent_s)
            except (httpx.TransportError, ProblemError) as error:
                await asyncio.sleep(asking.pause_after(error))
            else:
                await asyncio.sleep(asking.pause_after_nothing(found.waiting))

    async def close(self) -> None:
        """End the renewals and close all connections. What is still held is lost."""
        try:
            await asyncio.to_thread(self._keeper.close)
        finally:  # also when it was this task that held something
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()


async def _begun(keeper: Keeper, wish: Wish, found: Grants, sent_s: float) -> Holding:
    begun = holding.begin(keeper, wish, found, sent_s)
    try:
        return await asyncio.shield(asyncio.wrap_future(begun))
    except BaseException:
        holding.abandon(keeper, begun)
        raise
