"""A background task that dies is logged, tried again, and seen."""

import asyncio

import pytest

from leasehold.background import Background, Task
from leasehold.metrics import Metrics
from tests.parts.house import House


class Interrupted(BaseException):
    """Not an Exception: nothing catches this by accident."""


async def until(condition: object, seconds: float = 5.0) -> None:
    assert callable(condition)
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("error", [RuntimeError("no"), asyncio.CancelledError(), TimeoutError()])
async def test_a_step_that_fails_is_tried_again(error: BaseException) -> None:
    background = Background(Metrics())
    raised: list[BaseException] = [error]
    done = 0

    async def step() -> None:
        nonlocal done
        if raised:
            raise raised.pop()
        done += 1

    background.add("flaky", step, every_s=0.01)
    background.start()
    await until(lambda: done > 2)

    assert background.tasks[0].is_well
    assert background._metrics.task_restarts.labels("flaky")._value.get() == 1
    await background.stop()


async def test_a_failing_task_is_not_well_and_readyz_says_so(home: House) -> None:
    task: Task = home.app.state.background.tasks[0]
    before = await home.client().get("/readyz")

    task.failures = 1
    failing = await home.client().get("/readyz")

    assert before.status_code == 200
    assert failing.status_code == 503
    assert failing.json()["checks"]["tasks"] == f"failing: {task.name}"


async def test_a_task_that_hangs_is_not_well() -> None:
    background = Background(Metrics())
    background.add("stuck", asyncio.Event().wait, every_s=0.01)
    background.start()

    background.tasks[0].last_good -= background.tasks[0].patience_s

    assert not background.tasks[0].is_well
    await background.stop()


async def test_stopping_ends_every_task() -> None:
    background = Background(Metrics())
    background.add("stuck", asyncio.Event().wait, every_s=1)
    background.start()

    await background.stop()

    assert all(task.handle is not None and task.handle.done() for task in background.tasks)
