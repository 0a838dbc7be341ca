"""The calls that come most, answered without the framework's routing. Whatever is unusual about one goes the long way.

A call takes the fast lane when it is from a caller who may, with a body that is as it should be: then the same function
is called that the framework would call. Everything else, every refusal before that function included, is left to the
framework with the request as it came, so there is one place that words refusals and one description of the API.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute
from starlette.types import Message, Receive, Scope, Send

from leasehold.door import KEY_HEADER, PERMISSION_FIELD, Door, admit, is_key
from leasehold.problems import DOWN, Problem, answer, translate
from leasehold.strict import read_json

_NOBODY_LISTENS = 499


@dataclass(frozen=True, slots=True)
class Lane:
    """One call: where it is, who may, what it takes, and the function that answers it."""

    path: str  # with one parameter in braces, or none
    permission: str
    body: type[BaseModel]
    call: Callable[[Request, BaseModel, str], Awaitable[Response]]
    route: BaseRoute  # what the call is counted under


LONGEST_PARAMETER = 200


class _Unusual(Exception):
    """The framework shall see to it."""


class FastLane:
    """Stands before the framework's app."""

    def __init__(self, app: FastAPI, lanes: list[Lane]) -> None:
        self._app = app
        self._whole = {lane.path: lane for lane in lanes if "{" not in lane.path}
        self._split = {_ends(lane.path): lane for lane in lanes if "{" in lane.path}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        lane, parameter = self._find(scope)
        if lane is None:
            await self._app(scope, receive, send)
            return
        replay = _Replay(receive)
        scope["app"] = self._app
        request = Request(scope, replay)
        try:
            body = await _prepared(lane, request)
        except (_Unusual, ClientDisconnect):
            await self._app(scope, replay.again(), send)
            return
        scope["route"] = lane.route
        await (await _answered(lane, request, body, parameter))(scope, replay, send)

    def _find(self, scope: Scope) -> tuple[Lane | None, str]:
        if scope["type"] != "http" or scope["method"] != "POST" or scope["query_string"]:
            return None, ""
        path: str = scope["path"]
        if lane := self._whole.get(path):
            return lane, ""
        head, _, rest = path[1:].partition("/")
        middle, _, rest = rest.partition("/")
        parameter, _, tail = rest.partition("/")
        if not 0 < len(parameter) <= LONGEST_PARAMETER:
            return None, ""
        return self._split.get((f"/{head}/{middle}/", f"/{tail}")), parameter


def _ends(path: str) -> tuple[str, str]:
    head, _, rest = path.partition("{")
    return head, rest.partition("}")[2]


async def _prepared(lane: Lane, request: Request) -> BaseModel:
    """The body as the call takes it, from somebody who may."""
    try:
        request.state.caller = await admit(request, lane.permission)
        key = request.headers.get(KEY_HEADER)
        if key is not None and not is_key(key):
            raise _Unusual
        document = await read_json(request)
        return lane.body.model_validate({} if document is None else document)
    except (Problem, ValidationError, *DOWN) as error:
        raise _Unusual from error


async def _answered(lane: Lane, request: Request, body: BaseModel, parameter: str) -> Response:
    try:
        return await lane.call(request, body, parameter)
    except (Problem, *DOWN) as error:
        return answer(translate(error), request.scope.get("request_id"))
    except ClientDisconnect:
        return Response(status_code=_NOBODY_LISTENS)


class _Replay:
    """What came in, kept so that somebody else can read it from the beginning."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._came: list[Message] = []
        self._refusal: Problem | None = None

    async def __call__(self) -> Message:
        try:
            message = await self._receive()
        except Problem as refusal:  # larger than may be, for one
            self._refusal = refusal
            raise
        self._came.append(message)
        return message

    def again(self) -> Receive:
        came = iter(self._came)

        async def receive() -> Message:
            if message := next(came, None):
                return message
            if self._refusal is not None:
                raise self._refusal
            return await self._receive()

        return receive


def lane(
    routes: APIRouter, path: str, body: type[BaseModel], call: Callable[[Request, BaseModel, str], Awaitable[Response]]
) -> Lane:
    """The lane of a route, with the permission the route itself declares."""
    route = next(route for route in routes.routes if isinstance(route, Door) and route.path == path)
    return Lane(path, (route.openapi_extra or {})[PERMISSION_FIELD], body, call, route)
