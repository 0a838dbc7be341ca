"""When two names are the same: exactly then, when nothing but case, width, spaces and punctuation tells them apart."""

import unicodedata

# Punctuation, whatever separates, and what cannot be seen.
_LEFT_OUT = ("P", "Z", "C")


def normalised_name(name: str) -> str:
    """What all spellings of a name have in common. A name of punctuation alone is kept, or all of those were one."""
    folded = _folded(name)
    words = "".join(sign for sign in folded if not unicodedata.category(sign).startswith(_LEFT_OUT))
    if not words:
        return folded
    # Signs that have become neighbours may belong together now, as a letter and its accent.
    return words if words == (again := _folded(words)) else normalised_name(again)


def _folded(name: str) -> str:
    """Without width and case. What folding the case leaves may be written in a shorter way, and again."""
    before = None
    while name != before:
        before, name = name, unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
    return name
