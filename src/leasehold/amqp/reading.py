"""What is in a message, whose it is, and how it is kept when it is of no use."""

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

import orjson
from aio_pika.abc import AbstractIncomingMessage
from psycopg import InterfaceError, OperationalError
from psycopg_pool import PoolClosed, PoolTimeout

from leasehold.auth import DEFAULT_ORGANISATION
from leasehold.problems import Unavailable

# The database does not answer, or does not now: nothing is wrong with the message, and it waits.
OUTAGES = (OperationalError, InterfaceError, PoolClosed, PoolTimeout, Unavailable, TimeoutError, OSError)
UNBEARABLE = "It has a character or a number that PostgreSQL does not keep."
# A user that speaks for whichever organisation its message names.
ANY = "*"
ORGANISATION = "organisation"

Organisations = Callable[[], Awaitable[list[tuple[UUID, str]]]]


class Unreadable(Exception):
    """It is no JSON object."""


class OrganisationUnknown(Exception):
    """It speaks for an organisation that there is not."""


def document(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Unreadable("This is no JSON.") from None
    if not isinstance(found, dict):
        raise Unreadable("This is no JSON object.")
    return found


def kept(body: bytes) -> str:
    """A message as a dead letter keeps it: as it is where it is an object, else as text, else as base64."""
    try:
        found: dict[str, Any] = document(body)
    except Unreadable:
        found = {}
    # PostgreSQL keeps every character but one.
    if found and b"\\u0000" not in body:
        return orjson.dumps(found).decode()
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = "\0"
    told = {"base64": base64.b64encode(body).decode()} if "\0" in text else {"text": text}
    return orjson.dumps(told).decode()


class Whose:
    """Tells the organisation of a message by its `user_id`, which the broker has checked."""

    def __init__(self, users: Mapping[str, str], organisations: Organisations) -> None:
        self._users = users
        self._organisations = organisations
        self._known: dict[str, UUID] = {}

    async def of(self, message: AbstractIncomingMessage) -> UUID:
        """Raises OrganisationUnknown."""
        slug = self._users.get(message.user_id or "", DEFAULT_ORGANISATION)
        if slug == ANY:
            slug = str(message.headers.get(ORGANISATION, DEFAULT_ORGANISATION))
        return await self.named(slug)

    async def named(self, slug: str) -> UUID:
        if slug not in self._known:
            self._known = {name: id_ for id_, name in await self._organisations()}
        if slug not in self._known:
            raise OrganisationUnknown(f"There is no organisation {slug!r}.")
        return self._known[slug]

    async def default(self) -> UUID:
        return await self.named(DEFAULT_ORGANISATION)
