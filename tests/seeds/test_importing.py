"""Seeds out of files: every good line is taken, every bad one told, and no file does harm."""

import time
from typing import Any

import pytest

from tests.seeds.garden import Garden


async def send(garden: Garden, kind: str, body: str | bytes, query: str = "") -> tuple[int, Any]:
    content = body.encode() if isinstance(body, str) else body
    answer = await garden.client.post(f"/v2/seeds/import{query}", content=content, headers={"content-type": kind})
    return answer.status_code, answer.json()


async def urls(garden: Garden) -> list[str]:
    return sorted(seed["url"] for seed in (await garden.send("GET", "/v2/seeds?limit=500"))["items"])


async def test_csv_takes_the_good_lines_and_tells_of_the_bad(garden: Garden) -> None:
    await garden.site()
    text = (
        "site,url,priority,interval_seconds,enabled,label.region,cursor\n"
        'board,https://board.example/a,90,600,true,de,"x"\n'
        "board,https://elsewhere.example/,,,,,\n"
        "board,https://board.example/b,high,,,,\n"
        "board,https://board.example/c,,,maybe,,\n"
        ",https://board.example/d,,,,,\n"
        "board,https://board.example/e\n"
        "nowhere,https://board.example/f,,,,,\n"
    )

    status, told = await send(garden, "text/csv", text)

    assert (status, told["created"], told["updated"]) == (200, 2, 0)
    assert [one["line"] for one in told["rejected"]] == [3, 4, 5, 7, 8]
    (first,) = [seed for seed in (await garden.send("GET", "/v2/seeds"))["items"] if seed["priority"] == 90]
    assert (first["interval_seconds"], first["labels"], first["cursor"]) == (600, {"region": "de"}, "x")
    assert await urls(garden) == ["https://board.example/a", "https://board.example/d"]


async def test_a_line_with_one_column_is_told_of_in_the_singular(garden: Garden) -> None:
    await garden.site()

    _, told = await send(garden, "text/csv", "site,url\nboard\n")

    assert "This has 1 column; the first line names 2." in str(told["rejected"])


async def test_ndjson_and_json_take_the_good_lines_and_tell_of_the_bad(garden: Garden) -> None:
    await garden.site()
    text = '{"url": "https://board.example/a"}\nnonsense\n[]\n\n{"url": "https://board.example/b", "priority": 101}\n'
    items = '{"items": [{"url": "https://board.example/a", "priority": 7}, 5, {"url": "x\\u0000"}]}'

    _, lines = await send(garden, "application/x-ndjson", text)
    _, document = await send(garden, "application/json; charset=utf-8", items.replace("\\u0000", ""))

    assert (lines["created"], [one["line"] for one in lines["rejected"]]) == (1, [2, 3, 5])
    assert (document["created"], document["updated"]) == (0, 1)
    assert [one["line"] for one in document["rejected"]] == [2, 3]


OPML = """<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0"><head><title>Feeds</title></head><body>
  <outline text="folder"><outline type="rss" xmlUrl="https://board.example/feed.xml" htmlUrl="https://board.example/"/>
    <outline text="deeper"><outline url="https://board.example/list"/></outline></outline>
  <outline xmlUrl="https://elsewhere.example/feed"/>
  <outline text="no address"/>
</body></opml>"""


async def test_opml_is_walked_through_its_folders(garden: Garden) -> None:
    await garden.site()

    status, told = await send(garden, "text/x-opml", OPML, "?site=board")

    assert (status, told["created"]) == (200, 2)
    assert [one["line"] for one in told["rejected"]] == [3]
    assert await urls(garden) == ["https://board.example/feed.xml", "https://board.example/list"]
    kinds = {seed["url"]: seed["kind"] for seed in (await garden.send("GET", "/v2/seeds"))["items"]}
    assert kinds["https://board.example/feed.xml"] == "feed"


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE opml [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY a{n} "{("&a" + (str(n - 1) if n else "") + ";") * 10}">' for n in range(10))
    + ']><opml><body><outline url="&a9;"/></body></opml>'
)
HARMFUL = {
    "billion laughs": LAUGHS,
    "a file of ours": '<!DOCTYPE opml [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    '<opml><body><outline url="&x;"/></body></opml>',
    "a document type": "<!DOCTYPE opml><opml><body/></opml>",
    "not XML": "hello",
    "cut off": OPML[:200],
    "another root": "<html/>",
    "too deep": "<opml><body>" + "<outline>" * 5000 + "<outline url='x'/>" + "</outline>" * 5000 + "</body></opml>",
    "an odd encoding": '<?xml version="1.0" encoding="utf-99"?><opml/>',
    "nothing": "",
}


@pytest.mark.parametrize("what", HARMFUL)
async def test_a_harmful_file_is_refused_at_once(garden: Garden, what: str) -> None:
    await garden.site()
    began = time.perf_counter()

    status, told = await send(garden, "text/x-opml", HARMFUL[what], "?site=board")

    assert (status, told["type"]) == (422, "/problems/invalid-request")
    assert time.perf_counter() - began < 5
    assert "root:" not in str(told)


async def test_a_large_opml_is_read(garden: Garden) -> None:
    await garden.site()
    padding = "x" * 500
    outlines = "".join(f'<outline text="{padding}" xmlUrl="https://board.example/{n}"/>' for n in range(18_000))

    status, told = await send(garden, "text/x-opml", f"<opml><body>{outlines}</body></opml>")

    assert (status, told["created"], told["rejected"]) == (200, 18_000, [])


async def test_more_lines_than_may_be_are_refused(garden: Garden) -> None:
    await garden.site()

    status, told = await send(garden, "text/csv", "url\n" + "https://board.example/\n" * 50_001)

    assert (status, told["type"]) == (422, "/problems/invalid-request")


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("text/html", "x", 415),
        ("", "x", 415),
        ("text/csv", b"\xff\xfe", 422),
        ("text/csv", "", 422),
        ("text/csv", "site\nboard\n", 422),
        ("text/csv", "url,url\na,b\n", 422),
        ("text/csv", "url,password\na,b\n", 422),
        ("application/json", "{", 422),
        ("application/json", '{"items": 5}', 422),
        ("application/json", "[]", 422),
    ],
)
async def test_a_body_that_is_none_is_refused(garden: Garden, kind: str, body: str | bytes, status: int) -> None:
    assert (await send(garden, kind, body))[0] == status


async def test_an_unknown_site_in_the_query_is_not_there(garden: Garden) -> None:
    status, told = await send(garden, "text/csv", "url\n", "?site=nowhere")

    assert (status, told["type"]) == (404, "/problems/site-unknown")


async def test_a_nul_in_a_file_costs_its_line_alone(garden: Garden) -> None:
    await garden.site()
    text = '{"url": "https://board.example/a", "kind": "x\\u0000"}\n{"url": "https://board.example/b"}\n'

    status, told = await send(garden, "application/x-ndjson", text)

    assert (status, told["created"], [one["line"] for one in told["rejected"]]) == (200, 1, [1])
