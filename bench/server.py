"""The product's own server for a benchmark: as it is, or with one plain transaction for each request."""

import argparse
import socket
from functools import partial
from typing import Any, cast

from bench.zero import ZeroShelf
from leasehold import logs, memory, server
from leasehold.app import build, edged
from leasehold.leases import Desk
from leasehold.runs import Shelf
from leasehold.settings import Settings
from leasehold.vault import Keyring

KEYS = "bench:" + "A" * 43 + "="


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--mongo", default="")
    parser.add_argument("--data", default="")
    parser.add_argument("--platforms", default="")
    parser.add_argument("--zero", type=int, default=0, help="runs collect so many items that cost nothing")
    given = parser.parse_args()
    logs.configure("warning", "console")
    pools = {"pools": "mongo", "mongo_url": given.mongo} if given.mongo else {}
    data = {"data_dir": given.data} if given.data else {}
    platforms = {"platforms_dir": given.platforms} if given.platforms else {}
    settings = Settings(database_pool_size=32, **pools, **data, **platforms)
    desk = partial(Desk, most=1, lanes=1_000_000) if given.plain else Desk
    shelf: dict[str, Any] = {"make_collectors": lambda *_: cast("Shelf", ZeroShelf(given.zero))} if given.zero else {}
    app = build(settings, given.database, Keyring.parse(KEYS), desk, **shelf)
    listener = socket.create_server(("127.0.0.1", given.port), backlog=1024)

    def ready() -> None:
        memory.settle()
        print("ready", flush=True)

    server.make(edged(app), settings, ready, lambda: None).run(sockets=[listener])


if __name__ == "__main__":
    main()
