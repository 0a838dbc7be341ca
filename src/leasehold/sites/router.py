"""Sites over HTTP: parse, call, answer."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Depends, Path, Request, Response
from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from leasehold.auth import Permission
from leasehold.door import CallerDep, IdempotencyKey, allows, once, router
from leasehold.paging import Cursor, Limit, Page, decode, paged, text_key, uuid_key
from leasehold.sites.addresses import (
    DEFAULT_PORT,
    HostRefused,
    Mount,
    PrefixRefused,
    Rewritten,
    Subdomains,
    Trust,
    admit_host,
    admit_prefix,
)
from leasehold.sites.models import MoveWish, NewSite, Policy, SiteChange
from leasehold.sites.problems import AddressRefused, SiteExists, SiteInUse, SiteUnknown
from leasehold.sites.service import Sites
from leasehold.strict import Answer, Line, Moment, MoveId, Strict, TokenId

routes = router("sites")

SLUG = r"^[a-z0-9][a-z0-9_-]{0,62}$"
Slug = Annotated[str, Path(description="The site's slug.", max_length=200)]
HostText = Annotated[str, Field(max_length=1000, examples=["board.example"])]
UrlText = Annotated[str, Field(max_length=32_768)]


async def _sites(request: Request) -> Sites:
    sites: Sites = request.app.state.sites
    return sites


SitesDep = Annotated[Sites, Depends(_sites)]


class MountIn(Strict):
    """An address in full. Most sites need only a host."""

    host: HostText
    scheme: Literal["http", "https"] = "https"
    port: int | None = Field(None, ge=1, le=65535)
    prefix: str = Field("/", max_length=500, description="Where on the host the site begins.")
    subdomains: Literal["keep", "none"] = "keep"
    fold: list[Annotated[str, Field(pattern=r"^[a-z0-9-]{1,63}$")]] = Field(
        ["www"], max_length=20, description="Subdomains that mean the bare host."
    )


class _HostOrMount:
    """Lets a bare host stand for an address in full, in the description as in the body."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string", "maxLength": 1000, "examples": ["board.example"]}, handler(core)]}


def _in_full(address: object) -> object:
    return {"host": address} if isinstance(address, str) else address


AddressIn = Annotated[MountIn, BeforeValidator(_in_full), _HostOrMount]


def _mount(wanted: MountIn, trust: Trust, request: Request) -> Mount:
    try:
        return Mount(
            host=admit_host(wanted.host, allow_special=request.app.state.settings.allow_special_hosts),
            scheme=wanted.scheme,
            port=None if wanted.port == DEFAULT_PORT[wanted.scheme] else wanted.port,
            prefix=admit_prefix(wanted.prefix),
            subdomains=Subdomains(wanted.subdomains),
            fold=tuple(wanted.fold),
            trust=trust,
        )
    except (HostRefused, PrefixRefused) as error:
        raise AddressRefused(f"A site cannot live there: {error.reason}.", reason=error.reason) from None


class PolicyPatch(Strict):
    """How gently the site is to be treated. What is left out stays as it is."""

    max_concurrent_accounts: int | None = Field(None, ge=1, le=1_000_000, description="Accounts in use at once.")
    cooldown_seconds: int = Field(0, ge=0, le=2_592_000, description="Rest of an account after each use.")
    reclaim_delay_seconds: int = Field(15, ge=0, le=86_400, description="Rest after a lease ended unclean.")
    quarantine_after_unclean: int = Field(3, ge=1, le=1000, description="Unclean ends before an account is set aside.")
    probation_after_seconds: int | None = Field(
        None, ge=60, le=31_536_000, description="Rest of a blocked account before it is tried again; null: never."
    )
    breaker_percent: int = Field(60, ge=1, le=100, description="Share of failing accounts that pauses the site.")
    breaker_min_accounts: int = Field(5, ge=1, le=1_000_000, description="Accounts it takes to judge that share.")
    breaker_window_seconds: int = Field(600, ge=1, le=86_400, description="How long a failure counts.")
    seed_concurrency: int | None = Field(None, ge=1, le=1_000_000, description="Seeds visited at once.")
    min_interval_ms: int = Field(0, ge=0, le=86_400_000, description="Between two seeds handed out.")
    auth_markers: list[Line] = Field([], max_length=100, description="Cookies that show somebody is signed in.")


