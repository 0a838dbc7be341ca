"""A background task that dies is logged, tried again, and seen."""

import asyncio

import pytest

from leasehold.background import Background, Task
from leasehold.metrics import Metrics
from tests.parts.house import house
from tests.parts.postgres import TestDatabase


async def until(condition: object, seconds: float = 60.0) -> None:
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


async def test_a_task_that_fails_is_seen_in_readyz_until_it_is_well_again(database: TestDatabase) -> None:
    database.run("REVOKE DELETE ON idempotency_key FROM leasehold_system")
    try:
        async with house(database) as ill:
            task: Task = ill.app.state.background.tasks[0]
            await until(lambda: task.failures > 0)
            failing = await ill.client().get("/readyz")

            database.run("GRANT DELETE ON idempotency_key TO leasehold_system")
            await until(lambda: task.is_well)
            healed = await ill.client().get("/readyz")
    finally:
        database.run("GRANT DELETE ON idempotency_key TO leasehold_system")

    assert (failing.status_code, failing.json()["checks"]["tasks"]) == (503, f"failing: {task.name}")
    assert healed.status_code == 200


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


async def test_a_step_that_loses_the_word_to_stop_is_told_again() -> None:
    background = Background(Metrics())
    lost = 0

    async def deaf() -> None:
        nonlocal lost
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            lost += 1
            if lost > 1:
                raise

    background.add("deaf", deaf, every_s=60)
    background.start()
    await asyncio.sleep(0)

    async with asyncio.timeout(10):
        await background.stop()

    assert background.tasks[0].handle is not None
    assert background.tasks[0].handle.done()
