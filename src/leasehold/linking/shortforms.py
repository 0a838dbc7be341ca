"""Which given names are short for which others."""

from functools import cache

from nicknames import name_triplets


@cache
def _pairs() -> frozenset[tuple[str, str]]:
    # Only a name and its short form: two short forms of one name may well be different names (`al`, `lex`).
    return frozenset((entry.name1, entry.name2) for entry in name_triplets())


def is_nickname(a: str, b: str) -> bool:
    pairs = _pairs()
    return (a, b) in pairs or (b, a) in pairs
