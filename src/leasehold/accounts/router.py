"""Accounts over HTTP: parse, call, answer."""

from collections.abc import Iterable
from typing import Annotated, Any, cast

import orjson
from fastapi import Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field, ValidationError

from leasehold.accounts.answers import AccountOut, OfferOut, PastLeaseOut, offered
from leasehold.accounts.importing import Line as FileLine
from leasehold.accounts.importing import from_csv, from_ndjson
from leasehold.accounts.intake import AccountIn, Labels, Priority, Secret, Slug, take_in
from leasehold.accounts.machine import Standing, State
from leasehold.accounts.models import AccountChange, AccountFilter
from leasehold.accounts.notes import PREFIX
from leasehold.accounts.problems import AccountExists, AccountInUse, AccountUnknown, PoolsMoving
from leasehold.accounts.records import unknown_account
from leasehold.accounts.service import Accounts, Wanted
from leasehold.auth import Permission
from leasehold.door import KEY_HEADER, CallerDep, IdempotencyKey, allows, once, router, unless_gone
from leasehold.fastlane import Lane, lane
from leasehold.ids import parse
from leasehold.jobs import JobUnknown, WrongState
from leasehold.leases import LONGEST_S, LeaseLost
from leasehold.paging import Cursor, Limit, Page, decode, labels_in, paged
from leasehold.problems import InvalidRequest, UnsupportedMediaType, fault, invalid
from leasehold.sites import SiteUnknown
from leasehold.strict import Answer, Line, Strict, answered, read_json
from leasehold.vault import SecretsSealed

routes = router("accounts")

MAX_IMPORT = 50_000
IdInPath = Annotated[str, Path(description="The account's id.", max_length=200)]
# It carries a username, which may be long and in any script.
LongCursor = Annotated[str | None, Query(max_length=3000, description="`next_cursor` of the page before.")]


async def _accounts(request: Request) -> Accounts:
    accounts: Accounts = request.app.state.accounts
    return accounts


AccountsDep = Annotated[Accounts, Depends(_accounts)]


class AccountPatch(Strict):
    state: Standing | None = Field(None, description="`active`, `inactive` or `blocked`.", strict=False)
    reason: Line | None = Field(None, description="Why it is blocked.")
    secret: Secret | None = None
    labels: Labels | None = None
    priority: Priority | None = None


class AcquireIn(Strict):
    site: Slug
    owner: Annotated[Line, Field(max_length=200, description="Who holds the lease, as its holder calls itself.")]
    ttl_seconds: int = Field(120, ge=5, le=LONGEST_S, description="How long it lives without a heartbeat.")
    wait_seconds: int = Field(0, ge=0, le=30, description="How long to wait for something to come free.")
    priority: int = Field(4, ge=0, le=9, description="Among those who wait, higher is served first.")
    job_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,200}$")] | None = Field(
        None, description="The job it is for; the lease ends with it."
    )
    count: int = Field(1, ge=1, le=100, description="How many: all of them or none.")
    labels: Labels = Field({}, description="Only accounts that carry all of these.")
    account_id: str | None = Field(None, max_length=200, description="This account and no other.")
    include_session: bool = Field(False, description="Send the account's browser session along.")


class ReclaimIn(Strict):
    site: Slug | None = None


class ItemsIn(Strict):
    items: list[Any] = Field(max_length=MAX_IMPORT)


class RejectedLineOut(Answer):
    line: int = Field(description="The line of the file, or the place in `items`, counted from 1.")
    detail: str


class ImportOut(Answer):
    created: int
    updated: int
    rejected: list[RejectedLineOut]


class RevealOut(Answer):
    secret: dict[str, Any]


class ReclaimOut(Answer):
    reclaimed: int = Field(description="Leases that had run out and were booked now.")


class CountsOut(Answer):
    active: int = 0
    using: int = 0
    cooling: int = 0
    inactive: int = 0
    blocked: int = 0


class StatsOut(CountsOut):
    total: int
    sites: dict[str, CountsOut] = Field(description="The same for each site.")


