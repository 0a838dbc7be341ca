"""`pg_dump` and `pg_restore`, which come with the package: a whole database into one file, and out of it."""

import os
import re
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from leasehold.backup.folder import Say
from leasehold.embedded import programs

# What they say of a table that they have come to.
_TABLE = re.compile(r"(?:dumping contents of|processing data for) table \"?([\w.]+)")
_TOLD_LINES = 5
_TELL_EVERY_S = 1.0


class ProgramFailed(Exception):
    """One of PostgreSQL's own programs could not do its work; the message is what it said."""


def dump(url: str, snapshot: str, file: Path, tables: int, say: Say) -> None:
    """Everything in the database as a transaction with this snapshot sees it."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # whatever the umask: it is ours alone
    words = ["--format=custom", "--compress=gzip:1", "--no-unlogged-table-data", f"--snapshot={snapshot}"]
    _run("pg_dump", url, [*words, f"--file={file}"], tables, say)


def load(url: str, file: Path, tables: int, say: Say) -> None:
    """All of it or, however this ends, nothing. What is made belongs to whom the address names."""
    words = ["--single-transaction", "--exit-on-error", "--no-owner"]
    _run("pg_restore", url, [*words, str(file)], tables, say)


def _run(program: LiteralString, url: str, words: Sequence[str], tables: int, say: Say) -> None:
    with _address(url) as address:
        command = [str(programs() / program), "--verbose", "--no-password", f"--dbname={address}", *words]
        # Read while it runs, or it would wait for us for ever.
        running = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)  # noqa: S603
        said: deque[str] = deque(maxlen=_TOLD_LINES)
        try:
            with running:
                _listen(running, program, tables, say, said)
        except BaseException:
            running.kill()
            raise
    if running.returncode:
        told = "\n".join(said) or f"it ended with {running.returncode}"
        raise ProgramFailed(f"{program} failed: {told}")
    say(f"PostgreSQL: {tables} tables, all of it")


def _listen(running: "subprocess.Popen[bytes]", program: str, tables: int, say: Say, said: deque[str]) -> None:
    reached, told = 0, time.monotonic()
    for line in running.stderr or ():
        text = line.decode(errors="replace").rstrip()
        if found := _TABLE.search(text):
            reached += 1
            if time.monotonic() - told > _TELL_EVERY_S:
                told = time.monotonic()
                say(f"PostgreSQL: {found[1]} ({reached} of {tables} tables)")
        elif f"{program}: error" in text or said:
            said.append(text)


@contextmanager
def _address(url: str) -> Iterator[str]:
    """The address without its password, which every user of the machine could read in the list of processes."""
    parts: dict[str, Any] = dict(conninfo_to_dict(url))
    password = parts.pop("password", None)
    if password is None:
        yield make_conninfo(**parts)
        return
    with tempfile.TemporaryDirectory(prefix="leasehold-pass-") as folder:
        file = Path(folder) / "pass"
        escaped = re.sub(r"([\\:])", r"\\\1", str(password))
        file.write_text(f"*:*:*:*:{escaped}\n", encoding="utf-8")
        os.chmod(file, 0o600)
        yield make_conninfo(**parts, passfile=str(file))
