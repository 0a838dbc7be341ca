"""Memory, and how seldom it is looked through: by the C library, and by the collector."""

import ctypes
import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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


def settle() -> None:
    """What is here now stays for good: the collector need not go through all of it again and again.

    That takes it half a second on a busy machine, and everybody waits meanwhile. For processes that serve; once.
    """
    gc.collect()
    gc.freeze()


_in_a_hurry = 0
_counting = threading.Lock()


@contextmanager
def uncollected() -> Iterator[None]:
    """For moments in which much is made that stays, or goes by itself: a good part of the time would go into looking
    for what could go. Nobody may wait for something outside in it for long. Several at once end with the last."""
    global _in_a_hurry
    with _counting:
        _in_a_hurry += 1
        gc.disable()
    try:
        yield
    finally:
        with _counting:
            _in_a_hurry -= 1
            if not _in_a_hurry:
                gc.enable()
