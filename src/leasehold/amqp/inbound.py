"""Requests for crawls that come through RabbitMQ: each becomes a job, or a dead letter that says why it did not."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from aio_pika.abc import AbstractIncomingMessage
from psycopg import DataError
from pydantic import ValidationError

from leasehold import logs
from leasehold.amqp.line import Batch, Line, Mailbox
from leasehold.amqp.reading import OUTAGES, UNBEARABLE, OrganisationUnknown, Unreadable, Whose, document, kept
from leasehold.amqp.topology import INBOUND_QUEUE, KEY
from leasehold.caller import Caller
from leasehold.jobs import Burial, CrawlRequest, Jobs
from leasehold.problems import InvalidRequest
from leasehold.tracing import passed_on

log = logs.get(__name__)

_PREFETCH = 200

UNREADABLE, INVALID, UNROUTABLE, CRASHED = "unreadable", "invalid", "unroutable", "crashed"


class Refused(Exception):
    """Why a message is no request for a crawl."""

    def __init__(self, reason: str, detail: str, platform: str | None = None, job: str | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.platform = platform
        self.job = job


@dataclass(frozen=True, slots=True)
class _Item:
    """A request, and the message it came in."""

    message: AbstractIncomingMessage
    request: CrawlRequest


class Inbound:
    """Reads `collector.inbound.queue`. A message is acknowledged once what became of it is committed."""

    def __init__(self, line: Line, jobs: Jobs, whose: Whose) -> None:
        self._mailbox = Mailbox(line, lambda: [INBOUND_QUEUE], _PREFETCH)
        self._jobs = jobs
        self._whose = whose

    async def step(self) -> None:
        """Read for a while."""
        await self._mailbox.read(_PREFETCH, self._take)

    async def close(self) -> None:
        await self._mailbox.close()

    async def _take(self, batch: Batch) -> None:
        """Whatever became of it is committed when this returns."""
        items: dict[UUID, list[_Item]] = {}
        for message in batch:
            organisation: UUID | None = None
            try:
                organisation = await self._whose.of(message)
                items.setdefault(organisation, []).append(_Item(message, await self._read(message, organisation)))
            except Refused as refused:
                await self._bury(organisation, message, refused)
            except OrganisationUnknown as error:
                await self._bury(None, message, Refused(UNROUTABLE, str(error)))
        for organisation, several in items.items():
            await self._submit(organisation, several)

    async def _submit(self, organisation: UUID, items: Sequence[_Item]) -> None:
        """Together; and when that fails, one by one, so that one message never keeps the others."""
        try:
            await self._jobs.submit_many(
                Caller(organisation, None, "rabbitmq", frozenset()), [item.request for item in items]
            )
        except OUTAGES:
            raise
        except Exception as error:
            if len(items) > 1:
                for item in items:
                    await self._submit(organisation, [item])
            else:
                await self._bury(organisation, items[0].message, _why(error))

    async def _read(self, message: AbstractIncomingMessage, organisation: UUID) -> CrawlRequest:
        request = _read(message)
        try:
            self._jobs.platforms_for(request)
        except InvalidRequest as error:
            if not (request.job_id and await self._jobs.known(organisation, [request.job_id])):
                raise _refused(error, request) from None
        return request

    async def _bury(self, organisation: UUID | None, message: AbstractIncomingMessage, refused: Refused) -> None:
        letter = Burial(refused.reason, kept(message.body), None, refused.detail, refused.platform, refused.job)
        await self._jobs.bury(organisation or await self._whose.default(), [letter])
        log.warning("amqp.refused", reason=refused.reason, key=message.routing_key, job=refused.job)


def _why(error: Exception) -> Refused:
    """Whatever it is, the same message would do it again, and those behind it would wait for ever."""
    if isinstance(error, InvalidRequest | DataError):
        return Refused(INVALID, UNBEARABLE if isinstance(error, DataError) else str(error))
    log.error("amqp.inbound_crashed", exc_info=error)
    return Refused(CRASHED, f"{type(error).__name__}, see the log.")


def _read(message: AbstractIncomingMessage) -> CrawlRequest:
    """The request in a message, under a name by which it is known again; raises Refused."""
    try:
        found = CrawlRequest.model_validate(document(message.body))
    except Unreadable as error:
        raise Refused(UNREADABLE, str(error)) from None
    except ValidationError as error:
        raise Refused(INVALID, fault_in(error)) from None
    platform = (message.routing_key or "").removeprefix(KEY)
    if message.routing_key != f"{KEY}{platform}" or platform not in found.platforms:
        detail = f"It came under the key {message.routing_key!r} and is for {', '.join(found.platforms)}."
        raise Refused(UNROUTABLE, detail, found.platforms[0], found.job_id)
    found = found.traced(passed_on(message.headers))
    return found if found.job_id else found.model_copy(update={"job_id": name_of(message)})


def name_of(message: AbstractIncomingMessage) -> str:
    """The same for the same message, however often it is delivered: by its id, or by what it says."""
    mark = b"id " + message.message_id.encode() if message.message_id else b"body " + message.body
    return "job_" + hashlib.blake2b(mark, digest_size=16).hexdigest()


def fault_in(error: ValidationError) -> str:
    """The first fault: where, and which rule; never the value."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"/{'/'.join(str(step) for step in first['loc'])}: {first['msg']}"


def _refused(error: InvalidRequest, request: CrawlRequest) -> Refused:
    first = error.members["errors"][0]
    reason = UNROUTABLE if first["pointer"] == "/platform" else INVALID
    return Refused(reason, f"{first['pointer']}: {first['detail']}", request.platforms[0], request.job_id)
