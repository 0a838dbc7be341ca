"""The door of every route: who is it, may they, and is what they bring strict JSON; only then is a handler called."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from typing import Annotated, Any, Final, TypeVar

import orjson
from fastapi import APIRouter, Depends, Header, Request, Response, WebSocket
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, WebSocketRoute

from leasehold.auth import Permission, Tokens, for_request, require
from leasehold.caller import Caller
from leasehold.idempotency import Once
from leasehold.problems import Problem, Unauthenticated, fault, invalid
from leasehold.strict import read_json

T = TypeVar("T")

PERMISSION_FIELD: Final = "x-permission"
PROBLEMS_FIELD: Final = "x-problems"
# What a route declares that needs no permission: nobody has to sign in, or everybody who has may. It must be said.
PUBLIC: Final = "public"
ANY_CALLER: Final = "any"


class UndeclaredRoute(Exception):
    """A route says nothing of who may use it. Give it `**allows(…)`."""


def allows(permission: Permission | str, *kinds: type[Problem]) -> dict[str, Any]:
    """What a route is declared with: who may use it, and the problems of its own that it can answer with."""
    return {"openapi_extra": {PERMISSION_FIELD: str(permission), PROBLEMS_FIELD: [kind.slug() for kind in kinds]}}


class _Guarded(Request):
    """A request whose JSON was read and checked at the door."""

    def __init__(self, request: Request, document: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._body = b"" if document is None else b"{}"  # FastAPI asks whether there is one before it asks for JSON
        self._document = document

    async def json(self) -> Any:
        return self._document


class Door(APIRoute):
    """A route that lets in only callers with the permission it declares, and only strict JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        permission = (self.openapi_extra or {}).get(PERMISSION_FIELD)
        if permission is None:
            raise UndeclaredRoute(f"{sorted(self.methods or ())} {self.path} does not say who may use it")
        inner = super().get_route_handler()
        known = {parameter.alias for parameter in self.dependant.query_params}

        async def enter(request: Request) -> Response:
            if permission != PUBLIC:  # what is public is also asked by probes and old clients, with words of their own
                request.state.caller = await admit(request, permission)
                _refuse_unknown(request, known)
            if self.body_field is None:
                return await inner(request)
            return await inner(_Guarded(request, await read_json(request)))

        return enter


def _refuse_unknown(request: Request, known: Collection[str]) -> None:
    # A mistyped filter that is ignored answers another question than the one that was asked.
    strangers = [name for name in request.query_params if name not in known]
    if strangers:
        raise invalid(*(fault("query", name[:100], "This operation has no such parameter.") for name in strangers[:10]))


class Gate(WebSocketRoute):
    """A socket that only pages of this very server may open, for callers with the permission it declares.

    A browser sends no token with a socket, so who it is follows from the first message: what serves the socket is given
    the permission, and sees to it there.
    """

    def __init__(self, path: str, permission: Permission, serve: Callable[[WebSocket, Permission], Awaitable[None]]):
        async def enter(websocket: WebSocket) -> None:
            if is_from_here(websocket) and not websocket.url.query:  # a URL is logged: nothing may be said in it
                await serve(websocket, permission)
            else:
                await websocket.close()  # before it is accepted: 403

        super().__init__(path, enter, name=serve.__name__)


def is_from_here(websocket: WebSocket) -> bool:
    """Whether a page of this server opens the socket, or something that is no browser and has no origin."""
    origins, hosts = websocket.headers.getlist("origin"), websocket.headers.getlist("host")
    if not origins:
        return True
    scheme, _, host = origins[0].partition("://")
    return len(origins) == len(hosts) == 1 and scheme in ("http", "https") and host.lower() == hosts[0].lower()


def insist(routes: Iterable[BaseRoute], pages: Collection[str]) -> None:
    """Refuse to start with a route that is neither guarded nor one of the static `pages`."""
    for route in routes:
        if not isinstance(route, Door | Gate) and getattr(route, "path", None) not in pages:
            raise UndeclaredRoute(f"{route!r} is not guarded; make its router with leasehold.door.router")


async def admit(request: Request, permission: str) -> Caller:
    """Who it is, if they may."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("Send a token as `Authorization: Bearer lh_…`.", headers={"WWW-Authenticate": "Bearer"})
    tokens: Tokens = request.app.state.tokens
    caller = for_request(await tokens.authenticate(token.strip()), request.scope["request_id"])
    request.scope["caller_token"] = caller.token
    if permission != ANY_CALLER:
        require(caller, Permission(permission))
    return caller


def router(tag: str) -> APIRouter:
    """A router of guarded routes under one OpenAPI tag."""
    return APIRouter(tags=[tag], route_class=Door, generate_unique_id_function=lambda route: route.name)


# What a route depends on is async although it never waits: the framework sends anything else through a thread.
async def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


CallerDep = Annotated[Caller, Depends(_caller)]

# Where a request's scope has the connection it came by, and a socket's the socket itself.
CONNECTION: Final = "leasehold.connection"
SOCKET: Final = "leasehold.socket"

KEY_HEADER: Final = "Idempotency-Key"
_LONGEST_KEY = 200
_KEY = r"^[!-~]+$"

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias=KEY_HEADER,
        min_length=1,
        max_length=_LONGEST_KEY,
        pattern=_KEY,
        description="Makes a repeat of this request harmless for 24 hours.",
    ),
]


def is_key(text: str) -> bool:
    return len(text) <= _LONGEST_KEY and re.fullmatch(_KEY, text) is not None


def once(caller: Caller, route: str, key: str | None, body: BaseModel) -> Once | None:
    """What `Idempotency-Key` asks for; the body is compared after parsing, so spelling does not matter."""
    if key is None or caller.token is None:
        return None
    canonical = orjson.dumps(body.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
    digest = hashlib.blake2b(canonical, digest_size=32, key=caller.digest_key).digest()
    return Once(caller.organisation, caller.token, route, key, digest)


async def unless_gone(
    request: Request, work: Coroutine[Any, Any, T], take_back: Callable[[T], None], *, is_long: bool
) -> T:
    """The answer, unless the client hung up: then `take_back` undoes it, for nobody will ever know of it.

    Work that may be long is watched and cancelled as soon as the client goes; the rest is only looked at afterwards.
    """
    if not is_long:
        answer = await work
        if await _is_gone(request):
            take_back(answer)
            raise ClientDisconnect
        return answer
    doing = asyncio.create_task(work)
    watching = asyncio.create_task(_hung_up(request))
    try:
        await asyncio.wait({doing, watching}, return_when=asyncio.FIRST_COMPLETED)
        if watching.done() and not doing.done():
            raise ClientDisconnect
        answer = await doing
    finally:
        watching.cancel()
        if not doing.done():
            doing.cancel()
            await asyncio.wait({doing})
    if await _is_gone(request):
        take_back(answer)
        raise ClientDisconnect
    return answer


async def _is_gone(request: Request) -> bool:
    # The connection knows by itself; to ask the framework means to begin waiting for a message and to give up at once.
    connection = request.scope.get(CONNECTION)
    return await request.is_disconnected() if connection is None else connection.is_closing()


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
