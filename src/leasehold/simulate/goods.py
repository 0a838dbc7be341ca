"""What the simulated providers know: products by category and number, and who sells them. The same at every start."""

import hashlib
import random
from dataclasses import dataclass
from typing import Any

ON_A_PAGE = 20
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BRANDS = ("Norvik", "Altamar", "Quellstein", "Bravura", "Fernhill", "Ostrava", "Pinegrove", "Zephyrine")
_KINDS = ("Compact", "Foldable", "Classic", "Wireless", "Heavy Duty", "Portable", "Deluxe", "Everyday")
_THINGS = ("Lamp", "Kettle", "Speaker", "Backpack", "Puzzle", "Notebook", "Fan", "Clock", "Toolbox", "Atlas")
_TRADES = ("Outlet", "Deals", "Traders", "Bazaar", "Depot", "Market", "Corner", "Supply")
_SELLERS = 60
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}


@dataclass(frozen=True, slots=True)
class Goods:
    """So many products in every category, whatever it is called."""

    items: int = 500
    missing_every: int = 0  # each so-manieth is listed and does not exist; 0 for none

    @property
    def pages(self) -> int:
        return max(1, -(-self.items // ON_A_PAGE))

    def page(self, category: str, number: int) -> list[str]:
        """The ASINs on a page of a search, counted from 1."""
        first = (number - 1) * ON_A_PAGE + 1
        return [asin_of(category, one) for one in range(first, min(first + ON_A_PAGE, self.items + 1))]

    def has(self, asin: str) -> bool:
        number = _number_of(asin)
        is_missing = bool(self.missing_every and number and number % self.missing_every == 0)
        return number is not None and 1 <= number <= self.items and not is_missing


def asin_of(category: str, number: int) -> str:
    """`B`, four signs of the category, five of the number: a product is found again without having been listed."""
    code = int.from_bytes(hashlib.blake2b(category.encode(), digest_size=8).digest())
    return f"B{_base36(code, 4)}{_base36(number, 5)}"


def title_of(asin: str) -> str:
    """No two products have the same: the model is in it."""
    chance = random.Random(asin)  # noqa: S311 (the same at every start is what is wanted)
    return f"{chance.choice(_BRANDS)} {chance.choice(_KINDS)} {chance.choice(_THINGS)} {asin[1:5]}-{asin[5:]}"


def listed(asin: str, place: int) -> dict[str, Any]:
    """A product as it stands in a search."""
    chance = random.Random(asin)  # noqa: S311
    return {
        "pos": place,
        "asin": asin,
        "title": title_of(asin),
        "url": f"/dp/{asin}",
        "url_image": f"https://images.example/{asin}.jpg",
        "price": round(chance.uniform(5, 400), 2),
        "price_upper": None,
        "currency": "USD",
        "rating": round(chance.uniform(2.5, 5), 1),
        "reviews_count": chance.randrange(20_000),
        "is_prime": chance.random() < 0.6,
        "is_sponsored": False,
        "is_amazons_choice": False,
        "best_seller": chance.random() < 0.05,
        "manufacturer": "",
        "pricing_count": chance.randrange(1, 9),
        "shipping_information": "FREE delivery",
    }


def product(asin: str) -> dict[str, Any]:
    """A product as its own page says it."""
    seen = listed(asin, 1)
    brand = str(seen["title"]).split()[0]
    return {
        "asin": asin,
        "asin_in_url": asin,
        "url": f"https://www.amazon.com/dp/{asin}",
        "page": 1,
        "page_type": "Product",
        "title": seen["title"],
        "brand": brand,
        "manufacturer": brand,
        "price": seen["price"],
        "price_upper": seen["price"],
        "currency": "USD",
        "rating": seen["rating"],
        "reviews_count": seen["reviews_count"],
        "stock": "In Stock",
        "bullet_points": f"By {brand}\nMade for every day",
        "description": f"{seen['title']}, by {brand}.",
        "images": [f"https://images.example/{asin}-{number}.jpg" for number in (1, 2)],
        "category": [{"ladder": [{"name": f"Department {asin[1:5]}", "url": f"/b?node={asin[1:5]}"}]}],
        "parse_status_code": 12000,
    }


def listings(words: str) -> list[dict[str, Any]]:
    """What eBay has for some words. Many sell several things, and do not always write their names in the same way."""
    chance = random.Random(words)  # noqa: S311
    return [_listing(words, number, chance) for number in range(chance.randrange(8, 70))]


def _listing(words: str, number: int, chance: random.Random) -> dict[str, Any]:
    seller = chance.randrange(_SELLERS)
    standing = random.Random(f"seller {seller}")  # noqa: S311
    item = f"v1|{int.from_bytes(hashlib.blake2b(f'{words} {number}'.encode(), digest_size=5).digest())}|0"
    return {
        "itemId": item,
        "title": words,
        "price": {"value": f"{chance.uniform(5, 400):.2f}", "currency": "USD"},
        "seller": {
            "username": _spelt(seller, chance),
            "feedbackPercentage": f"{standing.uniform(92, 100):.1f}",
            "feedbackScore": standing.randrange(3, 90_000),
        },
        "condition": "New",
        "conditionId": "1000",
        "buyingOptions": ["FIXED_PRICE"],
        "itemWebUrl": f"https://www.ebay.com/itm/{item.split('|')[1]}",
        "itemLocation": {"country": "US"},
    }


def _spelt(seller: int, chance: random.Random) -> str:
    words = [_BRANDS[seller % len(_BRANDS)], _TRADES[seller % len(_TRADES)], str(seller)]
    name = "".join(words).lower()
    return chance.choice(
        [name, name, name.upper(), " ".join(words), "-".join(words), "_".join(words).lower(), f"{'.'.join(words)}!",
         name.translate(_FULL_WIDTH), f"  {words[0]}   {words[1]}{words[2]}"]
    )  # fmt: skip


def _number_of(asin: str) -> int | None:
    try:
        return int(asin[5:], 36) if len(asin) == 10 and asin.startswith("B") else None
    except ValueError:
        return None


def _base36(number: int, length: int) -> str:
    signs = []
    for _ in range(length):
        number, sign = divmod(number, 36)
        signs.append(_DIGITS[sign])
    return "".join(reversed(signs))
