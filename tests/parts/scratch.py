"""Where the tests keep their files: in memory where there is plenty, since waiting for a disk proves nothing here.

What the tests kill are processes, never the machine, so what was written is there either way.
"""

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")  # noqa: S108
_LIMIT = Path("/sys/fs/cgroup/memory.max")
# A run takes about a gigabyte; the rest is for its processes.
_FILES_BYTES = 4 << 30
_ALL_BYTES = 8 << 30


def settle() -> None:
    """Choose the folder for every temporary file of this process and of those it starts."""
    if "TMPDIR" not in os.environ and _is_plenty():
        os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)


def _is_plenty() -> bool:
    if not os.access(_MEMORY, os.W_OK) or os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC:
        return False
    limit = _LIMIT.read_text().strip() if _LIMIT.exists() else "max"
    return shutil.disk_usage(_MEMORY).free >= _FILES_BYTES and (limit == "max" or int(limit) >= _ALL_BYTES)
