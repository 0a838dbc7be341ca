"""Names, compared token by token: every token of the shorter one wants an explanation in the other."""

from collections.abc import Mapping

from rapidfuzz.distance import JaroWinkler

from leasehold.linking.memory import Memory
from leasehold.linking.shortforms import is_nickname
from leasehold.linking.text import has_digits, has_ideographs, plain

LEVELS = ("same", "alike", "within", "most", "some", "little", "none")
SAME, ALIKE, WITHIN, MOST, SOME, LITTLE, NONE = range(7)

_NEAR = 0.85  # from here on Jaro-Winkler of two tokens is a typing error rather than chance
_SHORT_FORM, _INITIAL = 0.85, 0.5  # what `bill` says of `william`, and `w` of it
_LONG = 6  # titles: two tokens are only compared if they begin alike


class Name:
    """A name with its tokens, and how much each of them says in bits."""

    __slots__ = ("foreign", "squeezed", "text", "tokens", "total")

    def __init__(self, raw: str, words: Mapping[str, float]) -> None:
        self.text = plain(raw)
        self.foreign = has_ideographs(raw)
        self.squeezed = self.text.replace(" ", "")
        self.tokens = {token: words[token] for token in self.text.split()}
        self.total = sum(self.tokens.values())


def explainer(*, nicknames: bool) -> Memory[tuple[str, str], float]:
    """How well one token explains another: 1 for the same, 0 for a stranger."""

    def explain(pair: tuple[str, str]) -> float:
        a, b = pair
        if len(a) == 1 or len(b) == 1:
            return _INITIAL if a[0] == b[0] else 0.0
        if has_digits(a) or has_digits(b):
            return 0.0  # numbers are told apart by one digit
        likeness = JaroWinkler.similarity(a, b)
        if likeness >= _NEAR:
            return likeness
        return _SHORT_FORM if nicknames and is_nickname(a, b) else 0.0

    return Memory(explain)


def align(a: Name, b: Name, explained: Mapping[tuple[str, str], float]) -> float:
    """The information in bits that the two names share, each token explained at most once."""
    left, right = a.tokens, b.tokens
    shared = 0.0
    open_left = []
    for token, weight in left.items():
        if token in right:
            shared += weight
        else:
            open_left.append(token)
    open_right = [token for token in right if token not in left] if open_left else []
    is_long = len(open_left) > _LONG or len(open_right) > _LONG
    found = []
    for one in open_left:
        for other in open_right:
            if not is_long or one[0] == other[0]:
                quality = explained[one, other]
                if quality:
                    found.append((-quality * min(left[one], right[other]), one, other))
    if len(found) == 1:
        return shared - found[0][0]
    taken: set[str] = set()
    for worth, one, other in sorted(found):
        if one not in taken and other not in taken:  # no token is open on both sides
            taken.add(one)
            taken.add(other)
            shared -= worth
    return shared


def name_level(a: Name, b: Name, explained: Mapping[tuple[str, str], float]) -> tuple[int, float]:
    """How alike two names are, and the bits of information they share; -1 where they cannot be compared."""
    if a.squeezed == b.squeezed:
        return SAME, min(a.total, b.total)
    if a.text > b.text:
        a, b = b, a  # one order of adding up, so that rounding is the same both ways
    shared = align(a, b, explained)
    least, most = (a.total, b.total) if a.total <= b.total else (b.total, a.total)
    if shared >= 0.999 * most:
        return SAME, shared  # the same tokens in another order
    if shared >= 0.88 * most:
        return ALIKE, shared
    if shared >= 0.88 * least:
        return WITHIN, shared
    if a.foreign != b.foreign:
        return -1, 0.0  # kanji against Latin letters says nothing, also not that they differ
    if shared >= 0.6 * most or shared >= 0.7 * least:
        return MOST, shared
    if shared >= 0.4 * least:
        return SOME, shared
    return (LITTLE, shared) if shared >= 0.15 * least else (NONE, 0.0)