@routes.post(
    "/v2/accounts/acquire",
    response_model=OfferOut,
    **allows(Permission.ACCOUNTS_USE, SiteUnknown, LeaseLost, SecretsSealed, PoolsMoving, JobUnknown, WrongState),
)
async def acquire_accounts(
    request: Request, ask: AcquireIn, caller: CallerDep, accounts: AccountsDep, key: IdempotencyKey = None
) -> Response:
    """Take accounts of a site on lease, with their secrets. When none is free the answer is empty and says why."""
    account = parse(PREFIX, ask.account_id) if ask.account_id is not None else None
    if ask.account_id is not None and account is None:
        raise invalid(fault("body", "/account_id", "This is not the id of an account."))
    wanted = Wanted(
        site=ask.site,
        owner=ask.owner,
        ttl_seconds=ask.ttl_seconds,
        wait_seconds=ask.wait_seconds,
        priority=ask.priority,
        count=ask.count,
        labels=ask.labels,
        account=account,
        job_id=ask.job_id,
    )
    asked = once(caller, "POST /v2/accounts/acquire", key, ask)
    offer = await unless_gone(
        request,
        accounts.acquire(caller, wanted, asked),
        lambda granted: accounts.counter.take_back(caller, granted),
        is_long=ask.wait_seconds > 0,
    )
    if not ask.include_session or not offer.grants:
        return answered(offered(offer))
    try:
        along = await request.app.state.sessions.give_along(caller, [grant.lease for grant, _ in offer.grants])
    except BaseException:
        accounts.counter.take_back(caller, offer)  # all of what was asked for, or nothing
        raise
    return answered(offered(offer, along))


@routes.post(
    "/v2/accounts",
    status_code=201,
    **allows(Permission.ACCOUNTS_MANAGE, AccountExists, SiteUnknown, SecretsSealed, PoolsMoving),
)
async def create_account(
    new: AccountIn, caller: CallerDep, accounts: AccountsDep, key: IdempotencyKey = None
) -> AccountOut:
    """Add an account to a site's pool. It can be leased at once."""
    made = await accounts.create(caller, new.new(), once(caller, "POST /v2/accounts", key, new))
    return AccountOut.model_validate(made)


_BODIES = {
    "application/json": {
        "schema": {"type": "object", "required": ["items"], "properties": {"items": {"type": "array"}}}
    },
    "text/csv": {"schema": {"type": "string", "examples": ["site,username,password\nboard,ann,hunter2\n"]}},
    "application/x-ndjson": {"schema": {"type": "string"}},
}
_IMPORT = allows(Permission.ACCOUNTS_MANAGE, InvalidRequest, SecretsSealed, PoolsMoving)
_IMPORT["openapi_extra"]["requestBody"] = {"required": True, "content": _BODIES}


@routes.post("/v2/accounts/import", **_IMPORT)
async def import_accounts(request: Request, caller: CallerDep, accounts: AccountsDep) -> ImportOut:
    """Add or update many accounts, by site and username.

    JSON `{"items": […]}`, CSV with a header, or one JSON object a line. In CSV `site`, `username`, `priority` and
    `label.…` are the account's own and every other column is a part of its secret. Bad lines are reported and cost the
    good ones nothing.
    """
    taken = await take_in(accounts, caller, await _lines(request))
    rejected = [RejectedLineOut(line=line, detail=detail) for line, detail in taken.rejected]
    return ImportOut(created=taken.created, updated=taken.updated, rejected=rejected)