class SiteIn(Strict):
    slug: Annotated[str, Field(pattern=SLUG, description="Its name in every other call.")]
    name: Line | None = Field(None, description="How people call it; the slug when left out.")
    domain: AddressIn = Field(description="Where it lives: a host, or an address in full.")
    policy: PolicyPatch = PolicyPatch()


class SitePatch(Strict):
    name: Line | None = None
    policy: PolicyPatch = PolicyPatch()


class MoveIn(Strict):
    to: AddressIn = Field(description="Where it lives from now on: a host, or an address in full.")
    trust: Literal["observed", "urls", "credentials"] = Field(
        "credentials",
        description="`credentials`: sessions follow. `urls`: only URLs do. `observed`: a proposal, changes nothing.",
    )
    dry_run: bool = False
    reason: Line | None = None
    urls: list[UrlText] = Field([], max_length=100, description="Told in `sample` as they would be after the move.")


class PauseIn(Strict):
    reason: Line = "paused by an operator"


class RewriteIn(Strict):
    urls: list[UrlText] = Field(min_length=1, max_length=10_000)
    at: Moment | None = Field(
        None, description="Answer as of this time: whose URL it was then, and what it was called."
    )


class MountOut(Answer):
    host: str
    scheme: str
    port: int | None
    prefix: str
    subdomains: str
    fold: list[str]
    since: datetime
    trust: str
    current: bool


class PolicyOut(Answer):
    max_concurrent_accounts: int | None
    cooldown_seconds: int
    reclaim_delay_seconds: int
    quarantine_after_unclean: int
    probation_after_seconds: int | None
    breaker_percent: int
    breaker_min_accounts: int
    breaker_window_seconds: int
    seed_concurrency: int | None
    min_interval_ms: int
    auth_markers: list[str]


class SiteOut(Answer):
    slug: str
    name: str
    mounts: list[MountOut] = Field(description="Every address it has had, oldest first.")
    current_domain: str
    policy: PolicyOut
    paused: bool
    pause_reason: str | None
    paused_at: datetime | None
    epoch: int = Field(description="Grows by one with every move.")
    created_at: datetime
    updated_at: datetime


class RewrittenOut(Answer):
    input: str
    url: str
    site: str | None
    changed: bool
    verdict: str = Field(description="`rewritten`, `unchanged`, `unmanaged`, or `refused:` and the reason.")


class Affected(Answer):
    seeds: int = 0
    sessions: int = 0


class MovedOut(Answer):
    site: str
    epoch: int
    changed: bool = Field(description="False for a proposal, and when the site lives there already.")
    dry_run: bool
    from_address: str
    to_address: str
    trust: str
    affected: Affected
    sample: list[RewrittenOut] = Field(description="The URLs that were sent along, as they are after the move.")


class MoveOut(Answer):
    id: MoveId
    epoch: int
    at: datetime
    from_address: str
    to_address: str
    trust: str
    actor: TokenId | None
    actor_name: str
    reason: str | None


class RewriteOut(Answer):
    items: list[RewrittenOut]


class ExplanationOut(Answer):
    site: str
    sentence: str
    paused: bool
    pause_reason: str | None
    paused_at: datetime | None
    cap: int | None = Field(description="Accounts that may be in use at once; null when nothing caps them.")
    counts: dict[str, int]
    holders: list[str]
    next_available_at: datetime | None


@routes.post("/v2/sites", status_code=201, **allows(Permission.SITES_MANAGE, SiteExists, AddressRefused))
async def create_site(
    body: SiteIn, request: Request, sites: SitesDep, caller: CallerDep, idempotency_key: IdempotencyKey = None
) -> SiteOut:
    """Make a site. It lives at `domain` from now on."""
    mount = _mount(body.domain, Trust.CREDENTIALS, request)
    new = NewSite(body.slug, body.name or body.slug, mount, Policy(**body.policy.model_dump()))
    made = await sites.create(caller, new, once(caller, "POST /v2/sites", idempotency_key, body))
    return SiteOut.model_validate(made)


@routes.get("/v2/sites", **allows(Permission.SITES_VIEW))
async def list_sites(sites: SitesDep, caller: CallerDep, limit: Limit = 50, cursor: Cursor = None) -> Page[SiteOut]:
    """All sites, by slug."""
    found = await sites.page(caller, decode(cursor, text_key), limit + 1)
    items, following = paged(found, limit, lambda site: site.slug)
    return Page(items=[SiteOut.model_validate(site) for site in items], next_cursor=following)


