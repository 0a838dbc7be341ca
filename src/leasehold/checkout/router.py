"""Checkout over HTTP."""

from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import Field

from leasehold.accounts import GrantedSession, GrantOut, PoolsMoving, granted
from leasehold.auth import Permission, require
from leasehold.checkout.service import Bundle, Checkout, Keys, Wish
from leasehold.door import CallerDep, IdempotencyKey, allows, once, router, unless_gone
from leasehold.jobs import JobUnknown, WrongState
from leasehold.leases import LeaseLost, WaitingOut
from leasehold.seeds import SeedGrantOut, granted_seeds
from leasehold.sessions import SessionNotLoadable
from leasehold.sites import SiteUnknown
from leasehold.strict import Answer, Line, Strict, answered
from leasehold.vault import SecretsSealed

routes = router("checkout")
_ROUTE = "POST /v2/checkout"


async def _checkout(request: Request) -> Checkout:
    checkout: Checkout = request.app.state.checkout
    return checkout


class CheckoutIn(Strict):
    site: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    owner: Annotated[Line, Field(max_length=200, description="Who holds the leases, as their holder calls itself.")]
    seeds: int = Field(1, ge=1, le=100, description="How many seeds at the most; at least one, or nothing at all.")
    ttl_seconds: int = Field(120, ge=5, le=3600, description="How long the leases live without a heartbeat.")
    wait_seconds: int = Field(0, ge=0, le=30, description="How long to wait until all of it is there.")
    priority: int = Field(4, ge=0, le=9, description="Among those who wait, higher is served first.")
    labels: dict[Annotated[str, Field(max_length=100)], Annotated[str, Field(max_length=200)]] = Field(
        {}, max_length=20, description="Only an account that carries all of these."
    )
    job_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,200}$")] | None = Field(
        None, description="The job it is for; the leases end with it."
    )


class CheckoutOut(Answer):
    account: GrantOut | None = Field(description="The lease on an account, with the account and its secret.")
    session: GrantedSession | None = Field(description="The account's browser session; null when it has none.")
    seeds: list[SeedGrantOut] = Field(description="Leases on due seeds, each with its seed.")
    waiting: WaitingOut | None = Field(description="Why there is nothing; null when there is.")


@routes.post(
    "/v2/checkout",
    response_model=CheckoutOut,
    **allows(
        Permission.ACCOUNTS_USE,
        SiteUnknown,
        LeaseLost,
        SecretsSealed,
        SessionNotLoadable,
        PoolsMoving,
        JobUnknown,
        WrongState,
    ),
)
async def check_out(
    request: Request,
    ask: CheckoutIn,
    caller: CallerDep,
    checkout: Annotated[Checkout, Depends(_checkout)],
    key: IdempotencyKey = None,
) -> Response:
    """Take an account with its session and due seeds of one site, all or nothing. Also needs `seeds.use` and
    `sessions.use`."""
    require(caller, Permission.SEEDS_USE)
    require(caller, Permission.SESSIONS_USE)
    wish = Wish(**ask.model_dump())
    account, seeds = once(caller, f"{_ROUTE} account", key, ask), once(caller, f"{_ROUTE} seeds", key, ask)
    bundle = await unless_gone(
        request,
        checkout.take(caller, wish, Keys(account, seeds) if account and seeds else None),
        lambda taken: checkout.take_back(caller, taken),
        is_long=ask.wait_seconds > 0,
    )
    return answered(_shown(bundle))


def _shown(bundle: Bundle) -> CheckoutOut:
    waiting = WaitingOut.model_validate(bundle.waiting) if bundle.waiting else None
    session = GrantedSession.model_validate(bundle.session) if bundle.session else None
    return CheckoutOut.model_construct(
        account=granted(*bundle.account.grants[0]) if bundle.account else None,
        session=session,
        seeds=granted_seeds(bundle.seeds) if bundle.seeds else [],
        waiting=waiting if bundle.account is None else None,
    )
