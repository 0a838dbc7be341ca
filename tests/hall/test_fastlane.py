"""The calls that come most are answered on a lane of their own, just as the framework would answer them."""

import httpx
import pytest

from leasehold.auth import Role
from leasehold.edge import Edge
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase

LEASE = "/v2/leases/lease_" + "0" * 31 + "1"
JSON_TYPE = {"Content-Type": "application/json"}
CALLS = ["/v2/accounts/acquire", f"{LEASE}/heartbeat", f"{LEASE}/release"]


def told(answer: httpx.Response) -> tuple[int, object]:
    body = answer.json()
    return answer.status_code, {name: value for name, value in body.items() if name != "request_id"}


@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize(
    "how",
    [
        {"content": b""},
        {"content": b"{", "headers": {"Content-Type": "application/json"}},
        {"content": b"{}", "headers": {"Content-Type": "text/plain"}},
        {"json": []},
        {"json": {"strange": 1}},
        {"json": {"outcome": 7, "site": 7, "ttl_seconds": "x"}},
        {"json": {}, "headers": {"Idempotency-Key": "with space"}},
        {"json": {}, "params": {"strange": "1"}},
    ],
)
async def test_what_is_unusual_is_refused_as_everywhere(home: House, path: str, how: dict[str, object]) -> None:
    token = await home.token()

    lane, framework = await both(home, token, path, how)

    assert told(lane) == told(framework)


async def both(home: House, token: str, path: str, how: dict[str, object]) -> tuple[httpx.Response, httpx.Response]:
    """The answer by the lane, and by the framework alone."""
    edge = Edge(home.app, home.app.state.metrics, home.app.state.settings.body_limit_bytes)
    transport = httpx.ASGITransport(app=edge, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://leasehold", headers=headers) as framework:
        return await home.client(token).post(path, **how), await framework.post(path, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", CALLS)
async def test_who_may_not_is_refused_as_everywhere(home: House, path: str) -> None:
    body = {"outcome": "ok"} if path.endswith("release") else {}
    for token in ("nonsense", await home.token(Role.PRODUCER)):
        lane, framework = await both(home, token, path, {"json": body})

        assert told(lane) == told(framework)
        assert lane.status_code in (401, 403, 422)


@pytest.mark.parametrize("path", CALLS)
async def test_a_body_that_is_too_large_is_answered(database: TestDatabase, path: str) -> None:
    async with house(database, body_limit_bytes=2000) as home:
        answer = await home.client(await home.token()).post(path, content=b" " * 3000, headers=JSON_TYPE)

    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/body-too-large")


async def test_calls_on_the_lane_are_counted_under_their_route(home: House) -> None:
    await home.client(await home.token()).post(f"{LEASE}/heartbeat", json={})

    text = home.app.state.metrics.text().decode()

    assert 'route="/v2/leases/{lease_id}/heartbeat",status="404"' in text


@pytest.mark.parametrize("path", CALLS)
async def test_a_database_that_is_gone_is_told_as_everywhere(home: House, path: str) -> None:
    token = await home.token()
    await home.app.state.db.pool.close()

    lane, framework = await both(home, token, path, {"json": {"outcome": "ok"} if path.endswith("release") else {}})

    assert told(lane) == told(framework)
    assert lane.status_code == 503
