"""A mailbox: what comes in quick succession is read together, what comes alone at once, and nothing twice."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from leasehold.amqp.line import Line, Mailbox
from leasehold.amqp.topology import RESULTS_QUEUE
from tests.parts.wire import PATIENCE_S, Wire, wire

MANY = 60


@pytest.fixture
async def mailbox(amqp_url: str) -> AsyncIterator[Mailbox]:
    line = Line(SecretStr(amqp_url), "test", lambda: ["alpha"])
    made = Mailbox(line, lambda: [RESULTS_QUEUE], 100)
    await made.open()
    yield made
    await line.close()


@pytest.fixture
async def sender(mailbox: Mailbox, amqp_url: str) -> AsyncIterator[Wire]:
    """Somebody who brings results, once there is a queue for them."""
    async with wire(amqp_url) as made:
        yield made


async def come(mailbox: Mailbox, count: int) -> None:
    """So many messages are here. That the broker has them, which is all that the sender is told, is not enough."""
    async with asyncio.timeout(PATIENCE_S):
        while mailbox._arrived.qsize() < count:
            await asyncio.sleep(0.01)


async def test_many_messages_make_few_batches_in_their_order(mailbox: Mailbox, sender: Wire) -> None:
    sending = asyncio.create_task(sender.bring(*({"n": n} for n in range(MANY))))

    batches: list[list[bytes]] = []
    async with asyncio.timeout(PATIENCE_S):
        while sum(map(len, batches)) < MANY:
            batches.append([message.body for message in await mailbox.batch(MANY, 30)])
            await asyncio.sleep(0.05)  # it is dealt with
            await mailbox.done()
    await sending

    assert [body for batch in batches for body in batch] == [b'{"n": %d}' % n for n in range(MANY)]
    assert len(batches) < MANY / 2


async def test_who_finds_several_looks_whether_more_are_coming(mailbox: Mailbox, sender: Wire) -> None:
    await sender.bring({"n": 1}, {"n": 2})
    await come(mailbox, 2)

    reading = asyncio.create_task(mailbox.batch(10, 30))
    await asyncio.sleep(0)
    is_read_at_once = reading.done()

    assert not is_read_at_once
    assert [message.body for message in await reading] == [b'{"n": 1}', b'{"n": 2}']


async def test_a_lone_message_is_not_kept_waiting(mailbox: Mailbox, sender: Wire) -> None:
    await sender.bring({"n": 1})
    await come(mailbox, 1)

    batch = mailbox.batch(10, 30)
    with pytest.raises(StopIteration) as told:
        batch.send(None)  # the first step is the last: nothing is waited for

    assert [message.body for message in told.value.value] == [b'{"n": 1}']


async def test_a_batch_is_no_larger_than_it_may_be_and_stays_until_it_is_dealt_with(
    mailbox: Mailbox, sender: Wire
) -> None:
    await sender.bring(*({"n": n} for n in range(5)))
    await come(mailbox, 5)

    first = [message.body for message in await mailbox.batch(3, 30)]
    again = [message.body for message in await mailbox.batch(3, 30)]
    await mailbox.done()
    rest = [message.body for message in await mailbox.batch(3, 30)]

    assert first == again == [b'{"n": 0}', b'{"n": 1}', b'{"n": 2}']
    assert rest == [b'{"n": 3}', b'{"n": 4}']
