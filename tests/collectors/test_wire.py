"""What strange answers of a provider mean, and that nothing secret gets into what is said of them."""

import json
import threading
import time
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from leasehold.collectors import (
    Amazon,
    BadCredentials,
    CollectorError,
    EbayApi,
    ItemRefused,
    Listing,
    Oxylabs,
    ProviderDown,
    RateLimited,
    read_collector,
    read_prices,
)
from tests.parts.providers import SECRET, access

DATE = "Mon, 01 Jun 2026 12:00:00 GMT"
GOOD = b'{"results": [{"content": {"title": "Lamp", "parse_status_code": 12000}, "status_code": 200}]}'


@dataclass
class Oddity:
    """A provider that answers whatever a test wants."""

    address: str = ""
    status: int = 200
    body: bytes = GOOD
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    drips: bool = False  # a byte now, a byte then


@pytest.fixture(scope="module")
def _oddity() -> Iterator[Oddity]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            made.asked.append((self.command, self.path))
            self.send_response_only(made.status, "")  # a status that no library knows is one of theirs
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # nobody waits any more
                for piece in [made.body] if not made.drips else [bytes([byte]) for byte in made.body[:20]]:
                    self.wfile.write(piece)
                    time.sleep(0.05 * made.drips)

        do_GET = do_POST  # noqa: N815

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Oddity(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        server.shutdown()
        thread.join()


@pytest.fixture
def oddity(_oddity: Oddity) -> Oddity:
    _oddity.__init__(_oddity.address)  # type: ignore[misc]
    return _oddity


@pytest.fixture
async def amazon(oddity: Oddity) -> AsyncIterator[Amazon]:
    made = Amazon(read_collector("amazon", None), read_prices(None), Oxylabs(access(oddity.address)))
    yield made
    await made.aclose()


async def failure(amazon: Amazon) -> CollectorError:
    with pytest.raises(CollectorError) as raised:
        await amazon.collect({"asin": "B000000001"})
    return raised.value


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (204, ProviderDown, "provider_down"),
        (302, ProviderDown, "provider_down"),
        (400, ItemRefused, "refused"),
        (401, BadCredentials, "bad_credentials"),
        (402, BadCredentials, "bad_credentials"),
        (403, BadCredentials, "bad_credentials"),
        (404, ItemRefused, "not_found"),
        (422, ItemRefused, "refused"),
        (429, RateLimited, "rate_limited"),
        (500, ProviderDown, "provider_down"),
        (524, ProviderDown, "provider_down"),
        (613, ItemRefused, "faulted"),
    ],
)
async def test_a_status_is_an_outage_a_refusal_or_the_items_own(
    amazon: Amazon, oddity: Oddity, status: int, kind: type[CollectorError], code: str
) -> None:
    oddity.status, oddity.body, oddity.headers = status, b"", {"Location": "/elsewhere"}

    error = await failure(amazon)

    assert (type(error), error.code, error.cost_micros) == (kind, code, 0)
    assert oddity.asked == [("POST", "/v1/queries")], "a redirect would carry credentials elsewhere"


@pytest.mark.parametrize(
    ("body", "code", "cost"),
    [
        (b"<html>", "unparsable", 0),
        (b"[]", "unparsable", 0),
        (b'{"results": []}', "unparsable", 0),
        (b'{"results": [{"content": "", "status_code": 613}]}', "faulted", 0),
        (b'{"results": [{"content": "", "status_code": 404}]}', "not_found", 500),
        (b'{"results": [{"content": "<html>", "status_code": 200}]}', "unparsable", 500),
        (
            b'{"results": [{"content": {"title": "A", "parse_status_code": 12002}, "status_code": 200}]}',
            "unparsable",
            500,
        ),
        (b'{"results": [{"content": {"price": 1}, "status_code": 200}]}', "unparsable", 500),
    ],
)
async def test_an_answer_that_holds_no_product_is_about_the_item_and_a_page_is_paid_for(
    amazon: Amazon, oddity: Oddity, body: bytes, code: str, cost: int
) -> None:
    oddity.body = body

    error = await failure(amazon)

    assert (type(error), error.code, error.cost_micros) == (ItemRefused, code, cost)


