"""Ports for servers that come back: below those the kernel gives to outgoing connections, so that none of them sits on
ours while a server is down."""

import secrets
import socket

PORTS = range(20_000, 32_000)


def free_port() -> int:
    for _ in range(100):
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no port between {PORTS.start} and {PORTS.stop} is free")
