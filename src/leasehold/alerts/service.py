"""Sends alerts to the operator's address, signed, again and again until one is taken or a day has passed.

Whoever raises an alert is done when that is committed; the address may be slow, down or wrong, and no job notices.
"""

import asyncio
from collections.abc import Iterable, Sequence
from uuid import UUID

import httpx
import orjson

from leasehold import logs
from leasehold.alerts import store
from leasehold.alerts.models import Message
from leasehold.alerts.signing import HEADER, signature
from leasehold.db import Database
from leasehold.metrics import Metrics

log = logs.get(__name__)

EVERY_S = 2.0
# Where there is nobody to tell, what was raised is only forgotten.
SWEEP_EVERY_S = 600.0
_TIMEOUT_S = 5.0
_AT_ONCE = 10


class Alerts:
    """The sender of one process. Without an address it only forgets what is too old."""

    def __init__(self, db: Database, url: str, secret: str, metrics: Metrics) -> None:
        self._db = db
        self._url = url
        self._secret = secret
        self._metrics = metrics

    @property
    def is_on(self) -> bool:
        return bool(self._url)

    async def step(self, organisations: Iterable[tuple[UUID, str]]) -> None:
        """Send what is due, everywhere and all at once: however slow the address is, it is not much slower for many."""
        found: list[tuple[UUID, str, Message]] = []
        for organisation, slug in organisations:
            if len(found) < _AT_ONCE:
                found += [(organisation, slug, message) for message in await self._due(organisation)]
        if not found:
            return
        # Proxies and passwords are what the settings say, not what this machine's environment does.
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, follow_redirects=False, trust_env=False) as client:
            taken = await asyncio.gather(*(self._send(client, slug, message) for _, slug, message in found))
        done: dict[UUID, list[UUID]] = {}
        for (organisation, _, message), is_taken in zip(found, taken, strict=True):
            if is_taken:
                done.setdefault(organisation, []).append(message.id)
        for organisation, messages in done.items():
            async with self._db.transaction(organisation) as conn:
                await store.sent(conn, organisation, messages)

    async def _due(self, organisation: UUID) -> Sequence[Message]:
        async with self._db.transaction(organisation) as conn:
            if not await store.is_any(conn, organisation) or not await store.is_our_turn(conn, organisation):
                return ()
            if lost := await store.sweep(conn, organisation):
                log.warning("alerts.given_up", messages=lost)
            if not self.is_on:
                return ()
            for matter, raised in (await store.take(conn, organisation)).items():
                await store.make(conn, organisation, matter, raised)
            return await store.due(conn, organisation, _AT_ONCE)

    async def _send(self, client: httpx.AsyncClient, organisation: str, message: Message) -> bool:
        """Whether it was taken. The address is a secret, so nothing of what a library says of it is logged."""
        body = orjson.dumps(message.document(organisation))
        headers = {"Content-Type": "application/json"}
        if self._secret:
            headers[HEADER] = signature(self._secret, message.now_s, body)
        status, error = None, None
        try:
            async with (
                asyncio.timeout(_TIMEOUT_S),
                client.stream("POST", self._url, content=body, headers=headers) as got,
            ):
                status = got.status_code
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as failure:
            error = type(failure).__name__
        is_taken = status is not None and httpx.codes.is_success(status)
        self._metrics.alerts.labels("sent" if is_taken else "failed").inc()
        if not is_taken:
            log.warning("alert.not_sent", kind=message.matter.kind, status=status, error=error)
        return is_taken
