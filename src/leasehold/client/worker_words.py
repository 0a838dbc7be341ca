"""What a worker says about what went wrong: short, and without what should not be told."""

import logging
import re

# Workers have no logs of their own: they use those of whoever runs them.
log = logging.getLogger("leasehold.worker")

_LONGEST = 500
_NAMES = r"token|secret|passw(?:or)?d|api[-_]?key|authorization|cookie|session|credential|signature"
# What it looks like, and what is told instead. None begins with something that repeats: that would take for ever.
_HIDDEN = (
    (re.compile(r"\blh_\w+"), "lh_…"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]+"), r"\1 …"),
    (re.compile(r"://[^/\s@]+@"), "://…@"),
    (re.compile(r"(://[^\s?#'\"<>]*)[?#][^\s'\"<>]*"), r"\1?…"),
    (re.compile(rf"(?i)((?:{_NAMES})[\w-]*['\"]?\s*[=:]\s*)(?:'[^']*'|\"[^\"]*\"|[^\s,;&'\"]+)"), r"\1…"),
)


def plain(text: str, most: int = _LONGEST) -> str:
    """One line that fits, with addresses cut at their query and whatever looks like a secret left out."""
    words = text[: 4 * most].split()
    if len(text) > 4 * most and len(words) > 1:
        words.pop()  # half a secret does not look like one
    line = " ".join(words)
    for pattern, instead in _HIDDEN:
        line = pattern.sub(instead, line)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def told(error: BaseException) -> str:
    """An exception, for whoever reads the job: its class, and what it says."""
    said = plain(str(error))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
