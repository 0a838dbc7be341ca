"""A site with a login as real ones have it: a session cookie that is good for one page, and a device trusted once.

Whoever shows a `sid` that was replaced already is signed out. A device is trusted with a code that works only once, so
whoever loses `device_trust` can never sign in again. Strangers get a `sid`, too.
"""

import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

HOST = "board.example"
PASSWORD = "hunter2"
_PAGE = """<!doctype html><title>board</title><body data-user="{user}">
<script>
localStorage.visits = Number(localStorage.visits || 0) + 1;
localStorage.first ??= "{token}";
</script>"""
_FORM = """<!doctype html><title>sign in</title><body data-user="">
<form method="post" action="/login"><input name="username"><input name="password"><input name="code"><button></form>"""


class Board:
    """What the site knows, and whom it lets in."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.logins: Counter[str] = Counter()
        self.is_odd = False  # takes everybody for a stranger, for a while
        self._users: dict[str, str] = {}  # by the sid that is good now
        self._devices: dict[str, str] = {}
        self._codes: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def flag(self) -> str:
        """How a Chromium finds it."""
        return f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{self.port}"

    def register(self, user: str) -> str:
        """A new user; returns the code for the first device."""
        self._codes[user] = uuid.uuid4().hex
        return self._codes[user]

    def page(self, sid: str) -> tuple[str | None, str]:
        """Who this is, and the next sid."""
        with self._lock:
            user = None if self.is_odd else self._users.pop(sid, None)
            return (user, self._sid_of(user)) if user else (None, f"stranger-{uuid.uuid4().hex}")

    def login(self, form: dict[str, str], device: str) -> list[str]:
        """The cookies for somebody who signs in; none for who may not."""
        user = form.get("username", "")
        with self._lock:
            if form.get("password") != PASSWORD:
                return []
            cookies = []
            if self._devices.get(device) != user:
                if not form.get("code") or self._codes.pop(user, None) != form["code"]:
                    return []
                device = uuid.uuid4().hex
                self._devices[device] = user
                cookies.append(f"device_trust={device}; Path=/; Max-Age=31536000; HttpOnly")
            self.logins[user] += 1
            return [*cookies, f"sid={self._sid_of(user)}; Path=/; HttpOnly"]

    def _sid_of(self, user: str) -> str:
        sid = uuid.uuid4().hex
        self._users[sid] = user
        return sid


@contextmanager
def board() -> Iterator[Board]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.board = Board(server.server_address[1])  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.board  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # no connection that keeps a thread
    server: Any

    def do_GET(self) -> None:
        if self.path == "/login":
            return self._answer(200, _FORM)
        if self.path != "/":
            return self._answer(404, "")
        user, sid = self.server.board.page(self._cookie("sid"))
        cookie = f"sid={sid}; Path=/; HttpOnly"
        if user is None:
            return self._answer(303, "", cookie, to="/login")
        return self._answer(200, _PAGE.format(user=user, token=uuid.uuid4().hex), cookie)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        cookies = self.server.board.login(form, self._cookie("device_trust"))
        self._answer(303, "", *cookies, to="/" if cookies else "/login")

    def _cookie(self, name: str) -> str:
        found = SimpleCookie(self.headers.get("Cookie", "")).get(name)
        return found.value if found else ""

    def _answer(self, status: int, page: str, *cookies: str, to: str | None = None) -> None:
        self.send_response(status)
        for cookie in cookies:
            self.send_header("Set-Cookie", cookie)
        if to:
            self.send_header("Location", to)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_words: object) -> None:
        pass
