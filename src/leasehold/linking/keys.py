"""Keys: what two records must share to be compared at all.

A rule makes keys of a record. `name`: the whole name; `token`: each token; `tokens`: each two of them; `value:f`: the
value of an attribute; `token+value:f`: a token with it; `values:f:g`: the values of two attributes; `word:f`: each rare
word of one. Names are sounded out, dates in company count by their year: an error in one place leaves keys in others.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from leasehold.linking.names import Name
from leasehold.linking.tables import Field, Tables
from leasehold.linking.text import skeleton

_TOKENS = 5  # of a long name only the rarest are keys
_WORDS = 4
_PREFIXES = {
    "name": "n",
    "token": "t",
    "tokens": "tt",
    "value": "v",
    "token+value": "tv",
    "values": "vv",
    "word": "w",
}


def rules_without_counting(tables: Tables) -> tuple[str, ...]:
    """Rules whose keys are narrow by themselves, for an epoch that has counted nothing."""
    dates = [field.key for field in tables.fields if field.weights.compare == "date" and ":" not in field.key]
    return ("name", "tokens", *(f"token+value:{key}" for key in dates))


def all_rules(tables: Tables) -> tuple[str, ...]:
    """Every rule there could be, from which an epoch chooses."""
    keys = [field.key for field in tables.fields if ":" not in field.key]  # which would not be told from the rule's own
    texts = [key for key in keys if tables.fields[tables.position[key]].weights.compare == "text"]
    return (
        "name",
        "token",
        "tokens",
        *(f"value:{key}" for key in keys),
        *(f"token+value:{key}" for key in keys),
        *(f"values:{one}:{other}" for one, other in combinations(keys, 2)),
        *(f"word:{key}" for key in texts),
    )


def prefix_of(rule: str, tables: Tables) -> str:
    """What the keys of a rule begin with."""
    verb, *keys = rule.split(":")
    return _PREFIXES[verb] + ":".join(str(tables.position[key]) for key in keys)


def sounded(names: Sequence[Name]) -> Iterator[list[str]]:
    """Each name as the sounds of its rarest tokens, in one order."""
    for name in names:
        tokens = name.tokens
        if len(tokens) > _TOKENS:
            rarest = sorted(tokens, key=lambda token: (-tokens[token], token))[:_TOKENS]
        else:
            rarest = list(tokens)
        yield sorted({skeleton(token) for token in rarest if len(token) > 1})


def coarse(field: Field, value: str) -> str:
    """A value as it is combined with another: of a date the year alone."""
    return value[:4] if field.weights.compare == "date" else value.replace(" ", "")


def fine(field: Field, value: str) -> str:
    """A value as it stands alone: of a date all of it, or it is none."""
    if field.weights.compare == "date" and len(value) < 10:
        return ""
    return value.replace(" ", "")


class Keymaker:
    """The rules of an epoch, taken apart once."""

    __slots__ = ("_hubs", "_pairs", "_tables", "_token", "_token_value", "_tokens", "_value", "_whole", "_words")

    def __init__(self, tables: Tables, rules: Sequence[str]) -> None:
        self._tables = tables
        self._hubs = tables.hubs
        self._whole = "name" in rules
        self._token = "token" in rules
        self._tokens = "tokens" in rules
        self._value = self._positions(rules, "value")
        self._token_value = self._positions(rules, "token+value")
        self._words = self._positions(rules, "word")
        self._pairs = [
            (tables.position[one], tables.position[other])
            for one, other in (rule.split(":")[1:] for rule in rules if rule.startswith("values:"))
        ]

    def _positions(self, rules: Sequence[str], verb: str) -> list[int]:
        return [self._tables.position[rule.split(":", 1)[1]] for rule in rules if rule.split(":", 1)[0] == verb]

    def __call__(self, names: Sequence[Name], values: Sequence[tuple[str, ...] | None]) -> set[str]:
        keys: set[str] = set()
        tokens: set[str] = set()
        for sounds in sounded(names):
            tokens.update(sounds)
            if self._whole and sounds:
                keys.add(f"n|{'|'.join(sounds)}")
            if self._tokens:
                keys.update(f"tt|{one}|{other}" for one, other in combinations(sounds, 2))
        if self._token:
            keys.update(f"t|{token}" for token in tokens)
        self._of_values(keys, tokens, values)
        return keys - self._hubs if self._hubs else keys

    def _of_values(self, keys: set[str], tokens: set[str], values: Sequence[tuple[str, ...] | None]) -> None:
        fields = self._tables.fields
        for at in self._value:
            keys.update(f"v{at}|{text}" for value in values[at] or () if (text := fine(fields[at], value)))
        for at in self._token_value:
            for value in values[at] or ():
                text = coarse(fields[at], value)
                keys.update(f"tv{at}|{token}|{text}" for token in tokens)
        for one, other in self._pairs:
            for left in values[one] or ():
                text = coarse(fields[one], left)
                keys.update(f"vv{one}:{other}|{text}|{coarse(fields[other], right)}" for right in values[other] or ())
        for at in self._words:
            for value in values[at] or ():
                keys.update(f"w{at}|{word}" for word in fields[at].rarest(value, _WORDS))
