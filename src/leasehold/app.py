"""Puts the house together: every service made once, every router let in. Only this file knows everybody."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

from fastapi import FastAPI
from starlette.types import ASGIApp

from leasehold import artifacts, audit, idempotency, openapi, problems, sources, stores, tracing, ui
from leasehold.accounts import (
    AccountCounter,
    AccountHolder,
    Accounts,
    AnySlip,
    MongoPool,
)
from leasehold.accounts.router import lanes as account_lanes
from leasehold.accounts.router import routes as account_routes
from leasehold.alerts import EVERY_S as ALERTS_EVERY_S
from leasehold.alerts import SWEEP_EVERY_S as ALERTS_SWEEP_EVERY_S
from leasehold.alerts import Alerts
from leasehold.amqp import Broker
from leasehold.audit.router import routes as audit_routes
from leasehold.auth import Tokens
from leasehold.auth.router import routes as token_routes
from leasehold.background import Background
from leasehold.captures import Captures, Handoff, Sources, sweep
from leasehold.captures import count as count_captures
from leasehold.captures.router import UPLOAD
from leasehold.captures.router import routes as capture_routes
from leasehold.checkout import Checkout
from leasehold.checkout.router import routes as checkout_routes
from leasehold.collectors import providers, warn_of_second_prices
from leasehold.db import Conn, Database
from leasehold.door import insist
from leasehold.duties import OF_A_SERVER, Duty
from leasehold.edge import Edge
from leasehold.entities import review_routes
from leasehold.entities import routes as entity_routes
from leasehold.fastlane import FastLane
from leasehold.health import Health
from leasehold.health.router import metrics_routes
from leasehold.health.router import routes as health_routes
from leasehold.identity import Identity
from leasehold.jobs import (
    BOOKS_EVERY_S,
    MEASURE_EVERY_S,
    WRITE_EVERY_S,
    Jobs,
    Measuring,
    Replays,
    replay_routes,
)
from leasehold.jobs import routes as job_routes
from leasehold.leases import BoundLeases, Desk, Ear, Kind, Leases, PostgresFace, Timekeeper, WaitingRoom
from leasehold.leases.router import lanes as lease_lanes
from leasehold.leases.router import routes as lease_routes
from leasehold.leases.waiting import TICK_S
from leasehold.live import CHECK_EVERY_S, Live, Tickets
from leasehold.live import SWEEP_EVERY_S as TICKETS_EVERY_S
from leasehold.live import routes as live_routes
from leasehold.metrics import Metrics
from leasehold.overview import Overview
from leasehold.overview import routes as overview_routes
from leasehold.platforms import LOOK_EVERY_S, SHIPPED, Catalogue
from leasehold.runs import LOOK_EVERY_S as RUNS_EVERY_S
from leasehold.runs import WORK_EVERY_S, Drivers, Runs, Shelf, Stock, Watchers, Workers
from leasehold.runs import routes as run_routes
from leasehold.seeds import Seeds
from leasehold.seeds.router import routes as seed_routes
from leasehold.sessions import Sessions
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
    settings: Settings,
    database_url: str,
    keyring: Keyring,
    desk: Callable[..., Desk[AnySlip]] = Desk,
    duties: Collection[Duty] = OF_A_SERVER,
    make_collectors: Callable[[Database, Settings], Stock] = lambda db, settings: Shelf(db, providers(settings)),
    outlet: sources.Outlet | None = None,
    traces: tracing.Traces | None = None,
) -> FastAPI:
    """The API with its services, not yet started. `serve` wraps it in the edge; `work` starts it without."""
    metrics = Metrics()
    db = Database(database_url, settings.database_pool_size, traces.cursors() if traces else None)
    background = Background(metrics, duties)
    vault = Vault(keyring)
    # The one that watches PostgreSQL's clock, for every kind of lease that PostgreSQL keeps.
    clock = Timekeeper(db, PostgresFace(), metrics)

    pool = partial(stores.pool, settings, db, vault, clock, metrics)
    counter = AccountCounter(db, vault, metrics, pool, desk)
    bound = BoundLeases(db)
    accounts = Accounts(counter, metrics, bound)
    drawer = stores.drawer(settings, db)

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
    seeds = Seeds(db, clock, sites, metrics, settings.lease_max_age_seconds, bound)
    sessions = Sessions(vault, drawer, accounts, sites)
    blobs = stores.blobs(settings)
    handoff = Handoff(db, clock, metrics, settings.lease_max_age_seconds, bound)
    captures = Captures(db, blobs, stores.limits(settings), metrics, handoff, Sources(sites.registry, accounts.is_live))
    catalogue = Catalogue(settings.platforms_dir or SHIPPED)
    warn_of_second_prices(catalogue.platforms, settings.collectors_dir)
    writers = stores.writers(settings, db)
    jobs = Jobs(db, clock, catalogue, writers, metrics, settings.lease_max_age_seconds)
    jobs.limits_organisation = settings.limits_organisation
    alerts = Alerts(db, settings.alert_url.get_secret_value(), settings.alert_secret.get_secret_value(), metrics)
    measuring = Measuring(db, catalogue, metrics.jobs)
    data_writer = stores.data_writer(settings, writers, jobs.writing)
    jobs.has_broker = bool(settings.amqp_url.get_secret_value())
    broker = Broker(settings.amqp_url, settings.amqp_users, jobs, partial(organisations, db), traces)
    collectors = make_collectors(db, settings)
    watchers = Watchers(db)
    tokens, runs = Tokens(db), Runs(db, collectors, catalogue)
    tickets = Tickets(db, tokens)
    live = Live(runs, watchers, tickets, metrics)
    drivers = Drivers(db, jobs, collectors)
    workers = Workers(db, jobs, collectors, settings.shutdown_timeout_seconds)
    identity = Identity(db, vault, settings, partial(organisations, db), outlet)
    elsewhere = counter.pool.states if isinstance(counter.pool, MongoPool) else None
    publisher = artifacts.Artifacts(db, settings, metrics, elsewhere)
    leases = Leases(
        {
            Kind.ACCOUNT: AccountHolder(accounts),
            Kind.SEED: seeds.leases,
            Kind.CAPTURE: handoff.leases,
            Kind.TASK: jobs.leases,
        }
    )
    jobs.marks.revoke = leases.revoke_jobs
    bound.refusal, bound.end = jobs.marks.refusal, jobs.marks.over
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
        await jobs.marks.reap(everybody)
        await sessions.sweep(everybody)

    async def write() -> None:
        await jobs.writing.step([organisation for organisation, _slug in await organisations(db)])

    async def tick() -> None:
        for room in rooms:
            await room.tick()

    async def measure() -> None:
        await captures.measure([organisation for organisation, _slug in await organisations(db)])

    async def measure_jobs() -> None:
        await measuring.measure([organisation for organisation, _slug in await organisations(db)])

    async def measure_books() -> None:
        await measuring.measure_books([organisation for organisation, _slug in await organisations(db)])

    async def send_alerts() -> None:
        await alerts.step(await organisations(db))

    async def sweep_blobs() -> None:
        for organisation, _slug in await organisations(db):
            metrics.blobs_swept.inc(await sweep(db, blobs, organisation))
        await asyncio.to_thread(blobs.clear)

    background.add("sweep-idempotency-keys", sweep_keys, _SWEEP_EVERY_S, Duty.REAPER)
    background.add("sweep-blobs", sweep_blobs, _SWEEP_EVERY_S, Duty.REAPER)
    background.add("seal-audit", seal_audit, _SEAL_EVERY_S, Duty.REAPER)
    background.add("reaper", reap, _REAP_EVERY_S, Duty.REAPER)
    background.add("waiters", tick, TICK_S)
    background.add("wake-ups", ear.listen, 0.0)
    background.add("platforms", catalogue.look, LOOK_EVERY_S)
    background.add("measure-captures", measure, _MEASURE_EVERY_S)
    background.add("measure-jobs", measure_jobs, MEASURE_EVERY_S)
    background.add("measure-books", measure_books, BOOKS_EVERY_S)
    background.add("alerts", send_alerts, ALERTS_EVERY_S if alerts.is_on else ALERTS_SWEEP_EVERY_S)
    background.add("writer", write, WRITE_EVERY_S, Duty.WRITER)
    background.add("watchers", watchers.listen, 0.0)
    background.add("live", live.check, CHECK_EVERY_S)
    background.add("sweep-tickets", tickets.sweep, TICKETS_EVERY_S, Duty.REAPER)
    background.add("runs", drivers.look, RUNS_EVERY_S, Duty.RUNS)
    identity.add_to(background)
    publisher.add_to(background)
    background.add("collectors", workers.look, WORK_EVERY_S, Duty.COLLECTORS)
    if data_writer is not None:
        background.add("data-writer", data_writer.step, 0.0, Duty.DATA_WRITER)
    if jobs.has_broker:
        broker.add_to(background)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        insist(app.routes, ui.PAGES)
        await db.open()
        await stores.insist(settings, db)
        await clock.begin()
        await counter.pool.open()
        await drawer.open()
        await writers.open()
        if data_writer is not None:
            await data_writer.open()
        background.start()
        try:
            yield
        finally:
            await workers.close()  # before the rooms: they ask again and again
            await drivers.close()
            await identity.close()
            for room in rooms:
                room.close()
            watchers.call_all()
            await live.close()
            await counter.drain()
            await seeds.counter.drain()
            await handoff.counter.drain()
            await jobs.counter.drain()
            await background.stop()
            await collectors.aclose()
            await watchers.close()
            await broker.close()
            await ear.close()
            for room in rooms:
                await room.leave_all()
            if data_writer is not None:
                await data_writer.close()
            await writers.close()
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
        telemetry=tracing.FRAMEWORK_OFF,
    )
    app.state.settings = settings
    app.state.metrics = metrics
    app.state.db, app.state.traces = db, traces
    app.state.background = background
    app.state.health = Health(db, background)
    app.state.tokens = tokens
    app.state.rooms = rooms
    app.state.accounts = accounts
    app.state.seeds = seeds
    app.state.leases = leases
    app.state.jobs = jobs
    app.state.measuring = measuring
    app.state.alerts = alerts
    app.state.runs = runs
    app.state.overview = Overview(db, accounts, seeds)
    app.state.tickets = tickets
    app.state.live = live
    app.state.watchers = watchers
    app.state.entities = identity.entities
    app.state.sources = identity.sources
    app.state.artifacts = publisher
    app.state.replays = Replays(db, jobs)
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
        replay_routes,
        run_routes,
        live_routes,
        overview_routes,
        review_routes,
        entity_routes,
        sources.routes,
        site_routes,
        health_routes,
        metrics_routes(settings.metrics_public),
        token_routes,
        audit_routes,
        artifacts.routes,
    )
    # Not by include_router: it would make every route once more for this app, a tenth of a second in its first request.
    for router in routers:
        app.router.routes.extend(router.routes)
    ui.install(app)
    openapi.install(app)
    problems.install(app, app.routes)
    return app


async def organisations(db: Database) -> list[tuple[UUID, str]]:
    """Everybody's id and slug, for what is done for each in turn."""
    async with db.system() as conn:
        return await audit.organisations(conn)


def edged(app: FastAPI) -> ASGIApp:
    """The app as it is served: behind the edge that counts, limits and answers crashes, and the fast lane."""
    settings: Settings = app.state.settings
    lanes = FastLane(app, [*lease_lanes(), *account_lanes()])
    larger = {("POST", UPLOAD): settings.capture_limit_bytes}
    return Edge(lanes, app.state.metrics, settings.body_limit_bytes, larger, app.state.traces)
