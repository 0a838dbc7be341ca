"""The client for code without an event loop."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from functools import wraps
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

import httpx

from leasehold import __version__
from leasehold.client import calls, captures, holding, job_calls, seed_calls, session_calls, transport, wishes
from leasehold.client.blocking_browsing import BrowserSession, Check, OpenSession
from leasehold.client.calls import Call
from leasehold.client.capture_models import Capture
from leasehold.client.fetching import Fetching, document_of
from leasehold.client.holding import HeldAccount, Holding, Work
from leasehold.client.keeper import Keeper
from leasehold.client.models import Account, Grants, Lease, Page, Session, Site
from leasehold.client.problems import ProblemError
from leasehold.client.saving import Saving
from leasehold.client.seed_models import Seed
from leasehold.client.session_calls import Part, Source
from leasehold.client.watching import Browser, C, Watch
from leasehold.client.wishes import Asking, Owner, Wish

P = ParamSpec("P")
T = TypeVar("T")
H = TypeVar("H")


class _Resource:
    def __init__(self, client: "Leasehold") -> None:
        self._client = client


def _sent(make: Callable[P, Call[T]]) -> Callable[Concatenate[_Resource, P], T]:
    """The method that sends a call; its signature and documentation are the call's own."""

    @wraps(make)
    def method(self: _Resource, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._client.send(make(*args, **kwargs))

    return method


def _every(page: Callable[[str | None], Page[T]]) -> Iterator[T]:
    cursor: str | None = None
    while True:
        found = page(cursor)
        yield from found.items
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

    def all(self) -> Iterator[Site]:
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
    ) -> Iterator[Account]:
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
    ) -> Iterator[Seed]:
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

    def all(self, *, kind: str | None = None, site: str | None = None, owner: str | None = None) -> Iterator[Lease]:
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
    ) -> Iterator[Capture]:
        """Every capture that fits, page after page."""
        return _every(lambda cursor: self.page(site=site, state=state, since=since, url=url, limit=500, cursor=cursor))

    def download(self, capture_id: str, name: str, to: str | PathLike[str]) -> Path:
        """Fetch a file of a capture to a path, going on where an earlier attempt was cut off; its hash is checked."""
        with Fetching(self.get(capture_id), name, Path(to)) as fetching:
            while not fetching.is_whole:
                time.sleep(self._fetch_some(fetching))
            return fetching.end()

    def _fetch_some(self, fetching: Fetching) -> float:
        """Fetch as much as comes; returns how long to wait before asking for more."""
        try:
            with self._client.stream(fetching.request) as answer:
                if answer.is_success:
                    fetching.begin(answer.status_code)
                    for piece in answer.iter_bytes():
                        fetching.write(piece)
                    return 0.0
                answer.read()
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

    def all(self, *, site: str | None = None) -> Iterator[Session]:
        """Every session there is, page after page."""
        return _every(lambda cursor: self.page(site=site, limit=500, cursor=cursor))


class Block(Generic[H]):
    """Holds accounts from `with` to its end, which raises LeaseLost if they were lost meanwhile."""

    def __init__(self, client: "Leasehold", wish: Wish, pick: Callable[[Holding], H]) -> None:
        self._client = client
        self._wish = wish
        self._pick = pick
        self._entered: Holding | None = None

    def __enter__(self) -> H:
        if self._entered:
            raise RuntimeError("a block is entered once; make another")
        self._entered = self._client._begin(self._wish)
        return self._pick(self._entered)

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        held = self._entered
        if held is None:
            raise RuntimeError("this block was never entered")
        held.leave(error).result()
        if held.lost and error is None:
            raise held.lost


def _held(make: Callable[P, Wish], pick: Callable[[Holding], H]) -> Callable[Concatenate["Leasehold", P], Block[H]]:
    """The method that holds what is wished for; its signature and documentation are the wish's own."""

    @wraps(make)
    def method(self: "Leasehold", /, *args: P.args, **kwargs: P.kwargs) -> Block[H]:
        return Block(self, make(*args, **kwargs), pick)

    return method


class Leasehold:
    """A leasehold server. Use it as a context manager, or `close` it."""

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
        self._http = httpx.Client(
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

    def send(self, call: Call[T]) -> T:
        """Send a call, again where that is harmless, and read its answer."""
        with transport.prepared(call, self._http.timeout) as request:
            for pause_s in transport.pauses(call):
                try:
                    answer = self._http.request(**transport.timed(call, request))
                except httpx.TransportError:
                    time.sleep(pause_s)
                    continue
                if not transport.is_worth_another(answer):
                    return transport.read(call, answer)
                time.sleep(transport.asked_pause(answer, pause_s))
            return transport.read(call, self._http.request(**transport.timed(call, request)))

    def stream(self, request: Mapping[str, Any]) -> AbstractContextManager[httpx.Response]:
        """Send a request whose answer is read as it arrives."""
        return self._http.stream(**request)

    def browser_session(
        self,
        lease: HeldAccount,
        browser: Browser[C],
        *,
        watch: Collection[str] = ("sid",),
        include: Collection[Part] = (),
        health: Check | None = None,
        **context_options: Any,
    ) -> BrowserSession[C]:
        """A browser context that starts with the session of the account you hold, and gives it back when it ends.

        A `watch`ed cookie that is replaced is saved at once. `health` is given the context before each upload and
        answers `ok`, `logged_out` or `unknown`. `context_options` go to `browser.new_context`.
        """
        saving = self._saving(lease, "context", include)
        return BrowserSession(saving, self.send, browser, Watch(watch), health, **context_options)

    def session(self, lease: HeldAccount, *, source: Source = "api", include: Collection[Part] = ()) -> OpenSession:
        """The session of the account you hold, without a browser of ours: load it, work, `save` what came of it."""
        return OpenSession(self._saving(lease, source, include), self.send)

    def _saving(self, lease: HeldAccount, source: Source, include: Collection[Part]) -> Saving:
        self._keeper = self._keeper.here()
        return Saving(self._keeper, lease, source, tuple(include))

    def _begin(self, wish: Wish) -> Holding:
        """Ask until there is something, and begin to keep it."""
        self._keeper, asking = self._keeper.here(), Asking(wish, str(self._owner))
        while True:
            try:
                found = self.send(asking.call)
                if found.leases:
                    return _begun(self._keeper, wish, found, asking.sent_s)
            except (httpx.TransportError, ProblemError) as error:
                time.sleep(asking.pause_after(error))
            else:
                time.sleep(asking.pause_after_nothing(found.waiting))

    def close(self) -> None:
        """End the renewals and close all connections. What is still held is lost."""
        self._keeper.close()
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()


def _begun(keeper: Keeper, wish: Wish, found: Grants, sent_s: float) -> Holding:
    begun = holding.begin(keeper, wish, found, sent_s)
    try:
        return begun.result()
    except BaseException:
        holding.abandon(keeper, begun)
        raise
