"""Plays a simulation over many seeds, and says which seed it was that broke a promise. `SEEDS=100000` for more."""

import os
from collections import Counter
from collections.abc import Callable, Iterable

SEEDS = int(os.environ.get("SEEDS", "2000"))


def storm(play: Callable[[int], Counter[str]], must: Iterable[str], share: float = 1.0) -> None:
    """`share` is for plays that take longer than others. What must have been seen keeps a storm from being a calm."""
    seen: Counter[str] = Counter()
    for seed in range(max(1, int(SEEDS * share))):
        try:
            seen += play(seed)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    assert [what for what in must if not seen[what]] == [], "a storm that never comes to this proves nothing of it"
