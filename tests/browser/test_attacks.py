"""A page of another origin, in the browser of an operator who is signed in: it changes nothing and reads nothing.

What the hostile page tries is tried on a page of the server, too, and works there: it is the origin that makes the
difference, and neither the browser nor a mistake in the attack.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.parts.hostile import hostile_page
from tests.parts.operator import ask, sign_in, site
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOKEN = "sessionStorage.getItem('leasehold.token')"
WISHES = (
    ("POST", "/v2/sites", '{"slug": "stolen", "domain": "stolen.example"}'),
    ("POST", "/v2/tokens", '{"name": "thief", "role": "admin"}'),
    ("POST", "/v2/sites/board/pause", '{"reason": "stolen"}'),
    ("POST", "/v2/live/tickets", None),
    ("DELETE", "/v2/sites/board", None),
)

# What a page is told of an answer: its status and its text, or that it may not know.
FETCH = """async ([url, how]) => {
  try {
    const answer = await fetch(url, how)
    return [answer.type, answer.status, await answer.text()]
  } catch (error) {
    return [error.name, 0, '']
  }
}"""

# Whether a socket opened, and everything that came until it was closed, or until a first message came.
SOCKET = """([url, first]) => new Promise(done => {
  const told = { opened: false, message: null, code: null }
  const socket = new WebSocket(url)
  socket.onopen = () => { told.opened = true; socket.send(JSON.stringify(first)) }
  socket.onmessage = event => { told.message = event.data; socket.close() }
  socket.onclose = event => { told.code = event.code; done(told) }
})"""

# A form that is sent into a frame of its own, so that the page stays and no earlier form is still on its way there.
FORM = """([action, kind, fields]) => {
  const frame = document.createElement('iframe')
  frame.name = kind
  document.body.append(frame)
  const form = document.createElement('form')
  Object.assign(form, { method: 'post', action, enctype: kind, target: kind })
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input')
    Object.assign(input, { name, value, type: 'hidden' })
    form.append(input)
  }
  document.body.append(form)
  form.submit()
}"""

# What a tag that loads something from elsewhere ends with.
TAG = """([name, attributes]) => new Promise(done => {
  const tag = Object.assign(document.createElement(name), attributes)
  tag.onload = () => done('load')
  tag.onerror = () => done('error')
  document.head.append(tag)
})"""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    with hostile_page() as port:
        yield port


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def operator(browser: Browser, server: Leasehold) -> AsyncIterator[Page]:
    """Who is signed in, on a page with something to lose."""
    site(server, "board")
    context = await browser.new_context(base_url=server.address)
    page = await context.new_page()
    await sign_in(page, server.token, "/ui/sites")
    await expect(page.get_by_role("link", name="board", exact=True).first).to_be_visible()
    yield page
    await context.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hostile(operator: Page, elsewhere: int) -> AsyncIterator[Page]:
    """Another tab of the same browser, at a page of another origin."""
    tab = await operator.context.new_page()
    await tab.goto(f"http://localhost:{elsewhere}/")
    yield tab
    await tab.close()


def standing(server: Leasehold) -> Any:
    """Everything that the attacks are after, and the whole audit; not when a token was used, which looking changes."""
    sites, tokens, audit = (
        ask(server, "GET", path)["items"] for path in ("/v2/sites", "/v2/tokens", "/v2/audit?limit=500")
    )
    return sites, [one | {"last_used_at": None} for one in tokens], audit


def wish(token: str | None = None, method: str = "POST", **how: Any) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    return {"method": method, "headers": headers, **how}


async def test_a_page_can_do_these_things_at_home(operator: Page, server: Leasehold) -> None:
    """The attacks are good ones: with the token at hand, on a page of the server, each of them works."""
    token = await operator.evaluate(TOKEN)
    body = '{"slug": "own", "domain": "own.example"}'

    made = await operator.evaluate(FETCH, ["/v2/sites", wish(token, body=body)])
    read = await operator.evaluate(FETCH, ["/metrics", wish(token, "GET")])
    gone = await operator.evaluate(FETCH, ["/v2/sites/own", wish(token, "DELETE")])

    assert [made[:2], read[:2], gone[0]] == [["basic", 201], ["basic", 200], "basic"]
    assert gone[1] < 300


async def test_another_origin_changes_nothing_by_fetch(hostile: Page, server: Leasehold) -> None:
    before = standing(server)

    for method, path, body in WISHES:
        content = {} if body is None else {"body": body}
        ways: list[dict[str, Any]] = [
            wish(method=method, **content),
            wish(method=method, credentials="include", **content),
            wish("lh_" + "A" * 42, method=method, **content),
            {"method": method, "credentials": "include", **content},
            {"method": method, **content},
        ]
        told = [await hostile.evaluate(FETCH, [server.address + path, how]) for how in ways]
        # Without asking first: the request is sent, and its answer cannot be seen.
        plainly = {"method": "POST", "mode": "no-cors", **content}
        unseen = await hostile.evaluate(FETCH, [server.address + path, plainly])

        assert told == [["TypeError", 0, ""]] * len(ways), path
        assert unseen == ["opaque", 0, ""], path
    assert standing(server) == before


async def test_another_origin_changes_nothing_by_a_form(hostile: Page, server: Leasehold) -> None:
    before = standing(server)
    # As text this is a JSON document: the value ends what the name began.
    text = {'{"slug": "stolen", "domain": "stolen.example", "name': '": "x"}'}
    new = {"slug": "stolen", "domain": "stolen.example"}

    for kind, fields in (
        ("application/x-www-form-urlencoded", new),
        ("multipart/form-data", new),
        ("text/plain", text),
    ):
        async with hostile.expect_response(f"{server.address}/v2/sites") as answered:
            await hostile.evaluate(FORM, [f"{server.address}/v2/sites", kind, fields])

        assert (await answered.value).status == 401, kind
    assert standing(server) == before


async def test_another_origin_reads_nothing(hostile: Page, server: Leasehold, elsewhere: int) -> None:
    paths = ["/metrics", "/docs", "/openapi.json", "/readyz", "/v2/sites", "/ui/", "/problems/lease-lost"]

    told = [
        await hostile.evaluate(FETCH, [server.address + path, {"credentials": credentials}])
        for path in paths
        for credentials in ("include", "omit")
    ]
    loaded = [
        await hostile.evaluate(TAG, ["script", {"src": f"{server.address}/openapi.json"}]),
        await hostile.evaluate(TAG, ["script", {"src": f"{server.address}/v2/sites"}]),
        await hostile.evaluate(TAG, ["link", {"rel": "stylesheet", "href": f"{server.address}/v2/sites"}]),
    ]
    open_to_all = await hostile.evaluate(FETCH, [f"http://127.0.0.1:{elsewhere}/", {}])

    assert told == [["TypeError", 0, ""]] * (2 * len(paths))
    assert loaded == ["error"] * 3
    assert open_to_all[:2] == ["cors", 200]  # what its owner lets everybody read can be read from here


async def test_another_origin_gets_no_socket_with_any_ticket(hostile: Page, operator: Page, server: Leasehold) -> None:
    url = server.address.replace("http", "ws") + "/v2/live"
    ticket = ask(server, "POST", "/v2/live/tickets")["ticket"]
    tickets = ["", "ticket_" + "A" * 43, ticket]

    told = [await hostile.evaluate(SOCKET, [url, {"ticket": one, "subscribe": {}}]) for one in tickets]
    at_home = await operator.evaluate(SOCKET, [url, {"ticket": "ticket_" + "A" * 43, "subscribe": {}}])
    # The good one was not used up by that: a page of the server opens a socket with it.
    run = await operator.evaluate(SOCKET, [url, {"ticket": ticket, "subscribe": {"run_id": _run(server)}}])

    assert told == [{"opened": False, "message": None, "code": 1006}] * len(tickets)
    assert at_home == {"opened": True, "message": None, "code": 1008}
    assert (run["opened"], '"snapshot"' in run["message"]) == (True, True)


def _run(server: Leasehold) -> str:
    (amazon,) = [one for one in ask(server, "GET", "/v2/runs/collectors")["items"] if one["slug"] == "amazon"]
    plan = {"collector": "amazon", "categories": [amazon["categories"][0]["id"]]}
    made: str = ask(server, "POST", "/v2/runs", plan)["id"]
    return made


async def test_the_ui_is_shown_in_no_frame_of_another_origin(hostile: Page, server: Leasehold, elsewhere: int) -> None:
    async def framed(url: str) -> str:
        """Where a frame is that was led to an address."""
        async with hostile.expect_event("framenavigated"):
            await hostile.evaluate(
                "url => document.body.append(Object.assign(document.createElement('iframe'), { src: url }))", url
            )
        return hostile.frames[-1].url

    theirs = [await framed(server.address + path) for path in ("/ui/sites", "/docs", "/openapi.json")]
    own = await framed(f"http://127.0.0.1:{elsewhere}/")

    assert {url.split(":")[0] for url in theirs} == {"chrome-error"}
    assert own == f"http://127.0.0.1:{elsewhere}/"


async def test_another_origin_sees_nothing_in_a_window_it_opened(hostile: Page, server: Leasehold) -> None:
    async with hostile.expect_popup() as opened:
        await hostile.evaluate("url => { window.theirs = window.open(url) }", f"{server.address}/ui/")
    window = await opened.value
    await expect(window.get_by_label("Token", exact=True)).to_be_visible()  # nobody is signed in there

    seen = await hostile.evaluate(
        "() => { try { return window.theirs.document.title } catch (error) { return error.name } }"
    )

    assert seen == "SecurityError"
    await window.close()


async def test_the_server_under_another_name_knows_nobody(operator: Page, server: Leasehold) -> None:
    """As after a name that was made to point here: to the browser it is one origin, and not the operator's."""
    there = f"http://localhost:{server.port}"
    tab = await operator.context.new_page()
    await tab.goto(f"{there}/ui/")

    await expect(tab.get_by_label("Token", exact=True)).to_be_visible()
    told = await tab.evaluate(FETCH, ["/v2/sites", {"credentials": "include"}])
    guessed = {"ticket": "ticket_" + "A" * 43, "subscribe": {}}
    socket = await tab.evaluate(SOCKET, [there.replace("http", "ws") + "/v2/live", guessed])

    assert told[:2] == ["basic", 401]
    assert await tab.evaluate(TOKEN) is None
    assert (socket["message"], socket["code"]) == (None, 1008)
    await tab.close()
