"""What each simulated box says of the people: its own ids, with gaps, errors and spellings of its own."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any
from uuid import UUID

from leasehold.simulate.people import People, Person

# In the order they are served.
NAMES = ("stashdb", "fansdb", "javstash", "pmvstash", "indiebox", "archivebox", "nordbox")
THEPORNDB = "theporndb"
_FIRST_DAY = datetime(2021, 3, 1, tzinfo=UTC)
_TODAY = datetime(2026, 1, 1, tzinfo=UTC)
# So many rows of a box came in by one import each, and were created at the same instant.
_IMPORTED_TOGETHER = 23
_HAS_PERCENT = 62
# Pages of studios and agencies that stand at many people.
_HUBS = ("https://twitter.com/northlight_studio", "https://www.instagram.com/harbour.agency/", "https://onlyfans.com/")
# Site, what its pages look like, and the rule the server itself cleans them by.
SITES = (
    ("IAFD", "https://www.iafd.com/person.rme/id={id}", r"(https?://www\.iafd\.com/person\.rme/id=[^/?]+)"),
    ("Indexxx", "https://www.indexxx.com/m/{handle}", r"(https?://www\.indexxx\.com/m/[^/?]+)"),
    ("Babepedia", "https://www.babepedia.com/babe/{title}", None),
    ("Twitter", "https://twitter.com/{handle}", r"https?://(?:www\.)?(?:twitter|x)\.com/([A-Za-z0-9_]+)"),
    ("Instagram", "https://www.instagram.com/{handle}/", None),
    ("OnlyFans", "https://onlyfans.com/{handle}", None),
    ("Home", "https://{handle}.example/", None),
    ("StashDB", "https://stashdb.org/performers/{stashdb}", None),
)
_SITE_PERCENT = {"IAFD": 45, "Indexxx": 40, "Babepedia": 25, "Twitter": 45, "Instagram": 35, "OnlyFans": 30, "Home": 10}

Row = dict[str, Any]
_SIZES = ("height", "cup_size", "band_size", "waist_size", "hip_size", "breast_type")
_LOOKS = ("ethnicity", "country", "eye_color", "hair_color", *_SIZES)
_TIMES = ("birth_date", "death_date", "career_start_year", "career_end_year")
_EMPTY = ("disambiguation", "gender", "merged_into_id", *_LOOKS, *_TIMES)


def number_of(*words: object) -> int:
    """A large number that is the same for the same words."""
    return int.from_bytes(blake2b(" ".join(map(str, words)).encode(), digest_size=16).digest(), "big")


def id_of(seed: int, box: str, *words: object) -> str:
    return str(UUID(int=number_of("id", seed, box, *words), version=4))


def is_in(seed: int, box: str, number: int, boxes: tuple[str, ...]) -> bool:
    """Whether a box has a person. Each is in one at the least."""
    return number_of("has", seed, box, number) % 100 < _HAS_PERCENT or boxes[number % len(boxes)] == box


@dataclass
class Clock:
    """The time on the other side: a second goes by with each request, so that everything is the same at every start."""

    seconds: int = 0

    def now(self) -> datetime:
        return _TODAY + timedelta(seconds=self.seconds)


@dataclass
class Box:
    """One stash-box: its rows, deleted ones too, and the orders they are listed in."""

    name: str
    seed: int
    clock: Clock
    rows: dict[str, Row] = field(default_factory=dict)
    persons: dict[str, int] = field(default_factory=dict)  # who a row, or an image, is of
    listed: int = 0  # requests for pages so far: what is equal comes in another order each time
    _orders: dict[str, list[Row]] = field(default_factory=dict)

    def live(self) -> Iterator[Row]:
        return (row for row in self.rows.values() if not row["deleted"])

    def page(self, key: str, is_descending: bool, keep: Callable[[Row], bool] | None, page: int, per_page: int) -> Any:
        """How many there are, and some of them, by OFFSET. Nothing but the key orders them."""
        self.listed += 1
        rows = self._ordered(key) if keep is None else [row for row in self._ordered(key) if keep(row)]
        rows = rows[::-1] if is_descending else rows
        first, last = (page - 1) * per_page, page * per_page
        return len(rows), self._swapped(rows, key, first, last)

    def _ordered(self, key: str) -> list[Row]:
        if key not in self._orders:
            self._orders[key] = sorted(self.live(), key=lambda row: str(row[key] or ""))
        return self._orders[key]

    def _swapped(self, rows: list[Row], key: str, first: int, last: int) -> list[Row]:
        """A slice, with those of an equal key in the order of this very request."""
        begin, end = first, min(last, len(rows))
        while 0 < begin < len(rows) and rows[begin - 1][key] == rows[begin][key]:
            begin -= 1
        while 0 < end < len(rows) and rows[end - 1][key] == rows[end][key]:
            end += 1
        several = rows[begin:end]
        place = {row["id"]: number for number, row in enumerate(several)}
        first_of: dict[Any, int] = {}
        for row in several:
            first_of.setdefault(row[key], place[row["id"]])
        lot = random.Random(f"swap {self.seed} {self.name} {self.listed}")  # noqa: S311
        mixed = sorted(several, key=lambda row: (first_of[row[key]], lot.random()))
        return mixed[first - begin : last - begin]

    def delete(self, performer: str) -> None:
        self._change(performer, deleted=True)

    def merge(self, source: str, target: str) -> None:
        """As there: the one is deleted and points to the other, which is touched."""
        self._change(source, deleted=True, merged_into_id=target)
        into = self.rows[target]
        self._change(target, merged_ids=[*into["merged_ids"], source])

    def touch(self, performer: str) -> None:
        self._change(performer, disambiguation=f"{self.rows[performer]['disambiguation'] or ''}*")

    def spoil(self, performer: str) -> None:
        """Somebody made it something that nobody can read."""
        self._change(performer, name="")

    def create(self, performer: str, name: str) -> None:
        self._orders.clear()
        now = _written(self.clock.now())
        self.rows[performer] = {**_blank(performer, name), "created": now, "updated": now}

    def _change(self, performer: str, **fields: Any) -> None:
        self._orders.clear()
        now = _written(self.clock.now())
        self.rows[performer] = {**self.rows[performer], **fields, "updated": now}


def make(people: People, boxes: tuple[str, ...], clock: Clock) -> dict[str, Box]:
    return {name: _filled(Box(name, people.seed, clock), people, boxes) for name in boxes}


def _filled(box: Box, people: People, boxes: tuple[str, ...]) -> Box:
    numbers = [n for n in range(people.count) if is_in(people.seed, box.name, n, boxes)]
    # In an order of its own: the same person is not the same page everywhere.
    numbers.sort(key=lambda number: number_of("order", people.seed, box.name, number))
    for place, number in enumerate(numbers):
        row = _row(box, people[number], place, is_in(people.seed, NAMES[0], number, boxes))
        _add(box, row, number)
        if number_of("twice", people.seed, box.name, number) % 40 == 0:
            _add_merged(box, row, number)
    return box


def _add(box: Box, row: Row, number: int) -> None:
    box.rows[row["id"]] = row
    box.persons[row["id"]] = number
    box.persons |= {image["id"]: number for image in row["images"]}


def _add_merged(box: Box, row: Row, number: int) -> None:
    """Somebody was there twice, and was put together before anybody looked."""
    other = id_of(box.seed, box.name, number, "merged")
    gone = {**row, "id": other, "deleted": True, "merged_into_id": row["id"], "merged_ids": [], "images": []}
    _add(box, gone, number)
    row["merged_ids"] = [other]


def _row(box: Box, person: Person, place: int, is_at_first: bool) -> Row:
    lot = random.Random(f"row {box.seed} {box.name} {person.number}")  # noqa: S311
    created = _FIRST_DAY + timedelta(hours=place // _IMPORTED_TOGETHER)
    names = [person.name, *person.aliases]
    name = names.pop(1 if lot.random() < 0.15 else 0)

    def maybe(value: Any, percent: int = 75) -> Any:
        return value if lot.randrange(100) < percent else None

    performer = id_of(box.seed, box.name, person.number)
    return {
        **_blank(performer, name),
        "disambiguation": None if lot.random() < 0.9 else f"born in {person.birthdate[:4]}",
        "aliases": [alias for alias in names if lot.random() < 0.7],
        "gender": maybe(person.gender, 90),
        "birth_date": _date(lot, person.birthdate),
        "ethnicity": maybe(person.ethnicity),
        "country": maybe(person.country),
        "eye_color": maybe(person.eyes),
        "hair_color": maybe(lot.choice(("BLONDE", "BRUNETTE")) if lot.random() < 0.1 else person.hair),
        "height": maybe(person.height_cm + lot.choice((-2, 0, 0, 0, 2))),
        "cup_size": maybe(person.cup, 50),
        "band_size": maybe(person.band, 50),
        "waist_size": maybe(person.waist, 50),
        "hip_size": maybe(person.hip, 50),
        "career_start_year": maybe(person.career_start),
        "career_end_year": maybe(person.career_end),
        "urls": list(_urls(lot, box, person, is_at_first)),
        "images": _images(box, person) if lot.random() < 0.8 else [],
        "created": _written(created),
        "updated": _written(created + timedelta(minutes=lot.randrange(60 * 24 * 900))),
    }


def _blank(performer: str, name: str) -> Row:
    nothing = dict.fromkeys(_EMPTY)
    lists: Row = {name: [] for name in ("aliases", "tattoos", "piercings", "urls", "images", "merged_ids")}
    return {"id": performer, "name": name, "deleted": False, **nothing, **lists}


def _date(lot: random.Random, birthdate: str) -> str | None:
    """At some precision; now and then a wrong one."""
    year, month, day = birthdate.split("-")
    wrong = f"{year}-{month}-{int(day) % 28 + 1:02}"
    (told,) = lot.choices((birthdate, f"{year}-{month}", year, None, wrong), (60, 8, 14, 14, 4))
    return told


def _urls(lot: random.Random, box: Box, person: Person, is_at_first: bool) -> Iterator[Row]:
    words = {
        "id": number_of("iafd", box.seed, person.number) % 10**9,
        "handle": person.handle,
        "title": person.name.replace(" ", "_"),
        "stashdb": id_of(box.seed, NAMES[0], person.number),
    }
    for number, (site, form, _) in enumerate(SITES):
        is_link = site == "StashDB"
        percent = (30 if is_at_first and box.name != NAMES[0] else 0) if is_link else _SITE_PERCENT[site]
        if lot.randrange(100) < percent:
            yield {"url": form.format(**words), "site": {"id": site_id(number), "name": site}}
    if lot.random() < 0.06:
        hub = lot.choice(_HUBS)
        number = next(n for n, (site, _, _) in enumerate(SITES) if site.lower() in hub)
        yield {"url": hub, "site": {"id": site_id(number), "name": SITES[number][0]}}


def _images(box: Box, person: Person) -> list[Row]:
    return [{"id": id_of(box.seed, box.name, person.number, "image"), "width": 16, "height": 16}]


def site_id(number: int) -> str:
    return str(UUID(int=number_of("site", number), version=4))


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
