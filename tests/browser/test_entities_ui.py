"""Entities, reviews and weights in a real Chromium: each main task of an operator, once."""

import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Locator, Page, expect

from tests.parts.operator import ask, barriers, faults_of, row, sign_in, viewer
from tests.parts.process import PATIENCE_S, Leasehold, place

pytestmark = pytest.mark.asyncio(loop_scope="session")

ADA = {"birthdate": "1990-05-17", "gender": "female", "country": "CA", "height": "170cm"}
LIST = re.compile(r"/v2/entities(\?|$)")
MINUS = "\N{MINUS SIGN}"
LIKE_ADA = {**ADA, "birthdate": "1990-05", "eye_color": "green"}


def record(source: str, source_id: str, name: str, **more: Any) -> dict[str, Any]:
    return {"source": source, "source_id": source_id, "kind": "performer", "name": name, **more}


def hand_over(server: Leasehold, *records: dict[str, Any]) -> None:
    """Hand records over, and wait until they are written."""
    batch = ask(server, "POST", "/v2/entities/records", {"items": list(records)})["batch"]
    end = time.monotonic() + PATIENCE_S
    while ask(server, "GET", f"/v2/entities/batches/{batch}")["state"] != "done":
        assert time.monotonic() < end
        time.sleep(0.02)


def person(server: Leasehold, name: str, number: int, sources: tuple[str, ...] = ("alpha", "beta")) -> Any:
    """Somebody whom several sources know under one id, and nobody doubts."""
    born = {"birthdate": f"{1950 + number}-0{number % 9 + 1}-11", "country": "CA", "gender": "female"}
    said = {"attributes": born, "external_ids": {"iafd": [f"iafd-{number}"]}}
    hand_over(server, *(record(source, f"{source}-{number}", name, **said) for source in sources))
    return found(server, name)


def doubtful(server: Leasehold, name: str, year: int) -> None:
    """Two that could be one."""
    said = {"attributes": {"birthdate": str(year)}}
    hand_over(server, *(record(source, f"{source}-{name}", name, **said) for source in ("alpha", "beta")))


def found(server: Leasehold, name: str) -> Any:
    """The entity of this name, with its records."""
    (entity,) = ask(server, "GET", f"/v2/entities?q={name}")["items"]
    return ask(server, "GET", f"/v2/entities/{entity['id']}")


def falls(parts: list[Any], join: float) -> list[float]:
    """Where the bars of a waterfall begin and end in bits, the sum's, and where the line stands."""
    edges, sum_ = [], 0.0
    for part in parts:
        edges += sorted((sum_, sum_ + part["bits"]))
        sum_ += part["bits"]
    return [*edges, *sorted((0.0, sum_)), join]


async def drawn_at(chart: Locator, prior: float) -> list[float]:
    """The same as it is drawn; the first bar, whose worth is known, is the measure of the others."""
    boxes = [await bar.bounding_box() for bar in await chart.locator("[data-bar]").all()]
    line = await chart.locator("[data-join]").first.bounding_box()
    assert line
    edges = [x for box in boxes if box for x in (box["x"], box["x"] + box["width"])]
    per_bit, zero = (edges[1] - edges[0]) / -prior, edges[1]
    return [(x - zero) / per_bit for x in (*edges, line["x"])]