async def _lines(request: Request) -> Iterable[FileLine]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        items = _items(await read_json(request))
        return [
            FileLine(number, item if isinstance(item, dict) else None, "This is not an object.")
            for number, item in enumerate(items, start=1)
        ]
    if kind not in _BODIES:
        raise UnsupportedMediaType("Send this as JSON, CSV or NDJSON.", accepts=list(_BODIES))
    try:
        text = (await request.body()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise invalid(fault("body", "", "This is not UTF-8.")) from None
    lines = list(from_csv(text) if kind == "text/csv" else from_ndjson(text))
    if len(lines) > MAX_IMPORT:
        raise invalid(fault("body", "", f"These are more than {MAX_IMPORT} lines; send them in pieces."))
    return lines


def _items(document: Any) -> list[Any]:
    try:
        return ItemsIn.model_validate(document).items
    except ValidationError:
        raise invalid(fault("body", "/items", f"This takes a list of at most {MAX_IMPORT} accounts.")) from None


@routes.get("/v2/accounts", **allows(Permission.ACCOUNTS_VIEW))
async def list_accounts(
    caller: CallerDep,
    accounts: AccountsDep,
    site: Annotated[str | None, Query(max_length=200)] = None,
    state: Annotated[State | None, Query()] = None,
    label: Annotated[list[str], Query(max_length=20, description="`key:value`; several narrow further.")] = [],  # noqa: B006
    q: Annotated[str | None, Query(max_length=200, description="Part of the username.")] = None,
    limit: Limit = 50,
    cursor: LongCursor = None,
) -> Page[AccountOut]:
    """Accounts by site and username, without their secrets."""
    which = AccountFilter(site, state, labels_in(label), q)
    found = await accounts.page(caller, which, decode(cursor, _two_texts), limit + 1)
    items, following = paged(found, limit, lambda account: orjson.dumps([account.site, account.username]).decode())
    return Page(items=[AccountOut.model_validate(account) for account in items], next_cursor=following)


@routes.get("/v2/accounts/stats", **allows(Permission.ACCOUNTS_VIEW, SiteUnknown))
async def account_stats(
    caller: CallerDep, accounts: AccountsDep, site: Annotated[str | None, Query(max_length=200)] = None
) -> StatsOut:
    """How many accounts there are, by state."""
    by_site = await accounts.stats(caller, site)
    states = {state: sum(counts.get(state, 0) for counts in by_site.values()) for state in State}
    sites = {slug: CountsOut(**counts) for slug, counts in sorted(by_site.items())}
    return StatsOut(**states, total=sum(states.values()), sites=sites)


@routes.post("/v2/accounts/reclaim", **allows(Permission.ACCOUNTS_MANAGE, SiteUnknown))
async def reclaim_accounts(caller: CallerDep, accounts: AccountsDep, which: ReclaimIn | None = None) -> ReclaimOut:
    """Book leases that ran out now, instead of when somebody asks or the reaper comes by."""
    return ReclaimOut(reclaimed=await accounts.reclaim(caller, which.site if which else None))


@routes.get("/v2/accounts/{account_id}", **allows(Permission.ACCOUNTS_VIEW, AccountUnknown))
async def get_account(account_id: IdInPath, caller: CallerDep, accounts: AccountsDep) -> AccountOut:
    """One account, without its secret."""
    return AccountOut.model_validate(await accounts.get(caller, _id(account_id)))


@routes.get("/v2/accounts/{account_id}/leases", **allows(Permission.ACCOUNTS_VIEW, AccountUnknown))
async def list_leases_of_account(
    account_id: IdInPath, caller: CallerDep, accounts: AccountsDep, limit: Limit = 50, cursor: Cursor = None
) -> Page[PastLeaseOut]:
    """Who held an account and how each lease ended, newest first."""
    found = await accounts.history(caller, _id(account_id), decode(cursor, _fence), limit + 1)
    items, following = paged(found, limit, lambda ended: str(ended.fence))
    return Page(items=[PastLeaseOut.model_validate(ended) for ended in items], next_cursor=following)


@routes.patch(
    "/v2/accounts/{account_id}", **allows(Permission.ACCOUNTS_MANAGE, AccountUnknown, SecretsSealed, PoolsMoving)
)
async def change_account(
    account_id: IdInPath, patch: AccountPatch, caller: CallerDep, accounts: AccountsDep
) -> AccountOut:
    """Change an account. One that was blocked comes back on probation: one more bad end blocks it again."""
    change = AccountChange(patch.state, patch.reason, patch.secret, patch.labels, patch.priority)
    return AccountOut.model_validate(await accounts.change(caller, _id(account_id), change))


@routes.delete(
    "/v2/accounts/{account_id}", status_code=204, **allows(Permission.ACCOUNTS_MANAGE, AccountUnknown, AccountInUse)
)
async def delete_account(account_id: IdInPath, caller: CallerDep, accounts: AccountsDep) -> Response:
    """Remove an account with its secret. Its leases stay in the history."""
    await accounts.delete(caller, _id(account_id))
    return Response(status_code=204)


@routes.post("/v2/accounts/{account_id}/reveal", **allows(Permission.ACCOUNTS_REVEAL, AccountUnknown, SecretsSealed))
async def reveal_account(account_id: IdInPath, caller: CallerDep, accounts: AccountsDep) -> RevealOut:
    """The secret of an account, without a lease. That it was shown, and to whom, is in the audit."""
    return RevealOut(secret=dict(await accounts.reveal(caller, _id(account_id))))


def _id(text: str) -> Any:
    account = parse(PREFIX, text)
    if account is None:
        raise unknown_account()
    return account


def _two_texts(text: str) -> tuple[str, str]:
    match orjson.loads(text):
        case [str(site), str(username)] if "\x00" not in site + username:
            return site, username
    raise ValueError("not a key")


def _fence(text: str) -> int:
    fence = int(text)
    if not 0 <= fence < 2**63:
        raise ValueError("not a key")
    return fence


def lanes() -> list[Lane]:
    """The call every holder begins with."""
    return [lane(routes, "/v2/accounts/acquire", AcquireIn, _acquire)]


async def _acquire(request: Request, body: BaseModel, _parameter: str) -> Response:
    ask, key = cast("AcquireIn", body), request.headers.get(KEY_HEADER)
    return await acquire_accounts(request, ask, request.state.caller, request.app.state.accounts, key)
