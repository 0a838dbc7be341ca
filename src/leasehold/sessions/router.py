"""Sessions over HTTP: a StorageState goes out to who holds the account, and comes back to be merged."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
from fastapi import Depends, Header, Query, Request, Response
from fastapi import Path as InPath
from pydantic import AwareDatetime, Field

from leasehold.accounts import PREFIX, AccountUnknown, PoolsMoving, unknown_account
from leasehold.auth import Permission, require
from leasehold.door import CallerDep, allows, router
from leasehold.ids import parse, uuid7
from leasehold.leases import PREFIX as LEASE
from leasehold.leases import LeaseLost, LeaseUnknown, unknown
from leasehold.paging import Cursor, Limit, Page, decode, paged
from leasehold.problems import InvalidRequest, UnsupportedMediaType, fault, invalid
from leasehold.sessions.answers import (
    EntryOut,
    SessionOut,
    TakenOut,
    VersionOut,
    entry_out,
    session_out,
    taken_out,
    version_out,
)
from leasehold.sessions.canonical import StateMalformed, StateTooLarge, parse_state
from leasehold.sessions.merge import Health, Source, Start
from leasehold.sessions.merging import INCLUDES, Offered
from leasehold.sessions.problems import SessionNotLoadable, SessionTooLarge, SessionUnknown
from leasehold.sessions.service import Sessions
from leasehold.strict import Line, Strict
from leasehold.vault import SecretsSealed

routes = router("sessions")

IdInPath = Annotated[str, InPath(max_length=200)]
LongCursor = Annotated[str | None, Query(max_length=2000, description="`next_cursor` of the page before.")]
LeaseHeader = Annotated[
    str | None,
    Header(
        alias="Leasehold-Lease",
        max_length=200,
        description="The lease you hold on this account. Needed without `sessions.manage`.",
    ),
]
UploadId = Annotated[str, Query(pattern=r"^[A-Za-z0-9._:-]{1,200}$")]
BaseName = Annotated[
    str,
    Query(
        pattern=r"^(fresh|unknown|[0-9]{1,9})$",
        description="What the browser started from: `fresh`, `unknown`, or the version it was given. Only an upload "
        "that names a version can delete anything.",
    ),
]


async def _sessions(request: Request) -> Sessions:
    sessions: Sessions = request.app.state.sessions
    return sessions


SessionsDep = Annotated[Sessions, Depends(_sessions)]
_STATE: dict[str, Any] = {
    "type": "object",
    "description": "A StorageState, as Playwright's `storage_state` gives and takes it.",
    "properties": {
        "cookies": {"type": "array", "items": {"type": "object"}},
        "origins": {"type": "array", "items": {"type": "object"}},
    },
}


class RollBackIn(Strict):
    version: int = Field(ge=1, le=2**31 - 1)


class DecisionIn(Strict):
    decision: Literal["take", "drop"] = Field(description="Merge the upload after all, or forget it.")


class UndoIn(Strict):
    upload_id: Annotated[Line, Field(max_length=200)] = Field(description="The upload whose doing is taken out.")


_FETCH = allows(
    Permission.SESSIONS_USE,
    AccountUnknown,
    SessionUnknown,
    SessionNotLoadable,
    LeaseLost,
    LeaseUnknown,
    SecretsSealed,
    PoolsMoving,
)


@routes.get(
    "/v2/sessions/{account_id}",
    response_class=Response,
    responses={200: {"description": "The state.", "content": {"application/json": {"schema": _STATE}}}},
    **_FETCH,
)
async def fetch_session(
    account_id: IdInPath,
    caller: CallerDep,
    sessions: SessionsDep,
    lease: LeaseHeader = None,
    include: Annotated[str | None, Query(max_length=100, description="`indexeddb`, `opfs`, or both.")] = None,
    if_none_match: Annotated[str | None, Header(max_length=200)] = None,
) -> Response:
    """The StorageState of an account, for `new_context(storage_state=…)`; it always loads. `ETag` is the version."""
    given = await sessions.fetch(caller, _account(account_id), _lease(lease), _includes(include))
    etag = f'"{given.version}"'
    if if_none_match is not None and etag in if_none_match:
        return Response(status_code=304, headers={"ETag": etag})
    return Response(orjson.dumps(given.storage_state), media_type="application/json", headers={"ETag": etag})


_TAKE = allows(
    Permission.SESSIONS_USE,
    AccountUnknown,
    LeaseLost,
    LeaseUnknown,
    InvalidRequest,
    SessionTooLarge,
    SecretsSealed,
    PoolsMoving,
)
_TAKE["openapi_extra"]["requestBody"] = {"required": True, "content": {"application/json": {"schema": _STATE}}}


@routes.put("/v2/sessions/{account_id}", **_TAKE)
async def upload_session(
    request: Request,
    account_id: IdInPath,
    caller: CallerDep,
    sessions: SessionsDep,
    lease: LeaseHeader = None,
    base: BaseName = "unknown",
    source: Annotated[Source, Query(description="What made the state.")] = Source.CONTEXT,
    health: Annotated[Health, Query(description="Whether the account was signed in at the end.")] = Health.UNKNOWN,
    captured_at: Annotated[AwareDatetime | None, Query(description="By your clock, like `sent_at`.")] = None,
    sent_at: Annotated[AwareDatetime | None, Query()] = None,
    upload_id: UploadId | None = None,
    mode: Annotated[Literal["merge", "replace"], Query(description="`replace` needs `sessions.manage`.")] = "merge",
    dry_run: bool = False,
) -> TakenOut:
    """Merge what a browser holds into the session: what it wrote, and, with a base, what it deleted.

    Entries that a browser would choke on are left out one by one and listed in `rejected`. An upload that was logged
    out (`health`) is kept aside and changes nothing.
    """
    if mode == "replace":
        require(caller, Permission.SESSIONS_MANAGE)
    offered = Offered(
        state=await _state(request),
        upload=upload_id or uuid7().hex,
        base=Start(base) if base in set(Start) else int(base),
        source=source,
        health=health,
        captured_at=_seconds(captured_at),
        sent_at=_seconds(sent_at),
        is_replacement=mode == "replace",
        is_dry_run=dry_run,
    )
    try:
        return taken_out(await sessions.take(caller, _account(account_id), _lease(lease), offered))
    except StateMalformed as error:
        raise invalid(fault("body", error.pointer, str(error))) from None
    except StateTooLarge as error:
        raise invalid(fault("body", "", str(error))) from None


@routes.get("/v2/sessions", **allows(Permission.SESSIONS_VIEW, PoolsMoving))
async def list_sessions(
    caller: CallerDep,
    sessions: SessionsDep,
    site: Annotated[str | None, Query(max_length=200)] = None,
    limit: Limit = 50,
    cursor: LongCursor = None,
) -> Page[SessionOut]:
    """What there is of sessions, by site and username: versions, counts, when the sign-in ends, who wrote last."""
    found = await sessions.page(caller, site, decode(cursor, _two_texts), limit + 1)
    items, following = paged(found, limit, lambda one: orjson.dumps([one.site, one.username]).decode())
    return Page(items=[session_out(one) for one in items], next_cursor=following)


_OPERATE = allows(Permission.SESSIONS_MANAGE, AccountUnknown, SessionUnknown, SecretsSealed, PoolsMoving)


@routes.get("/v2/sessions/{account_id}/versions", **allows(Permission.SESSIONS_VIEW, AccountUnknown, PoolsMoving))
async def list_session_versions(
    account_id: IdInPath, caller: CallerDep, sessions: SessionsDep, limit: Limit = 50, cursor: Cursor = None
) -> Page[VersionOut]:
    """The versions that are kept, newest first, and who made each."""
    found = await sessions.versions(caller, _account(account_id), decode(cursor, int), limit + 1)
    items, following = paged(found, limit, lambda one: str(one.version))
    return Page(items=[version_out(one) for one in items], next_cursor=following)


@routes.get("/v2/sessions/{account_id}/entries", **_OPERATE)
async def list_session_entries(account_id: IdInPath, caller: CallerDep, sessions: SessionsDep) -> Page[EntryOut]:
    """Every cookie and stored key by name, with the upload that wrote it; no value is shown."""
    found = await sessions.entries(caller, _account(account_id))
    return Page(items=[entry_out(one) for one in found], next_cursor=None)


@routes.post("/v2/sessions/{account_id}/rollback", **_OPERATE)
async def roll_back_session(account_id: IdInPath, to: RollBackIn, caller: CallerDep, sessions: SessionsDep) -> TakenOut:
    """Make the session what it was at an earlier version. That is a version of its own, and can be rolled back, too."""
    return taken_out(await sessions.roll_back(caller, _account(account_id), to.version))


@routes.post("/v2/sessions/{account_id}/undo", **_OPERATE)
async def undo_session_upload(
    account_id: IdInPath, which: UndoIn, caller: CallerDep, sessions: SessionsDep
) -> TakenOut:
    """Take out what one upload wrote and deleted, and leave what others did."""
    return taken_out(await sessions.undo(caller, _account(account_id), which.upload_id))


@routes.post("/v2/sessions/{account_id}/asides/{upload_id}", **_OPERATE)
async def decide_session_upload(
    account_id: IdInPath,
    upload_id: Annotated[str, InPath(max_length=200)],
    decided: DecisionIn,
    caller: CallerDep,
    sessions: SessionsDep,
) -> TakenOut:
    """Decide on an upload that was held or kept as a branch."""
    take = decided.decision == "take"
    return taken_out(await sessions.decide(caller, _account(account_id), upload_id, take=take))


@routes.delete("/v2/sessions/{account_id}", status_code=204, **_OPERATE)
async def delete_session(account_id: IdInPath, caller: CallerDep, sessions: SessionsDep) -> Response:
    """Forget the session of an account with all its versions."""
    await sessions.delete(caller, _account(account_id))
    return Response(status_code=204)


async def _state(request: Request) -> object:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType("Send this as application/json.", accepts=["application/json"])
    try:
        return parse_state(await request.body())
    except StateMalformed as error:
        raise invalid(fault("body", error.pointer, str(error))) from None
    except StateTooLarge as error:
        raise invalid(fault("body", "", str(error))) from None


def _account(text: str) -> UUID:
    account = parse(PREFIX, text)
    if account is None:
        raise unknown_account()
    return account


def _lease(text: str | None) -> UUID | None:
    if text is None:
        return None
    lease = parse(LEASE, text)
    if lease is None:
        raise unknown()
    return lease


def _includes(text: str | None) -> list[str]:
    wanted = [] if text is None else [one.strip().lower() for one in text.split(",")]
    if any(one not in INCLUDES[:2] for one in wanted):
        raise invalid(fault("query", "include", "This takes `indexeddb` and `opfs`, divided by a comma."))
    return wanted


def _seconds(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment is not None else None


def _two_texts(text: str) -> tuple[str, str]:
    site, username = orjson.loads(text)
    if not isinstance(site, str) or not isinstance(username, str):
        raise ValueError("not a key")  # noqa: TRY004 (whoever reads cursors expects this)
    return site, username
