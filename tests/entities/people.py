"""Made-up people, and what several sources say of them: the same ones, with the errors people make."""

import random
from collections.abc import Sequence
from typing import Any

JSON = dict[str, Any]

_FIRST = ["Ada", "Bela", "Cleo", "Dora", "Edda", "Finn", "Gwen", "Hugo", "Ines", "Jana", "Kira", "Levi", "Mila", "Nora"]
_LAST = ["Abbott", "Brandt", "Castillo", "Dvorak", "Eriksen", "Fontaine", "Grabowski", "Halloran", "Ivanova", "Jansen"]
_LANDS = ["AT", "CA", "FR", "JP", "US"]


def person(number: int) -> JSON:
    """One of them. Names come again: what tells two of a name apart is when they were born."""
    chance = random.Random(number)  # noqa: S311 (made-up people)
    return {
        "name": f"{chance.choice(_FIRST)} {chance.choice(_LAST)}",
        "birthdate": f"{chance.randint(1960, 2000)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
        "country": chance.choice(_LANDS),
        "height": chance.randint(150, 190),
        "url": f"https://profiles.example/{number}",
    }


def seen(source: str, number: int, *, seed: int = 0) -> JSON:
    """What one source says of somebody: not everything, and not all of it right."""
    who = person(number)
    chance = random.Random(f"{source} {number} {seed}")  # noqa: S311 (made-up people)
    attributes = {
        "birthdate": who["birthdate"] if chance.random() < 0.7 else who["birthdate"][:4],
        "country": who["country"] if chance.random() < 0.9 else chance.choice(_LANDS),
    }
    if chance.random() < 0.5:
        attributes["height"] = f"{who['height']}cm"
    record: JSON = {
        "source": source,
        "source_id": f"{source}-{number}",
        "kind": "performer",
        "name": _mistyped(who["name"], chance) if chance.random() < 0.3 else who["name"],
        "attributes": attributes,
    }
    if chance.random() < 0.4:
        record["urls"] = {"profiles": [who["url"]]}
    return record


def records(people: int, sources: Sequence[str] = ("alpha", "beta", "gamma")) -> list[JSON]:
    """What several sources say of so many people; each source knows most of them."""
    return [
        seen(source, number)
        for source in sources
        for number in range(people)
        if random.Random(f"{source} knows {number}").random() < 0.8  # noqa: S311 (made-up people)
    ]


def _mistyped(name: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(name) - 1)
    return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
