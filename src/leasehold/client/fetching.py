"""A file of a capture on its way to us: gone on with where it was cut off, and checked when it is whole.

No network here: both clients drive it.
"""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import httpx

from leasehold.client import captures
from leasehold.client.capture_models import Capture, CaptureFile
from leasehold.client.problems import CaptureUnknown, DownloadDamaged, problem_from
from leasehold.client.transport import ATTEMPTS, BUSY, pause_after

_PIECE_BYTES = 1024 * 1024
_GONE_ON = 206


class Fetching:
    """What is fetched goes into a file beside `to`, which takes its name when it is whole and right."""

    def __init__(self, capture: Capture, name: str, to: Path) -> None:
        self._file = _found(capture, name)
        self._path = captures.file_path(capture.id, name)
        self._to = to
        self._beside = to.with_name(to.name + ".part")
        self._digest = hashlib.sha256()
        self._seen = self._seen_before = 0
        self._failures = 0

    def __enter__(self) -> Self:
        self._sink: IO[bytes] = self._beside.open("a+b")
        self._sink.seek(0)
        while piece := self._sink.read(_PIECE_BYTES):
            self._take(piece)
        if self._seen > self._file.size:
            self._restart()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._sink.close()

    @property
    def is_whole(self) -> bool:
        return self._seen >= self._file.size

    @property
    def request(self) -> dict[str, Any]:
        """What to ask for next."""
        headers = {"Range": f"bytes={self._seen}-"} if self._seen else {}
        return {"method": "GET", "url": self._path, "headers": headers}

    def refusal(self, status: int, document: Any) -> Exception | None:
        """What an answer means that is no file; None when asking again may help."""
        return None if status in BUSY else problem_from(status, document)

    def begin(self, status: int) -> None:
        if status != _GONE_ON:  # the whole of it comes, whatever we had
            self._restart()

    def write(self, piece: bytes) -> None:
        self._sink.write(piece)
        self._take(piece)

    def pause_after(self, error: Exception | None) -> float:
        """How long to wait before asking again; raises when that brought nothing too often."""
        self._failures = 0 if self._seen > self._seen_before else self._failures + 1
        self._seen_before = self._seen
        if self._failures >= ATTEMPTS:
            raise error or problem_from(503, None)
        return pause_after(self._failures)

    def end(self) -> Path:
        """All of it came: it takes its name if it is right, and is thrown away if not."""
        self._sink.close()
        if self._digest.hexdigest() != self._file.sha256:
            self._beside.unlink()
            raise DownloadDamaged(f"What came of {self._file.name} is not what was captured; fetch it again.")
        return self._beside.replace(self._to)

    def _take(self, piece: bytes) -> None:
        self._digest.update(piece)
        self._seen += len(piece)

    def _restart(self) -> None:
        self._sink.truncate(0)
        self._digest, self._seen = hashlib.sha256(), 0


def _found(capture: Capture, name: str) -> CaptureFile:
    for file in capture.files:
        if file.name == name:
            return file
    raise CaptureUnknown(404, {"title": "Capture unknown", "detail": f"{capture.id} has no file named {name!r}."})


def document_of(answer: httpx.Response) -> Any:
    """What an answer that was read says, if it is JSON."""
    try:
        return answer.json()
    except ValueError:
        return None
