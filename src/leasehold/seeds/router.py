"""Seeds over HTTP: parse, call, answer."""

import asyncio
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import Depends, Path, Query, Request, Response
from pydantic import Field, ValidationError

from leasehold.auth import Permission
from leasehold.door import CallerDep, IdempotencyKey, allows, once, router, unless_gone
from leasehold.ids import parse
from leasehold.jobs import JobUnknown, WrongState
from leasehold.leases import LeaseLost, Wanted
from leasehold.paging import Cursor, Limit, Page, decode, labels_in, paged
from leasehold.problems import InvalidRequest, UnsupportedMediaType, fault, invalid
from leasehold.seeds.answers import HistogramOut, SeedOfferOut, SeedOut, SeedsOut, SeedVisitOut, offered
from leasehold.seeds.importing import Line as FileLine
from leasehold.seeds.importing import NotThatFormat, from_csv, from_ndjson, from_opml
from leasehold.seeds.intake import SLUG, Labels, SeedFields, SeedIn, Slug, from_line, new_seeds
from leasehold.seeds.models import PREFIX, NewSeed, SeedFilter
from leasehold.seeds.problems import SeedInUse, SeedUnknown, unknown_seed
from leasehold.seeds.service import Seeds
from leasehold.sites import Registry, SiteUnknown
from leasehold.strict import Answer, Line, Strict, answered, read_json

routes = router("seeds")

MAX_ITEMS = 10_000
MAX_IMPORT = 50_000
_AT_ONCE = 5_000
_FAULTS_TOLD = 100
IdInPath = Annotated[str, Path(description="The seed's id.", max_length=200)]


async def _seeds(request: Request) -> Seeds:
    seeds: Seeds = request.app.state.seeds
    return seeds


SeedsDep = Annotated[Seeds, Depends(_seeds)]


class SeedsIn(Strict):
    items: list[SeedIn] = Field(min_length=1, max_length=MAX_ITEMS)


class SeedPatch(SeedFields):
    """What changes; what is left out stays."""


class SeedAcquireIn(Strict):
    owner: Annotated[Line, Field(max_length=200, description="Who holds the lease, as its holder calls itself.")]
    site: Slug | None = Field(None, description="Seeds of this site alone; of any when left out.")
    limit: int = Field(1, ge=1, le=100, description="How many at the most.")
    ttl_seconds: int = Field(120, ge=5, le=3600, description="How long it lives without a heartbeat.")
    wait_seconds: int = Field(0, ge=0, le=30, description="How long to wait for something to fall due.")
    priority: int = Field(4, ge=0, le=9, description="Among those who wait, higher is served first.")
    job_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,200}$")] | None = Field(
        None, description="The job it is for; the lease ends with it."
    )
    labels: Labels = Field({}, description="Only seeds that carry all of these.")


class SeedRejectedOut(Answer):
    line: int = Field(description="The line of the file, the place in `items`, or the outline, counted from 1.")
    detail: str


class SeedImportOut(Answer):
    created: int
    updated: int
    rejected: list[SeedRejectedOut]


@routes.post(
    "/v2/seeds/acquire",
    response_model=SeedOfferOut,
    **allows(Permission.SEEDS_USE, SiteUnknown, LeaseLost, JobUnknown, WrongState),
)
async def acquire_seeds(
    request: Request, ask: SeedAcquireIn, caller: CallerDep, seeds: SeedsDep, key: IdempotencyKey = None
) -> Response:
    """Take due seeds on lease, of one site or fairly of all. When none is due the answer is empty and says why."""
    offer = await unless_gone(
        request,
        seeds.acquire(caller, Wanted(**ask.model_dump()), once(caller, "POST /v2/seeds/acquire", key, ask)),
        lambda granted: seeds.counter.take_back(caller, granted),
        is_long=ask.wait_seconds > 0,
    )
    return answered(offered(offer))


@routes.post("/v2/seeds", **allows(Permission.SEEDS_MANAGE, SiteUnknown))
async def upsert_seeds(new: SeedsIn, caller: CallerDep, seeds: SeedsDep, key: IdempotencyKey = None) -> SeedsOut:
    """Add seeds, or change those whose address is there already; all of them or, if one is wrong, none.

    An address is the same at whichever of its site's hosts it is given. A new seed is due at once; one that is there
    keeps its schedule, and what an item leaves out stays.
    """
    registry = await seeds.registry(caller)
    found = await asyncio.to_thread(lambda: list(new_seeds(registry, new.items)))
    await _refuse_faults(new.items, found, await seeds.known_sites(caller, {item.site for item in new.items}))
    good = [one for one in found if isinstance(one, NewSeed)]
    made = await seeds.upsert(caller, good, once(caller, "POST /v2/seeds", key, new))
    return SeedsOut.model_validate(made)


