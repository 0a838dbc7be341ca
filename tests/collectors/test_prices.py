"""What things cost on which day, and what a file of the collectors that is wrong is told."""

from datetime import date
from pathlib import Path

import pytest

from leasehold import platforms
from leasehold.collectors import CollectorsInvalid, PriceUnknown, make, read_collector, read_prices, second_prices
from leasehold.doctor import Finding, examine
from leasehold.settings import Settings
from tests.parts.providers import SECRET, Market, Shelf

TODAY = date(2026, 6, 1)
PRICES = """
- {provider: oxylabs, source: amazon_product, from: 2025-01-01, micros: 700}
- {provider: oxylabs, source: amazon_search, from: 2025-01-01, micros: 1000}
- {provider: oxylabs, source: amazon_product, from: 2026-06-01, micros: 900}
- {provider: ebay, source: item_summary_search, from: 2025-01-01, micros: 3}
"""


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def test_a_price_is_in_force_from_its_day_on(tmp_path: Path) -> None:
    prices = read_prices(folder(tmp_path, prices=PRICES))

    days = [date(2025, 1, 1), date(2026, 5, 31), date(2026, 6, 1), date(2030, 1, 1)]
    assert [prices.price("amazon_product", day) for day in days] == [700, 700, 900, 900]


def test_a_price_that_nobody_wrote_down_is_no_zero(tmp_path: Path) -> None:
    prices = read_prices(folder(tmp_path, prices=PRICES))

    with pytest.raises(
        PriceUnknown, match=r"no price for walmart_search on 2026-06-01\. Add an entry with `source: walm"
    ):
        prices.price("walmart_search", TODAY)
    with pytest.raises(PriceUnknown, match=r"amazon_search on 2024-12-31; the first is from 2025-01-01\. Add an entry"):
        prices.price("amazon_search", date(2024, 12, 31))


def test_what_may_be_paid_is_the_dearest_price_about_that_day(tmp_path: Path) -> None:
    falls = PRICES + "- {provider: oxylabs, source: amazon_product, from: 2026-08-01, micros: 100}\n"
    prices = read_prices(folder(tmp_path, prices=falls))

    days = [date(2025, 1, 1), date(2026, 5, 29), date(2026, 5, 30), TODAY, date(2026, 8, 1), date(2026, 8, 2)]
    assert [prices.most("amazon_product", day) for day in days] == [700, 700, 900, 900, 900, 100]
    with pytest.raises(PriceUnknown):
        prices.most("amazon_product", date(2024, 12, 31))


async def test_what_is_set_aside_for_a_call_is_what_the_table_says(tmp_path: Path, market: Market) -> None:
    chosen = market.providers
    made = make(type(chosen)(chosen.oxylabs, chosen.ebay, folder(tmp_path, prices=PRICES)), Shelf())

    assert [made[slug].item_cost_micros(TODAY) for slug in ("amazon", "ebay")] == [900, 3]
    for one in made.values():
        await one.aclose()


def test_a_second_price_is_told_of_where_it_differs(tmp_path: Path) -> None:
    own = folder(tmp_path, prices=PRICES)
    shipped = platforms.read(platforms.SHIPPED).platforms
    (tmp_path / "mine").mkdir()
    for slug, said in (("amazon", "[{since: 2025-01-01, micros: 700}]"), ("ebay", "[{since: 2025-01-01, micros: 3}]")):
        text = (platforms.SHIPPED / f"{slug}.yaml").read_text() + f"prices: {said}\n"
        (tmp_path / "mine" / f"{slug}.yaml").write_text(text)
    mine = platforms.read(tmp_path / "mine").platforms

    assert list(second_prices(shipped, own)) == list(second_prices(shipped, None)) == []
    (told,) = second_prices(mine, own)
    assert told.startswith(
        "amazon.yaml: prices: 700 a task on 2026-06-01, where prices.yaml of the collectors says 900"
    )


