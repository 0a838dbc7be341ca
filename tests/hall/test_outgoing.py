"""Whom the product calls, and who says so: a table of every file that can, and what hostile services get out of it."""

import ast
import asyncio
import json
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from PIL import Image

import leasehold
from leasehold.collectors import CollectorError, ItemRefused, Oxylabs, ProviderDown
from leasehold.faces import ImageRefused
from leasehold.faces.fetching import Fetcher
from leasehold.settings import Settings
from leasehold.sources.models import FetchError, Rejected, Unavailable
from leasehold.sources.wire import Limits, Wire
from tests.auth.test_matrix import DOCUMENT
from tests.parts.faces import png
from tests.parts.house import house
from tests.parts.postgres import TestDatabase
from tests.parts.providers import access
from tests.parts.uploads import upload
from tests.parts.upstream import ENOUGH_BYTES, Manner, Upstream, upstream

SOURCE = Path(leasehold.__file__).parent

# What can reach another machine, by the name it is imported by, and what makes a connection with a driver. PostgreSQL
# is left out: there is one address of it, and everything has it.
LIBRARIES = (
    "aio_pika",
    "aiohttp",
    "fsspec",
    "ftplib",
    "grpc",
    "http.client",
    "httpx",
    "opentelemetry",
    "redis",
    "requests",
    "smtplib",
    "socket",
    "urllib.request",
    "urllib3",
    "websockets",
)
CONNECTS = ("AsyncMongoClient", "MongoClient", "open_connection", "create_connection", "urlopen")

# Who says where to. A name in small letters is a setting, which the operator alone can change.
STRANGERS = "whoever wrote what was collected"  # every address is looked at before it is called
CALLER = "whoever runs the command or the SDK, on a machine of their own"
VARIABLES = "OpenTelemetry's own variables"
OURSELVES = "nobody: only what this very process, or the demo around it, listens on"
NOWHERE = "nobody: it takes connections, or only reads what others fetched"
WHO = {
    "accounts/mongo_shelf.py": "mongo_url",
    "alerts/checks.py": "alert_url",
    "alerts/service.py": "alert_url",
    "amqp/": "amqp_url",
    "artifacts/remote.py": "artifact_url",
    "captures/remote.py": "blob_url",
    "cli_platforms.py": CALLER,
    "cli_runs.py": CALLER,
    "client/": CALLER,
    "collectors/ebay_api.py": "ebay_url",
    "collectors/wire.py": "oxylabs_url ebay_url",
    "demo/": OURSELVES,
    "faces/fetching.py": STRANGERS,
    "legacy/source.py": CALLER,
    "life.py": NOWHERE,
    "live/feed.py": NOWHERE,
    "server.py": NOWHERE,
    "simulate/": NOWHERE,
    "sources/wire.py": "sources_dir",
    "theirtime.py": NOWHERE,
    "theirwords.py": NOWHERE,
    "tracing.py": VARIABLES,
    "writers/checks.py": "redis_url",
    "writers/stream.py": "redis_url",
}
SETTINGS = {name for who in WHO.values() for name in who.split() if who[0].islower() and name in Settings.model_fields}

# Everything in a request that could be an address, and why nobody is called by it. `images` are for faces alone.
ADDRESSES = {
    "GET /v2/captures url": "compared",
    "POST /v2/captures meta.url": "kept",
    "POST /v2/entities/records items.images": "looked at by faces/fetching.py, where faces are switched on",
    "POST /v2/entities/records items.urls": "compared",
    "POST /v2/seeds items.url": "handed to collectors",
    "POST /v2/sites domain": "handed to collectors",
    "POST /v2/sites domain.host": "handed to collectors",
    "POST /v2/sites domain.subdomains": "a switch",
    "POST /v2/sites/rewrite urls": "rewritten",
    "POST /v2/sites/{slug}/moves to": "handed to collectors",
    "POST /v2/sites/{slug}/moves to.host": "handed to collectors",
    "POST /v2/sites/{slug}/moves to.subdomains": "a switch",
    "POST /v2/sites/{slug}/moves urls": "rewritten",
}
LIKE_AN_ADDRESS = re.compile(
    r"ur[il]|host|domain|proxy|hook|callback|endpoint|address|href|link|image|redirect|server|^to$"
)


