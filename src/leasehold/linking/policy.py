"""What configuration says of a kind: thresholds, how attributes are compared, which sources and ids are exclusive."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

COMPARISONS = ("date", "number", "category", "text", "ignore")


class PolicyFault(ValueError):
    """A policy cannot be read; the message says which setting is wrong and why."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """How one key is compared."""

    compare: str = ""  # one of COMPARISONS; empty: as its values show
    also: tuple[str, ...] = ()  # other keys that mean the same
    weight: float = 1.0  # what its bits are multiplied with
    conflict: bool = False  # a clear difference is named in the evidence


@dataclass(frozen=True, slots=True)
class Policy:
    """Bits are base-2 logarithms of odds, the prior included: at 0 a pair is as likely one thing as not."""

    keep: float = -4.0  # edges below are not stored
    review: float = -2.0  # from here up to `join`, people are asked
    join: float = 0.0  # the average between two clusters that makes them one
    absent: float = -4.0  # what a pair without an edge counts in that average
    ceiling: float = 12.0  # what a pair counts there at most
    id_bits: float = 34.0  # for an id that both have
    id_conflict_bits: float = -16.0  # for different ids in an exclusive namespace
    url_bits: float = 26.0  # for an address that both have
    url_conflict_bits: float = -16.0  # for one that both have under different names: half in common at most
    curated_bits: float = -24.0  # for two records of one curated source
    hub: int = 60  # a key that more records of the epoch have is no key
    nicknames: bool = True
    curated: frozenset[str] = frozenset()  # sources that hold each thing once
    exclusive: frozenset[str] = frozenset()  # namespaces in which a thing has one id
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Self:
        """The policy of a kind, read from YAML. Raises PolicyFault."""
        known = {entry.name: entry for entry in fields(cls)}
        wanted: dict[str, Any] = {}
        for key, value in document.items():
            if key not in known:
                raise PolicyFault(f"{key}: no such setting; there are {', '.join(sorted(known))}")
            wanted[key] = _READERS.get(key, _number)(key, value)
        policy = cls(**wanted)
        if not policy.keep <= policy.review <= policy.join <= policy.ceiling:
            raise PolicyFault("keep, review, join and ceiling must not fall: each is at least the one before")
        if policy.hub < 2:
            raise PolicyFault("hub: must be at least 2, or no two records share a key")
        return policy

    @classmethod
    def kept(cls, document: Mapping[str, Any]) -> Self:
        """The policy of an epoch: what was no evidence when it was frozen is none in it for ever."""
        return cls.parse({"url_conflict_bits": 0.0, **document})

    def curating(self, sources: Iterable[str]) -> "Policy":
        """This policy with more curated sources."""
        return replace(self, curated=self.curated | frozenset(sources))

    def to_json(self) -> dict[str, Any]:
        """What `kept` reads back, in one order whatever it was written in."""
        document = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        if not self.url_conflict_bits:
            del document["url_conflict_bits"]  # as it was written before there was such a thing
        document["curated"] = sorted(self.curated)
        document["exclusive"] = sorted(self.exclusive)
        document["attributes"] = {key: asdict(one) | {"also": list(one.also)} for key, one in self.attributes.items()}
        return document


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PolicyFault(f"{key}: {value!r} is no number")
    return float(value)


def _count(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise PolicyFault(f"{key}: {value!r} is no whole number")
    return value


def _switch(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise PolicyFault(f"{key}: {value!r} is neither true nor false")
    return value


def _words(key: str, value: Any) -> frozenset[str]:
    if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
        raise PolicyFault(f"{key}: {value!r} is no list")
    if not all(isinstance(word, str) for word in value):
        raise PolicyFault(f"{key}: every entry must be text")
    return frozenset(value)


def _attribute(key: str, value: Any) -> Attribute:
    if isinstance(value, str):
        value = {"compare": value}
    if not isinstance(value, Mapping):
        raise PolicyFault(f"{key}: must name a comparison or be a mapping")
    if key == "attributes.name":
        raise PolicyFault("attributes.name: the name of a record is no attribute")
    unknown = set(value) - {entry.name for entry in fields(Attribute)}
    if unknown:
        raise PolicyFault(f"{key}.{min(unknown)}: no such setting")
    compare = value.get("compare", "")
    if compare and compare not in COMPARISONS:
        raise PolicyFault(f"{key}.compare: {compare!r} is none of {', '.join(COMPARISONS)}")
    return Attribute(
        compare=compare,
        also=tuple(sorted(_words(f"{key}.also", value.get("also", [])))),
        weight=_number(f"{key}.weight", value.get("weight", 1.0)),
        conflict=_switch(f"{key}.conflict", value.get("conflict", False)),
    )


def _attributes(key: str, value: Any) -> dict[str, Attribute]:
    if not isinstance(value, Mapping):
        raise PolicyFault(f"{key}: {value!r} is no mapping")
    return {str(name): _attribute(f"{key}.{name}", value[name]) for name in sorted(value, key=str)}


_READERS = {
    "hub": _count,
    "nicknames": _switch,
    "curated": _words,
    "exclusive": _words,
    "attributes": _attributes,
}

# For kinds that nobody configured.
DEFAULT = Policy()

# People who perform, as the stash-boxes and ThePornDB describe them. What a person is called in law, and where they
# live, are no evidence here: they are ignored even where a source gives them.
PERFORMER = Policy.parse(
    {
        "join": 2.0,  # two people in one are worse than one person in two
        "exclusive": ["iafd", "stashdb", "wikidata"],
        "attributes": {
            "birthdate": {"compare": "date", "also": ["birth_date", "birthday", "dob"], "conflict": True},
            "gender": {"compare": "category", "conflict": True},
            "ethnicity": "category",
            "country": {"compare": "category", "also": ["nationality", "birthplace_code"]},
            "eye_color": {"compare": "category", "also": ["eye_colour"]},
            "hair_color": {"compare": "category", "also": ["hair_colour"]},
            "height": {"compare": "number", "also": ["height_cm"]},
            # There are few years in which careers begin: half of what a number usually says.
            "career_start": {"compare": "number", "also": ["career_start_year"], "weight": 0.5},
            "legal_name": "ignore",
            "address": "ignore",
        },
    }
)