@pytest.mark.parametrize(
    "body",
    [
        b'{"results": [{"content": {"results": {"organic": []}}, "status_code": 200}]}',
        b'{"results": [{"content": "", "status_code": 404}]}',
    ],
)
async def test_a_page_with_nothing_on_it_is_the_end_however_many_there_should_be(
    amazon: Amazon, oddity: Oddity, body: bytes
) -> None:
    oddity.body = body

    assert await amazon.list("toys", "2:20") == Listing([], None, None, 500)


async def test_what_is_no_asin_is_not_listed(amazon: Amazon, oddity: Oddity) -> None:
    asins = ["B000000001", "b000000002", "B1", "B000000003\n", None, 7, "B000000004", "B000000001"]
    content = {"results": {"organic": [{"asin": asin} for asin in asins]}}
    oddity.body = json.dumps({"results": [{"content": content, "status_code": 200}]}).encode()

    found = await amazon.list("toys", None)

    assert [wish.external_id for wish in found.wishes] == ["B000000001", "B000000004"]


async def test_a_page_of_a_search_that_cannot_be_read_is_no_end(amazon: Amazon, oddity: Oddity) -> None:
    for content in (b'"<html>"', b'{"results": {"organic": 5}}'):
        oddity.body = b'{"results": [{"content": ' + content + b', "status_code": 200}]}'

        with pytest.raises(ItemRefused, match="cannot be read") as refused:
            await amazon.list("toys", None)

        assert (refused.value.code, refused.value.cost_micros) == ("unparsable", 500)


async def test_an_answer_that_drips_is_not_waited_for_to_its_end(oddity: Oddity) -> None:
    oddity.drips = True
    amazon = Amazon(read_collector("amazon", None), read_prices(None), Oxylabs(access(oddity.address), 0.3))

    with pytest.raises(ProviderDown, match=r"oxylabs did not answer within 0\.3 seconds"):
        await amazon.collect({"asin": "B000000001"})

    await amazon.aclose()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "Mon, 01 Jun 2026 12:01:30 GMT", "Date": DATE}, 90.0),
        ({"Retry-After": "Mon, 01 Jun 2026 11:00:00 GMT", "Date": DATE}, 0.0),
        ({"Retry-After": "soon"}, 30.0),
        ({"Retry-After": "-5"}, 30.0),
        ({"Retry-After": "99999999999"}, 86_400.0),
        ({}, 30.0),
    ],
)
async def test_when_to_come_again_is_said_in_seconds_or_as_a_date(
    amazon: Amazon, oddity: Oddity, headers: dict[str, str], seconds: float
) -> None:
    oddity.status, oddity.headers = 429, headers

    error = await failure(amazon)

    assert isinstance(error, RateLimited)
    assert error.retry_after_seconds == seconds


async def test_a_call_costs_what_it_does_on_the_providers_day(amazon: Amazon, oddity: Oddity) -> None:
    oddity.headers = {"Date": DATE}

    assert (await amazon.collect({"asin": "B000000001"})).cost_micros == 500


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 429, 500, 613])
async def test_no_error_names_a_secret_even_if_the_provider_does(
    amazon: Amazon, oddity: Oddity, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    oddity.status, oddity.body = status, f'{{"message": "No, user:{SECRET} may not."}}'.encode()

    error = await failure(amazon)

    said = "".join(traceback.format_exception(error)) + repr(error) + str(error) + caplog.text
    assert SECRET not in said
    assert "[hidden] may not" in str(error)


async def test_no_error_of_ebay_names_a_secret(oddity: Oddity, caplog: pytest.LogCaptureFixture) -> None:
    api = EbayApi(access(oddity.address), "EBAY_US")
    told: list[Any] = []
    for status in (400, 401, 429, 500):
        oddity.status, oddity.body = status, f'{{"error": "x", "error_description": "{SECRET}"}}'.encode()
        with pytest.raises(CollectorError) as raised:
            await api.search("lamp", limit=5)
        told += traceback.format_exception(raised.value)
    oddity.status, oddity.body = 200, b'{"access_token": 5}'
    with pytest.raises(ProviderDown, match="token that ebay gave cannot be read") as unread:
        await api.search("lamp", limit=5)
    await api.aclose()

    assert SECRET not in "".join([*told, *traceback.format_exception(unread.value), caplog.text])


async def test_proxies_of_this_machine_are_not_used(oddity: Oddity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    amazon = Amazon(read_collector("amazon", None), read_prices(None), Oxylabs(access(oddity.address)))

    assert (await amazon.collect({"asin": "B000000001"})).documents
    await amazon.aclose()