async def _refuse_faults(items: list[SeedIn], found: list[NewSeed | str], known: set[str]) -> None:
    strangers = [
        fault("body", f"/items/{number}/site", "No site of your organisation has this slug.")
        for number, item in enumerate(items)
        if item.site not in known
    ]
    if strangers:
        raise SiteUnknown("No site of your organisation has this slug; see `errors`.", errors=strangers[:_FAULTS_TOLD])
    wrong = [
        fault("body", f"/items/{number}/url", f"{one.capitalize()}.")
        for number, one in enumerate(found)
        if isinstance(one, str)
    ]
    if wrong:
        raise invalid(*wrong[:_FAULTS_TOLD])


_BODIES = {
    "application/json": {
        "schema": {"type": "object", "required": ["items"], "properties": {"items": {"type": "array"}}}
    },
    "text/csv": {"schema": {"type": "string", "examples": ["site,url\nboard,https://board.example/new\n"]}},
    "application/x-ndjson": {"schema": {"type": "string"}},
    "text/x-opml": {"schema": {"type": "string"}},
}
_OPML = {"text/x-opml", "text/x-opml+xml", "application/xml", "text/xml"}
_IMPORT = allows(Permission.SEEDS_MANAGE, InvalidRequest, SiteUnknown)
_IMPORT["openapi_extra"]["requestBody"] = {"required": True, "content": _BODIES}


@routes.post("/v2/seeds/import", **_IMPORT)
async def import_seeds(
    request: Request,
    caller: CallerDep,
    seeds: SeedsDep,
    site: Annotated[str | None, Query(pattern=SLUG, description="The site of lines that name none.")] = None,
) -> SeedImportOut:
    """Add or change many seeds, by their address.

    JSON `{"items": […]}`, CSV with a header, one JSON object a line, or OPML. A line that names no site is of the one
    in the query or, without that, of the one that lives at its address. Bad lines are reported and cost the good ones
    nothing.
    """
    if site is not None and not await seeds.known_sites(caller, [site]):
        raise SiteUnknown("No site of your organisation has this slug.")
    read = await _reader(request, site)
    registry = await seeds.registry(caller)
    # Fifty thousand lines keep a core busy for a while; others' requests go on meanwhile.
    good, rejected = await asyncio.to_thread(_sorted_out, registry, read, site)
    created = updated = 0
    for begin in range(0, len(good), _AT_ONCE):
        made = await seeds.upsert(caller, good[begin : begin + _AT_ONCE])
        created, updated = created + made.created, updated + made.updated
    return SeedImportOut(created=created, updated=updated, rejected=rejected)


_Reader = Callable[[], Iterable[FileLine]]


