"""Artefacts over HTTP: the public status page, and a list for those who run the place."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from pydantic import Field

from leasehold.artifacts.publishing import ENTRY
from leasehold.artifacts.reading import BARE, File, Reader, ShelfFailed
from leasehold.artifacts.service import Artifacts, Listed
from leasehold.auth import Permission
from leasehold.door import PUBLIC, allows, router
from leasehold.problems import NotFound, Unavailable
from leasehold.strict import Answer

routes = router("artifacts")

# Everything comes from beside the page, and nothing is inlined.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_NEVER = (
    "Nothing was published yet. A server does that by itself within a minute; `leasehold artifacts publish` at once."
)
_NEVER_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<meta http-equiv="refresh" content="15"><meta name="color-scheme" content="light dark">'
    "<title>Status</title><h1>Nothing was published yet</h1>"
    "<p>A server publishes by itself within a minute, unless LEASEHOLD_ARTIFACT_INTERVAL_SECONDS is 0. "
    "<code>leasehold artifacts publish</code>, on the server, does it at once.</p>"
    "<p>This page looks again every 15 seconds.</p></html>"
)
_HEADERS = {"Content-Security-Policy": _POLICY}
_SAME: dict[int | str, dict[str, Any]] = {304: {"description": "It is what `If-None-Match` names"}}

IfNoneMatch = Annotated[str | None, Header(max_length=1000)]
Accept = Annotated[str, Header(max_length=1000)]


class ArtifactOut(Answer):
    name: str
    schema_name: str = Field(serialization_alias="schema", description="The schema it keeps to, beside the file.")
    version: int = Field(description="The version of that schema.")
    path: str | None = Field(description="Below the root of where artefacts are; null when it was never published.")
    edition: int | None = Field(description="Grows with every publication.")
    published_at: datetime | None
    bytes: int | None
    etag: str | None = Field(description="The SHA-256 of the file.")
    last_error: str | None = Field(description="Why the last try brought nothing; null when it did.")
    last_error_at: datetime | None


class ArtifactsOut(Answer):
    items: list[ArtifactOut]
    next_cursor: None = None


async def _artifacts(request: Request) -> Artifacts:
    artifacts: Artifacts = request.app.state.artifacts
    return artifacts


async def _reader(request: Request) -> Reader:
    artifacts: Artifacts = request.app.state.artifacts
    return artifacts.page


ArtifactsDep = Annotated[Artifacts, Depends(_artifacts)]
ReaderDep = Annotated[Reader, Depends(_reader)]


@routes.get("/v2/artifacts", **allows(Permission.METRICS_VIEW))
async def list_artifacts(artifacts: ArtifactsDep) -> ArtifactsOut:
    """What is published for others to read, and how the last try went."""
    return ArtifactsOut(items=[_shown(one) for one in await artifacts.listed()])


@routes.head("/status", include_in_schema=False, **allows(PUBLIC))
@routes.get("/status", response_class=Response, responses=_SAME, **allows(PUBLIC, NotFound, Unavailable))
async def status_page(reader: ReaderDep, accept: Accept = "", if_none_match: IfNoneMatch = None) -> Response:
    """The public status page: how the whole installation is, in numbers, as of when it was last published."""
    return await _answer(reader, BARE, accept, if_none_match)


@routes.head("/status/{file:path}", include_in_schema=False, **allows(PUBLIC))
@routes.get("/status/{file:path}", response_class=Response, responses=_SAME, **allows(PUBLIC, NotFound, Unavailable))
async def status_file(file: str, reader: ReaderDep, accept: Accept = "", if_none_match: IfNoneMatch = None) -> Response:
    """A file of the status page, such as `status.v1.json`, which is what it shows."""
    return await _answer(reader, file or ENTRY, accept, if_none_match)


async def _answer(reader: Reader, name: str, accept: str, if_none_match: str | None) -> Response:
    try:
        files = await reader.files()
    except ShelfFailed:
        detail = "What was published cannot be read just now. The server's log says why."
        raise Unavailable(detail, headers={"Retry-After": "10"}) from None
    if not files:
        return _nothing(accept)
    if (file := files.get(name)) is None:
        raise NotFound("The status page has no such file.")
    headers = {**_HEADERS, "ETag": file.etag, **_caching(file)}
    if _names(if_none_match, file.etag):
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


def _nothing(accept: str) -> Response:
    if "text/html" not in accept:
        raise NotFound(_NEVER)
    return Response(_NEVER_PAGE, 404, headers={**_HEADERS, "Cache-Control": "no-store"}, media_type="text/html")


def _caching(file: File) -> dict[str, str]:
    if file.is_for_ever:
        return {"Cache-Control": "public, max-age=31536000, immutable"}
    # Numbers that anybody may have, so other sites' pages may read them, too.
    return {"Cache-Control": "no-cache", "Access-Control-Allow-Origin": "*"}


def _names(if_none_match: str | None, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in (if_none_match or "").split(",")]
    return etag in tags or tags == ["*"]


def _shown(one: Listed) -> ArtifactOut:
    last = one.last
    return ArtifactOut(
        name=one.name,
        schema_name=last.schema if last else one.name,
        version=last.version if last else one.version,
        path=last.path if last else None,
        edition=last.edition if last else None,
        published_at=last.published_at if last else None,
        bytes=last.bytes if last else None,
        etag=last.etag if last else None,
        last_error=one.trouble.error,
        last_error_at=one.trouble.at,
    )
