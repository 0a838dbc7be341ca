"""The desk: what comes while a batch is under way makes the next one, in order, and nobody answers for another."""

import asyncio
import gc
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold.leases import Desk

OURS, THEIRS = UUID(int=1), UUID(int=2)
PATIENCE_S = 20


@dataclass(eq=False)
class Slip:
    name: str
    subject: Hashable | None = None
    future: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Worker:
    """Works batches off one at a time, as the test lets it."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.at_once = self.most_at_once = 0
        self.open = asyncio.Event()
        self.open.set()
        self.failures: list[BaseException] = []  # one for each of the next batches

    async def work(self, organisation: UUID, slips: list[Slip]) -> None:
        self.batches.append([slip.name for slip in slips])
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            await self.open.wait()
            if self.failures:
                raise self.failures.pop()
        finally:
            self.at_once -= 1
        for slip in slips:
            if not slip.future.done():
                slip.future.set_result(f"{slip.name} for {organisation.int}")


@pytest.fixture
def worker() -> Worker:
    return Worker()


@pytest.fixture
def desk(worker: Worker) -> Desk[Slip]:
    return Desk(worker.work)


async def answers(*slips: Slip) -> list[str]:
    async with asyncio.timeout(PATIENCE_S):
        return list(await asyncio.gather(*(slip.future for slip in slips)))


async def begun(worker: Worker, count: int) -> None:
    """Until so many batches are or were under way."""
    async with asyncio.timeout(PATIENCE_S):
        while len(worker.batches) < count:
            await asyncio.sleep(0)


async def settled() -> None:
    """Until everything has happened that can happen by itself."""
    for _ in range(20):
        await asyncio.sleep(0)


def put(desk: Desk[Slip], *slips: Slip, organisation: UUID = OURS) -> None:
    for slip in slips:
        desk.put(organisation, slip)


async def test_a_lone_slip_is_a_batch_of_one_at_once(desk: Desk[Slip], worker: Worker) -> None:
    slip = Slip("a")

    put(desk, slip)

    assert await answers(slip) == ["a for 1"]
    assert worker.batches == [["a"]]


async def test_what_comes_while_a_batch_is_under_way_makes_the_next(desk: Desk[Slip], worker: Worker) -> None:
    worker.open.clear()
    first, *rest = [Slip(name) for name in "abcd"]
    put(desk, first)
    await begun(worker, 1)
    put(desk, *rest)

    worker.open.set()

    await answers(first, *rest)
    assert worker.batches == [["a"], ["b", "c", "d"]]


async def test_a_batch_has_an_upper_size(worker: Worker) -> None:
    desk: Desk[Slip] = Desk(worker.work, most=2)
    slips = [Slip(name) for name in "abcde"]

    put(desk, *slips)

    await answers(*slips)
    assert worker.batches == [["a", "b"], ["c", "d"], ["e"]]


async def test_one_subject_goes_once_in_a_batch_and_in_its_order(desk: Desk[Slip], worker: Worker) -> None:
    slips = [Slip("a1", "a"), Slip("x"), Slip("a2", "a"), Slip("b1", "b"), Slip("y"), Slip("a3", "a"), Slip("b2", "b")]

    put(desk, *slips)

    await answers(*slips)
    assert worker.batches == [["a1", "x", "b1", "y"], ["a2", "b2"], ["a3"]]


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.none() | st.integers(0, 3), max_size=20), st.integers(1, 5))
def test_however_slips_come_each_subject_keeps_its_order(subjects: list[int | None], most: int) -> None:
    async def run() -> list[list[str]]:
        worker = Worker()
        desk: Desk[Slip] = Desk(worker.work, most=most)
        slips = [Slip(str(number), subject) for number, subject in enumerate(subjects)]
        put(desk, *slips)
        await answers(*slips)
        return worker.batches

    batches = [[int(name) for name in batch] for batch in asyncio.run(run())]

    turns = defaultdict(list)
    for batch in batches:
        about = [subjects[number] for number in batch if subjects[number] is not None]
        assert len(about) == len(set(about)) <= most
        for number in batch:
            turns[subjects[number]].append(number)
    assert sorted(number for batch in batches for number in batch) == list(range(len(subjects)))
    assert all(numbers == sorted(numbers) for numbers in turns.values())


async def test_organisations_do_not_share_a_batch_nor_wait_for_each_other(desk: Desk[Slip], worker: Worker) -> None:
    worker.open.clear()
    ours, theirs = Slip("ours"), Slip("theirs")

    put(desk, ours)
    put(desk, theirs, organisation=THEIRS)
    await begun(worker, 2)
    worker.open.set()

    assert await answers(ours, theirs) == ["ours for 1", "theirs for 2"]
    assert worker.batches == [["ours"], ["theirs"]]


async def test_a_failing_batch_refuses_its_own_and_nobody_else(desk: Desk[Slip], worker: Worker) -> None:
    worker.open.clear()
    worker.failures = [RuntimeError("the database is away")]
    failing, answered, later = Slip("failing"), Slip("answered"), Slip("later")
    answered.future.set_result("before it failed")
    put(desk, failing, answered)
    await begun(worker, 1)
    put(desk, later)

    worker.open.set()

    assert await answers(answered, later) == ["before it failed", "later for 1"]
    with pytest.raises(RuntimeError, match="the database is away"):
        await answers(failing)


async def test_who_left_is_still_seen_to(desk: Desk[Slip], worker: Worker) -> None:
    worker.open.clear()
    gone, stays = Slip("gone"), Slip("stays")
    put(desk, gone, stays)
    gone.future.cancel()
    await begun(worker, 1)

    worker.open.set()

    assert await answers(stays) == ["stays for 1"]
    assert worker.batches == [["gone", "stays"]]


async def test_a_refusal_that_nobody_hears_troubles_nobody(desk: Desk[Slip], worker: Worker) -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
    worker.failures = [RuntimeError("away")]
    put(desk, Slip("unheard"), cancelled := Slip("cancelled"))
    cancelled.future.cancel()

    await desk.drain()
    gc.collect()

    assert worker.batches == [["unheard", "cancelled"]]
    assert complaints == []


async def test_who_puts_again_the_moment_it_is_answered_is_served(desk: Desk[Slip]) -> None:
    """Its answer comes in the last breath of the batch, when the desk has just found nothing more to do."""
    async with asyncio.timeout(PATIENCE_S):
        for number in range(5):
            put(desk, slip := Slip(str(number)))

            assert await slip.future == f"{number} for 1"


async def test_a_callback_of_an_answer_may_put_again(desk: Desk[Slip]) -> None:
    first, second = Slip("first"), Slip("second")
    first.future.add_done_callback(lambda _answered: put(desk, second))

    put(desk, first)

    assert await answers(second) == ["second for 1"]


async def test_so_many_batches_go_at_once_as_there_are_lanes(worker: Worker) -> None:
    desk: Desk[Slip] = Desk(worker.work, most=1, lanes=2)
    worker.open.clear()
    slips = [Slip(name) for name in "abcde"]

    put(desk, *slips)
    await begun(worker, 2)
    await settled()
    assert worker.batches == [["a"], ["b"]]
    worker.open.set()

    await answers(*slips)
    assert (worker.most_at_once, len(worker.batches)) == (2, 5)


async def test_draining_waits_for_everything_that_was_put(desk: Desk[Slip], worker: Worker) -> None:
    worker.open.clear()
    first, second = Slip("first"), Slip("second")
    put(desk, first)
    await begun(worker, 1)
    draining = asyncio.create_task(desk.drain())
    await asyncio.sleep(0)
    put(desk, second)

    worker.open.set()
    async with asyncio.timeout(PATIENCE_S):
        await draining

    assert first.future.done()
    assert second.future.done()


async def test_draining_waits_for_who_came_meanwhile() -> None:
    gates = {OURS: asyncio.Event(), THEIRS: asyncio.Event()}

    async def work(organisation: UUID, slips: list[Slip]) -> None:
        await gates[organisation].wait()
        for slip in slips:
            slip.future.set_result(slip.name)

    desk: Desk[Slip] = Desk(work)
    put(desk, ours := Slip("ours"))
    draining = asyncio.create_task(desk.drain())
    await settled()
    put(desk, theirs := Slip("theirs"), organisation=THEIRS)
    gates[OURS].set()
    await answers(ours)
    await settled()
    assert not draining.done()

    gates[THEIRS].set()

    async with asyncio.timeout(PATIENCE_S):
        await draining
    assert theirs.future.done()


async def test_an_idle_desk_is_drained_at_once(desk: Desk[Slip]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await desk.drain()


async def test_no_task_is_left_behind(desk: Desk[Slip], worker: Worker) -> None:
    put(desk, *(Slip(str(number)) for number in range(5)))
    put(desk, Slip("theirs"), organisation=THEIRS)

    await desk.drain()

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_who_is_at_the_desk_when_the_loop_ends_is_refused(desk: Desk[Slip], worker: Worker) -> None:
    worker.open.clear()
    put(desk, slip := Slip("a"))
    await begun(worker, 1)

    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await desk.drain()

    assert isinstance(slip.future.exception(), asyncio.CancelledError)
