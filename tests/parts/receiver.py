"""Somebody who receives alerts: a real HTTP server on loopback that keeps what it gets and answers as it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """What came, and what is answered to it."""

    url: str
    came: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    status: int = 204
    location: str | None = None
    held: threading.Event | None = None  # nothing is answered before it is set

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.came]


@contextmanager
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.came.append(({name.lower(): value for name, value in self.headers.items()}, body))
            if made.held is not None:
                made.held.wait(30)
            self.send_response(made.status)
            if made.location:
                self.send_header("Location", made.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hook?key=LHCANARY-in-the-address")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield made
    finally:
        if made.held is not None:
            made.held.set()
        server.shutdown()
        server.server_close()
        thread.join()
