"""Every error the server answers with, as RFC 9457 problems: the class is the type, its docstring the documentation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, ClassVar

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from psycopg import OperationalError
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match

from leasehold import logs

log = logs.get(__name__)

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A refusal the client can act on. Subclasses say what happened and what to do about it."""

    status: ClassVar[int]
    title: ClassVar[str]
    kinds: ClassVar[dict[str, type["Problem"]]] = {}

    def __init__(self, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.headers = dict(headers or {})
        self.members = members

    def __init_subclass__(cls) -> None:
        Problem.kinds[cls.slug()] = cls

    @classmethod
    def slug(cls) -> str:
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    def type(cls) -> str:
        return f"/problems/{cls.slug()}"

    def document(self, request_id: str | None) -> dict[str, Any]:
        head = {"type": self.type(), "title": self.title, "status": self.status, "detail": self.detail}
        return head | self.members | {"request_id": request_id}


class InvalidRequest(Problem):
    """The request does not fit what this operation takes. `errors` lists each fault with a pointer to it."""

    status, title = 422, "Invalid request"


class NotFound(Problem):
    """There is no such thing, or it belongs to another organisation."""

    status, title = 404, "Not found"


class MethodNotAllowed(Problem):
    """This path exists, but not with this method. `Allow` lists the methods it takes."""

    status, title = 405, "Method not allowed"


class MalformedRequest(Problem):
    """The request is not HTTP that this server reads. Check the client or the proxy in front."""

    status, title = 400, "Malformed request"


class RequestTimeout(Problem):
    """The request took too long to arrive. Send it again over a faster connection, or in smaller pieces."""

    status, title = 408, "Request timeout"


class BodyTooLarge(Problem):
    """The body is larger than this server takes. Send it in smaller pieces; `limit_bytes` says how small."""

    status, title = 413, "Body too large"


class UnsupportedMediaType(Problem):
    """This operation takes another content type. `accepts` says which."""

    status, title = 415, "Unsupported media type"


class HeadersTooLarge(Problem):
    """The request line and headers are larger than this server takes. Drop cookies or shorten the URL."""

    status, title = 431, "Headers too large"


class Unauthenticated(Problem):
    """No token, or one this server does not know: mistyped, expired or revoked. Ask an admin for a new one."""

    status, title = 401, "Unauthenticated"


class PermissionDenied(Problem):
    """The token is good but may not do this. `permission` names what it would need."""

    status, title = 403, "Permission denied"


class IdempotencyMismatch(Problem):
    """This Idempotency-Key was used with another body. Use a new key for a new request."""

    status, title = 422, "Idempotency mismatch"


class VersionRetired(Problem):
    """Version 1 of the API is gone. Use `/v2`; its description is at `/openapi.json`."""

    status, title = 410, "Version retired"


class Unavailable(Problem):
    """The server cannot reach a service it needs, or is stopping. Try again after `Retry-After`.

    What was asked may or may not have happened; a repeat with the same `Idempotency-Key` finds out without harm.
    """

    status, title = 503, "Unavailable"


class InternalError(Problem):
    """A fault of the server's own. Report it with the `request_id`, which its log carries too."""

    status, title = 500, "Internal error"


def declares(*kinds: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """The `responses=` of an operation that raises these: one entry per status, naming each type."""
    found: dict[int | str, dict[str, Any]] = {}
    for kind in kinds:
        entry = found.setdefault(kind.status, {"description": "", "content": {MEDIA_TYPE: {"schema": _schema()}}})
        entry["description"] = "; ".join(filter(None, [entry["description"], f"{kind.title} (`{kind.type()}`)"]))
    return found


def _schema() -> dict[str, str]:
    return {"$ref": "#/components/schemas/Problem"}


SCHEMA = {
    "title": "Problem",
    "type": "object",
    "description": "RFC 9457 problem details. Match on `type`; it is also the path of a page that explains it.",
    "required": ["type", "title", "status", "detail", "request_id"],
    "additionalProperties": True,
    "properties": {
        "type": {"type": "string", "examples": ["/problems/not-found"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "request_id": {"type": ["string", "null"]},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["in", "pointer", "detail"],
                "properties": {
                    "in": {"enum": ["body", "query", "path", "header", "cookie"]},
                    "pointer": {"type": "string", "description": "RFC 6901 JSON pointer, or the parameter's name"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}


def answer(problem: Problem, request_id: str | None) -> Response:
    body = orjson.dumps(problem.document(request_id))
    return Response(body, problem.status, headers=problem.headers, media_type=MEDIA_TYPE)


def fault(where: str, pointer: str, detail: str) -> dict[str, str]:
    return {"in": where, "pointer": pointer, "detail": detail}


def invalid(*faults: dict[str, str]) -> InvalidRequest:
    """An InvalidRequest that sums its faults up in one sentence."""
    noun = "One thing is" if len(faults) == 1 else f"{len(faults)} things are"
    return InvalidRequest(f"{noun} wrong with this request; see `errors`.", errors=list(faults))


def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Make `app` answer every kind of error as a problem; `routes` are asked which methods a path takes."""

    async def refuse(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            error = _wrong_method(routes, request)
        return answer(translate(error), request.scope.get("request_id"))

    for kind in (Problem, RequestValidationError, HTTPException, *DOWN, Exception):
        app.add_exception_handler(kind, refuse)
    app.add_exception_handler(ClientDisconnect, _nobody_listens)


# What psycopg and its pool raise when PostgreSQL cannot be reached, as opposed to refusing a statement.
DOWN = (OperationalError, PoolTimeout, PoolClosed, TooManyRequests)


def translate(error: Exception) -> Problem:
    """The problem that says what `error` means to a client."""
    match error:
        case Problem():
            return error
        case RequestValidationError():
            return invalid(*_faults(error.errors()))
        case HTTPException():
            return _from_http(error)
        case _ if isinstance(error, DOWN):
            log.warning("database.failed", error=type(error).__name__, sqlstate=getattr(error, "sqlstate", None))
            return Unavailable("The database cannot be reached. Try again in a moment.", headers={"Retry-After": "2"})
    return InternalError("Something went wrong on the server. Its log has the details under this request id.")


async def _nobody_listens(_request: Request, _error: Exception) -> Response:
    # The client is gone: nobody reads this, but the edge counts it as the client's doing, not as a crash.
    return Response(status_code=499)


def _wrong_method(routes: Sequence[BaseRoute], request: Request) -> MethodNotAllowed:
    # The framework names the methods of the first route with this path; there is a route for each.
    here = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    methods = sorted({method for route in here for method in getattr(route, "methods", None) or ()})
    return MethodNotAllowed(f"This path takes {', '.join(methods)}.", headers={"Allow": ", ".join(methods)})


def _from_http(error: HTTPException) -> Problem:
    if error.status_code == HTTPStatus.NOT_FOUND:
        return NotFound("There is nothing at this path. `/openapi.json` lists what there is.")
    return MalformedRequest("The request could not be read.")


def _faults(errors: Sequence[Any]) -> Iterator[dict[str, str]]:
    for error in errors[:100]:
        where, *rest = error["loc"]
        if where == "body":
            yield fault("body", _pointer(rest), _plain(error["msg"]))
        else:
            yield fault(where, str(rest[0]) if rest else "", _plain(error["msg"]))


def _pointer(path: Sequence[str | int]) -> str:
    # A path step can be the client's own key: pointers are cut so that nothing long comes back.
    steps = (str(step).replace("~", "~0").replace("/", "~1")[:100] for step in path)
    return "".join(f"/{step}" for step in steps)


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
