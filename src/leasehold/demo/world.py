"""The world of the demo: boards, providers and stash-boxes on this machine, each a real HTTP server in a thread."""

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from leasehold.platforms import SHIPPED
from leasehold.server import Server, listen
from leasehold.simulate import (
    Board,
    BoardApp,
    Control,
    Goods,
    People,
    StashBoxes,
    boxes_server,
    providers_app,
    server,
    write_sources,
)

HOST = "127.0.0.1"
# What one product costs, as the shipped prices say.
LOOKUP_MICROS = 500
_KEY = "any"


@dataclass(frozen=True, slots=True)
class Place:
    """A board, and where it is. Names below localhost are asked for through it: not every resolver knows them."""

    slug: str
    board: Board
    address: str  # of the machine's own, and of the proxy
    port: int

    @property
    def mount(self) -> dict[str, Any]:
        """Where it lives, as a site is told."""
        return {"host": self.board.host, "scheme": "http", "port": self.port}

    def url(self, thread: int) -> str:
        return f"http://{self.board.host}:{self.port}/threads/{thread}"


@dataclass(frozen=True, slots=True)
class Market:
    """The providers that want money."""

    address: str
    control: Control

    @property
    def settings(self) -> dict[str, str]:
        """How a server finds them."""
        return {
            "oxylabs_url": f"{self.address}/oxylabs",
            "oxylabs_username": _KEY,
            "oxylabs_password": _KEY,
            "ebay_url": f"{self.address}/ebay",
            "ebay_client_id": _KEY,
            "ebay_client_secret": _KEY,
        }


@dataclass(frozen=True, slots=True)
class Boxes:
    """The stash-boxes."""

    address: str
    boxes: StashBoxes


@contextmanager
def board_at(slug: str, board: Board) -> Iterator[Place]:
    with _served(lambda ready: server(BoardApp(board).app(), ready)) as port:
        yield Place(slug, board, f"http://{HOST}:{port}", port)


@contextmanager
def market(items: int, latency_ms: int) -> Iterator[Market]:
    control = Control(latency_ms)
    app = providers_app(Goods(items, missing_every=37), control)
    with _served(lambda ready: server(app, ready)) as port:
        yield Market(f"http://{HOST}:{port}", control)


@contextmanager
def stash_boxes(people: int, seed: int) -> Iterator[Boxes]:
    boxes = StashBoxes(People(people, seed))
    with _served(lambda ready: boxes_server(boxes, ready)) as port:
        yield Boxes(f"http://{HOST}:{port}", boxes)


@dataclass(frozen=True, slots=True)
class World:
    """All of it."""

    boards: tuple[Place, ...]
    market: Market
    boxes: Boxes


@contextmanager
def world(seed: int) -> Iterator[World]:
    """Two boards, both providers and three boxes, for as long as the block runs."""
    with ExitStack() as stack:
        boards = (Board(14, 120, seed, "board.localhost"), Board(10, 80, seed + 1, "forum.localhost", 12))
        places = [stack.enter_context(board_at(one.host.partition(".")[0], one)) for one in boards]
        yield World(
            tuple(places),
            stack.enter_context(market(items=2000, latency_ms=400)),
            stack.enter_context(stash_boxes(people=120, seed=seed)),
        )


def write_files(folder: Path, made: World) -> dict[str, Path]:
    """Files for the folders of platforms, collectors and sources; gives the settings that lead there."""
    platforms, collectors, sources = (folder / name for name in ("platforms", "collectors", "sources"))
    shutil.copytree(SHIPPED, platforms)
    for name in ("amazon", "ebay"):  # slowly, so that there is something to see
        file = platforms / f"{name}.yaml"
        told = yaml.safe_load(file.read_text(encoding="utf-8")) | {"limits": {"concurrency": 4}}
        file.write_text(yaml.safe_dump(told), encoding="utf-8")
    moving = platforms / "tiktok.yaml"
    moved = {"writer": {"shadow": "postgres", "compare_at_least": 50}}  # written twice, to be compared
    moving.write_text(yaml.safe_dump(yaml.safe_load(moving.read_text(encoding="utf-8")) | moved), encoding="utf-8")
    collectors.mkdir()
    categories = [("electronics", 2000), ("toys", 40), ("books", 60)]
    for name in ("amazon", "ebay"):
        wanted = [{"id": slug, "name": slug.title(), "items": items} for slug, items in categories]
        (collectors / f"{name}.yaml").write_text(yaml.safe_dump({"categories": wanted}), encoding="utf-8")
    write_sources(sources, made.boxes.boxes, made.boxes.address, "key_file: key")
    (sources / "key").write_text(_KEY, encoding="utf-8")
    return {"platforms_dir": platforms, "collectors_dir": collectors, "sources_dir": sources}


@contextmanager
def _served(make: Callable[[Callable[[], None]], Server]) -> Iterator[int]:
    """Serve in a thread until the block ends; gives the port."""
    ready = threading.Event()
    listener: socket.socket = listen(HOST, 0)
    served = make(ready.set)
    thread = threading.Thread(target=served.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        ready.wait()
        yield listener.getsockname()[1]
    finally:
        served.stop()
        thread.join()
        listener.close()
