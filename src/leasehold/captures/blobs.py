"""Where the bytes of captures are: a store that knows them by their SHA-256, once for each organisation.

Two stores do this: a folder on this machine (`folder.py`), and anything fsspec has an address for (`remote.py`). All of
it blocks, so it is called in threads.
"""

import hashlib
import re
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from io import RawIOBase
from typing import IO, Any, Protocol
from uuid import UUID

from leasehold.ids import uuid7

_NAME = re.compile(r"[0-9a-f]{64}\Z")
_ORGANISATION = re.compile(r"[0-9a-f]{32}\Z")
DRAFTS = "drafts"


@dataclass(frozen=True, slots=True)
class Key:
    """Which bytes: whose, and what their digest is. Never shared between organisations: who sends what another has
    already must not learn of it."""

    organisation: UUID
    sha256: bytes

    @property
    def path(self) -> str:
        """Where they are, below the root of a store."""
        name = self.sha256.hex()
        return f"{self.organisation.hex}/{name[:2]}/{name[2:4]}/{name}"


def key_of(organisation: str, name: str) -> Key | None:
    """The key a path of the store stands for; None for a stranger's file."""
    if not _ORGANISATION.match(organisation) or not _NAME.match(name):
        return None
    return Key(UUID(hex=organisation), bytes.fromhex(name))


# Less than this is hashed sooner than another thread has heard of it.
_WORTH_A_THREAD_BYTES = 128 * 1024
# What may wait to be hashed while more is written; what it is a part of waits with it.
_MOST_BEHIND = 2


class Draft:
    """Bytes on their way into a store, hashed as they pass. Nobody finds them before they are placed."""

    def __init__(self, sink: RawIOBase | IO[Any], path: str) -> None:
        self.path = path
        self.sink = sink
        self.size = 0
        self._hash = hashlib.sha256()
        self._waiting: list[memoryview] = []
        self._waiting_bytes = 0
        self._hashing: deque[Future[None]] = deque()

    def write(self, data: memoryview) -> None:
        """Take some bytes; they wait for the next flush."""
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        self.size += len(data)

    def flush(self, helper: Executor) -> None:
        """Write what waits, while the helper, which does one thing after the other, hashes it: the one waits for the
        disk, the other for a core."""
        data, self._waiting = self._waiting, []
        size, self._waiting_bytes = self._waiting_bytes, 0
        if size >= _WORTH_A_THREAD_BYTES or self._hashing:
            self._catch_up(_MOST_BEHIND - 1)
            self._hashing.append(helper.submit(self._absorb, data))
        else:
            self._absorb(data)
        self._put(data)

    @property
    def sha256(self) -> bytes:
        self._catch_up(0)
        return self._hash.digest()

    def _catch_up(self, most_behind: int) -> None:
        while len(self._hashing) > most_behind:
            self._hashing.popleft().result()

    def _absorb(self, data: Sequence[memoryview]) -> None:
        for piece in data:
            self._hash.update(piece)

    def _put(self, data: Sequence[memoryview]) -> None:
        for piece in data:
            rest = piece
            while rest:
                rest = rest[self.sink.write(rest) :]


class Blobs(Protocol):
    """A store of bytes."""

    def begin(self) -> Draft: ...

    def finish(self, draft: Draft) -> None:
        """Nothing more will be written; what was written survives whatever happens now."""

    def discard(self, draft: Draft) -> None: ...

    def place(self, key: Key, draft: Draft) -> bool:
        """Put a finished draft where its key says, to stay. True when the bytes were there already."""

    def open(self, key: Key) -> IO[bytes]:
        """The bytes, to be read from any place; raises FileNotFoundError."""

    def remove(self, key: Key) -> None:
        """Take bytes away; those that are not there are no error."""

    def each(self) -> Iterator[Key]:
        """Everything that is there."""

    def clear(self) -> int:
        """Take away what uploads left that never came to their end; returns how many."""

    def close(self) -> None: ...


def new_name() -> str:
    return uuid7().hex
