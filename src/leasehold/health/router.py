"""Health, metrics and the pages about problems over HTTP: what needs no organisation."""

import html
import inspect

from fastapi import APIRouter, Request, Response

from leasehold.auth import Permission
from leasehold.door import PUBLIC, CallerDep, allows, router
from leasehold.health.system import SystemOut, describe
from leasehold.metrics import MEDIA_TYPE, Metrics
from leasehold.problems import NotFound, Problem, Unavailable, VersionRetired
from leasehold.strict import Answer

routes = router("health")

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


class Alive(Answer):
    status: str


class Ready(Answer):
    status: str
    checks: dict[str, str]


@routes.get("/healthz", **allows(PUBLIC))
async def healthz() -> Alive:
    """The process answers. Touches nothing else, so a dead database never restarts a living server."""
    return Alive(status="ok")


@routes.get("/readyz", **allows(PUBLIC, Unavailable))
async def readyz(request: Request) -> Ready:
    """The server can do its work: the database takes writes, the schema is there, background tasks are well."""
    checks = await request.app.state.health.checks()
    bad = {name: state for name, state in checks.items() if state != "ok"}
    if bad:
        raise Unavailable("Not ready; see `checks`.", checks=checks, headers={"Retry-After": "2"})
    return Ready(status="ready", checks=checks)


@routes.get("/v2/system", **allows(Permission.METRICS_VIEW))
async def show_system(request: Request, caller: CallerDep) -> SystemOut:
    """What the process that answers is and does: versions, schema, background tasks, alerts."""
    state = request.app.state
    return await describe(state.db, state.health, state.background, state.settings, caller.organisation)


@routes.get("/problems/{slug}", response_class=Response, **allows(PUBLIC, NotFound))
async def explain_problem(slug: str) -> Response:
    """The page a problem's `type` points to: what happened and what to do."""
    kind = Problem.kinds.get(slug)
    if kind is None:
        raise NotFound("No problem has this name. `docs/problems.md` lists them.")
    headers = {"Content-Security-Policy": "default-src 'none'"}
    return Response(_page(kind), media_type="text/html; charset=utf-8", headers=headers)


@routes.api_route("/v1", methods=METHODS, include_in_schema=False, **allows(PUBLIC))
@routes.api_route("/v1/{rest:path}", methods=METHODS, include_in_schema=False, **allows(PUBLIC))
async def retired() -> None:
    raise VersionRetired(
        "Version 1 is gone. Use /v2; /openapi.json describes it.", headers={"Link": '</v2>; rel="successor-version"'}
    )


def metrics_routes(is_public: bool) -> APIRouter:
    """`/metrics` for everybody, or for tokens that may see it: a switch of the settings."""
    metrics = router("health")

    @metrics.get("/metrics", response_class=Response, **allows(PUBLIC if is_public else Permission.METRICS_VIEW))
    async def show_metrics(request: Request) -> Response:
        """Counters of this process in Prometheus' text format."""
        counters: Metrics = request.app.state.metrics
        counters.watch_pool(request.app.state.db.pool.get_stats())
        counters.watch_checks(await request.app.state.health.checks())
        return Response(counters.text(), media_type=MEDIA_TYPE)

    return metrics


def _page(kind: type[Problem]) -> str:
    text = html.escape(inspect.cleandoc(kind.__doc__ or ""))
    title = html.escape(kind.title)
    paragraphs = "".join(f"<p>{part}</p>" for part in text.split("\n\n"))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<h1>{title}</h1><p><code>{kind.type()}</code>, status {kind.status}</p>{paragraphs}</html>"
    )
