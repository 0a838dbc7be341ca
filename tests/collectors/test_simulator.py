"""`leasehold simulate providers`: a process that answers as the providers do, counts, fails on command, and stops."""

import base64
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.parts.process import PATIENCE_S, Leasehold, Place, place, until

TOYS = {"source": "amazon_search", "query": "toys", "parse": True}


@pytest.fixture(scope="module")
def simulator() -> Iterator[tuple[Leasehold, httpx.Client]]:
    with place() as here:
        process = here.start("simulate", "providers", "--port", "0", "--items", "30", "--missing-every", "15")
        until(lambda: "Ctrl-C stops it." in process.out or process.process.poll() is not None)
        found = re.search(r"Simulated providers at (http://127\.0\.0\.1:\d+), 30 products", process.out)
        assert found, process.err
        with httpx.Client(base_url=found[1], trust_env=False, timeout=PATIENCE_S) as client:
            yield process, client


@pytest.fixture
def client(simulator: tuple[Leasehold, httpx.Client]) -> httpx.Client:
    client = simulator[1]
    for provider in ("oxylabs", "ebay"):
        client.put("/control", json={"provider": provider, "mode": "ok"}).raise_for_status()
    assert client.delete("/control/requests").status_code == 204
    return client


def query(client: httpx.Client, **more: object) -> httpx.Response:
    return client.post("/oxylabs/v1/queries", json={**TOYS, **more}, auth=("any", "any"))


def token(client: httpx.Client) -> httpx.Response:
    form = {"grant_type": "client_credentials", "scope": "https://api.ebay.com/oauth/api_scope"}
    return client.post("/ebay/identity/v1/oauth2/token", data=form, auth=("any", "any"))


def search(client: httpx.Client, bearer: str, **params: object) -> httpx.Response:
    asked = {"q": "lamp", **{name: str(value) for name, value in params.items()}}
    headers = {"Authorization": f"Bearer {bearer}"}
    return client.get("/ebay/buy/browse/v1/item_summary/search", params=asked, headers=headers)


def test_every_paid_request_is_counted_by_item(client: httpx.Client) -> None:
    page = query(client, start_page=2).json()["results"][0]
    asin = page["content"]["results"]["organic"][0]["asin"]
    for _ in range(2):
        product = query(client, source="amazon_product", query=asin).json()
    bearer = token(client).json()["access_token"]
    search(client, bearer)
    search(client, "wrong")
    client.post("/oxylabs/v1/queries", json=TOYS)

    assert client.get("/control/requests").json() == {
        "total": 4,
        "oxylabs": {"search:toys:2": 1, asin: 2},
        "ebay": {"lamp": 1},
    }
    assert (product["results"][0]["status_code"], product["job"]["source"]) == (200, "amazon_product")
    assert product["results"][0]["content"]["asin"] == asin


def test_pages_end_where_the_products_do(client: httpx.Client) -> None:
    pages = query(client, pages=3).json()["results"]

    assert [len(page["content"]["results"]["organic"]) for page in pages] == [20, 10, 0]
    assert {page["content"]["last_visible_page"] for page in pages} == {2}


def test_some_products_are_listed_and_do_not_exist(client: httpx.Client) -> None:
    organic = query(client).json()["results"][0]["content"]["results"]["organic"]

    statuses = [
        query(client, source="amazon_product", query=organic[place]["asin"]).json()["results"][0]["status_code"]
        for place in (13, 14)
    ]
    assert statuses == [200, 404]


@pytest.mark.parametrize("given", [None, "Basic", "Basic " + base64.b64encode(b"user:").decode(), "Basic %%%"])
def test_credentials_must_be_there(client: httpx.Client, given: str | None) -> None:
    headers = {"Authorization": given} if given else {}

    oxylabs = client.post("/oxylabs/v1/queries", json=TOYS, headers=headers)
    ebay = client.post("/ebay/identity/v1/oauth2/token", data={"grant_type": "client_credentials"}, headers=headers)

    assert (oxylabs.status_code, list(oxylabs.json())) == (401, ["message"])
    assert (ebay.status_code, ebay.json()["error"]) == (401, "invalid_client")


def test_a_wrong_bearer_is_refused_in_ebays_own_words(client: httpx.Client) -> None:
    answer = search(client, "never-given")

    assert answer.status_code == 401
    assert answer.json()["errors"][0]["errorId"] == 1001


@pytest.mark.parametrize(("mode", "status", "retry_after"), [("down", 503, None), ("rate_limited", 429, "2")])
def test_each_provider_fails_on_command_and_alone(
    client: httpx.Client, mode: str, status: int, retry_after: str | None
) -> None:
    bearer = token(client).json()["access_token"]
    told = client.put("/control", json={"provider": "ebay", "mode": mode})

    answer = search(client, bearer)

    assert (told.status_code, told.json()) == (200, {"oxylabs": "ok", "ebay": mode})
    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, retry_after)
    assert "errors" in answer.json()
    assert (token(client).status_code, query(client).status_code) == (status, 200)
    client.put("/control", json={"provider": "oxylabs", "mode": mode})
    assert (query(client).status_code, list(query(client).json())) == (status, ["message"])


def test_what_is_held_is_answered_as_the_next_mode_says(client: httpx.Client) -> None:
    client.put("/control", json={"provider": "oxylabs", "mode": "hold"}).raise_for_status()
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(query, client)
        with pytest.raises(TimeoutError):
            held.result(1)
        client.put("/control", json={"provider": "oxylabs", "mode": "down"})

        assert held.result(PATIENCE_S).status_code == 503
    assert client.get("/control/requests").json()["total"] == 0


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"provider": "moon", "mode": "ok"}', b'{"provider": "ebay", "mode": 1}']
)
def test_a_command_that_cannot_be_read_changes_nothing(client: httpx.Client, body: bytes) -> None:
    answer = client.put("/control", content=body)

    assert (answer.status_code, client.get("/control").json()) == (422, {"oxylabs": "ok", "ebay": "ok"})
    assert "oxylabs|ebay" in answer.json()["detail"]


def test_what_makes_no_sense_is_refused(client: httpx.Client) -> None:
    bearer = token(client).json()["access_token"]

    assert [query(client, **odd).status_code for odd in ({"source": "moon"}, {"pages": 21}, {"query": ""})] == [400] * 3
    assert query(client, parse=False).status_code == 422
    assert [search(client, bearer, **odd).status_code for odd in ({"limit": 0}, {"limit": "x"}, {"q": ""})] == [400] * 3
    assert client.get("/control/requests").json()["total"] == 0


def test_ctrl_c_stops_it_and_a_port_that_is_taken_is_said(
    simulator: tuple[Leasehold, httpx.Client], here: Place
) -> None:
    process, client = simulator
    port = client.base_url.port

    refused = here.run("simulate", "providers", "--port", str(port))
    code = process.end()

    assert (refused.code, f"Cannot listen on port {port}" in refused.err) == (2, True)
    assert (code, process.err) == (0, "")
