"""A history and its key, packed small and sealed for the one place it belongs to."""

import os
import zlib
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import orjson

from leasehold.sessions.canonical import Canonical
from leasehold.sessions.history import History, HistoryUnreadable, decode, encode
from leasehold.sessions.models import Start, Stored
from leasehold.vault import Place, Sealed, Vault

FIELD: Final = "session"
BASE_FIELD: Final = "session.base"
_FORMAT: Final = b"\x01"
_KEY_BYTES: Final = 32
# Text like this shrinks to a tenth at once; what more effort gains is not worth its time.
_EFFORT: Final = 1


@dataclass(frozen=True, slots=True)
class Contents:
    """What is inside: the history, and the key its digests are made with."""

    history: History
    key: bytes


def fresh() -> Contents:
    return Contents(History(), os.urandom(_KEY_BYTES))


def seal(vault: Vault, organisation: UUID, account: UUID, rev: int, contents: Contents) -> Sealed:
    packed = _FORMAT + contents.key + zlib.compress(encode(contents.history), _EFFORT)
    return vault.seal(packed, Place(organisation, account, FIELD, rev))


def open_(vault: Vault, organisation: UUID, account: UUID, stored: Stored) -> Contents:
    """Raises SecretsSealed, HistoryUnreadable."""
    packed = vault.open(Sealed(stored.key_id, stored.sealed), Place(organisation, account, FIELD, stored.rev))
    if packed[:1] != _FORMAT:
        raise HistoryUnreadable("A session was written by another version of leasehold.")
    key, rest = packed[1 : 1 + _KEY_BYTES], packed[1 + _KEY_BYTES :]
    return Contents(decode(zlib.decompress(rest)), key)


def seal_start(vault: Vault, organisation: UUID, lease: UUID, held: Canonical) -> Sealed:
    """What a context holds after its upload, to be compared with its next."""
    packed = _FORMAT + zlib.compress(orjson.dumps(held.entries), _EFFORT)
    return vault.seal(packed, Place(organisation, lease, BASE_FIELD, 0))


def open_start(vault: Vault, organisation: UUID, lease: UUID, start: Start) -> Canonical | None:
    if start.sealed is None or start.key_id is None:
        return None
    packed = vault.open(Sealed(start.key_id, start.sealed), Place(organisation, lease, BASE_FIELD, 0))
    return Canonical(orjson.loads(zlib.decompress(packed[1:])))
