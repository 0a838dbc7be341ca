"""Captures over HTTP: parse, call, answer."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Query, Request, Response
from pydantic import Field

from leasehold.auth import Permission
from leasehold.captures.answers import (
    CaptureOfferOut,
    CaptureOut,
    LifeEventOut,
    ReceiptOut,
    offered,
    receipt,
    shown,
    told,
)
from leasehold.captures.download import serve
from leasehold.captures.machine import CaptureState
from leasehold.captures.meta import MetaIn, Slug
from leasehold.captures.models import PREFIX, Capture, CaptureFilter, Mark, Part
from leasehold.captures.multipart import MEDIA_TYPE, boundary_of
from leasehold.captures.problems import (
    CaptureInUse,
    CaptureNotAside,
    CaptureUnknown,
    FileElsewhere,
    RangeRefused,
    StorageFull,
)
from leasehold.captures.service import Captures, unknown_capture
from leasehold.door import CallerDep, IdempotencyKey, allows, once, router, unless_gone
from leasehold.ids import parse
from leasehold.jobs import JobUnknown, WrongState
from leasehold.leases import LeaseLost, LeaseUnknown, Wanted
from leasehold.paging import Cursor, Limit, Page, decode, paged, uuid_key
from leasehold.problems import BodyTooLarge, InvalidRequest
from leasehold.sites import SiteUnknown
from leasehold.strict import Line, Moment, Strict

routes = router("captures")

UPLOAD = "/v2/captures"
IdInPath = Annotated[str, Path(description="The capture's id.", max_length=200)]


async def _captures(request: Request) -> Captures:
    captures: Captures = request.app.state.captures
    return captures


CapturesDep = Annotated[Captures, Depends(_captures)]


class CaptureAcquireIn(Strict):
    owner: Annotated[Line, Field(max_length=200, description="Who claims them, as the consumer calls itself.")]
    site: Slug | None = Field(None, description="Of this site alone.")
    limit: int = Field(1, ge=1, le=100, description="How many at the most.")
    ttl_seconds: int = Field(120, ge=5, le=3600, description="How long a claim lives without a heartbeat.")
    wait_seconds: int = Field(0, ge=0, le=30, description="How long to wait for something to arrive.")
    priority: int = Field(4, ge=0, le=9, description="Among those who wait, higher is served first.")
    job_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,200}$")] | None = Field(
        None, description="The job it is for; the lease ends with it."
    )

    def wanted(self) -> Wanted:
        return Wanted(**self.model_dump())


class RequeueIn(Strict):
    reason: Line | None = None


class _Upload(Strict):
    """What a repeat of an upload is compared by."""

    meta: MetaIn
    parts: list[tuple[str, str, str]]


_BODY = {
    "type": "object",
    "required": ["meta", "file"],
    "properties": {
        "meta": MetaIn.model_json_schema(),
        "file": {
            "type": "array",
            "minItems": 1,
            "maxItems": 20,
            "items": {"type": "string", "contentMediaType": "application/octet-stream"},
            "description": "Parts of any name but `meta`. Their `filename` is the name of the file: 1 to 200 letters, "
            "digits, `.`, `_` and `-`, not beginning with a dot, each once.",
        },
    },
}
_UPLOAD = allows(Permission.CAPTURES_WRITE, InvalidRequest, SiteUnknown, LeaseUnknown, StorageFull)
_UPLOAD["openapi_extra"]["requestBody"] = {"required": True, "content": {MEDIA_TYPE: {"schema": _BODY}}}


@routes.post(UPLOAD, status_code=201, **_UPLOAD)
async def upload_capture(
    request: Request, caller: CallerDep, captures: CapturesDep, key: IdempotencyKey = None
) -> ReceiptOut:
    """Hand in what a visit brought home: `meta` and 1 to 20 files.

    It is stored whole or not at all, and durable before the answer. A capture whose lease has ended meanwhile is taken
    all the same, and marked `late`.
    """
    boundary = boundary_of(request.headers.get("content-type", ""))
    _refuse_announced(request, captures.limits.upload_bytes)

    def repeat(meta: MetaIn, parts: Sequence[Part]) -> Any:
        named = sorted((part.name, part.sha256.hex(), part.content_type) for part in parts)
        return once(caller, f"POST {UPLOAD}", key, _Upload(meta=meta, parts=named))

    return receipt(await captures.receive(caller, request.stream(), boundary, repeat))


def _refuse_announced(request: Request, limit: int) -> None:
    """What is too large by its own word need not be read. What lies is counted as it arrives."""
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > limit:
        raise BodyTooLarge(f"The body is larger than {limit} bytes.", limit_bytes=limit)


@routes.post(
    "/v2/captures/acquire", **allows(Permission.CAPTURES_CONSUME, SiteUnknown, LeaseLost, JobUnknown, WrongState)
)
async def acquire_captures(
    request: Request, ask: CaptureAcquireIn, caller: CallerDep, captures: CapturesDep, key: IdempotencyKey = None
) -> CaptureOfferOut:
    """Claim captures that wait for a consumer, oldest first. When there are none the answer is empty and says why.

    Give each back with `ok` (delivered), `failed` (somebody gets it again, five times, then it is stuck) or `rejected`.
    """
    asked = once(caller, "POST /v2/captures/acquire", key, ask)
    offer = await unless_gone(
        request,
        captures.handoff.acquire(caller, ask.wanted(), asked),
        lambda granted: captures.handoff.counter.take_back(caller, granted),
        is_long=ask.wait_seconds > 0,
    )
    return offered(offer)


@routes.get("/v2/captures", **allows(Permission.CAPTURES_VIEW))
async def list_captures(
    caller: CallerDep,
    captures: CapturesDep,
    site: Annotated[str | None, Query(max_length=200)] = None,
    state: Annotated[CaptureState | None, Query()] = None,
    since: Annotated[Moment | None, Query(description="Received then or later.")] = None,
    url: Annotated[
        str | None, Query(max_length=32_768, description="Of this URL, also from before its site moved.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[CaptureOut]:
    """Captures, newest first."""
    which = CaptureFilter(site, state, since, url)
    found = await captures.page(caller, which, decode(cursor, _mark), limit + 1)
    items, following = paged(found, limit, _marked)
    return Page(items=[shown(capture) for capture in items], next_cursor=following)


@routes.get("/v2/captures/{capture_id}", **allows(Permission.CAPTURES_VIEW, CaptureUnknown))
async def get_capture(capture_id: IdInPath, caller: CallerDep, captures: CapturesDep) -> CaptureOut:
    """One capture with the list of its files."""
    return shown(await captures.get(caller, _id(capture_id)))


_BYTES = allows(Permission.CAPTURES_VIEW, CaptureUnknown, FileElsewhere, RangeRefused)
_BYTES["responses"] = {
    200: {"description": "The file", "content": {"application/octet-stream": {"schema": {"type": "string"}}}},
    206: {"description": "The range that was asked for"},
    304: {"description": "The file is what `If-None-Match` names"},
}


@routes.get("/v2/captures/{capture_id}/files/{name}", response_class=Response, **_BYTES)
async def get_capture_file(
    capture_id: IdInPath,
    name: Annotated[str, Path(description="The file's name.", max_length=200)],
    request: Request,
    caller: CallerDep,
    captures: CapturesDep,
) -> Response:
    """The bytes of a file, always as an attachment. `ETag` is its SHA-256; `Range` takes one range."""
    key, file = await captures.file(caller, _id(capture_id), name)
    is_head = bool(request.scope.get("is_head"))
    return await serve(captures.intake, captures.blobs, key, file, request.headers, is_head=is_head)


@routes.get("/v2/captures/{capture_id}/audit", **allows(Permission.CAPTURES_VIEW, CaptureUnknown))
async def get_capture_audit(
    capture_id: IdInPath, caller: CallerDep, captures: CapturesDep, limit: Limit = 500, cursor: Cursor = None
) -> Page[LifeEventOut]:
    """Every event of its life, oldest first; also of a capture that was removed."""
    found = await captures.life(caller, _id(capture_id), decode(cursor, uuid_key), limit + 1)
    items, following = paged(found, limit, lambda event: event.id.hex)
    return Page(items=[told(event) for event in items], next_cursor=following)


@routes.post(
    "/v2/captures/{capture_id}/requeue",
    **allows(Permission.CAPTURES_CONSUME, CaptureUnknown, CaptureNotAside, FileElsewhere),
)
async def requeue_capture(
    capture_id: IdInPath, caller: CallerDep, captures: CapturesDep, body: RequeueIn | None = None
) -> CaptureOut:
    """Put a stuck or rejected capture back among those that wait for a consumer."""
    return shown(await captures.requeue(caller, _id(capture_id), body.reason if body else None))


@routes.delete(
    "/v2/captures/{capture_id}",
    status_code=204,
    **allows(Permission.CAPTURES_CONSUME, CaptureUnknown, CaptureInUse),
)
async def delete_capture(capture_id: IdInPath, caller: CallerDep, captures: CapturesDep) -> Response:
    """Remove a capture. Bytes that other captures have, too, stay; what happened to it stays in the audit."""
    await captures.delete(caller, _id(capture_id))
    return Response(status_code=204)


def _id(text: str) -> UUID:
    capture = parse(PREFIX, text)
    if capture is None:
        raise unknown_capture()
    return capture


def _marked(capture: Capture) -> str:
    return f"{capture.received_at.isoformat()} {capture.id.hex}"


def _mark(text: str) -> Mark:
    at, _, capture = text.partition(" ")
    moment = datetime.fromisoformat(at)
    if moment.tzinfo is None:
        raise ValueError("not a key")
    return moment, UUID(hex=capture)