def panel(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


@pytest.fixture(scope="module")
def server() -> Iterator[Leasehold]:
    """One where three sources speak of Ada, two of them with the same id."""
    with place() as here:
        running = here.up()
        links = {"twitter": ["https://x.com/adaabbott"], "odd": ["javascript:alert(1)"]}
        ids = {"wikidata": ["Q123456"], "iafd": ["adaabbott"]}
        hand_over(
            running,
            record("stashdb", "8d1f", "Ada Abbott", aliases=["Adah A."], external_ids=ids, urls=links, attributes=ADA),
            record("theporndb", "9917", "Ada Abbott", external_ids=ids, attributes={**LIKE_ADA, "country": "US"}),
        )
        yield running


async def test_an_entity_is_found_by_an_alias_and_opened(page: Page, server: Leasehold) -> None:
    person(server, "Zelda Zoltan", 1)
    await sign_in(page, server.token, "/ui/entities")
    await expect(panel(page, "Statistics")).to_contain_text(re.compile(r"Linked by id\s*[1-9]"))

    await page.get_by_label("Search by name").fill("adah")

    await expect(page).to_have_url(re.compile(r"\?q=adah$"))
    rows = page.get_by_role("table", name="Entities").get_by_role("row")
    await expect(rows).to_have_count(2)
    for said in ("also Adah A.", "performer", "stashdb, theporndb"):
        await expect(row(page, "Ada Abbott")).to_contain_text(said)
    await page.get_by_role("link", name="Ada Abbott").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Ada Abbott")


async def test_a_list_that_fits_nothing_or_fails_says_so(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/entities?q=nobody-at-all")
    await expect(page.get_by_text("No entity matches")).to_be_visible()

    await page.route(LIST, lambda route: route.abort())
    await page.get_by_role("button", name="Clear the filters").click()

    await expect(page.get_by_role("alert")).to_contain_text("could not be loaded", timeout=20_000)


async def test_what_could_not_be_read_is_shown_with_its_reason(page: Page, server: Leasehold) -> None:
    hand_over(server, record("alpha", "nameless", " "))
    await sign_in(page, server.token, "/ui/entities")

    await panel(page, "Statistics").get_by_role("button", name="see what could not be read").click()

    letters = page.get_by_role("dialog").get_by_role("list", name="Dead letters")
    await expect(letters).to_contain_text("name")
    await expect(letters).to_contain_text("alpha nameless")
    assert await barriers(page) == []


async def test_records_stand_side_by_side_and_differences_are_marked(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, f"/ui/entities/{found(server, 'Adah')['id']}")
    records = page.get_by_role("table", name="Records side by side")

    await expect(records.get_by_role("row", name="Country different CA US")).to_be_visible()
    await expect(records.get_by_role("row", name="Birthdate the same in part")).to_be_visible()
    link = panel(page, "Card").get_by_role("link", name="x.com/adaabbott")
    await expect(link).to_have_attribute("rel", re.compile("noreferrer"))
    await expect(panel(page, "Card").get_by_role("link", name="Q123456")).to_be_visible()
    await expect(page.get_by_role("link", name="javascript")).to_have_count(0)
    await page.get_by_label("Only what differs").check()
    await expect(records.get_by_role("rowheader", name="Gender")).to_have_count(0)
    await expect(page).to_have_url(re.compile("differences=only"))


async def test_the_evidence_of_a_record_is_drawn_and_said(page: Page, server: Leasehold) -> None:
    entity = found(server, "Adah")
    evidence = ask(server, "GET", f"/v2/entities/{entity['id']}/evidence")
    best = evidence["records"][0]["best"]
    prior, shared = (part["bits"] for part in best["parts"][:2])
    await sign_in(page, server.token, f"/ui/entities/{entity['id']}")

    drawn = page.get_by_role("table", name=re.compile("^Evidence for stashdb 8d1f: "))

    await expect(drawn).to_have_attribute(
        "aria-label", re.compile(rf"Prior {MINUS}{-prior:g}, .*joins at {evidence['join']:g}$")
    )
    await expect(drawn.get_by_role("row")).to_have_count(len(best["parts"]) + 2)
    await expect(drawn.get_by_role("row", name="External ids shared")).to_contain_text(f"+{shared:g}")
    await expect(drawn.get_by_role("row", name="Sum")).to_contain_text(f"+{best['score']:g}")
    await expect(page.get_by_role("list", name="Evidence")).to_contain_text("By id")
    assert await drawn_at(drawn, prior) == pytest.approx(falls(best["parts"], evidence["join"]), abs=0.3)


async def test_a_record_is_split_off_and_put_back(page: Page, server: Leasehold) -> None:
    entity = person(server, "Sila Splitter", 2, ("alpha", "beta", "gamma"))
    await sign_in(page, server.token, f"/ui/entities/{entity['id']}")
    split = page.get_by_role("button", name="Split off")
    await expect(split).to_be_disabled()
    await page.get_by_label("Choose gamma gamma-2").check()

    await page.get_by_role("button", name="Split off 1 record").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("never linked again")
    await dialog.get_by_role("button", name="Split off 1 record").click()

    await expect(page.get_by_text("2 records", exact=True)).to_be_visible()
    assert ask(server, "GET", f"/v2/entities/{entity['id']}")["size"] == 2
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("Its records are all here again.")).to_be_visible()
    assert ask(server, "GET", f"/v2/entities/{entity['id']}")["size"] == 3


async def test_two_are_merged_after_a_look_at_both_and_parted_again(page: Page, server: Leasehold) -> None:
    one, other = person(server, "Mara Merge", 3), person(server, "Rosa Rest", 4)
    await sign_in(page, server.token, f"/ui/entities/{one['id']}")
    await page.get_by_role("button", name="Merge", exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Find the other").fill("rosa")
    await dialog.get_by_role("button", name="Rosa Rest").click()
    both = dialog.get_by_role("table", name="Both side by side")
    await expect(both.get_by_role("row", name="Name different Mara Merge Rosa Rest")).to_be_visible()
    assert await barriers(page) == []

    await dialog.get_by_role("button", name="Merge Rosa Rest into this one").click()

    await expect(page.get_by_text("Rosa Rest is a part of this entity now.")).to_be_visible()
    assert ask(server, "GET", f"/v2/entities/{other['id']}")["id"] == one["id"]
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("It is an entity of its own again:")).to_be_visible()
    back = ask(server, "GET", f"/v2/entities/{other['id']}")
    assert (back["id"], back["size"]) == (other["id"], 2)


async def test_an_entity_that_was_merged_leads_to_its_survivor(page: Page, server: Leasehold) -> None:
    one, other = person(server, "Kara Keep", 5), person(server, "Gala Gone", 6)
    ask(server, "POST", "/v2/entities/merge", {"keep": one["id"], "merge": other["id"]})

    await sign_in(page, server.token, f"/ui/entities/{other['id']}?tab=decisions")

    await expect(page).to_have_url(re.compile(rf"/ui/entities/{one['id']}\?tab=decisions$"))
    await expect(page.get_by_role("region", name="Explanation")).to_contain_text("was merged into this entity")
    await expect(page.get_by_role("list", name="Decisions").get_by_role("listitem")).to_have_count(3)
    await page.get_by_role("tab", name="History").click()
    await expect(page.get_by_role("list", name="History")).to_contain_text("2 records came")


async def test_it_says_why_two_records_are_one_or_not(page: Page, server: Leasehold) -> None:
    entity, stranger = found(server, "Adah"), person(server, "Fern Foreign", 7)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await sign_in(page, server.token, f"/ui/entities/{entity['id']}?tab=why")
    await expect(page.get_by_role("tabpanel")).to_contain_text("They are one: What they have in common weighs")

    await page.get_by_label("Another").select_option("A record of another entity…")
    await page.get_by_label("Its id").fill(stranger["records"][0]["id"])

    await expect(page.get_by_role("tabpanel")).to_contain_text("They are apart")
    await expect(page.get_by_role("table", name=re.compile("^Evidence between the two"))).to_contain_text("Name")
    queries = {name for url in asked for name in parse_qs(urlsplit(url).query)}
    assert queries <= {"tab", "a", "b", "since", "limit", "run_id", "wait_seconds", "hours"}


async def test_who_is_erased_is_gone_and_there_is_a_receipt(page: Page, server: Leasehold) -> None:
    entity = person(server, "Vera Vanish", 8)
    await sign_in(page, server.token, f"/ui/entities/{entity['id']}")
    await page.get_by_role("button", name="Erase").click()
    dialog = page.get_by_role("dialog")
    erase = dialog.get_by_role("button", name="Erase for good")
    await expect(erase).to_be_disabled()
    assert await barriers(page) == []

    await dialog.get_by_label("Type Vera Vanish to confirm").fill("vera vanish")
    await erase.click()

    await expect(panel(page, "Receipt")).to_contain_text(re.compile(r"Records\s*2"))
    assert await barriers(page) == []
    assert server.ask("GET", f"/v2/entities/{entity['id']}", server.token).status_code == 404


async def test_doubts_are_decided_from_the_keyboard_and_taken_back(page: Page, server: Leasehold) -> None:
    for number, name in enumerate(("Dora Dvorak", "Iris Ibsen", "Olga Orlova")):
        doubtful(server, name, 1970 + number)
    await sign_in(page, server.token, "/ui/reviews")
    navigation = page.get_by_role("navigation", name="Main").get_by_role("link", name="Reviews")
    await expect(navigation).to_contain_text("3")
    pair = page.get_by_role("table", name="Both side by side").get_by_role("row").nth(1)
    questions = ask(server, "GET", "/v2/entities/reviews")["items"]
    order = [one["a"]["name"] for one in questions]
    await expect(pair).to_contain_text(order[0])
    await page.keyboard.press("j")
    await expect(pair).to_contain_text(order[1])
    await page.keyboard.press("ArrowLeft")
    await expect(pair).to_contain_text(order[0])

    await page.keyboard.press("y")
    await expect(pair).to_contain_text(order[1])
    await expect(page).to_have_url(re.compile(questions[1]["id"]))
    assert found(server, order[0])["size"] == 2
    await page.keyboard.press("z")
    await expect(pair).to_contain_text(order[0])
    assert len(ask(server, "GET", f"/v2/entities?q={order[0]}")["items"]) == 2

    for name, key in zip(order, "nuy", strict=True):
        await expect(pair).to_contain_text(name)
        await page.keyboard.press(key)
    await expect(page.get_by_text("Nothing needs a look")).to_be_visible()
    await expect(navigation).to_have_text("Reviews")
    assert found(server, order[2])["size"] == 2


async def test_new_weights_show_what_they_change_and_come_into_force(page: Page, server: Leasehold) -> None:
    await sign_in(page, server.token, "/ui/entities/weights")
    epochs = page.get_by_role("list", name="Weights of performer").get_by_role("article")
    await expect(epochs).to_have_count(1)

    await page.get_by_role("button", name="Propose new weights").click()
    proposed = page.get_by_role("article", name="Epoch 2")
    await expect(proposed).to_contain_text("Proposed")
    await expect(proposed).to_contain_text(re.compile(r"Entities\s*\d+ → \d+"))
    await proposed.get_by_role("button", name="Put into force").click()
    await page.get_by_role("dialog").get_by_role("button", name="Put into force").click()

    await expect(proposed).to_contain_text("In force", timeout=20_000)
    back = page.get_by_role("article", name="Epoch 1")
    await expect(back.get_by_role("button", name="Go back to these")).to_be_visible()


async def test_who_may_only_look_changes_nothing(page: Page, server: Leasehold) -> None:
    await sign_in(page, viewer(server), f"/ui/entities/{found(server, 'Adah')['id']}")
    await page.get_by_label("Choose stashdb 8d1f").check()

    for name in ("Merge", "Erase", "Split off 1 record"):
        await expect(page.get_by_role("button", name=name)).to_be_disabled()


@pytest.mark.parametrize(
    ("width", "scheme", "paths"),
    [(1440, "light", ["ADA", "reviews"]), (390, "dark", ["ADA?tab=why", "entities/weights", "reviews"])],
)
async def test_every_page_fits_and_is_accessible(
    page: Page, server: Leasehold, width: int, scheme: str, paths: list[str]
) -> None:
    doubtful(server, f"Uma {scheme.title()}son", 1980)
    ada = f"entities/{found(server, 'Adah')['id']}"
    assert await faults_of(page, server.token, "/ui/entities", width, scheme) == []

    for path in paths:
        await page.goto(f"/ui/{path.replace('ADA', ada)}")
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await expect(page.locator("[aria-busy=true], .skeleton")).to_have_count(0)
        too_wide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert (path, await barriers(page), too_wide) == (path, [], False)
