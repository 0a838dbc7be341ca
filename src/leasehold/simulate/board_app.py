"""The simulated board over HTTP: a form to sign in, pages of threads, the truth, and what controls it."""

import html
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from leasehold.server import listen
from leasehold.simulate.board import Board, Refused, Welcomed
from leasehold.simulate.control import RETRY_AFTER_S, answer
from leasehold.simulate.goods import asin_of
from leasehold.simulate.providers import HOST, server

PER_PAGE = 20
_LIST = """<!doctype html><title>Threads</title><h1>Threads</h1><ol>{threads}</ol>"""
_THREAD = """<!doctype html><title>Thread {number}</title><h1>Thread {number}</h1>
<p>About <a class="product" href="/products/{asin}">{asin}</a></p>{posts}"""
_FORM = """<!doctype html><title>Sign in</title><h1>Sign in</h1><p role="alert">{said}</p>
<form method="post" action="/login"><label>Name <input name="username"></label>
<label>Password <input name="password" type="password"></label>
<input name="next" type="hidden" value="{next}"><button>Sign in</button></form>"""
_WISHES = '{"move": HOST}, {"forget": NAME}, {"unblock": NAME} or {"most_per_minute": N|null}'


class BoardApp:
    """One board. Whoever sends it the address of a page in full, as proxies are asked, gets that page, too."""

    def __init__(self, board: Board) -> None:
        self.board = board

    def app(self) -> Starlette:
        pages = [
            Route("/", self._list),
            Route("/login", self._form, methods=["GET"]),
            Route("/login", self._sign_in, methods=["POST"]),
            Route("/threads/{number:int}", self._thread),
        ]
        own = [
            Route("/truth", self._truth),
            Route("/accounts.csv", self._accounts),
            Route("/control", self._set, methods=["PUT"]),
            Route("/control", self._shown, methods=["GET"]),
            Route("/control/requests", self._counts),
        ]
        return Starlette(routes=[*pages, *own])

    async def _list(self, request: Request) -> Response:
        asked = request.query_params.get("page", "1")
        first = PER_PAGE * (max(int(asked), 1) - 1) + 1 if asked.isdecimal() else 1
        numbers = range(first, min(first + PER_PAGE, self.board.threads + 1))
        items = "".join(f'<li><a href="/threads/{number}">Thread {number}</a></li>' for number in numbers)
        return self._page(request, None, lambda: _LIST.format(threads=items))

    async def _thread(self, request: Request) -> Response:
        number = request.path_params["number"]
        if not 1 <= number <= self.board.threads:
            return PlainTextResponse("There is no such thread.", 404)

        def text() -> str:
            told = enumerate(self.board.posts(number), 1)
            posts = "".join(f'<article id="post-{place}"><p>{html.escape(post)}</p></article>' for place, post in told)
            return _THREAD.format(number=number, asin=asin_of("electronics", number), posts=posts)

        return self._page(request, number, text)

    def _page(self, request: Request, thread: int | None, text: Callable[[], str]) -> Response:
        if elsewhere := self._elsewhere(request):
            return elsewhere
        match self.board.page(request.cookies.get("sid", ""), _visitor(request), thread):
            case Welcomed() as welcomed:
                return _with_cookies(HTMLResponse(text()), welcomed)
            case Refused.STRANGER:
                return RedirectResponse(f"/login?next={quote(request.url.path)}", 303)
            case refused:
                return _refusal(refused)

    async def _form(self, request: Request) -> Response:
        if elsewhere := self._elsewhere(request):
            return elsewhere
        return _form("", request.query_params.get("next", "/"))

    async def _sign_in(self, request: Request) -> Response:
        if elsewhere := self._elsewhere(request):
            return elsewhere
        sent = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        following = sent.get("next", "/")
        device = request.cookies.get("device", "")
        match self.board.sign_in(sent.get("username", ""), sent.get("password", ""), device, _visitor(request)):
            case Welcomed() as welcomed:
                safe = following if following.startswith("/") and not following.startswith("//") else "/"
                return _with_cookies(RedirectResponse(safe, 303), welcomed)
            case Refused.WRONG_PASSWORD:
                return _form("Wrong name or password.", following, 401)
            case refused:
                return _refusal(refused)

    def _elsewhere(self, request: Request) -> Response | None:
        """An address it has left leads to the one it has now, path and all."""
        asked, _, port = request.headers.get("host", "").partition(":")
        if asked == self.board.host or asked not in self.board.hosts:
            return None
        port = f":{port}" if port else ""
        return RedirectResponse(f"http://{self.board.host}{port}{request.url.path}", HTTPStatus.PERMANENT_REDIRECT)

    async def _truth(self, _request: Request) -> Response:
        return answer(self.board.truth())

    async def _accounts(self, request: Request) -> Response:
        site = request.query_params.get("site", "board")
        lines = [f"{site},{one.name},{one.password}" for one in self.board.members.values()]
        return PlainTextResponse("\n".join(["site,username,password", *lines, ""]), media_type="text/csv")

    async def _set(self, request: Request) -> Response:
        try:
            ((wish, value),) = orjson.loads(await request.body()).items()
            self._change(wish, value)
        except (ValueError, LookupError, TypeError, AttributeError):
            return answer({"detail": f"Send JSON: {_WISHES}."}, 422)
        return await self._shown(request)

    def _change(self, wish: str, value: Any) -> None:
        match wish:
            case "move":
                self.board.move(str(value))
            case "forget":
                self.board.forget(value)
            case "unblock":
                self.board.unblock(value)
            case "most_per_minute":
                self.board.most_per_minute = None if value is None else int(value)
            case _:
                raise ValueError(wish)

    async def _shown(self, _request: Request) -> Response:
        board = self.board
        return answer({"host": board.host, "before": board.hosts[:-1], "most_per_minute": board.most_per_minute})

    async def _counts(self, _request: Request) -> Response:
        served = self.board.served
        return answer({"total": served.total(), "threads": {str(one): served[one] for one in sorted(served)}})


