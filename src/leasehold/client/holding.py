"""What a block of code holds, from the grant to the release; the same for both clients."""

import asyncio
import threading
from asyncio import CancelledError
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leasehold.client import calls
from leasehold.client.calls import Call, Span, seconds
from leasehold.client.keeper import Keeper
from leasehold.client.models import Account, Grant, Grants, Released, SessionState
from leasehold.client.problems import LeaseLost, LeaseUnknown
from leasehold.client.seed_models import CheckedOut, SeedGrant
from leasehold.client.tenure import Listener, Tenure
from leasehold.client.wishes import Wish

_LONGEST_REASON = 500
_LONGEST_COOLDOWN_S = 30 * 86_400


@dataclass(frozen=True, slots=True)
class Report:
    """What the server is told at the end."""

    outcome: str
    reason: str | None = None
    cooldown_s: int | None = None


def report_for(chosen: Report | None, error: BaseException | None) -> Report:
    """What to tell when a block ends: what the block itself said, else what ended it.

    Of an exception only its class is told: its text may hold a secret. Work that was stopped from outside says nothing
    of the account, so that is no failure of the account's.
    """
    if chosen:
        return chosen
    if error is None:
        return Report("ok")
    if isinstance(error, Exception) and not isinstance(error, LeaseLost):
        return Report("failed", _line(type(error).__name__))
    return Report("ok", "cancelled")


def _line(reason: str | None) -> str | None:
    """One printable line that fits: a reason the server would refuse must not cost the release."""
    text = "".join(character if character.isprintable() else " " for character in reason or "")
    return text.strip()[:_LONGEST_REASON] or None


class HeldAccount:
    """An account that is yours while the block runs. Renewals go on by themselves; say how it went, or just leave."""

    def __init__(self, grant: Grant, tenure: Tenure) -> None:
        self.id = grant.id
        self.fence = grant.fence
        self.owner = grant.owner
        self.account = Account.model_validate(grant.account.model_dump(exclude={"secret"}))
        # Why the server could not be told of the end; the lease then runs out by itself.
        self.release_error: Exception | None = None
        self._tenure = tenure
        self._report: Report | None = None
        self._secret: dict[str, Any] = dict(grant.account.secret)
        self._session = grant.session
        self._is_session_opened = False  # from then on its context holds something newer than what came along

    def __repr__(self) -> str:
        return f"HeldAccount(id={self.id!r}, site={self.account.site!r}, username={self.username!r})"

    @property
    def username(self) -> str:
        return self.account.username

    @property
    def secret(self) -> dict[str, Any]:
        """What it takes to sign in. Raises LeaseLost once the account is not yours any more."""
        self.check()
        return self._secret

    @property
    def session(self) -> SessionState | None:
        """Its browser state, if it was asked for and there is one. Raises LeaseLost as `secret` does."""
        self.check()
        return self._session

    @property
    def expires_at(self) -> datetime:
        """When the server ends the lease, by the server's clock, unless it is renewed again."""
        return self._tenure.expires_at

    @property
    def remaining_s(self) -> float:
        """How long the account is surely yours if no further renewal comes, by this machine's clock."""
        return self._tenure.remaining_s

    @property
    def is_lost(self) -> bool:
        """Whether the account may belong to somebody else by now. Once true it stays true."""
        return self._tenure.lost is not None

    def check(self) -> None:
        """Raise LeaseLost unless the account is surely yours at this moment. Cheap: ask before each step."""
        self._tenure.check()

    def ok(self, reason: str | None = None) -> None:
        """It went well, whatever ends the block. The last verdict counts."""
        self._report = Report("ok", _line(reason))

    def failed(self, reason: str | None = None) -> None:
        """It did not work: the account rests, longer each time."""
        self._report = Report("failed", _line(reason))

    def rate_limited(self, reason: str | None = None, *, cooldown_s: Span | None = None) -> None:
        """The site wants less of it: the account rests, for as long as you say if you know."""
        rest_s = None if cooldown_s is None else min(max(0, seconds(cooldown_s)), _LONGEST_COOLDOWN_S)
        self._report = Report("rate_limited", _line(reason), rest_s)

    def blocked(self, reason: str | None = None) -> None:
        """The site has blocked it: nobody gets it until it is let back."""
        self._report = Report("blocked", _line(reason))

    def logged_out(self, reason: str | None = None) -> None:
        """Its session is gone: the next holder has to sign in."""
        self._report = Report("logged_out", _line(reason))

    def invalid_credentials(self, reason: str | None = None) -> None:
        """The site does not take its secret: it is set aside until somebody changes that."""
        self._report = Report("invalid_credentials", _line(reason))

    def _release(self, error: BaseException | None) -> Call[Released]:
        report = report_for(self._report, error)
        return calls.release(self.id, outcome=report.outcome, reason=report.reason, cooldown=report.cooldown_s)


