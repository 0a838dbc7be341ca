"""Simulated boxes on one port: stash-boxes, ThePornDB, their pictures, the truth, and what controls them."""

import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from leasehold.server import Server, listen
from leasehold.simulate import boxes as filled
from leasehold.simulate.box_control import BoxControl
from leasehold.simulate.boxes import NAMES, THEPORNDB, Clock
from leasehold.simulate.control import Mode, answer
from leasehold.simulate.images import picture
from leasehold.simulate.people import People
from leasehold.simulate.stashbox import StashBoxApi
from leasehold.simulate.theporndb import ThePornDbApi

HOST = "127.0.0.1"
_FILE = """# Written by `leasehold simulate stashbox`.
source: {name}
kind: {kind}
url: {url}
{key}
rate_limit: 6000
enabled: true
curated: true
"""


class StashBoxes:
    """All of it: people, what boxes say of them, and how they behave."""

    def __init__(self, people: People, count: int = 3, images: Path | None = None) -> None:
        self.people = people
        self.names = NAMES[:count]
        clock = Clock()
        self.boxes = filled.make(people, self.names, clock)
        self.control = BoxControl(self.boxes, clock)
        self.theporndb = ThePornDbApi(people, self.names, self.control)
        self._images = images

    def app(self) -> Starlette:
        own = [Route("/truth", self._truth), Route("/images/{id}.png", self._image)]
        api = StashBoxApi(self.boxes, self.control)
        routes = [*self.theporndb.routes(), *api.routes(), *self.control.routes(), *own]
        return Starlette(routes=routes, middleware=[Middleware(BaseHTTPMiddleware, dispatch=self._dated)])

    def truth(self, *, with_theporndb: bool) -> dict[str, list[dict[str, str]]]:
        """Each person and where they are; what was merged before is theirs, too, and can still be found."""
        found: dict[str, list[dict[str, str]]] = {}
        for name, box in self.boxes.items():
            for row in box.live():
                person = f"person-{box.persons[row['id']]}" if row["id"] in box.persons else row["id"]
                found.setdefault(person, []).append({"source": name, "source_id": row["id"]})
        for performer, number in self.theporndb.ids.items() if with_theporndb else ():
            found.setdefault(f"person-{number}", []).append({"source": THEPORNDB, "source_id": performer})
        return dict(sorted(found.items()))

    async def _truth(self, request: Request) -> Response:
        return answer(self.truth(with_theporndb=request.query_params.get("include") == THEPORNDB))

    async def _image(self, request: Request) -> Response:
        wanted = request.path_params["id"]
        for place, box in enumerate(self.boxes.values()):
            if wanted in box.persons:
                return Response(*_in_order(picture(self._images, box.persons[wanted], place)))
        if wanted in self.theporndb.ids:
            return Response(*_in_order(picture(self._images, self.theporndb.ids[wanted], len(self.boxes))))
        return answer({"detail": "There is no such image."}, 404)

    async def _dated(self, request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            answered = await call_next(request)
        except ClientDisconnect:
            return Response(status_code=499)  # nobody will see it
        answered.headers["Date"] = self.control.date
        return answered


def _in_order(found: tuple[bytes, str]) -> tuple[bytes, int, None, str]:
    content, kind = found
    return content, 200, None, kind


def boxes_server(boxes: StashBoxes, on_ready: Callable[[], None]) -> Server:
    config = uvicorn.Config(
        boxes.app(),
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        server_header=False,
        date_header=False,  # it has a clock of its own
    )
    return Server(config, on_ready, lambda: None)


def serve_boxes(port: int, boxes: StashBoxes, sources: Path | None, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. Only this machine can reach it: it takes any key."""
    listener = listen(HOST, port)
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    if sources:
        write_sources(sources, boxes, address)
    boxes_server(boxes, lambda: say(_welcome(listener, boxes, sources))).run(sockets=[listener])


def write_sources(folder: Path, boxes: StashBoxes, address: str, key: str = "key_env: SIMULATED_KEY") -> None:
    """A file for each, as LEASEHOLD_SOURCES_DIR wants them; `key` is the line that says where their key is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in boxes.names:
        text = _FILE.format(name=name, kind="stashbox", url=f"{address}/{name}/graphql", key=key)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    text = _FILE.format(name=THEPORNDB, kind=THEPORNDB, url=f"{address}/{THEPORNDB}", key=key)
    (folder / f"{THEPORNDB}.yaml").write_text(text, encoding="utf-8")


def _welcome(listener: socket.socket, boxes: StashBoxes, sources: Path | None) -> str:
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    places = "\n".join(f"  {name:<10} {address}/{name}/graphql" for name in boxes.names)
    use = (
        f"  SIMULATED_KEY=any LEASEHOLD_SOURCES_DIR={sources} leasehold ingest {' '.join(boxes.names)}"
        if sources
        else "  --sources DIR writes a file for each of them, as LEASEHOLD_SOURCES_DIR wants them."
    )
    return f"""Simulated boxes at {address}, {boxes.people.count:,} people.

{places}
  {THEPORNDB:<10} {address}/{THEPORNDB}

{use}

  GET    {address}/truth             who is who (?include={THEPORNDB} for all)
  PUT    {address}/control           {{"box": NAME, "mode": "{"|".join(Mode)}", "times"?: N}},
                                     {{"box": NAME, "delete"|"touch"|"spoil": ID}},
                                     or {{"box": NAME, "merge": {{"from": ID, "into": ID}}}}
  GET    {address}/control/requests  every request, by what it asked for (DELETE clears them)

Ctrl-C stops it."""
