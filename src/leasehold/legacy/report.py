"""Bad documents, told one a line: which it is and what is wrong with it, never what is in it."""

import os
from pathlib import Path
from typing import Protocol

import orjson

from leasehold.legacy.models import Origin

_LONGEST_ID = 300


class Report(Protocol):
    """Where bad documents are told."""

    def tell(self, origin: Origin, wrong: str) -> None: ...

    def settle(self) -> int:
        """What was told survives whatever happens now; returns how long the report is."""

    def close(self) -> None: ...


def _told(origin: Origin, wrong: str) -> dict[str, object]:
    place = {} if origin.place is None else {"element": origin.place}
    return {"collection": origin.collection, "_id": origin.id[:_LONGEST_ID], **place, "wrong": wrong}


class FileReport:
    """One JSON object a line. An import that goes on cuts off what the batch that was lost had told."""

    def __init__(self, path: Path, length: int) -> None:
        self.path = path
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b")
        self._file.truncate(min(length, os.fstat(self._file.fileno()).st_size))
        self._file.seek(0, os.SEEK_END)

    def tell(self, origin: Origin, wrong: str) -> None:
        self._file.write(orjson.dumps(_told(origin, wrong)) + b"\n")

    def settle(self) -> int:
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        self._file.close()


class FirstOnes:
    """For a dry run: the first few, kept to be printed."""

    def __init__(self, most: int = 20) -> None:
        self._most = most
        self.lines: list[str] = []

    def tell(self, origin: Origin, wrong: str) -> None:
        if len(self.lines) < self._most:
            self.lines.append(orjson.dumps(_told(origin, wrong)).decode())

    def settle(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing is open."""
