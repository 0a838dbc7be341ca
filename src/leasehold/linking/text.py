"""Text as it is compared: one alphabet, one case, no marks; and addresses without what does not matter in them."""

import html
import re
import unicodedata
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit

from anyascii import anyascii

_REMEMBERED = 1 << 16

_APOSTROPHES = re.compile(r"['`\u2019\u02bc]")
_GAPS = re.compile(r"[^a-z0-9]+")
# Han, kana and Hangul: their transliteration says nothing of how the owner writes the name in Latin letters.
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_DIGIT = re.compile(r"[0-9]")
_TRACKING = re.compile(r"^(utm_.*|fbclid|gclid|igshid|igsh|ref|ref_src|ref_url|si|mc_[ce]id)$", re.IGNORECASE)
_NOTHING = frozenset({"", "unknown", "n a", "na", "none", "null", "nan", "nil", "undefined"})

# Sounds that are written in several ways, longest first; enough to find candidates, never to decide.
_SOUNDS = (("ph", "f"), ("ck", "k"), ("sch", "s"), ("sh", "s"), ("th", "t"), ("wr", "r"), ("kn", "n"))
_LETTERS = str.maketrans({"c": "k", "q": "k", "z": "s", "v": "f", "j": "y", "w": "u"})
_VOWELS = re.compile(r"[aeiouyh]")
_DOUBLED = re.compile(r"(.)\1+")


@lru_cache(maxsize=_REMEMBERED)
def plain(text: str) -> str:
    """Lower case letters and digits with single spaces, or nothing where the text says nothing."""
    if not text.isascii():
        text = anyascii(unicodedata.normalize("NFKC", html.unescape(text) if "&" in text else text))
    elif "&" in text:
        text = anyascii(html.unescape(text))
    bare = _GAPS.sub(" ", _APOSTROPHES.sub("", text.casefold())).strip()
    return "" if bare in _NOTHING else bare


def has_ideographs(text: str) -> bool:
    return not text.isascii() and _IDEOGRAPHS.search(text) is not None


def has_digits(token: str) -> bool:
    return _DIGIT.search(token) is not None


@lru_cache(maxsize=_REMEMBERED)
def skeleton(token: str) -> str:
    """What is left of a token when it is misheard: its first letter and its consonants."""
    if has_digits(token):
        return token
    sounded = token
    for written, sound in _SOUNDS:
        sounded = sounded.replace(written, sound)
    sounded = _DOUBLED.sub(r"\1", sounded.translate(_LETTERS))
    return (sounded[:1] + _VOWELS.sub("", sounded[1:]))[:6]


@lru_cache(maxsize=_REMEMBERED)
def address(url: str) -> str:
    """A URL as an identity: without scheme, www, fragment, tracking and the last slash. Nothing if it is none."""
    text = url.strip()
    try:
        parts = urlsplit(text if "//" in text else f"//{text}")
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
    except ValueError:
        return ""
    if "." not in host:
        return ""
    query = urlencode(sorted(pair for pair in parse_qsl(parts.query) if not _TRACKING.match(pair[0])))
    path = parts.path.rstrip("/")
    return f"{host}{path}{'?' + query if query else ''}"
