"""What there is in RabbitMQ: made as it must be, and refused in a sentence when it is not."""

from pathlib import Path

import pytest
from aio_pika import ExchangeType
from pydantic import SecretStr

from leasehold.amqp import TopologyWrong, check, declare
from leasehold.platforms import read
from tests.amqp.conftest import amqp_platform
from tests.parts.rabbit import Rabbit
from tests.parts.wire import wire


async def test_everything_is_as_the_contract_names_it(rabbit: Rabbit, amqp_url: str) -> None:
    async with wire(amqp_url) as line:
        await declare(line.channel, ["alpha"])
        await declare(line.channel, ["alpha", "beta"])  # a second time changes nothing

    vhost = amqp_url.rpartition("/")[2]
    queues = rabbit.control("list_queues", "-p", vhost, "--no-table-headers", "name", "type", "durable", "arguments")
    found = {line.split("\t")[0]: line for line in queues.strip().splitlines()}
    exchanges = rabbit.control("list_exchanges", "-p", vhost, "--no-table-headers", "name", "type", "arguments")
    bindings = rabbit.control("list_bindings", "-p", vhost, "--no-table-headers", *_BOUND).splitlines()
    assert set(found) == {
        "collector.inbound.queue",
        "collector.results.queue",
        "collector.unrouted.queue",
        *(f"crawler.{one}.{what}" for one in ("alpha", "beta") for what in ("queue", "dlq")),
    }
    assert all("\tquorum\ttrue\t" in line and "x-delivery-limit" in line for line in found.values())
    aside = [name for name, line in found.items() if "at-least-once" in line and "reject-publish" in line]
    assert sorted(aside) == [
        "collector.inbound.queue",
        "collector.results.queue",
        "crawler.alpha.queue",
        "crawler.beta.queue",
    ]
    assert "collector.inbound\ttopic\t" in exchanges
    assert "alternate-exchange" in exchanges
    assert "collector.results\tfanout\t" in exchanges
    assert "collector.unrouted\tfanout\t" in exchanges
    assert "collector.inbound\tcollector.inbound.queue\tcrawler.#" in bindings


_BOUND = ("source_name", "destination_name", "routing_key")


async def test_a_queue_with_other_settings_is_told_with_what_to_do(amqp_url: str) -> None:
    async with wire(amqp_url) as line:
        await line.channel.declare_queue("crawler.alpha.queue", durable=True)

        with pytest.raises(TopologyWrong, match=r"queue crawler\.alpha\.queue with other settings.*delete_queue"):
            await declare(line.channel, ["alpha"])

    is_well, said = await check(SecretStr(amqp_url), ["alpha"])
    assert not is_well
    assert "delete_queue crawler.alpha.queue" in said


async def test_an_exchange_with_other_settings_is_told_too(amqp_url: str) -> None:
    async with wire(amqp_url) as line:
        await line.channel.declare_exchange("collector.results", ExchangeType.DIRECT, durable=True)

        with pytest.raises(TopologyWrong, match=r"exchange collector\.results"):
            await declare(line.channel, [])


async def test_doctor_says_how_the_broker_is(amqp_url: str) -> None:
    assert (await check(SecretStr(amqp_url), ["alpha"]))[0]


async def test_doctor_never_says_the_password(amqp_url: str) -> None:
    place = amqp_url.partition("@")[2]
    for url in (f"amqp://guest:sesame@{place}", "amqp://guest:sesame@127.0.0.1:1/x", f"amqp://guest:guest@{place}no"):
        is_well, said = await check(SecretStr(url), [])

        assert not is_well
        assert "RabbitMQ does not answer (" in said
        assert "sesame" not in said


def test_a_lease_longer_than_the_broker_waits_is_refused(tmp_path: Path) -> None:
    text = amqp_platform("alpha").replace("lease_seconds: 5", "lease_seconds: 1501")
    (tmp_path / "alpha.yaml").write_text(text)
    over_amqp = read(tmp_path).faults
    (tmp_path / "alpha.yaml").write_text(text.replace("transport: amqp", "transport: http"))

    assert "lease_seconds is 1501" in str(over_amqp[0])
    assert "half an hour" in str(over_amqp[0])
    assert not read(tmp_path).faults