def _visitor(request: Request) -> str:
    return request.headers.get("user-agent", "somebody")


def _with_cookies(response: Response, welcomed: Welcomed) -> Response:
    if welcomed.sid:
        response.set_cookie("sid", welcomed.sid, httponly=True)
    if welcomed.device:
        response.set_cookie("device", welcomed.device, httponly=True, max_age=365 * 86_400)
    return response


def _form(said: str, following: str, status: int = 200) -> Response:
    return HTMLResponse(_FORM.format(said=said, next=html.escape(following)), status)


def _refusal(refused: Refused) -> Response:
    if refused is Refused.TOO_OFTEN:
        return PlainTextResponse("Too many pages.", 429, {"Retry-After": str(10 * RETRY_AFTER_S)})
    return PlainTextResponse("This account is blocked.", 403)


def serve_board(port: int, board: Board, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. Only this machine can reach it."""
    listener = listen(HOST, port)
    server(BoardApp(board).app(), lambda: say(_welcome(listener, board))).run(sockets=[listener])


def _welcome(listener: socket.socket, board: Board) -> str:
    port = listener.getsockname()[1]
    address = f"http://{HOST}:{port}"
    return f"""Simulated board at http://{board.host}:{port}/, {len(board.members)} accounts, {board.threads} threads.

Browsers find names below localhost by themselves. Other programs ask the board as their proxy:

  HTTP_PROXY={address} NO_PROXY={HOST}

  GET    {address}/accounts.csv      its accounts, for `leasehold import accounts` (?site=SLUG)
  GET    {address}/truth             who was blocked and why, what was lost, what was read twice
  PUT    {address}/control           {_WISHES}
  GET    {address}/control/requests  every thread, and how often it was read

An account that two programs use at once is blocked. Ctrl-C stops it."""
