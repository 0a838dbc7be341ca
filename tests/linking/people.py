"""People who do not exist, written down several times with the errors that people make."""

import random
from collections.abc import Callable
from dataclasses import replace

from leasehold.linking import Record

GIVEN = [
    "william",
    "thomas",
    "margaret",
    "elizabeth",
    "robert",
    "catherine",
    "alexander",
    "dorothy",
    "michael",
    "frances",
    "edward",
    "susan",
]
FAMILY = [
    "ashdown",
    "barrowclough",
    "carrington",
    "delacroix",
    "eastwood",
    "fairweather",
    "greenhalgh",
    "hollingsworth",
    "ironmonger",
    "jessop",
    "kettlewell",
    "lovelace",
    "merriweather",
    "northcott",
    "oldfield",
    "pemberton",
    "quickfall",
    "ravenscroft",
    "silverwood",
    "thistlethwaite",
    "underhill",
    "vanterpool",
    "whitcombe",
    "yarborough",
]
TOWNS = ["aberford", "brackley", "chilham", "dunster", "edenbridge", "fowey", "glossop", "hawes", "ilkley", "keswick"]
TRADES = ["baker", "cooper", "farrier", "glover", "mason", "tanner", "weaver", "wright"]

Error = Callable[[random.Random, Record], Record]


def people(count: int, seed: int = 1, *, copies: int = 4) -> tuple[list[Record], dict[tuple[str, str, str], int]]:
    """Records in no particular order, and who each of them is."""
    chance = random.Random(seed)  # noqa: S311
    records, truth = [], {}
    for person in range(count):
        original = _person(chance, person)
        for copy in range(1 + chance.randrange(copies)):
            record = replace(original, source_id=f"{person}-{copy}")
            for error in chance.sample(ERRORS, chance.randrange(3)) if copy else []:
                record = error(chance, record)
            records.append(record)
            truth[record.place] = person
    chance.shuffle(records)
    return records, truth


def _person(chance: random.Random, person: int) -> Record:
    born = f"{chance.randrange(1800, 1990)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
    attributes = {"born": born, "town": chance.choice(TOWNS), "trade": chance.choice(TRADES)}
    attributes["height"] = f"{chance.randrange(150, 200)}cm"
    name = f"{chance.choice(GIVEN)} {chance.choice(FAMILY)}"
    return Record("file", str(person), "person", name, attributes=attributes)


def _misspelt(chance: random.Random, record: Record) -> Record:
    at = chance.randrange(1, len(record.name) - 1)
    return replace(record, name=record.name[:at] + chance.choice("aeiourstln") + record.name[at + 1 :])


def _turned_round(_: random.Random, record: Record) -> Record:
    return replace(record, name=" ".join(reversed(record.name.split())))


def _forgotten(chance: random.Random, record: Record) -> Record:
    left_out = chance.choice(sorted(record.attributes)) if record.attributes else ""
    return replace(record, attributes={key: value for key, value in record.attributes.items() if key != left_out})


def _misread(chance: random.Random, record: Record) -> Record:
    born = record.attributes.get("born")
    if not born:
        return record
    at = chance.choice([3, 6, 9])
    return replace(
        record, attributes={**record.attributes, "born": born[:at] + chance.choice("12345") + born[at + 1 :]}
    )


ERRORS: list[Error] = [_misspelt, _turned_round, _forgotten, _misread]
