"""Leases over HTTP: parse, call, answer."""

from typing import Annotated, Any, cast

import orjson
from fastapi import Depends, Path, Query, Request, Response
from pydantic import AfterValidator, BaseModel, Field, JsonValue

from leasehold.auth import Permission
from leasehold.door import ANY_CALLER, CallerDep, allows, router
from leasehold.fastlane import Lane, lane
from leasehold.ids import parse
from leasehold.leases.answers import LeaseId, LeaseOut, RenewalOut, renewal, shown
from leasehold.leases.models import LONGEST_S, PREFIX, Kind, LeaseFilter
from leasehold.leases.problems import LeaseLost, LeaseUnknown, unknown
from leasehold.leases.service import Leases
from leasehold.paging import Cursor, Limit, Page, decode, paged, uuid_key
from leasehold.strict import Answer, Line, Strict, answered

routes = router("leases")

IdInPath = Annotated[str, Path(description="The lease's id.", max_length=200)]
Ttl = Annotated[
    int, Field(ge=5, le=LONGEST_S, description="Seconds from now; the time it was granted for when left out.")
]
Owner = Annotated[Line, Field(max_length=200, description="Who holds it, as its holder calls itself.")]


async def _leases(request: Request) -> Leases:
    leases: Leases = request.app.state.leases
    return leases


LeasesDep = Annotated[Leases, Depends(_leases)]


LONGEST_CURSOR = 16 * 1024


def _sized(cursor: Any) -> Any:
    if len(orjson.dumps(cursor)) > LONGEST_CURSOR:
        raise ValueError(f"must be at most {LONGEST_CURSOR} bytes as JSON")
    return cursor


class HeartbeatIn(Strict):
    ttl_seconds: Ttl | None = None


class OwnerHeartbeatIn(Strict):
    owner: Owner
    ttl_seconds: Ttl | None = None


class ReleaseIn(Strict):
    outcome: str = Field(
        max_length=50,
        description="How the work went. Accounts: `ok`, `failed`, `rate_limited`, `blocked`, `logged_out`,"
        " `invalid_credentials`. Seeds: `ok`, `failed`, `gone`. Captures: `ok`, `failed`, `rejected`.",
    )
    reason: Line | None = Field(None, description="Kept with the lease, and shown where the resource is set aside.")
    cooldown_seconds: int | None = Field(
        None, ge=0, le=2_592_000, description="With `rate_limited`: how long the site wants to be left alone."
    )
    found: int | None = Field(
        None,
        ge=0,
        le=2_147_483_647,
        description="With `ok` on a seed: how many new things there were; 0 when left out.",
    )
    cursor: Annotated[JsonValue, AfterValidator(_sized)] = Field(
        None, description="With `ok` on a seed: what the next visit is to be given. Left out, the last one stays."
    )


class OwnerHeartbeatOut(Answer):
    renewed: list[LeaseId]
    lost: list[LeaseId] = Field(description="What this token lost under that owner within the last hour.")


class ReleaseOut(Answer):
    released: bool = True
    already_released: bool
    resource: dict[str, Any] = Field(description="The resource as it is now, without secrets.")


class RevokedOut(Answer):
    revoked: int


# Which permission it takes depends on what the lease is on, so the door lets everybody in and the service asks.
@routes.post(
    "/v2/leases/{lease_id}/heartbeat", response_model=RenewalOut, **allows(ANY_CALLER, LeaseLost, LeaseUnknown)
)
async def heartbeat(
    lease_id: IdInPath, caller: CallerDep, leases: LeasesDep, beat: HeartbeatIn | None = None
) -> Response:
    """Renew a lease from now. Never shortens it, and never revives one that ended."""
    lease = parse(PREFIX, lease_id)
    if lease is None:
        raise unknown()
    renewed = await leases.renew(caller, lease, beat.ttl_seconds if beat else None)
    return answered(shown(renewed) if renewed.cancel is None else renewal(renewed))


@routes.post("/v2/leases/heartbeat", **allows(ANY_CALLER))
async def heartbeat_of_owner(beat: OwnerHeartbeatIn, caller: CallerDep, leases: LeasesDep) -> OwnerHeartbeatOut:
    """Renew everything this token holds under an owner's name, in one call."""
    return OwnerHeartbeatOut.model_validate(await leases.renew_owner(caller, beat.owner, beat.ttl_seconds))


@routes.post("/v2/leases/{lease_id}/release", response_model=ReleaseOut, **allows(ANY_CALLER, LeaseLost, LeaseUnknown))
async def release(lease_id: IdInPath, report: ReleaseIn, caller: CallerDep, leases: LeasesDep) -> Response:
    """Give a resource back and say how the work went. A second release of the same lease changes nothing."""
    lease = parse(PREFIX, lease_id)
    if lease is None:
        raise unknown()
    said = {name: value for name, value in report if value is not None}
    returned = await leases.release(caller, lease, said)
    return answered(ReleaseOut(already_released=returned.already_released, resource=dict(returned.resource)))


@routes.get("/v2/leases", **allows(Permission.LEASES_VIEW))
async def list_leases(
    caller: CallerDep,
    leases: LeasesDep,
    kind: Annotated[Kind | None, Query(description="What they are on.")] = None,
    site: Annotated[str | None, Query(max_length=200)] = None,
    owner: Annotated[str | None, Query(max_length=200)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[LeaseOut]:
    """Who holds what right now, oldest grant first."""
    found = await leases.live(caller, LeaseFilter(kind, site, owner), decode(cursor, uuid_key), limit + 1)
    items, following = paged(found, limit, lambda lease: lease.id.hex)
    return Page(items=[shown(lease) for lease in items], next_cursor=following)


@routes.delete("/v2/leases/{lease_id}", **allows(Permission.LEASES_MANAGE, LeaseUnknown))
async def revoke_lease(lease_id: IdInPath, caller: CallerDep, leases: LeasesDep) -> RevokedOut:
    """Take a lease from its holder. It learns at its next call; one that has ended already counts 0."""
    lease = parse(PREFIX, lease_id)
    if lease is None:
        raise unknown()
    return RevokedOut(revoked=await leases.revoke(caller, lease))


@routes.delete("/v2/leases", **allows(Permission.LEASES_MANAGE))
async def revoke_leases_of_owner(
    caller: CallerDep, leases: LeasesDep, owner: Annotated[str, Query(min_length=1, max_length=200)]
) -> RevokedOut:
    """Take everything an owner holds."""
    return RevokedOut(revoked=await leases.revoke_owner(caller, owner))


def lanes() -> list[Lane]:
    """The calls every holder makes again and again."""
    return [
        lane(routes, "/v2/leases/{lease_id}/heartbeat", HeartbeatIn, _beat),
        lane(routes, "/v2/leases/{lease_id}/release", ReleaseIn, _give_back),
    ]


async def _beat(request: Request, body: BaseModel, lease_id: str) -> Response:
    return await heartbeat(lease_id, request.state.caller, request.app.state.leases, cast("HeartbeatIn", body))


async def _give_back(request: Request, body: BaseModel, lease_id: str) -> Response:
    return await release(lease_id, cast("ReleaseIn", body), request.state.caller, request.app.state.leases)
