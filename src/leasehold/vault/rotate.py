"""Bringing every stored secret under the newest key, in steps that may be cut short anywhere and begun again."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from leasehold.vault.problems import SecretsSealed
from leasehold.vault.seal import Vault

# Longer than it takes a server to store what it has just sealed.
SETTLE_S = 1.0


class Safe(Protocol):
    """A store that keeps sealed secrets, seen from the one who changes their key."""

    @property
    def name(self) -> str:
        """What it holds, as people call it."""

    async def census(self) -> dict[str, int]:
        """How many rows there are under each key id."""

    async def rewrap(self, vault: Vault, batch: int) -> int:
        """Re-wrap up to `batch` rows that are not under the newest key; returns how many it looked at, 0 at the end.

        Each is a compare-and-set on what was read: a secret that somebody changes meanwhile stays as they left it.
        """


async def rotate(
    vault: Vault, safes: Sequence[Safe], say: Callable[[str], None], batch: int = 500, *, settle_s: float = SETTLE_S
) -> dict[str, int]:
    """Re-wrap until nothing is left under an older key; returns how many rows of each safe it took.

    It ends when two looks, with a pause between, find nothing: a server may just be storing what it sealed with the old
    key. One that never learns of the newest key keeps this going for ever, and `say` tells of it. Raises SecretsSealed.
    """
    taken = {safe.name: 0 for safe in safes}
    clean_looks = 0
    while True:
        is_clean = True
        for safe in safes:
            done, total = await _standing(vault, safe)
            if done == total:
                continue
            is_clean = False
            if taken[safe.name]:
                say(f"{safe.name} {total - done:,} more under an older key; does every server have the newest?")
            while looked := await safe.rewrap(vault, batch):
                taken[safe.name] += looked
                done += looked
                say(f"{safe.name} {min(done, total):,} of {total:,}")
        clean_looks = clean_looks + 1 if is_clean else 0
        if clean_looks == 2:
            return taken
        await asyncio.sleep(settle_s)


async def _standing(vault: Vault, safe: Safe) -> tuple[int, int]:
    """How many rows are under the newest key, and how many there are."""
    census = await safe.census()
    for key_id, count in census.items():
        if not vault.knows(key_id):
            raise SecretsSealed(f"Of {safe.name}, {count:,} are sealed with {key_id}, a key this server does not have.")
    return census.get(vault.newest, 0), sum(census.values())
