"""Whether two names are written for one, for those who have nothing but the names."""

import unicodedata

from rapidfuzz.distance import OSA, JaroWinkler

from leasehold.linking.shortforms import is_nickname
from leasehold.linking.text import has_digits, has_ideographs, plain

SAME_NAME = 0.8  # from here on `same_name` means yes

_KNOWN_FORM = 0.85  # a short form or an initial
_ALONE = 0.8  # what one token is worth against many: `Michaela` may be anybody's
_RUN_TOGETHER = 0.92  # what the whole is worth when the gaps between the tokens are not looked at


def same_name(a: str, b: str) -> float:
    """How sure one is, from 0 to 1; `SAME_NAME` and above means yes.

    Every token of the shorter name needs a token of the longer one for itself; the worst of them decides. Names in
    Chinese or Japanese characters or Hangul are compared as written: one character more or less is another name.
    """
    if has_ideographs(a) and has_ideographs(b):
        left, right = (unicodedata.normalize("NFKC", text).replace(" ", "") for text in (a, b))
        return OSA.normalized_similarity(left, right)
    left, right = plain(a), plain(b)
    if not left or not right:
        return 0.0
    joined = (left.replace(" ", ""), right.replace(" ", ""))
    if joined[0] == joined[1]:
        return 1.0
    return max(_worst(left.split(), right.split()), _RUN_TOGETHER * OSA.normalized_similarity(*joined))


def _worst(left: list[str], right: list[str]) -> float:
    """How well the least explained token of the shorter name is explained."""
    short, long = sorted((left, right), key=lambda tokens: (len(tokens), tokens))
    pairs = sorted((-_likeness(one, other), at, to) for at, one in enumerate(short) for to, other in enumerate(long))
    taken_short: set[int] = set()
    taken_long: set[int] = set()
    worst = 1.0
    for likeness, at, to in pairs:
        if at not in taken_short and to not in taken_long:
            taken_short.add(at)
            taken_long.add(to)
            worst = min(worst, -likeness)
    return worst * _ALONE if len(short) == 1 < len(long) else worst


def _likeness(a: str, b: str) -> float:
    if a == b:
        return 1.0
    if len(a) == 1 or len(b) == 1:
        return _KNOWN_FORM if a[0] == b[0] else 0.0
    if has_digits(a) or has_digits(b):
        return 0.0
    if is_nickname(a, b):
        return _KNOWN_FORM
    # Jaro-Winkler alone takes any two names that begin alike for one (Federer, Federman); edits alone are too strict.
    return (JaroWinkler.similarity(a, b) + OSA.normalized_similarity(a, b)) / 2
