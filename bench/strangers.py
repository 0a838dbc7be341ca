"""Many people who do not exist, to fill a graph with."""

import random
from typing import Any

_BEGINNINGS = "b br c ch cl d dr f fl g gr h j k l m n p pr r s sh st t th tr v w z".split()  # noqa: SIM905 (shorter)
_ENDINGS = ["", "", "", "l", "m", "n", "r", "s", "t"]
_TRADES = ["baker", "cooper", "farrier", "glover", "mason", "painter", "sailor", "tanner", "weaver", "writer"]


def strangers(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """Records of people, most of them two of each, with the errors people make."""
    return [record for record, _ in known_strangers(count, seed)]


def known_strangers(count: int, seed: int = 7) -> list[tuple[dict[str, Any], str]]:
    """The same, each with who it is."""
    chance = random.Random(seed)
    towns = [_word(chance, 3) for _ in range(2000)]
    made: list[tuple[dict[str, Any], str]] = []
    while len(made) < count:
        who = f"p{len(made)}"
        name = f"{_word(chance, 2)} {_word(chance, 3)}"
        said = {
            "dob": f"{chance.randint(1500, 1990)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
            "birth_place": chance.choice(towns),
            "postcode_fake": f"{_letters(chance)}{chance.randint(1, 99)} {chance.randint(1, 9)}{_letters(chance)}",
            "gender": chance.choice(["male", "female"]),
            "occupation": chance.choice(_TRADES),
        }
        for copy in range(chance.choice([1, 2, 2, 3])):
            attributes = {key: value for key, value in said.items() if chance.random() < 0.85}
            written = _mistyped(name, chance) if copy and chance.random() < 0.4 else name
            place = {"source": "strangers", "source_id": f"s{len(made)}", "kind": "person"}
            made.append(({**place, "name": written, "attributes": attributes}, who))
    return made[:count]


def _word(chance: random.Random, syllables: int) -> str:
    return "".join(
        chance.choice(_BEGINNINGS) + chance.choice("aeiou") + chance.choice(_ENDINGS) for _ in range(syllables)
    )


def _letters(chance: random.Random) -> str:
    return "".join(chance.choice("abcdefghjklmnprstuwxyz") for _ in range(2))


def _mistyped(name: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(name) - 1)
    return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
