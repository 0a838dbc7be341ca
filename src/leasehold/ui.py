"""Serves the built admin UI at /ui and the API's reference at /docs, both from this server alone."""

import mimetypes
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from leasehold.problems import NotFound

# Everything comes from here and nothing is inlined, so injected markup has nothing to run.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}
# Files under assets/ carry a hash of their content in their names.
_FOREVER = {"Content-Security-Policy": _POLICY, "Cache-Control": "public, max-age=31536000, immutable"}

_NOT_BUILT = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>leasehold</title><h1>The UI is not built</h1>"
    "<p>Run <code>make setup</code> in the checkout, or install the wheel, which carries it. "
    "The API is described at <a href=/openapi.json>/openapi.json</a>.</p></html>"
)

PAGES = frozenset({"/", "/docs", "/ui", "/ui/{path:path}", "/openapi.json"})


def folder() -> Path | None:
    """Where the built UI is: inside the wheel, or in the checkout it was built in."""
    package = Path(str(resources.files("leasehold")))
    for candidate in (package / "_ui", package.parents[1] / "ui" / "dist"):
        if (candidate / "index.html").is_file():
            return candidate
    return None


def install(app: FastAPI) -> None:
    """The UI is a plain Starlette route: it is public, static, and no part of the API's description.

    Its files are few and small, so they are read once: no request's path ever gets near the disk.
    """
    files = _read(folder())

    async def page(request: Request) -> Response:
        return serve(files, request.path_params.get("path", ""))

    async def to_ui(_request: Request) -> Response:
        return RedirectResponse("/ui/", headers={"Cache-Control": "no-cache"})

    async def docs(_request: Request) -> Response:
        return serve(files, "docs.html")

    app.router.routes.extend(
        [Route("/", to_ui), Route("/docs", docs), Route("/ui", to_ui), Route("/ui/{path:path}", page)]
    )


@cache
def _read(built: Path | None) -> Mapping[str, bytes]:
    if built is None:
        return {}
    return {file.relative_to(built).as_posix(): file.read_bytes() for file in built.rglob("*") if file.is_file()}


def serve(files: Mapping[str, bytes], path: str) -> Response:
    """A file of the UI, or the app itself for any other path: it finds its own way."""
    if not files:
        return HTMLResponse(_NOT_BUILT, status_code=503, headers=_HEADERS)
    if path.startswith("assets/") and path not in files:
        raise NotFound("There is no such file.")  # an old page asking for what an upgrade took away gets no HTML
    name = path if path in files else "index.html"
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(files[name], media_type=kind, headers=_FOREVER if name.startswith("assets/") else _HEADERS)