def reaches(file: Path) -> bool:
    """Whether a file imports what can call somebody, or makes a connection with a driver."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in CONNECTS:
                return True
        if any(name == library or name.startswith(f"{library}.") for name in names for library in LIBRARIES):
            return True
    return False


def line_of(file: Path) -> str | None:
    name = file.relative_to(SOURCE).as_posix()
    return next((line for line in WHO if line == name or (line.endswith("/") and name.startswith(line))), None)


def test_every_file_that_can_call_somebody_says_who_tells_it_whom() -> None:
    able = [file for file in sorted(SOURCE.rglob("*.py")) if reaches(file)]

    assert [file.relative_to(SOURCE).as_posix() for file in able if line_of(file) is None] == [], (
        "it can reach other machines: add it to WHO, and see to it that no stranger says where to"
    )
    assert {line_of(file) for file in able} == set(WHO), "nothing of this name reaches anybody any more"


def fields(schema: dict[str, Any], path: str = "", within: tuple[str, ...] = ()) -> Iterator[str]:
    """The name of everything in a schema, with dots between."""
    if reference := schema.get("$ref"):
        if reference not in within:
            yield from fields(DOCUMENT["components"]["schemas"][reference.split("/")[-1]], path, (*within, reference))
        return
    parts = [part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word, [])]
    for part in [*parts, *([schema["items"]] if isinstance(schema.get("items"), dict) else [])]:
        yield from fields(part, path, within)
    for name, inner in schema.get("properties", {}).items():
        yield f"{path}{name}"
        yield from fields(inner, f"{path}{name}.", within)


def asked() -> Iterator[tuple[str, str]]:
    """Every operation, and each parameter and field that it takes."""
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            label = f"{method.upper()} {path}"
            yield from ((label, one["name"]) for one in operation.get("parameters", []))
            for content in operation.get("requestBody", {}).get("content", {}).values():
                yield from ((label, name) for name in fields(content["schema"]))


def test_whom_the_product_calls_is_set_by_the_operator_alone() -> None:
    taken = set(asked())

    assert {"alert_url", "blob_url", "sources_dir", "oxylabs_url"} <= SETTINGS
    assert {name.rpartition(".")[2] for _, name in taken}.isdisjoint(SETTINGS), "a request can say whom we call"
    found = {f"{label} {name}" for label, name in taken if LIKE_AN_ADDRESS.search(name.rpartition(".")[2])}
    assert found == set(ADDRESSES), "a request takes an address: say in ADDRESSES what becomes of it"


async def test_no_address_in_a_request_is_called(database: TestDatabase) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as trap:
        trap.setblocking(False)
        port = trap.getsockname()[1]
        there = f"http://localhost:{port}/x"
        async with house(database, allow_special_hosts=True) as home:
            client = await home.caller()
            domain = {"host": "localhost", "port": port}
            await done(client.post("/v2/sites", json={"slug": "board", "domain": domain}))
            await done(client.post("/v2/seeds", json={"items": [{"site": "board", "url": there}]}))
            await done(client.post("/v2/sites/rewrite", json={"urls": [there]}))
            await done(client.post("/v2/sites/board/moves", json={"to": domain | {"port": port}, "urls": [there]}), 409)
            await upload(client, {"a": b"1"}, url=there)
            record = {"source": "x", "source_id": "1", "kind": "performer", "name": "Ann", "images": [there]}
            batch = await done(client.post("/v2/entities/records", json={"items": [record | {"urls": {"x": [there]}}]}))
            async with asyncio.timeout(60):
                while (await done(client.get(f"/v2/entities/batches/{batch['batch']}")))["done_at"] is None:
                    await asyncio.sleep(0.02)

        with pytest.raises(BlockingIOError):
            trap.accept()


async def done(asking: Awaitable[httpx.Response], or_else: int = 200) -> Any:
    answer = await asking
    assert answer.is_success or answer.status_code == or_else, answer.text
    return answer.json()


PICTURE = png(Image.new("RGB", (40, 40)))
PRODUCT = {"results": [{"content": {"title": "Lamp", "parse_status_code": 12000}, "status_code": 200}]}
Asks = Callable[[], Awaitable[Any]]


async def fetch_picture(there: Upstream) -> tuple[Asks, Callable[[], Awaitable[None]]]:
    there.content, there.content_type = PICTURE, "image/png"
    fetcher = Fetcher(allow_private=True)
    return lambda: fetcher.fetch(f"{there.url}/face.png"), fetcher.close


async def ask_provider(there: Upstream) -> tuple[Asks, Callable[[], Awaitable[None]]]:
    there.content = json.dumps(PRODUCT).encode()
    provider = Oxylabs(access(there.url))
    return lambda: provider.product("B000000001", "com"), provider.aclose


async def ask_source(there: Upstream) -> tuple[Asks, Callable[[], Awaitable[None]]]:
    wire = Wire("box", there.url, {}, "LHCANARY", Limits(30.0, 32 * 1024 * 1024))
    return lambda: wire.ask("GET", "/x"), wire.aclose


HOSTILE = [manner for manner in Manner if manner is not Manner.GOOD]
REFUSALS: dict[Callable[..., Any], dict[Manner, type[Exception]]] = {
    fetch_picture: dict.fromkeys(HOSTILE, ImageRefused),
    ask_provider: dict.fromkeys(HOSTILE, ProviderDown)
    | dict.fromkeys((Manner.ENDLESS_BODY, Manner.PACKED, Manner.PACKED_TWICE), ItemRefused),
    ask_source: dict.fromkeys(HOSTILE, Unavailable)
    | dict.fromkeys((Manner.ENDLESS_BODY, Manner.PACKED, Manner.PACKED_TWICE, Manner.AWAY), Rejected),
}


@pytest.mark.parametrize("made", REFUSALS, ids=lambda made: made.__name__)
async def test_whoever_answers_badly_is_refused_and_the_next_answer_is_read(
    made: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.faces.fetching._AGAIN_AFTER_S", ())
    with upstream() as there, upstream() as inside:
        there.location = f"file:///etc/passwd?{inside.port}" if made is fetch_picture else f"{inside.url}/latest"
        ask, close = await made(there)
        before = psutil.Process().memory_info().rss
        for manner, refusal in REFUSALS[made].items():
            there.manner, there.sent_bytes = manner, 0

            with pytest.raises((ImageRefused, CollectorError, FetchError)) as refused:
                await ask()

            assert isinstance(refused.value, refusal), (manner, refused.value)
            assert there.url not in str(refused.value)
            if manner is Manner.PACKED_TWICE and made is not fetch_picture:  # before any of it is unpacked
                assert "packed in a way" in str(refused.value)
            assert there.sent_bytes < ENOUGH_BYTES // 4, f"{manner} was read on and on"
        there.manner = Manner.GOOD
        assert await ask()
        await close()

    assert inside.asked == 0
    assert there.asked == len(HOSTILE) + 1
    assert psutil.Process().memory_info().rss - before < 300 * 1024 * 1024


# Spellings of addresses inside, as they come in what strangers write. None of them leads anywhere.
INSIDE = (
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "017700000001",
    "2130706433",
    "0",
    "0.0.0.0",  # noqa: S104
    "localhost",
    "localhost.",
    "LOCALHOST",
    "127.0.0.1.",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "10.0.0.1",
    "0xa9fea9fe",
    "169.254.169.254",
    "2852039166",
    "192.168.1.1",
    "100.100.100.200",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:7f00:1::]",
    "[fe80::1%25lo]",
    "[fd00:ec2::254]",
    "user@127.0.0.1",
    "1.1.1.1@127.0.0.1",
    "1.1.1.1:80@127.0.0.1",
    "1.1.1.1%40127.0.0.1@127.0.0.1",
    "127.0.0.1\\@1.1.1.1",
    "127.0.0.1%00.example",
    "127.0.0.1\t",
)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_no_spelling_of_an_address_inside_leads_there(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leasehold.faces.fetching._AGAIN_AFTER_S", ())
    led: list[object] = []
    connect = socket.socket.connect

    def noted(self: socket.socket, to: Any) -> None:
        led.append(to)
        connect(self, to)

    monkeypatch.setattr(socket.socket, "connect", noted)
    async with Fetcher() as fetcher:
        for host in INSIDE:
            with pytest.raises(ImageRefused) as refused:
                await fetcher.fetch(f"{scheme}://{host}/latest/meta-data")

            assert refused.value.reason in ("address", "no-url", "unknown-host"), host
        fetcher._allow_private = True
        with suppress(ImageRefused):  # whoever has these ports here
            await fetcher.fetch(f"{scheme}://127.0.0.1/")
    # What the resolver asks on its way is not looked at.
    ways = [to for to in led if isinstance(to, tuple) and to[1] in (80, 443)]
    assert [to[0] for to in ways] == ["127.0.0.1"], "and that one was let through"