def test_what_was_paid_has_a_cost_whatever_day_the_provider_believes_it_to_be(tmp_path: Path) -> None:
    prices = read_prices(folder(tmp_path, prices=PRICES))

    days = [None, date(1970, 1, 1), date(2025, 7, 1)]
    assert [prices.cost("amazon_product", day) for day in days] == [900, 900, 700]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"prices": PRICES + PRICES}, "amazon_product from 2025-01-01.* stands twice"),
        (
            {"prices": PRICES.replace("micros: 700", "micros: -1")},
            r"0\.micros: Input should be greater than or equal to",
        ),
        ({"prices": PRICES.replace("micros: 700", "micros: 0.7")}, r"0\.micros: Input should be a valid integer"),
        ({"prices": "- {source: [}"}, r"This is not YAML \(line 1\)"),
        ({"amazon": "categories: []"}, "categories: List should have at least 1 item"),
        ({"amazon": "categories: [{id: a, name: A}, {id: a, name: B}]"}, "categories: a stands twice"),
        ({"amazon": "categories: [{id: a, name: A, colour: red}]"}, r"categories\.0\.colour: Extra inputs"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_the_place(tmp_path: Path, files: dict[str, str], said: str) -> None:
    made = folder(tmp_path, **files)

    with pytest.raises(CollectorsInvalid, match=rf"(prices|amazon)\.yaml: .*{said}"):
        _ = read_prices(made), read_collector("amazon", made)


async def test_a_folder_stands_over_what_is_shipped_file_by_file(tmp_path: Path, market: Market) -> None:
    chosen = market.providers
    own = folder(tmp_path, prices=PRICES, ebay="categories: [{id: lamps, name: Lamps, items: 7}]")

    shipped = make(chosen, Shelf())
    theirs = make(type(chosen)(chosen.oxylabs, chosen.ebay, own), Shelf())

    assert [(one.id, one.items) for one in shipped["amazon"].categories(TODAY)] == [
        ("electronics", 500), ("home", 500), ("toys", 500), ("books", 500)
    ]  # fmt: skip
    assert [one.id for one in theirs["amazon"].categories(TODAY)] == ["electronics", "home", "toys", "books"]
    (lamps,) = theirs["ebay"].categories(TODAY)
    assert (lamps.name, lamps.items, lamps.unit_cost_micros) == ("Lamps", 7, 3)
    for made in (*shipped.values(), *theirs.values()):
        await made.aclose()


@pytest.mark.parametrize("items", [1, 19, 20, 21, 45, 499, 500])
async def test_the_items_pay_for_the_pages_they_stand_on(tmp_path: Path, market: Market, items: int) -> None:
    chosen = market.providers
    own = folder(tmp_path, prices=PRICES, amazon=f"categories: [{{id: toys, name: Toys, items: {items}}}]")
    amazon = make(type(chosen)(chosen.oxylabs, chosen.ebay, own), Shelf())["amazon"]

    (toys,) = amazon.categories(TODAY)

    pages = (items + 19) // 20
    listing = pages * amazon.listing_cost_micros(TODAY)
    assert listing <= toys.items * ((toys.unit_cost_micros or 0) - 900) < listing + items
    await amazon.aclose()


def test_the_doctor_names_collectors_without_credentials_and_calls_it_no_fault(tmp_path: Path) -> None:
    finding = doctor_of(Settings(data_dir=tmp_path, oxylabs_username="ann", oxylabs_password=SECRET))

    assert finding.is_well
    assert finding.detail == "ebay has no credentials: set LEASEHOLD_EBAY_CLIENT_ID and LEASEHOLD_EBAY_CLIENT_SECRET"


def test_the_doctor_names_a_file_that_is_wrong(tmp_path: Path) -> None:
    finding = doctor_of(Settings(data_dir=tmp_path, collectors_dir=folder(tmp_path, ebay="categories: 1")))

    assert not finding.is_well
    assert "ebay.yaml: categories: Input should be a valid list" in finding.detail


@pytest.mark.parametrize("url", ["ftp://a", "https://user:pass@host", "https://host/?key=1", "https:///x", "host"])
def test_an_address_of_a_provider_has_no_password_in_it(url: str) -> None:
    with pytest.raises(ValueError, match="no name or password"):
        Settings(oxylabs_url=url)


def doctor_of(settings: Settings) -> Finding:
    return next(finding for finding in examine(settings) if finding.what == "collectors")
