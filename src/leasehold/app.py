"""Puts the house together: every service made once, every router let in. Only this file knows everybody."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import UUID

from fastapi import FastAPI
from starlette.types import ASGIApp

from leasehold import audit, idempotency, openapi, problems, ui
from leasehold.accounts import (
    AccountHolder,
    Accounts,
    AnySlip,
    Counter,
    MongoFace,
    MongoPool,
    Pool,
    PostgresPool,
    WrongStore,
    connect,
    settle_in,
)
from leasehold.accounts.router import lanes as account_lanes
from leasehold.accounts.router import routes as account_routes
from leasehold.audit.router import routes as audit_routes
from leasehold.auth import Tokens
from leasehold.auth.router import routes as token_routes
from leasehold.background import Background
from leasehold.db import Database, RollBack
from leasehold.door import insist
from leasehold.edge import Edge
from leasehold.fastlane import FastLane
from leasehold.health import Health
from leasehold.health.router import metrics_routes
from leasehold.health.router import routes as health_routes
from leasehold.leases import Desk, Kind, Leases, PostgresFace, Timekeeper
from leasehold.leases.router import lanes as lease_lanes
from leasehold.leases.router import routes as lease_routes
from leasehold.leases.waiting import TICK_S
from leasehold.metrics import Metrics
from leasehold.settings import Settings
from leasehold.sites import Sites
from leasehold.sites.router import routes as site_routes
from leasehold.vault import Keyring, Vault

_SWEEP_EVERY_S = 600.0
_SEAL_EVERY_S = 5.0
_REAP_EVERY_S = 5.0


def build(
    settings: Settings, database_url: str, keyring: Keyring, desk: Callable[..., Desk[AnySlip]] = Desk
) -> FastAPI:
    """The API with its services, not yet started. `serve` wraps it in the edge."""
    metrics = Metrics()
    db = Database(database_url, settings.database_pool_size)
    background = Background(metrics)
    vault = Vault(keyring)

    def make_pool(process: UUID) -> Pool:
        if settings.pools == "postgres":
            clock = Timekeeper(db, PostgresFace(), metrics)
            return PostgresPool(db, vault, clock, process, settings.lease_max_age_seconds)
        client, name = connect(settings.mongo_url.get_secret_value())
        clock = Timekeeper(db, MongoFace(client, name), metrics)
        return MongoPool(db, vault, clock, client, name, process, settings.lease_max_age_seconds)

    counter = Counter(db, vault, metrics, make_pool, desk)
    accounts = Accounts(counter, metrics)

    async def sweep_keys() -> None:
        async with db.system() as conn:
            await idempotency.sweep(conn)

    async def seal_audit() -> None:
        for organisation, _slug in await organisations(db):
            await audit.seal_all(db, organisation)

    async def reap() -> None:
        await accounts.reap([organisation for organisation, _slug in await organisations(db)])

    background.add("sweep-idempotency-keys", sweep_keys, _SWEEP_EVERY_S)
    background.add("seal-audit", seal_audit, _SEAL_EVERY_S)
    background.add("reaper", reap, _REAP_EVERY_S)
    background.add("waiters", counter.room.tick, TICK_S)
    background.add("wake-ups", counter.room.listen, 0.0)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        insist(app.routes, ui.PAGES)
        await db.open()
        await insist_on_store(db, settings)
        await counter.pool.open()
        background.start()
        try:
            yield
        finally:
            counter.room.close()
            await counter.drain()
            await background.stop()
            await counter.room.hush()
            await counter.room.leave_all()
            await counter.pool.close()
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
    app.state.accounts = accounts
    app.state.leases = Leases({Kind.ACCOUNT: AccountHolder(accounts)})
    app.state.sites = Sites(
        db, {"accounts": accounts.count}, [accounts.explain], lambda whose, slug: counter.room.freed(whose, [slug])
    )
    # Looked through in this order for every request: what is called most comes first.
    routers = (
        lease_routes,
        account_routes,
        site_routes,
        health_routes,
        metrics_routes(settings.metrics_public),
        token_routes,
        audit_routes,
    )
    for router in routers:
        app.include_router(router)
    ui.install(app)
    openapi.install(app)
    problems.install(app, [*app.routes, *(route for router in routers for route in router.routes)])
    return app


async def insist_on_store(db: Database, settings: Settings) -> None:
    """Refuse to go on with another store than the one the pools are in; raises WrongStore."""
    async with db.system() as conn:
        await settle_in(conn, settings.pools)


async def wrong_store(db: Database, settings: Settings) -> str | None:
    """Why a server would refuse to start with the store the setting names, if it would; nothing is changed."""
    try:
        async with db.system() as conn:
            await settle_in(conn, settings.pools)
            raise RollBack
    except WrongStore as error:
        return str(error)
    return None


async def organisations(db: Database) -> list[tuple[UUID, str]]:
    """Everybody's id and slug, for what is done for each in turn."""
    async with db.system() as conn:
        return await audit.organisations(conn)


def edged(app: FastAPI) -> ASGIApp:
    """The app as it is served: behind the edge that counts, limits and answers crashes, and the fast lane."""
    settings: Settings = app.state.settings
    return Edge(FastLane(app, [*lease_lanes(), *account_lanes()]), app.state.metrics, settings.body_limit_bytes)