@routes.post("/v2/sites/rewrite", **allows(Permission.SITES_VIEW))
async def rewrite_urls(body: RewriteIn, sites: SitesDep, caller: CallerDep) -> RewriteOut:
    """What each URL is called at the current address of its site. Doing it twice changes nothing more."""
    found = await sites.rewrite(caller, body.urls, body.at)
    return RewriteOut(items=_rewritten(body.urls, found))


def _rewritten(urls: Sequence[str], found: Sequence[Rewritten]) -> list[RewrittenOut]:
    return [
        RewrittenOut(input=url, url=new.url, site=new.site, changed=new.changed, verdict=new.verdict)
        for url, new in zip(urls, found, strict=True)
    ]


@routes.get("/v2/sites/{slug}", **allows(Permission.SITES_VIEW, SiteUnknown))
async def get_site(slug: Slug, sites: SitesDep, caller: CallerDep) -> SiteOut:
    """One site with all its addresses."""
    return SiteOut.model_validate(await sites.get(caller, slug))


@routes.patch("/v2/sites/{slug}", **allows(Permission.SITES_MANAGE, SiteUnknown))
async def change_site(slug: Slug, body: SitePatch, sites: SitesDep, caller: CallerDep) -> SiteOut:
    """Change its name or policy. What is left out stays; an address changes by a move."""
    change = SiteChange(body.name, body.policy.model_dump(exclude_unset=True))
    return SiteOut.model_validate(await sites.change(caller, slug, change))


@routes.delete("/v2/sites/{slug}", status_code=204, **allows(Permission.SITES_MANAGE, SiteUnknown, SiteInUse))
async def delete_site(slug: Slug, sites: SitesDep, caller: CallerDep) -> Response:
    """Remove a site and its history of addresses. What was changed stays in the audit."""
    await sites.delete(caller, slug)
    return Response(status_code=204)


@routes.post("/v2/sites/{slug}/moves", **allows(Permission.SITES_MANAGE, SiteUnknown, AddressRefused))
async def move_site(
    slug: Slug,
    body: MoveIn,
    request: Request,
    sites: SitesDep,
    caller: CallerDep,
    idempotency_key: IdempotencyKey = None,
) -> MovedOut:
    """The site lives at `to` from now on. A dry run answers the same and changes nothing."""
    wish = MoveWish(_mount(body.to, Trust(body.trust), request), body.reason, body.dry_run, body.urls)
    moved = await sites.move(caller, slug, wish, once(caller, f"POST /v2/sites/{slug}/moves", idempotency_key, body))
    return MovedOut.model_validate({**asdict(moved), "sample": _rewritten(body.urls, moved.sample)})


@routes.get("/v2/sites/{slug}/moves", **allows(Permission.SITES_VIEW, SiteUnknown))
async def list_moves(
    slug: Slug, sites: SitesDep, caller: CallerDep, limit: Limit = 50, cursor: Cursor = None
) -> Page[MoveOut]:
    """Its history of addresses with actor and reason, newest first."""
    found = await sites.moves(caller, slug, decode(cursor, uuid_key), limit + 1)
    items, following = paged(found, limit, lambda move: move.id.hex)
    return Page(items=[MoveOut.model_validate(move) for move in items], next_cursor=following)


@routes.post("/v2/sites/{slug}/pause", **allows(Permission.SITES_MANAGE, SiteUnknown))
async def pause_site(slug: Slug, sites: SitesDep, caller: CallerDep, body: PauseIn | None = None) -> SiteOut:
    """Nobody gets anything of this site until it is resumed. Leases that are out go on."""
    return SiteOut.model_validate(await sites.pause(caller, slug, (body or PauseIn()).reason))


@routes.post("/v2/sites/{slug}/resume", **allows(Permission.SITES_MANAGE, SiteUnknown))
async def resume_site(slug: Slug, sites: SitesDep, caller: CallerDep) -> SiteOut:
    """Ends a pause; resuming a site that is not paused changes nothing."""
    return SiteOut.model_validate(await sites.resume(caller, slug))


@routes.get("/v2/sites/{slug}/explain", **allows(Permission.SITES_VIEW, SiteUnknown))
async def explain_site(slug: Slug, sites: SitesDep, caller: CallerDep) -> ExplanationOut:
    """Why nobody gets an account or a seed here right now."""
    return ExplanationOut.model_validate(await sites.explain(caller, slug))
