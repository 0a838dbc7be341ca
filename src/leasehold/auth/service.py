"""Tokens: who is calling, who may mint what, and how the first one comes to be."""

import asyncio
import re
import time
from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

from leasehold import audit, idempotency
from leasehold.auth import secret, store
from leasehold.auth.models import Token, TokenWish
from leasehold.auth.permissions import PERMISSIONS, Permission, Role
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import parse, show
from leasehold.problems import NotFound, PermissionDenied, Unauthenticated

DEFAULT_ORGANISATION = "default"
_TOKEN = re.compile(r"lh_[A-Za-z0-9]{24,}\Z")
# A token that was revoked elsewhere is refused here this much later at the most.
_TRUST_SECONDS = 1.0
_CACHE_SIZE = 10_000


class Tokens:
    """The one place that knows tokens."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[bytes, tuple[float, Caller | None]] = {}
        # Questions under way: many requests with one token ask once.
        self._asked: dict[bytes, asyncio.Task[Caller | None]] = {}

    async def authenticate(self, token: str) -> Caller:
        """Who holds this token; remembers the answer for a second, also when it is nobody."""
        if not _TOKEN.match(token):
            raise _unknown("A token starts with lh_ and has only letters and digits after that.")
        hash_ = secret.hashed(token)
        deadline, caller = self._known.get(hash_, (0.0, None))
        if deadline < time.monotonic():
            asked = self._asked.get(hash_)
            if asked is None:
                asked = self._asked[hash_] = asyncio.create_task(self._look_up(hash_, token))
                asked.add_done_callback(lambda _done: self._asked.pop(hash_, None))
            caller = await asyncio.shield(asked)
        if caller is None:
            mistyped = not secret.is_well_formed(token)
            raise _unknown("This token looks mistyped." if mistyped else "This token is unknown, expired or revoked.")
        return caller

    async def _look_up(self, hash_: bytes, token: str) -> Caller | None:
        async with self._db.system() as conn:
            holder = await store.authenticate(conn, hash_)
            if holder and holder.is_stale:
                await store.touch(conn, holder.id)
        caller = _as_caller(holder, secret.digest_key(token)) if holder else None
        if len(self._known) >= _CACHE_SIZE:
            self._known.clear()
        self._known[hash_] = (time.monotonic() + _TRUST_SECONDS, caller)
        return caller

    async def create(self, caller: Caller, wish: TokenWish, once: Once | None = None) -> tuple[Token, str | None]:
        """Mint a token; the second value is the token itself, once, and None when this repeats an earlier request."""
        _refuse_more(caller, wish.permissions)
        async with self._db.transaction(caller.organisation) as conn:
            if once and (made := await idempotency.claim(conn, once)):
                return await _found(conn, caller, made), None
            text = secret.mint()
            token = await store.create(conn, caller, secret.hashed(text), wish)
            if once:
                await idempotency.keep(conn, once, show("tok", token.id))
            await _audit_creation(conn, caller, token)
            return token, text

    async def revoke(self, caller: Caller, token_id: str) -> None:
        async with self._db.transaction(caller.organisation) as conn:
            name = await store.revoke(conn, caller.organisation, _token_id(token_id))
            if name is None:
                raise _no_token()
            await audit.record(conn, caller, "token.revoked", token_id, {"name": name})
        self._known.clear()

    async def still_good(self, organisation: UUID, tokens: Collection[UUID], permission: Permission) -> set[UUID]:
        """Which of them would be let in now; for what stays open after it was let in."""
        async with self._db.transaction(organisation) as conn:
            return await store.still_good(conn, organisation, tokens, permission)

    async def own(self, caller: Caller) -> Token:
        """The token the caller came with."""
        async with self._db.transaction(caller.organisation) as conn:
            token = await store.get(conn, caller.organisation, caller.token) if caller.token else None
        if token is None:
            raise _no_token()
        return token

    async def page(self, caller: Caller, after: UUID | None, limit: int) -> list[Token]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.page(conn, caller.organisation, after, limit)

    async def bootstrap(self, given: str | None) -> str | None:
        """While `default` has never had a token make its admin; returns the token if we made it up."""
        caller = await self.local_caller(DEFAULT_ORGANISATION)
        async with self._db.transaction(caller.organisation) as conn:
            if not await store.is_first(conn, caller.organisation):
                return None
            text = await self._mint(conn, caller, role_wish("first admin", Role.ADMIN), given)
            return None if given else text

    async def create_locally(self, organisation: str, wish: TokenWish) -> str:
        """Mint a token for whoever has the server itself; makes the organisation if there is none."""
        caller = await self.local_caller(organisation)
        async with self._db.transaction(caller.organisation) as conn:
            return await self._mint(conn, caller, wish)

    async def _mint(self, conn: Conn, caller: Caller, wish: TokenWish, given: str | None = None) -> str:
        text = given or secret.mint()
        token = await store.create(conn, caller, secret.hashed(text), wish)
        await _audit_creation(conn, caller, token)
        return text

    async def local_caller(self, organisation: str) -> Caller:
        """The command line, as a caller of that organisation."""
        async with self._db.system() as conn:
            found = await store.ensure_organisation(conn, organisation)
        return Caller(found, token=None, name="command line", permissions=frozenset(PERMISSIONS[Role.ADMIN]))


async def _found(conn: Conn, caller: Caller, token_id: str) -> Token:
    token = await store.get(conn, caller.organisation, _token_id(token_id))
    if token is None:
        raise _no_token()
    return token


def _as_caller(holder: store.Holder, digest_key: bytes) -> Caller:
    return Caller(holder.organisation, holder.id, holder.name, frozenset(holder.permissions), digest_key)


async def _audit_creation(conn: Conn, caller: Caller, token: Token) -> None:
    detail = {"name": token.name, "role": token.role, "permissions": token.permissions}
    await audit.record(conn, caller, "token.created", show("tok", token.id), detail)


def role_wish(name: str, role: Role) -> TokenWish:
    return TokenWish(name=name, role=role, permissions=PERMISSIONS[role], lifetime=None)


def require(caller: Caller, permission: Permission) -> None:
    if not caller.may(permission):
        raise PermissionDenied(f"This needs the permission {permission}.", permission=permission)


def for_request(caller: Caller, request_id: str) -> Caller:
    return replace(caller, request_id=request_id)


def _refuse_more(caller: Caller, wanted: Collection[Permission]) -> None:
    more = sorted(set(wanted) - caller.permissions)
    if more:
        raise PermissionDenied(
            f"Nobody mints more than they hold; this token lacks {', '.join(more)}.", permission=more[0], missing=more
        )


def _unknown(detail: str) -> Unauthenticated:
    return Unauthenticated(detail, headers={"WWW-Authenticate": "Bearer"})


def _token_id(text: str) -> UUID:
    found = parse("tok", text)
    if found is None:
        raise _no_token()
    return found


def _no_token() -> NotFound:
    return NotFound("No token has this id.")
