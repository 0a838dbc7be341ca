"""A process that forks or ends while it holds an account. Each runs in a Python of its own."""

import subprocess
import sys

from tests.client.standin import StandIn

PARENT = """
import os, sys, time
from leasehold.client import Leasehold, LeaseLost

lh = Leasehold(sys.argv[1], "lh_x")

def child_of(work):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        os._exit(work() or 0)
    finally:
        os._exit(99)
"""


def parent(server: StandIn, code: str) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PARENT + code, server.address]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_the_child_counts_the_lease_as_lost_when_the_time_it_knew_of_has_passed(server: StandIn) -> None:
    server.ttl_s = 3.0

    parent(
        server,
        """
def wait():
    time.sleep(3.5)
    return 0 if lease.is_lost and not lease.remaining_s else 1

with lh.account("board") as lease:
    assert child_of(wait) == 0
    lease.check()
""",
    )

    assert server.outcomes == [("ok", None)]


def test_a_child_that_leaves_the_block_gives_nothing_back(server: StandIn) -> None:
    parent(
        server,
        """
with lh.account("board") as lease:
    child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
""",
    )

    assert server.outcomes == [("ok", None)]


def test_a_child_holds_what_it_takes_itself(server: StandIn) -> None:
    server.ttl_s = 3.0

    parent(
        server,
        """
def take():
    with lh.account("board") as mine:
        time.sleep(1.5)
        mine.failed("in the child")
        return 0 if mine.owner != lease.owner else 1

with lh.account("board") as lease:
    assert child_of(take) == 0
""",
    )

    assert server.outcomes == [("failed", "in the child"), ("ok", None)]
    assert len({heard.path for heard in server.heartbeats}) == 2


def test_a_process_that_holds_something_can_end(server: StandIn) -> None:
    parent(
        server,
        """
block = lh.account("board")
block.__enter__()

def holding():
    with lh.account("board"):
        yield

unfinished = holding()
next(unfinished)
sys.exit(0)
""",
    )

    assert server.outcomes == []
