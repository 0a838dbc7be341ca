"""Clients that work side by side for as long as a test looks at what becomes of them."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def at_work(over: threading.Event, works: Iterable[Callable[[], None]]) -> Iterator[None]:
    """Each in a thread of its own; at the end of the block they are told that it is over, and waited for."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