async def _reader(request: Request, site: str | None) -> _Reader:
    """What reads the lines of the body, in a thread of its own."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        items = _items(await read_json(request))
        return lambda: [_line(number, item) for number, item in enumerate(items, start=1)]
    if kind in _OPML:
        raw = await request.body()
        return lambda: from_opml(raw, site)
    if kind not in _BODIES:
        raise UnsupportedMediaType("Send this as JSON, CSV, NDJSON or OPML.", accepts=list(_BODIES))
    try:
        text = (await request.body()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise invalid(fault("body", "", "This is not UTF-8.")) from None
    return lambda: from_csv(text) if kind == "text/csv" else from_ndjson(text)


def _sorted_out(registry: Registry, read: _Reader, site: str | None) -> tuple[list[NewSeed], list[SeedRejectedOut]]:
    """The good lines, and what is wrong with the others."""
    good: list[NewSeed] = []
    rejected: list[SeedRejectedOut] = []
    try:
        lines = list(islice(read(), MAX_IMPORT + 1))
    except NotThatFormat as error:
        raise invalid(fault("body", "", str(error))) from None
    if len(lines) > MAX_IMPORT:
        raise invalid(fault("body", "", f"These are more than {MAX_IMPORT} lines; send them in pieces."))
    for line in lines:
        item = from_line(registry, line, site)
        if isinstance(item, str):
            rejected.append(SeedRejectedOut(line=line.number, detail=item))
        else:
            good.append(item)
    return good, rejected


def _line(number: int, item: Any) -> FileLine:
    return FileLine(number, item) if isinstance(item, dict) else FileLine(number, None, "This is not an object.")


class _ItemsIn(Strict):
    items: list[Any] = Field(max_length=MAX_IMPORT)


def _items(document: Any) -> list[Any]:
    try:
        return _ItemsIn.model_validate(document).items
    except ValidationError:
        raise invalid(fault("body", "/items", f"This takes a list of at most {MAX_IMPORT} seeds.")) from None


@routes.get("/v2/seeds", **allows(Permission.SEEDS_VIEW))
async def list_seeds(
    caller: CallerDep,
    seeds: SeedsDep,
    site: Annotated[str | None, Query(max_length=200)] = None,
    due: Annotated[bool | None, Query(description="Those that could be handed out now, or all others.")] = None,
    enabled: Annotated[bool | None, Query()] = None,
    kind: Annotated[str | None, Query(max_length=50)] = None,
    label: Annotated[list[str], Query(max_length=20, description="`key:value`; several narrow further.")] = [],  # noqa: B006
    limit: Limit = 50,
    cursor: Annotated[str | None, Query(max_length=500, description="`next_cursor` of the page before.")] = None,
) -> Page[SeedOut]:
    """Seeds by site, in the order they were added."""
    which = SeedFilter(site, due, enabled, kind, labels_in(label))
    found = await seeds.page(caller, which, decode(cursor, _site_and_id), limit + 1)
    items, following = paged(found, limit, lambda seed: orjson.dumps([seed.site, seed.id.hex]).decode())
    return Page(items=[SeedOut.model_validate(seed) for seed in items], next_cursor=following)


@routes.get("/v2/seeds/histogram", **allows(Permission.SEEDS_VIEW, SiteUnknown))
async def seed_histogram(
    caller: CallerDep,
    seeds: SeedsDep,
    site: Annotated[str | None, Query(max_length=200)] = None,
    hours: Annotated[int, Query(ge=1, le=336)] = 24,
) -> HistogramOut:
    """How many seeds are due now, and how many fall due in each of the next hours."""
    return HistogramOut.model_validate(await seeds.histogram(caller, site, hours))


@routes.get("/v2/seeds/{seed_id}", **allows(Permission.SEEDS_VIEW, SeedUnknown))
async def get_seed(seed_id: IdInPath, caller: CallerDep, seeds: SeedsDep) -> SeedOut:
    """One seed, at its site's current address."""
    return SeedOut.model_validate(await seeds.get(caller, _id(seed_id)))


@routes.get("/v2/seeds/{seed_id}/visits", **allows(Permission.SEEDS_VIEW, SeedUnknown))
async def list_seed_visits(
    seed_id: IdInPath, caller: CallerDep, seeds: SeedsDep, limit: Limit = 50, cursor: Cursor = None
) -> Page[SeedVisitOut]:
    """How the visits of a seed went, the newest first: what they found, and how the interval moved.

    The newest 60 are kept, and a few more for a while. A lease that ended without a word of the visit is none.
    """
    found = await seeds.visits(caller, _id(seed_id), decode(cursor, _number), limit + 1)
    items, following = paged(found, limit, lambda visit: str(visit.number))
    return Page(items=[SeedVisitOut.model_validate(visit) for visit in items], next_cursor=following)


@routes.patch("/v2/seeds/{seed_id}", **allows(Permission.SEEDS_MANAGE, SeedUnknown))
async def change_seed(seed_id: IdInPath, patch: SeedPatch, caller: CallerDep, seeds: SeedsDep) -> SeedOut:
    """Change a seed. `next_due_at: now` has it visited at once; `enabled: true` brings back one that was gone."""
    return SeedOut.model_validate(await seeds.change(caller, _id(seed_id), patch.wish()))


@routes.delete("/v2/seeds/{seed_id}", status_code=204, **allows(Permission.SEEDS_MANAGE, SeedUnknown, SeedInUse))
async def delete_seed(seed_id: IdInPath, caller: CallerDep, seeds: SeedsDep) -> Response:
    """Remove a seed. Its leases stay in the history."""
    await seeds.delete(caller, _id(seed_id))
    return Response(status_code=204)


def _id(text: str) -> UUID:
    seed = parse(PREFIX, text)
    if seed is None:
        raise unknown_seed()
    return seed


def _number(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**31:
        raise ValueError("not a key")
    return number


def _site_and_id(text: str) -> tuple[str, UUID]:
    match orjson.loads(text):
        case [str(site), str(id_)] if "\x00" not in site:
            return site, UUID(hex=id_)
    raise ValueError("not a key")
