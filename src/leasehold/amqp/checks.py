"""Whether a broker can be worked with: it answers, is new enough, and has everything as it must be."""

from collections.abc import Sequence

from aio_pika.exceptions import CONNECTION_EXCEPTIONS
from pydantic import SecretStr

from leasehold.amqp.line import BrokerLost, connect
from leasehold.amqp.topology import TopologyWrong, declare

# The first whose quorum queues set aside at least once.
OLDEST = (3, 10)


async def check(url: SecretStr, platforms: Sequence[str]) -> tuple[bool, str]:
    """Whether all is well, and what there is to say. What is missing in it is made, as a server would."""
    try:
        connection = await connect(url, "doctor")
    except BrokerLost as error:
        return False, f"LEASEHOLD_AMQP_URL: RabbitMQ does not answer ({error})."
    try:
        assert connection.transport is not None  # noqa: S101 (it is connected)
        version = str(connection.transport.connection.server_properties.get("version", "0"))
        if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
            return False, f"RabbitMQ {version} is too old: 3.10 or newer is needed."
        async with connection.channel() as channel:
            await declare(channel, platforms)
    except TopologyWrong as error:
        return False, str(error)
    except (*CONNECTION_EXCEPTIONS, TimeoutError) as error:
        return (
            False,
            f"RabbitMQ lets us not work ({type(error).__name__}): the user must configure, write and read.",
        )
    finally:
        await connection.close()
    return True, f"{version} (3.10 or newer is needed), {len(platforms)} platforms over it"
