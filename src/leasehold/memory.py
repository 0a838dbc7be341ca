"""How the C library keeps memory: what was freed is used again, instead of being given back and asked for anew."""

import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_KEPT_BYTES = 16 * 1024 * 1024
_LARGE_BYTES = 4 * 1024 * 1024


def keep_freed() -> None:
    """A body arrives in pieces of 256 KiB, each of which glibc would ask the kernel for and give back at once: most of
    the time of an upload would go into that."""
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # another C library may do without
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
