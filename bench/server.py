"""The product's own server for a benchmark: as it is, or with one plain transaction for each request."""

import argparse
import socket
from functools import partial

from leasehold import logs, server
from leasehold.app import build, edged
from leasehold.leases import Desk
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
    given = parser.parse_args()
    logs.configure("warning", "console")
    pools = {"pools": "mongo", "mongo_url": given.mongo} if given.mongo else {}
    data = {"data_dir": given.data} if given.data else {}
    settings = Settings(database_pool_size=32, **pools, **data)
    desk = partial(Desk, most=1, lanes=1_000_000) if given.plain else Desk
    app = build(settings, given.database, Keyring.parse(KEYS), desk)
    listener = socket.create_server(("127.0.0.1", given.port), backlog=1024)
    server.make(edged(app), settings, lambda: print("ready", flush=True), lambda: None).run(sockets=[listener])


if __name__ == "__main__":
    main()
