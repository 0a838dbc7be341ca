"""The uploads of one block that works with a session: what the next one starts from, and what became of each.

They are sent by the keeper's thread, which tries for a while, so that neither a cancelled task nor an impatient thread
takes an upload back that is under way. Both clients use this; neither waits here.
"""

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Literal

from leasehold.client import session_calls as calls
from leasehold.client.calls import Call
from leasehold.client.holding import HeldAccount
from leasehold.client.keeper import Keeper
from leasehold.client.models import SessionState, UploadReport
from leasehold.client.problems import LeaseLost
from leasehold.client.session_calls import Health, Part, Source

Base = int | Literal["fresh", "unknown"]

log = logging.getLogger("leasehold.client")

_SIGNED_OUT = frozenset({"logged_out", "invalid_credentials"})


class Saving:
    """What an open session knows of its uploads. `error` is why the last one failed; then `unsaved` is its state."""

    def __init__(self, keeper: Keeper, lease: HeldAccount, source: Source, include: tuple[Part, ...] = ()) -> None:
        self.lease = lease
        self.source: Source = source
        self.include = include
        self.base: Base = "unknown"
        self.report: UploadReport | None = None
        self.error: Exception | None = None
        self.unsaved: dict[str, Any] | None = None
        self.pending: Future[UploadReport] | None = None
        self._said: Health | None = None
        self._keeper = keeper

    def came_along(self) -> SessionState | None:
        """What was granted together with the account, unless a browser has had it before or more is wanted."""
        is_first, self.lease._is_session_opened = not self.lease._is_session_opened, True
        return self.lease.session if is_first and not self.include else None

    def fetch(self) -> Call[SessionState]:
        return calls.get_session(self.lease.account.id, lease=self.lease.id, include=self.include)

    def started_from(self, given: SessionState | None) -> dict[str, Any] | None:
        """Note what the work starts from; returns the state, or None for a fresh start."""
        self.base = given.version if given else "fresh"
        return given.storage_state if given else None

    def say(self, health: Health) -> None:
        self._said = health

    @property
    def said(self) -> Health | None:
        """What the block has said: of the lease, if that was that it is signed out, or of the session."""
        report = self.lease._report
        is_signed_out = report is not None and report.outcome in _SIGNED_OUT
        return "logged_out" if is_signed_out else self._said

    def health(self, told: Health | None) -> Health:
        """What to say of a state that the block itself saves. A signed-out account never spoils its session."""
        return "logged_out" if self.said == "logged_out" else told or self._said or "unknown"

    def upload(self, state: Mapping[str, Any], health: Health) -> Future[UploadReport]:
        """Send a state. Whether that worked is noted before the future is done; one upload at a time."""
        call = calls.upload_session(
            self.lease.account.id, state, lease=self.lease.id, base=self.base, source=self.source, health=health
        )
        self.unsaved = dict(state)
        try:
            self.pending = self._keeper.submit(lambda: self._sent(call))
        except RuntimeError as error:  # the client is closed
            self.failed(error)
            raise
        return self.pending

    async def _sent(self, call: Call[UploadReport]) -> UploadReport:
        try:
            report = await self._keeper.upload(self.lease._tenure, call)
        except BaseException as error:
            self.failed(error if isinstance(error, Exception) else RuntimeError("this client is closed"))
            raise
        # What the context holds is what it sent, and the server calls that by this number from now on.
        self.base, self.report, self.error, self.unsaved = report.version, report, None, None
        return report

    def failed(self, error: Exception) -> None:
        """Nothing is lost in silence. Of the error only its class is told: its text may hold a secret."""
        self.error = error
        name = type(error).__name__
        log.warning("The session of %s (%s) was not saved: %s", self.lease.account.id, self.lease.id, name)

    def raise_if_lost(self, error: BaseException | None) -> None:
        """At the end of a block: that the state came too late is told, unless something else is under way."""
        if error is None and isinstance(self.error, LeaseLost):
            raise self.error


class Handle:
    """An open session: the browser state of an account that you hold, while a block works with it."""

    def __init__(self, saving: Saving) -> None:
        self._saving = saving

    def __repr__(self) -> str:
        return f"{type(self).__name__}(account={self.lease.account.id!r}, base={self._saving.base!r})"

    @property
    def lease(self) -> HeldAccount:
        return self._saving.lease

    @property
    def base(self) -> Base:
        """What the next upload starts from: a version, or `fresh` while there is none."""
        return self._saving.base

    @property
    def report(self) -> UploadReport | None:
        """What became of the last upload that arrived."""
        return self._saving.report

    @property
    def error(self) -> Exception | None:
        """Why the last upload failed, or could not be made; None if it arrived."""
        return self._saving.error

    @property
    def unsaved(self) -> dict[str, Any] | None:
        """The state of an upload that failed. It is as good as a password."""
        return self._saving.unsaved

    def ok(self) -> None:
        """You have seen that the account is signed in. The last word counts."""
        self._saving.say("ok")

    def logged_out(self) -> None:
        """The account is signed out: what the browser holds is kept aside and changes nothing."""
        self._saving.say("logged_out")
