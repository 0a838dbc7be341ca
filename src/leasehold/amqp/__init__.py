"""Front door of RabbitMQ: requests come in, tasks go out, and results come back through it."""

from leasehold.amqp.asyncapi import document as asyncapi
from leasehold.amqp.checks import check
from leasehold.amqp.line import BrokerLost, connect
from leasehold.amqp.service import Broker
from leasehold.amqp.topology import TopologyWrong, declare

__all__ = ["Broker", "BrokerLost", "TopologyWrong", "asyncapi", "check", "connect", "declare"]