class HeldSeed:
    """A seed that is yours to visit while the block runs. Say how each visit went: what is not said was no visit."""

    def __init__(self, grant: SeedGrant, tenure: Tenure) -> None:
        self.id = grant.id
        self.fence = grant.fence
        self.seed = grant.seed
        self.release_error: Exception | None = None
        self._tenure = tenure
        self._report: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"HeldSeed(id={self.id!r}, site={self.seed.site!r}, seed={self.seed.id!r})"

    @property
    def url(self) -> str:
        """Where it is today."""
        return self.seed.url or self.seed.original_url

    @property
    def cursor(self) -> Any:
        """What the last visit left behind."""
        return self.seed.cursor

    @property
    def is_lost(self) -> bool:
        """Whether it may be somebody else's by now. Once true it stays true."""
        return self._tenure.lost is not None

    def check(self) -> None:
        """Raise LeaseLost unless it is surely yours at this moment."""
        self._tenure.check()

    def ok(self, *, found: int = 0, cursor: Any = None) -> None:
        """It was visited: how many new things there were, and what the next visit is to know. The last word counts."""
        self._report = {"outcome": "ok", "found": found, "cursor": cursor}

    def failed(self, reason: str | None = None) -> None:
        """The visit did not work: it is tried again, later each time."""
        self._report = {"outcome": "failed", "reason": _line(reason)}

    def gone(self, reason: str | None = None) -> None:
        """There is nothing there any more: nobody visits it again."""
        self._report = {"outcome": "gone", "reason": _line(reason)}

    def _release(self, error: BaseException | None) -> Call[Released]:
        report = self._report or {"outcome": "failed", "reason": report_for(None, error).reason or "not visited"}
        return calls.release(self.id, **report)


class Work:
    """What a checkout gave: an account, its session if it has one, and what to visit with it."""

    def __init__(self, held: "Holding") -> None:
        (self.account,) = held.leases
        self.seeds = held.seeds

    def __repr__(self) -> str:
        return f"Work(account={self.account!r}, seeds={len(self.seeds)})"


class Holding:
    """What one block holds. Losing one is losing all."""

    def __init__(self, keeper: Keeper, leases: Sequence[HeldAccount], seeds: Sequence[HeldSeed] = ()) -> None:
        self.leases = list(leases)
        self.seeds = list(seeds)
        self._keeper = keeper

    @property
    def _all(self) -> list[HeldAccount | HeldSeed]:
        return [*self.leases, *self.seeds]

    @classmethod
    async def begin(cls, keeper: Keeper, wish: Wish, found: Grants, sent_s: float) -> "Holding":
        """Keep what was granted. Runs in the keeper's thread; when one is lost already, the others are given back."""
        grants: list[Grant | SeedGrant] = [*found.leases, *(found.seeds if isinstance(found, CheckedOut) else ())]
        kept = await asyncio.gather(*(keeper.take(one, wish.ttl_s, sent_s) for one in grants), return_exceptions=True)
        pairs = [(grant, tenure) for grant, tenure in zip(grants, kept, strict=True) if isinstance(tenure, Tenure)]
        holding = cls(
            keeper,
            [HeldAccount(grant, tenure) for grant, tenure in pairs if isinstance(grant, Grant)],
            [HeldSeed(grant, tenure) for grant, tenure in pairs if isinstance(grant, SeedGrant)],
        )
        for error in kept:
            if isinstance(error, BaseException):
                await holding.end(CancelledError())
                raise error
        if wish.on_lost:
            holding.tell(_in_a_thread(wish.on_lost))
        return holding

    @property
    def lost(self) -> LeaseLost | None:
        """Why the block should not have gone on, if so."""
        return next((lost for held in self._all if (lost := held._tenure.lost)), None)

    def tell(self, listener: Listener) -> None:
        """Call the listener at the first loss, once, in whichever thread notices."""
        first = threading.Lock()

        def once(lost: LeaseLost) -> None:
            if first.acquire(blocking=False):
                listener(lost)

        for held in self._all:
            held._tenure.tell(once)

    def leave(self, error: BaseException | None) -> Future[None]:
        """The block is over: the clock stops, secrets are forgotten, and everything is on its way back."""
        for held in self._all:
            held._tenure.leave()
        for account in self.leases:
            account._secret, account._session = {}, None
        if self._keeper.is_at_work:
            return self._keeper.submit(lambda: self.end(error))
        nothing_to_do: Future[None] = Future()
        nothing_to_do.set_result(None)
        return nothing_to_do

    async def end(self, error: BaseException | None) -> None:
        """Give everything back, and say how it went. Runs in the keeper's thread; raises nothing."""
        await asyncio.gather(*(self._give_back(held, held._release(error)) for held in self._all))

    async def _give_back(self, held: HeldAccount | HeldSeed, call: Call[Released]) -> None:
        """That the lease had ended before the block did is a loss; that nobody answers is only noted."""
        held.release_error = await self._keeper.give_back(held._tenure, call)
        match held.release_error:
            case LeaseLost() as lost:
                held._tenure.lose(lost)
            case LeaseUnknown() as unknown:
                held._tenure.lose(LeaseLost.here(held.id, "unknown", unknown.detail))


def begin(keeper: Keeper, wish: Wish, found: Grants, sent_s: float) -> Future[Holding]:
    """Begin to hold what was granted to a request that was sent then, in the keeper's thread."""
    return keeper.submit(lambda: Holding.begin(keeper, wish, found, sent_s))


def abandon(keeper: Keeper, begun: Future[Holding]) -> None:
    """Whoever began is gone before it had what it wanted: give that back as soon as it is there."""

    def give_back(done: Future[Holding]) -> None:
        if not done.cancelled() and not done.exception():
            keeper.submit(lambda: done.result().end(CancelledError()))

    begun.add_done_callback(give_back)


def _in_a_thread(listener: Listener) -> Listener:
    """The holder's own code must not hold up the keeper of other leases."""

    def tell(lost: LeaseLost) -> None:
        with suppress(RuntimeError):  # no thread can be started any more, and others are still to be told
            threading.Thread(target=listener, args=(lost,), name="leasehold-lost", daemon=True).start()

    return tell
