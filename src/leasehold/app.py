"""Puts the house together: every service made once, every router let in. Only this file knows everybody."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from fastapi import FastAPI
from starlette.types import ASGIApp

from leasehold import audit, idempotency, openapi, problems, ui
from leasehold.accounts import (
    AccountCounter,
    AccountHolder,
    Accounts,
    AnySlip,
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
from leasehold.captures import Captures, Handoff, Limits, Sources, sweep
from leasehold.captures import count as count_captures
from leasehold.captures import make as make_blobs
from leasehold.captures.router import UPLOAD
from leasehold.captures.router import routes as capture_routes
from leasehold.checkout import Checkout
from leasehold.checkout.router import routes as checkout_routes
from leasehold.db import Conn, Database, RollBack
from leasehold.door import insist
from leasehold.edge import Edge
from leasehold.fastlane import FastLane
from leasehold.health import Health
from leasehold.health.router import metrics_routes
from leasehold.health.router import routes as health_routes
from leasehold.jobs import Jobs
from leasehold.jobs import routes as job_routes
from leasehold.leases import Desk, Ear, Kind, Leases, PostgresFace, Timekeeper, WaitingRoom
from leasehold.leases.router import lanes as lease_lanes
from leasehold.leases.router import routes as lease_routes
from leasehold.leases.waiting import TICK_S
from leasehold.metrics import Metrics
from leasehold.platforms import LOOK_EVERY_S, SHIPPED, Catalogue
from leasehold.seeds import Seeds
from leasehold.seeds.router import routes as seed_routes
from leasehold.sessions import Drawer, MongoDrawer, PostgresDrawer, Sessions
from leasehold.sessions.router import routes as session_routes
from leasehold.settings import Settings
from leasehold.sites import Saying, Sites
from leasehold.sites.router import routes as site_routes
from leasehold.vault import Keyring, Vault

_SWEEP_EVERY_S = 600.0
_SEAL_EVERY_S = 5.0
_REAP_EVERY_S = 5.0
_MEASURE_EVERY_S = 60.0


def build(
    settings: Settings, database_url: str, keyring: Keyring, desk: Callable[..., Desk[AnySlip]] = Desk
) -> FastAPI:
    """The API with its services, not yet started. `serve` wraps it in the edge."""
    metrics = Metrics()
    db = Database(database_url, settings.database_pool_size)
    background = Background(metrics)
    vault = Vault(keyring)
    # The one that watches PostgreSQL's clock, for every kind of lease that PostgreSQL keeps.
    clock = Timekeeper(db, PostgresFace(), metrics)

    def make_pool(process: UUID) -> Pool:
        if settings.pools == "postgres":
            return PostgresPool(db, vault, clock, process, settings.lease_max_age_seconds)
        client, name = connect(settings.mongo_url.get_secret_value())
        its_clock = Timekeeper(db, MongoFace(client, name), metrics)
        return MongoPool(db, vault, its_clock, client, name, process, settings.lease_max_age_seconds)

    def make_drawer() -> Drawer:
        if settings.pools == "postgres":
            return PostgresDrawer(db)
        return MongoDrawer(db, *connect(settings.mongo_url.get_secret_value()))

    counter = AccountCounter(db, vault, metrics, make_pool, desk)
    accounts = Accounts(counter, metrics)
    drawer = make_drawer()

    async def explain_seeds(organisation: UUID, slug: str) -> Saying:
        return await seeds.explain(organisation, slug)

    async def count_seeds(conn: Conn, organisation: UUID, slug: str) -> int:
        return await seeds.count(conn, organisation, slug)

    def call(organisation: UUID, slug: str) -> None:
        for room in rooms:
            room.freed(organisation, [slug])

    dependents = {
        "accounts": accounts.count,
        "captures": count_captures,
        "seeds": count_seeds,
        "sessions": drawer.count,
    }
    sites = Sites(db, dependents, [accounts.explain, explain_seeds], call)
    seeds = Seeds(db, clock, sites, metrics, settings.lease_max_age_seconds)
    sessions = Sessions(vault, drawer, accounts, sites)
    blobs = make_blobs(settings.blob_url.get_secret_value(), settings.data_dir)
    handoff = Handoff(db, clock, metrics, settings.lease_max_age_seconds)
    captures = Captures(db, blobs, limits(settings), metrics, handoff, Sources(sites.registry, accounts.is_live))
    catalogue = Catalogue(settings.platforms_dir or SHIPPED)
    jobs = Jobs(db, clock, catalogue, metrics, settings.lease_max_age_seconds)
    rooms: list[WaitingRoom[Any]] = [counter.room, seeds.room, handoff.counter.room, jobs.counter.room]
    ear = Ear(db, rooms)

    async def sweep_keys() -> None:
        async with db.system() as conn:
            await idempotency.sweep(conn)

    async def seal_audit() -> None:
        for organisation, _slug in await organisations(db):
            await audit.seal_all(db, organisation)

    async def reap() -> None:
        await clock.watch()
        everybody = [organisation for organisation, _slug in await organisations(db)]
        await seeds.reap(everybody)
        await accounts.reap(everybody)
        await handoff.reap(everybody)
        await jobs.reap(everybody)
        await sessions.sweep(everybody)

    async def tick() -> None:
        for room in rooms:
            await room.tick()

    async def measure() -> None:
        await captures.measure([organisation for organisation, _slug in await organisations(db)])

    async def sweep_blobs() -> None:
        for organisation, _slug in await organisations(db):
            metrics.blobs_swept.inc(await sweep(db, blobs, organisation))
        await asyncio.to_thread(blobs.clear)

    background.add("sweep-idempotency-keys", sweep_keys, _SWEEP_EVERY_S)
    background.add("sweep-blobs", sweep_blobs, _SWEEP_EVERY_S)
    background.add("seal-audit", seal_audit, _SEAL_EVERY_S)
    background.add("reaper", reap, _REAP_EVERY_S)
    background.add("waiters", tick, TICK_S)
    background.add("wake-ups", ear.listen, 0.0)
    background.add("platforms", catalogue.look, LOOK_EVERY_S)
    background.add("measure-captures", measure, _MEASURE_EVERY_S)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        insist(app.routes, ui.PAGES)
        await db.open()
        await insist_on_store(db, settings)
        await clock.begin()
        await counter.pool.open()
        await drawer.open()
        background.start()
        try:
            yield
        finally:
            for room in rooms:
                room.close()
            await counter.drain()
            await seeds.counter.drain()
            await handoff.counter.drain()
            await jobs.counter.drain()
            await background.stop()
            await ear.close()
            for room in rooms:
                await room.leave_all()
            await drawer.close()
            await counter.pool.close()
            captures.close()
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
    app.state.seeds = seeds
    app.state.leases = Leases(
        {
            Kind.ACCOUNT: AccountHolder(accounts),
            Kind.SEED: seeds.leases,
            Kind.CAPTURE: handoff.leases,
            Kind.TASK: jobs.leases,
        }
    )
    app.state.jobs = jobs
    app.state.sites = sites
    app.state.sessions = sessions
    app.state.checkout = Checkout(accounts, sessions, seeds)
    app.state.captures = captures
    # Looked through in this order for every request: what is called most comes first.
    routers = (
        lease_routes,
        account_routes,
        checkout_routes,
        session_routes,
        seed_routes,
        capture_routes,
        job_routes,
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
    lanes = FastLane(app, [*lease_lanes(), *account_lanes()])
    larger = {("POST", UPLOAD): settings.capture_limit_bytes}
    return Edge(lanes, app.state.metrics, settings.body_limit_bytes, larger)


def limits(settings: Settings) -> Limits:
    """How much one capture may bring."""
    return Limits(settings.capture_limit_bytes, settings.capture_file_limit_bytes, files=20, meta_bytes=64 * 1024)
