"""Alive is not ready: /healthz touches nothing, /readyz tries everything."""

from tests.parts.house import House


async def test_health_needs_no_database(home: House) -> None:
    await home.app.state.db.close()

    answer = await home.client().get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_a_probe_may_ask_in_words_of_its_own(home: House) -> None:
    assert (await home.client().get("/healthz?probe=1")).status_code == 200


async def test_ready_is_ready(home: House) -> None:
    answer = await home.client().get("/readyz")

    assert answer.status_code == 200
    assert set(answer.json()["checks"].values()) == {"ok"}


async def test_a_database_that_takes_no_write_is_not_ready(home: House) -> None:
    home.database.run("REVOKE UPDATE ON readiness FROM leasehold_system")
    try:
        answer = await home.client().get("/readyz")
    finally:
        home.database.run("GRANT UPDATE ON readiness TO leasehold_system")

    assert answer.status_code == 503
    assert answer.json()["type"] == "/problems/unavailable"
    assert answer.json()["checks"]["database"] == "no write"


async def test_a_missing_migration_is_not_ready(home: House) -> None:
    home.database.run("UPDATE schema_mark SET name = 'x' WHERE name = '0002_sites'")
    try:
        answer = await home.client().get("/readyz")
    finally:
        home.database.run("UPDATE schema_mark SET name = '0002_sites' WHERE name = 'x'")

    assert answer.status_code == 503
    assert answer.json()["checks"]["migrations"] == "1 missing"


async def test_a_stopping_server_is_not_ready(home: House) -> None:
    home.app.state.health.is_draining = True

    assert (await home.client().get("/readyz")).status_code == 503
