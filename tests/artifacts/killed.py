"""A process whose children publish, and die by SIGKILL at the rename they are told: `EDITION NTH before|after`."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from leasehold.artifacts.folder import FolderShelf
from leasehold.artifacts.publishing import lay_out, put_in_place
from tests.parts.artifacts import edition


def die_at(nth: int, when: str) -> None:
    real, calls = Path.replace, 0

    def replace(path: Path, target: Any) -> Path:
        nonlocal calls
        calls += 1
        if calls == nth and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        moved = real(path, target)
        if calls == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return moved

    Path.replace = replace  # type: ignore[method-assign, assignment]


def main(folder: Path) -> None:
    for line in sys.stdin:
        number, nth, when = line.split()
        child = os.fork()
        if not child:
            die_at(int(nth), when)
            shelf, wanted = FolderShelf(folder), edition(int(number))
            put_in_place(shelf, wanted, lay_out(shelf, wanted, 3), 3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write("killed\n" if os.WIFSIGNALED(status) else "done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
