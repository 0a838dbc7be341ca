"""Simulated boxes in a thread: a real HTTP server on loopback that is told how to behave."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from leasehold.server import listen
from leasehold.simulate import Mode, People, StashBoxes, boxes_server

KEY = "LHCANARY-of-a-source"


@dataclass
class Served:
    """Boxes, where they are, and what they were asked."""

    address: str
    boxes: StashBoxes

    def become(self, box: str, mode: Mode, times: int | None = None, retry_after_s: int = 0) -> None:
        manner = self.boxes.control.manners[box]
        manner.mode, manner.times, manner.retry_after_s = mode, times, retry_after_s

    def asked(self, box: str) -> int:
        return self.boxes.control.requests[box].total()

    def live(self, box: str) -> set[str]:
        """The ids a box has now."""
        if box in self.boxes.boxes:
            return {str(row["id"]) for row in self.boxes.boxes[box].live()}
        return set(self.boxes.theporndb.ids)

    def declare(self, folder: Path, name: str, **more: object) -> None:
        """A file for one of them."""
        is_box = name in self.boxes.boxes
        fields = {
            "source": name,
            "kind": "stashbox" if is_box else "theporndb",
            "url": f"{self.address}/{name}{'/graphql' if is_box else ''}",
            "key_file": "key",
            "rate_limit": 60000,
            "retry_delay_seconds": 0.01,
            "curated": "true",
            **more,
        }
        (folder / "key").write_text(KEY)
        (folder / f"{name}.yaml").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))


@contextmanager
def served(people: int = 150, count: int = 3, seed: int = 7) -> Iterator[Served]:
    boxes, ready = StashBoxes(People(people, seed), count), threading.Event()
    listener = listen("127.0.0.1", 0)
    server = boxes_server(boxes, ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert ready.wait(30)
        yield Served(f"http://127.0.0.1:{listener.getsockname()[1]}", boxes)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
