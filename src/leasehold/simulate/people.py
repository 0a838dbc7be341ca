"""People who do not exist: each the same for a seed and a number, with names of several scripts put together here."""

import random
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

import anyascii
import yaml

_MIDDLES = ("Rae", "Lou", "May", "Fox", "Sky", "Star", "Rose", "Wilde", "")
COUNTRIES = ("US", "GB", "DE", "FR", "ES", "PT", "BR", "CZ", "HU", "RU", "GR", "JP", "KR", "CA", "AU")
GENDERS = ("FEMALE", "FEMALE", "FEMALE", "MALE", "TRANSGENDER_FEMALE", "NON_BINARY")
ETHNICITIES = ("CAUCASIAN", "BLACK", "ASIAN", "LATIN", "MIXED", "OTHER")
EYES = ("BLUE", "BROWN", "GREY", "GREEN", "HAZEL")
HAIR = ("BLONDE", "BRUNETTE", "BLACK", "RED", "AUBURN")
_LATEST_START = 2024
# Each so-manieth person has the name of the one before.
_TWIN_EVERY = 29


@dataclass(frozen=True, slots=True)
class Person:
    """Who somebody is. What a box says of them may be less, and wrong."""

    number: int
    name: str
    aliases: tuple[str, ...]
    handle: str  # what they are called on sites that want a word
    birthdate: str
    gender: str
    ethnicity: str
    country: str
    eyes: str
    hair: str
    height_cm: int
    cup: str
    band: int
    waist: int
    hip: int
    career_start: int
    career_end: int | None


@dataclass(frozen=True)
class People:
    """So many of them."""

    count: int
    seed: int

    def __getitem__(self, number: int) -> Person:
        return _person(self.seed, number)

    def all(self) -> Iterator[Person]:
        return (self[number] for number in range(self.count))


@lru_cache(maxsize=200_000)
def _person(seed: int, number: int) -> Person:
    lot = random.Random(f"person {seed} {number}")  # noqa: S311 (the same again, not a secret)
    named = random.Random(f"name {seed} {_namesake(number)}")  # noqa: S311
    (script,) = named.choices(_scripts(), [script.weight for script in _scripts()])
    first, middle, last = named.choice(script.given), named.choice(_MIDDLES), named.choice(script.family)
    name = f"{last} {first}" if script.family_first else " ".join(filter(None, (first, middle, last)))
    born = lot.randint(1965, 2004)
    start = min(born + lot.randint(18, 30), _LATEST_START)
    return Person(
        number=number,
        name=name,
        aliases=_aliases(lot, name, first, last),
        handle=f"{_word(first)}{_word(last)}{number}",
        birthdate=f"{born}-{lot.randint(1, 12):02}-{lot.randint(1, 28):02}",
        gender=lot.choice(GENDERS),
        ethnicity=lot.choice(ETHNICITIES),
        country=lot.choice(COUNTRIES),
        eyes=lot.choice(EYES),
        hair=lot.choice(HAIR),
        height_cm=lot.randint(150, 195),
        cup=lot.choice("ABCDEF"),
        band=lot.randrange(30, 40, 2),
        waist=lot.randint(22, 32),
        hip=lot.randint(32, 42),
        career_start=start,
        career_end=start + lot.randint(1, 15) if lot.random() < 0.5 else None,
    )


def _namesake(number: int) -> int:
    """Whose name a person has: twins of name are what linking by names alone falls for."""
    return number - 1 if number % _TWIN_EVERY == _TWIN_EVERY - 1 else number


@dataclass(frozen=True, slots=True)
class Script:
    """Names of one way of writing. They are ours, plain, and of nobody in particular."""

    weight: int  # how common it is
    family_first: bool
    given: list[str]
    family: list[str]


@cache
def _scripts() -> list[Script]:
    text = resources.files("leasehold.simulate").joinpath("names.yaml").read_text(encoding="utf-8")
    return [
        Script(one["weight"], one["family_first"], one["given"].split(), one["family"].split())
        for one in yaml.safe_load(text)
    ]


def _aliases(lot: random.Random, name: str, first: str, last: str) -> tuple[str, ...]:
    plain = anyascii.anyascii(name).strip().title()
    other = _scripts()[0]
    several = {plain, f"{first} {last[0]}.", f"{lot.choice(other.given)} {lot.choice(other.family)}"} - {name}
    return tuple(sorted(several)[: lot.randint(1, 3)])


def _word(name: str) -> str:
    """A name as a site takes it."""
    plain = unicodedata.normalize("NFKD", anyascii.anyascii(name)).lower()
    return "".join(letter for letter in plain if letter.isascii() and letter.isalnum())
