"""Puts the house together: every service made once, every router let in. Only this file knows everybody."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp

from leasehold import idempotency, openapi, problems, ui
from leasehold.audit.router import routes as audit_routes
from leasehold.auth import Tokens
from leasehold.auth.router import routes as token_routes
from leasehold.background import Background
from leasehold.db import Database
from leasehold.door import insist
from leasehold.edge import Edge
from leasehold.health import Health
from leasehold.health.router import metrics_routes
from leasehold.health.router import routes as health_routes
from leasehold.metrics import Metrics
from leasehold.settings import Settings
from leasehold.sites import Sites
from leasehold.sites.router import routes as site_routes

_SWEEP_EVERY_S = 600.0


def build(settings: Settings, database_url: str) -> FastAPI:
    """The API with its services, not yet started. `serve` wraps it in the edge."""
    metrics = Metrics()
    db = Database(database_url, settings.database_pool_size)
    background = Background(metrics)

    async def sweep_keys() -> None:
        async with db.system() as conn:
            await idempotency.sweep(conn)

    background.add("sweep-idempotency-keys", sweep_keys, _SWEEP_EVERY_S)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        insist(app.routes, ui.PAGES)
        await db.open()
        background.start()
        try:
            yield
        finally:
            await background.stop()
            await db.close()

    app = FastAPI(
        lifespan=lifespan,
        docs_url=None,  # served by ui.py, without a stranger's scripts
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.settings = settings
    app.state.metrics = metrics
    app.state.db = db
    app.state.background = background
    app.state.health = Health(db, background)
    app.state.tokens = Tokens(db)
    app.state.sites = Sites(db, dependents={})
    routers = (health_routes, metrics_routes(settings.metrics_public), token_routes, audit_routes, site_routes)
    for router in routers:
        app.include_router(router)
    ui.install(app)
    openapi.install(app)
    problems.install(app, [*app.routes, *(route for router in routers for route in router.routes)])
    return app


def edged(app: FastAPI) -> ASGIApp:
    """The app as it is served: behind the edge that counts, limits and answers crashes."""
    settings: Settings = app.state.settings
    return Edge(app, app.state.metrics, settings.body_limit_bytes)
