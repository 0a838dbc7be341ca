"""Secrets that are recognised anywhere: what tests seed carries a mark, and what a run leaves is searched for it.

Nothing has to ask for it. Rows are looked at as they are deleted between tests, the folders of processes, brokers and
databases before they are removed, and what a test wrote to its streams and logs when it ends.
"""

import base64
import mmap
import os
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

MARK = "LHCANARY"


def _written(mark: str) -> list[str]:
    """A mark as it is, in hexadecimal, and in base64 wherever it may begin."""
    raw = mark.encode()
    whole = [base64.b64encode(bytes(shift) + raw).decode() for shift in range(3)]
    # Without the characters at either end that depend on what stands beside it.
    in_base64 = [text[(0, 2, 3)[shift] :].rstrip("=")[:-1] for shift, text in enumerate(whole)]
    return [mark, raw.hex(), raw.hex().upper(), *in_base64]


def pattern(mark: str = MARK) -> str:
    """For Python and PostgreSQL alike."""
    return "|".join(re.escape(text) for text in _written(mark))


_TEXT = re.compile(pattern())


def is_in(text: str) -> bool:
    return _TEXT.search(text) is not None


class SecretLeaked(AssertionError):
    """A secret of the tests stands somewhere in the clear."""


def in_files(places: Iterable[Path], mark: str = MARK) -> list[Path]:
    """The files with it, of some files and folders; what is gone by then is gone."""
    sought = re.compile(pattern(mark).encode())
    return [file for place in places for file in _files(place) if _has(file, sought)]


def check_files(*places: Path) -> None:
    found = in_files(places)
    if found:
        raise SecretLeaked(f"a secret that a test seeded stands in {', '.join(map(str, found[:5]))}")


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return [Path(folder) / name for folder, _, names in os.walk(place) for name in names]


def _has(file: Path, sought: re.Pattern[bytes]) -> bool:
    try:
        if not file.is_file() or file.stat().st_size == 0:
            return False
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return sought.search(content) is not None
    except OSError:
        return False


def fail_if_told(report: pytest.TestReport) -> None:
    """A test that passed and wrote a secret to its streams or logs has not."""
    told = [name for name, text in report.sections if is_in(text)]
    if told and report.outcome == "passed":
        report.outcome = "failed"
        report.longrepr = f"a secret that a test seeded was told to everybody: {', '.join(told)}"
