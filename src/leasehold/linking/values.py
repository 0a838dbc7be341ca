"""Values of attributes: what type they show, how they are written down once, and how alike two of them are."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rapidfuzz.distance import OSA, JaroWinkler

from leasehold.linking.text import has_digits, plain

# What two values can be, from the most alike to the least. The first is always equality, the last always difference.
LEVELS: Mapping[str, tuple[str, ...]] = {
    "date": ("equal", "same month", "same year", "swapped", "one digit", "year alone", "close", "different"),
    "number": ("equal", "one digit", "close", "near", "different"),
    "category": ("equal", "alike", "different"),
    "text": ("equal", "alike", "most", "some", "different"),
}

_DATE = re.compile(r"^(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?:[T ]\d{1,2}:\d{2}.*)?$")
_PACKED = re.compile(r"^(1[0-9]|20)\d{2}\d{2}\d{2}$")
_NUMBER = re.compile(r"^[^\d.,-]{0,4}(-?\d+(?:[.,]\d+)?)\s?([a-z\"'%]{0,6})\.?$", re.IGNORECASE)

ALIKE, MOST, SOME = 0.92, 0.6, 0.3


def texts(value: Any) -> tuple[str, ...]:
    """A value as the texts it holds; missing ones are no texts."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value.strip(),) if value.strip() else ()
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, int | float):
        return (repr(int(value)) if float(value).is_integer() else repr(value),)
    if isinstance(value, Mapping):
        return texts([f"{key} {inner}" for key, inner in sorted(value.items()) if inner is not None])
    if isinstance(value, Iterable):
        return tuple(sorted({text for inner in value for text in texts(inner)}))
    return texts(str(value))


def date(text: str) -> str:
    """YYYY, YYYY-MM or YYYY-MM-DD; nothing if it is no date. Days that do not exist stay: they are typing errors."""
    if _PACKED.match(text):
        return f"{text[:4]}-{text[4:6]}-{text[6:]}"
    found = _DATE.match(text)
    if not found:
        return ""
    year, month, day = found.groups()
    if month is None or month in ("0", "00"):
        return year
    if day is None or day in ("0", "00"):
        return f"{year}-{month:0>2}"
    return f"{year}-{month:0>2}-{day:0>2}"


def number(text: str) -> str:
    """The number in `170cm` or `$12.50`; nothing if there is none, or more than one."""
    found = _NUMBER.match(text.strip())
    if not found:
        return ""
    bare = found.group(1).replace(",", ".")
    return bare.rstrip("0").rstrip(".") if "." in bare else bare


WRITERS: Mapping[str, Callable[[str], str]] = {"date": date, "number": number, "category": plain, "text": plain}


def write(how: str, value: Any) -> tuple[str, ...]:
    """A value as it is compared, or nothing where it is missing or cannot be read that way."""
    writer = WRITERS[how]
    return tuple(sorted({written for text in texts(value) if (written := writer(text))}))


def infer(values: Iterable[tuple[str, ...]]) -> str:
    """The type that the values of a key show: at least nine of ten must agree."""
    every = [text for found in values for text in found]
    if not every:
        return "text"
    if sum(1 for text in every if _is_long_date(text)) >= 0.9 * len(every):
        return "date"
    if sum(1 for text in every if number(text)) >= 0.9 * len(every):
        return "number"
    few = len({plain(text) for text in every}) <= max(12, len(every) // 50)
    short = sum(1 for text in every if text.count(" ") < 3) >= 0.9 * len(every)
    return "category" if few and short else "text"


def _is_long_date(text: str) -> bool:
    # Four digits may be a year, a price or a postcode: as a number they compare just as well.
    if _PACKED.match(text):
        return 1 <= int(text[4:6]) <= 12 and 1 <= int(text[6:]) <= 31
    return len(text) > 4 and _DATE.match(text) is not None


def date_level(a: str, b: str, *, new_year_is_unknown: bool) -> int:
    """Compared at the precision both have. 1 January may stand for `that year`, where an epoch's dates show it."""
    if a == b:
        if len(a) == 10:
            return 2 if new_year_is_unknown and a.endswith("-01-01") else 0
        return 1 if len(a) == 7 else 2
    short = min(len(a), len(b))
    if short < 10 and a[:short] == b[:short]:
        return 1 if short == 7 else 2
    if short == 10:
        is_vague = new_year_is_unknown and (a.endswith("-01-01") or b.endswith("-01-01"))
        if not is_vague and a[:4] == b[:4] and a[5:7] == b[8:] and a[8:] == b[5:7]:
            return 3
        if not (is_vague and a[:4] != b[:4]) and OSA.distance(a, b, score_cutoff=1) <= 1:
            return 4
    if a[:4] == b[:4]:
        return 5
    if OSA.distance(a[:4], b[:4], score_cutoff=1) <= 1 or (short == 10 and a[4:] == b[4:]):
        return 6
    return 7


def number_level(a: str, b: str) -> int:
    if a == b:
        return 0
    if OSA.distance(a, b, score_cutoff=1) <= 1 and max(len(a), len(b)) > 3:
        return 1
    left, right = float(a), float(b)
    apart = abs(left - right) / max(abs(left), abs(right))
    if apart <= 0.02:
        return 2
    return 3 if apart <= 0.1 else 4


def category_level(a: str, b: str) -> int:
    if a == b:
        return 0
    if has_digits(a) or has_digits(b):
        return 2
    return 1 if JaroWinkler.similarity(a, b) >= ALIKE else 2


class Text:
    """A text with what comparing it takes, worked out once."""

    __slots__ = ("has_digits", "squeezed", "text", "total", "words")

    def __init__(self, text: str, words: Mapping[str, float]) -> None:
        self.text = text
        self.squeezed = text.replace(" ", "")
        self.has_digits = has_digits(text)
        self.words = {word: words[word] for word in sorted(set(text.split()))}
        self.total = sum(self.words.values())


def text_level(a: Text, b: Text) -> int:
    """Typing errors first, then how much of the shorter text's information the other one has."""
    if a.squeezed == b.squeezed:
        return 0
    if a.has_digits or b.has_digits:  # numbers are told apart by one digit, so only one error is forgiven
        if OSA.distance(a.text, b.text, score_cutoff=1) <= 1:
            return 1
    elif JaroWinkler.similarity(a.text, b.text) >= ALIKE:
        return 1
    shared = a.words.keys() & b.words.keys()
    if not shared:
        return 4
    cover = sum(a.words[word] for word in sorted(shared)) / min(a.total, b.total)
    return 1 if cover >= 0.95 else 2 if cover >= MOST else 3 if cover >= SOME else 4
