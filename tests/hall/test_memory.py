"""Leaving the collector out for a while: it is back with the last who did, however that ended."""

import gc
import threading

import pytest

from leasehold.memory import uncollected


def test_it_is_back_with_the_last_who_left_it_out() -> None:
    with uncollected():
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_back_when_something_fails() -> None:
    with pytest.raises(ZeroDivisionError), uncollected():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_many_threads_at_once_leave_it_on() -> None:
    def often() -> None:
        for _ in range(2000):
            with uncollected():
                pass

    threads = [threading.Thread(target=often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.isenabled()
