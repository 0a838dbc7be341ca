"""Tokens over HTTP: made, listed, revoked."""

from datetime import datetime, timedelta
from typing import Annotated, Self

from fastapi import Depends, Request, Response
from pydantic import Field, model_validator

from leasehold.auth.models import Token, TokenWish
from leasehold.auth.permissions import PERMISSIONS, Permission, Role
from leasehold.auth.service import Tokens
from leasehold.door import ANY_CALLER, CallerDep, IdempotencyKey, allows, once, router
from leasehold.paging import Cursor, Limit, Page, decode, paged, uuid_key
from leasehold.problems import NotFound
from leasehold.strict import Answer, Line, Strict, TokenId

routes = router("tokens")


async def _tokens(request: Request) -> Tokens:
    tokens: Tokens = request.app.state.tokens
    return tokens


TokensDep = Annotated[Tokens, Depends(_tokens)]


class TokenIn(Strict):
    name: Line
    role: Annotated[Role, Field(strict=False)] | None = None
    permissions: list[Annotated[Permission, Field(strict=False)]] | None = Field(None, min_length=1, max_length=100)
    expires_in_seconds: int | None = Field(None, ge=1, le=10 * 366 * 86_400)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.role is None) == (self.permissions is None):
            raise ValueError("give either a role or a list of permissions")
        return self

    def wish(self) -> TokenWish:
        permissions = PERMISSIONS[self.role] if self.role else frozenset(self.permissions or ())
        lifetime = timedelta(seconds=self.expires_in_seconds) if self.expires_in_seconds else None
        return TokenWish(self.name, self.role, permissions, lifetime)


class TokenOut(Answer):
    id: TokenId
    name: str
    role: str | None
    permissions: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute.")


class NewTokenOut(TokenOut):
    token: str | None = Field(description="The token itself, this once; null when a repeat is answered.")


@routes.post("/v2/tokens", status_code=201, **allows(Permission.TOKENS_MANAGE))
async def create_token(
    body: TokenIn, tokens: TokensDep, caller: CallerDep, idempotency_key: IdempotencyKey = None
) -> NewTokenOut:
    """Make a token. It is shown once; nobody can make one that may do more than they may."""
    made, text = await tokens.create(caller, body.wish(), once(caller, "POST /v2/tokens", idempotency_key, body))
    return NewTokenOut(**TokenOut.model_validate(made).__dict__, token=text)


@routes.get("/v2/tokens", **allows(Permission.TOKENS_MANAGE))
async def list_tokens(tokens: TokensDep, caller: CallerDep, limit: Limit = 50, cursor: Cursor = None) -> Page[TokenOut]:
    """All tokens that were not revoked, oldest first."""
    found = await tokens.page(caller, decode(cursor, uuid_key), limit + 1)
    items, following = paged(found, limit, _key)
    return Page(items=[TokenOut.model_validate(token) for token in items], next_cursor=following)


@routes.delete("/v2/tokens/{token_id}", status_code=204, **allows(Permission.TOKENS_MANAGE, NotFound))
async def revoke_token(token_id: str, tokens: TokensDep, caller: CallerDep) -> Response:
    """Revoke a token. It is refused everywhere within a second."""
    await tokens.revoke(caller, token_id)
    return Response(status_code=204)


def _key(token: Token) -> str:
    return token.id.hex


@routes.get("/v2/tokens/self", **allows(ANY_CALLER))
async def who_am_i(tokens: TokensDep, caller: CallerDep) -> TokenOut:
    """The token this request came with, and what it may."""
    return TokenOut.model_validate(await tokens.own(caller))
