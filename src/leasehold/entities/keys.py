"""Keys of records as they are kept: hashed, so that an index of many millions stays small."""

import hashlib
from collections.abc import Iterable


def hashed(kind: str, keys: Iterable[str]) -> list[int]:
    """Each key as a number. Two that fall on one cost a comparison, nothing else."""
    salt = kind.encode()[:64]
    return sorted(
        {
            int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8, key=salt).digest(), "big", signed=True)
            for key in keys
        }
    )
