"""Sources over HTTP: parse, call, answer."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Request
from pydantic import Field, PlainSerializer

from leasehold.auth import Permission
from leasehold.door import CallerDep, allows, router
from leasehold.ids import show
from leasehold.paging import Cursor, Limit, Page, decode, paged, uuid_key
from leasehold.sources.declared import Faces, Kind
from leasehold.sources.models import LETTER
from leasehold.sources.problems import SourceOff, SourceUnknown
from leasehold.sources.service import Sources, Standing
from leasehold.strict import Answer, Strict

routes = router("sources")

NameInPath = Annotated[str, Path(description="The source's name.", max_length=200)]
LetterId = Annotated[UUID, PlainSerializer(lambda value: show(LETTER, value), return_type=str)]


class StartIn(Strict):
    full: bool = Field(False, description="Read everything again, not only what has changed.")


class ProgressOut(Answer):
    seen: int = Field(description="Things that this sweep, or the last one, has seen.")
    expected: int | None = Field(description="How many the source says it has.")
    pages: int
    handed_over: int = Field(description="Records that were new or changed, and went to the writer.")
    gone: int = Field(description="Things that were there before, and are deleted or part of another now.")
    queued_bytes: int = Field(description="What waits to be written, of all sources.")
    links: int = Field(description="Records of this source that are linked to those of others.")
    errors: int = Field(description="Requests that failed, and dead letters.")
    per_second: float


class SourceOut(Answer):
    name: str
    kind: Kind
    url: str | None
    enabled: bool
    curated: bool
    faces: Faces
    priority: int
    rate_limit: int | None = Field(description="Requests in a minute at the most.")
    rate_now: float | None = Field(description="As often as it is asked just now; less after refusals.")
    state: str = Field(description="`idle`, `sweeping`, `waiting`, `paused` or `failed`.")
    waiting_for: str | None = Field(description="`rate`, `retry` or `queue`.")
    progress: ProgressOut
    started_at: datetime | None
    last_sweep: dict[str, Any] | None
    next_sweep_at: datetime | None = Field(description="When it is swept again by itself, as its file says.")
    next_step: str
    last_error: str | None


class SourcesOut(Answer):
    items: list[SourceOut]


class LetterOut(Answer):
    id: LetterId
    source: str
    source_id: str | None
    reason: str
    payload: str
    at: datetime


async def _sources(request: Request) -> Sources:
    sources: Sources = request.app.state.sources
    return sources


SourcesDep = Annotated[Sources, Depends(_sources)]


@routes.get("/v2/sources", **allows(Permission.ENTITIES_VIEW))
async def list_sources(caller: CallerDep, sources: SourcesDep) -> SourcesOut:
    """Every source there is a file for, how far its sweep is, and what comes next."""
    return SourcesOut(items=[_out(one) for one in await sources.all(caller)])


@routes.get("/v2/sources/{source_name}", **allows(Permission.ENTITIES_VIEW, SourceUnknown))
async def get_source(source_name: NameInPath, caller: CallerDep, sources: SourcesDep) -> SourceOut:
    """One source."""
    return _out(await sources.get(caller, source_name))


@routes.post("/v2/sources/{source_name}/start", **allows(Permission.ENTITIES_MANAGE, SourceUnknown, SourceOff))
async def start_source(
    source_name: NameInPath, caller: CallerDep, sources: SourcesDep, wish: StartIn | None = None
) -> SourceOut:
    """Begin a sweep, or go on with the one that was stopped. Whichever process has time for it drives it."""
    return _out(await sources.start(caller, source_name, is_full=wish is not None and wish.full))


@routes.post("/v2/sources/{source_name}/stop", **allows(Permission.ENTITIES_MANAGE, SourceUnknown, SourceOff))
async def stop_source(source_name: NameInPath, caller: CallerDep, sources: SourcesDep) -> SourceOut:
    """Ask it for nothing more. How far the sweep came is kept, and a start goes on there."""
    return _out(await sources.stop(caller, source_name))


@routes.get("/v2/sources/{source_name}/dead-letters", **allows(Permission.ENTITIES_VIEW, SourceUnknown))
async def list_source_dead_letters(
    source_name: NameInPath, caller: CallerDep, sources: SourcesDep, limit: Limit = 50, cursor: Cursor = None
) -> Page[LetterOut]:
    """What came from it and could not be read, as a whole or in part; the latest first."""
    rows = await sources.letters(caller, source_name, decode(cursor, uuid_key), limit + 1)
    items, following = paged(rows, limit, lambda one: one.id.hex)
    return Page(items=[LetterOut.model_validate(one) for one in items], next_cursor=following)


def _out(standing: Standing) -> SourceOut:
    source, state = standing.source, standing.state
    progress = ProgressOut(
        seen=state.seen if state else 0,
        expected=state.expected if state else None,
        pages=state.pages if state else 0,
        handed_over=state.handed if state else 0,
        gone=state.gone if state else 0,
        queued_bytes=standing.queued_bytes,
        links=standing.links,
        errors=state.errors if state else 0,
        per_second=round(state.per_second, 2) if state else 0.0,
    )
    return SourceOut(
        name=standing.name,
        kind=source.kind if source else Kind.RUNS,
        url=source.url if source else None,
        enabled=source.enabled if source else True,
        curated=source.curated if source else False,
        faces=source.faces if source else Faces.OFF,
        priority=source.priority if source else 0,
        rate_limit=source.rate_limit if source else None,
        rate_now=round(state.rate_now, 2) if state and state.rate_now is not None else None,
        state=standing.word,
        waiting_for=state.waiting_for if state else None,
        progress=progress,
        started_at=state.started_at if state else None,
        last_sweep=state.last_sweep if state else None,
        next_sweep_at=standing.next_sweep_at,
        next_step=standing.next_step,
        last_error=state.last_error if state else None,
    )
