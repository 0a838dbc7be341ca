"""A server on loopback that grants leases and fails as it is told to: silence, slowness, cut connections, verdicts.

It stands in for the network and the clock between us and a server, not for the server's rules. Its own calendar is
decades off, because no clock has to agree with ours.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from leasehold.client.tenure import clock

SECRET = "LHCANARY0f5e"
_EMPTY = ("cooling_until", "blocked_reason", "last_leased_at", "last_outcome", "holder", "lease_id", "expires_at")
_EPOCH = datetime(1999, 12, 31, tzinfo=UTC)


class Cut(Exception):
    """The connection ends here, without an answer."""


Reply = tuple[int, dict[str, Any]]


def problem(status: int, slug: str, **members: Any) -> Reply:
    return status, {"type": f"/problems/{slug}", "title": slug, "detail": f"It is {slug}.", "status": status, **members}


def nothing(reason: str = "all_leased", retry_after_seconds: float = 0) -> Reply:
    waiting = {
        "reason": reason,
        "detail": "All accounts are in use.",
        "next_available_at": None,
        "counts": {"using": 1},
    }
    return 200, {"leases": [], "waiting": waiting | {"retry_after_seconds": retry_after_seconds}}


@dataclass
class Heard:
    """One request as it came in."""

    path: str
    body: dict[str, Any]
    key: str | None
    at_s: float
    method: str = "POST"
    lease: str | None = None

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query))


@dataclass
class StandIn:
    """What it heard, and what it is to do: each list is used up from the front, then it works as it should."""

    address: str
    ttl_s: float = 60.0
    on_acquire: list[Callable[[], Reply | None]] = field(default_factory=list)
    on_heartbeat: list[Callable[[], Reply | None]] = field(default_factory=list)
    on_release: list[Callable[[], Reply | None]] = field(default_factory=list)
    on_upload: list[Callable[[], Reply | None]] = field(default_factory=list)
    session: dict[str, Any] | None = None  # what is kept; its version grows with each upload
    version: int = 3
    heard: list[Heard] = field(default_factory=list)
    # By our clock, until when the server itself counts each lease as live.
    live_until_s: dict[str, float] = field(default_factory=dict)
    closing: threading.Event = field(default_factory=threading.Event)
    granted: dict[str, list[str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def acquires(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.path.endswith("/acquire")]

    @property
    def heartbeats(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.path.endswith("/heartbeat")]

    @property
    def releases(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.path.endswith("/release")]

    @property
    def outcomes(self) -> list[tuple[str, str | None]]:
        return [(heard.body["outcome"], heard.body.get("reason")) for heard in self.releases]

    @property
    def uploads(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.method == "PUT"]

    @property
    def fetches(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.method == "GET"]

    def hole(self) -> Reply | None:
        """Never answer."""
        self.closing.wait(60)
        raise Cut

    def cut(self) -> Reply | None:
        raise Cut

    def slowly(self, seconds: float, reply: Reply | None = None) -> Callable[[], Reply | None]:
        def act() -> Reply | None:
            self.closing.wait(seconds)
            return reply

        return act

    def answer(self, heard: Heard) -> Reply:
        if heard.method == "GET":
            return (200, self.session) if self.session else problem(404, "session-unknown")
        if heard.method == "PUT":
            return self._next(self.on_upload) or self._upload(heard)
        if heard.path.endswith("/acquire"):
            return self._acquire(heard)
        if heard.path.endswith("/heartbeat"):
            return self._next(self.on_heartbeat) or self._heartbeat(heard.path.split("/")[3])
        return self._next(self.on_release) or (200, {"released": True, "already_released": False, "resource": {}})

    def _upload(self, heard: Heard) -> Reply:
        self.version, self.session = self.version + 1, heard.body
        counts = dict.fromkeys(
            ("set", "unchanged", "deleted", "expired", "stale_echo", "absent_kept", "held", "over_cap"), 0
        )
        told = {"version": self.version, "base": heard.query["base"], "rejected": [], "repaired": [], "names": {}}
        return 200, counts | told

    @staticmethod
    def _next(plan: list[Callable[[], Reply | None]]) -> Reply | None:
        return plan.pop(0)() if plan else None

    def _acquire(self, heard: Heard) -> Reply:
        ids = self.granted.get(heard.key or "")
        if ids is None:
            plan = self.on_acquire.pop(0) if self.on_acquire else None
            if plan and (told := plan()):
                return told
            with self.lock:
                ids = [f"lease_{len(self.live_until_s) + n}" for n in range(heard.body["count"])]
                self.granted[heard.key or ""] = ids
                self.live_until_s |= dict.fromkeys(ids, clock() + self.ttl_s)
            if plan == self.lose:
                raise Cut
        return 200, {"leases": [self._grant(lease, heard.body["owner"]) for lease in ids], "waiting": None}

    def lose(self) -> Reply | None:
        """Grant, and lose the answer."""
        return None

    def _heartbeat(self, lease: str) -> Reply:
        self.live_until_s[lease] = clock() + self.ttl_s
        return 200, self._lease(lease, "me")

    def _lease(self, lease: str, owner: str) -> dict[str, Any]:
        ends = _EPOCH + timedelta(seconds=self.ttl_s)
        facts = {
            "id": lease,
            "kind": "account",
            "resource_id": "acct_1",
            "site": "board",
            "owner": owner,
            "job_id": None,
        }
        return facts | {"fence": 7, "acquired_at": _EPOCH.isoformat(), "expires_at": ends.isoformat()}

    def _grant(self, lease: str, owner: str) -> dict[str, Any]:
        when = _EPOCH.isoformat()
        account = {
            "id": "acct_1",
            "site": "board",
            "username": "ann",
            "state": "using",
            "standing": "active",
            "labels": {},
            "priority": 0,
        }
        account |= dict.fromkeys(_EMPTY)
        account |= {"consecutive_failures": 0, "unclean_ends": 0, "has_session": True, "needs_login": False}
        account |= {"on_probation": False}
        account |= {"created_at": when, "updated_at": when, "secret": {"password": SECRET}}
        session = {"version": 3, "storage_state": {"cookies": [{"value": SECRET}], "origins": []}}
        return self._lease(lease, owner) | {"account": account, "session": session}


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 100


@contextmanager
def standing_in() -> Iterator[StandIn]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.standin = StandIn(f"http://127.0.0.1:{server.server_address[1]}")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.standin  # type: ignore[attr-defined]
    finally:
        server.standin.closing.set()  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10
    server: Any

    def do_GET(self) -> None:
        self.do_POST()

    def do_PUT(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw) if raw else {}
        key, lease = self.headers.get("Idempotency-Key"), self.headers.get("Leasehold-Lease")
        heard = Heard(self.path, body, key, time.monotonic(), self.command, lease)
        self.server.standin.heard.append(heard)
        try:
            status, document = self.server.standin.answer(heard)
        except Cut:
            self.close_connection = True
            return
        answer = json.dumps(document).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.send_header("ETag", f'"{self.server.standin.version}"')
            self.end_headers()
            self.wfile.write(answer)
        except OSError:  # whoever asked has given up
            self.close_connection = True

    def log_message(self, *_words: object) -> None:
        pass
