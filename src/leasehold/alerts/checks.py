"""Whether the address for alerts can be meant: it can be read, and its host is known here. It is not called."""

import asyncio
import socket
from urllib.parse import urlsplit

_LOOK_UP_S = 5.0


async def check(url: str, secret: str) -> tuple[bool, str]:
    """Whether all is well, and what there is to say; of the address only the host, because the rest may be secret."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        host, port = "", 0
    if not host:
        return False, "LEASEHOLD_ALERT_URL is no address. Write it as https://host/path."
    try:
        async with asyncio.timeout(_LOOK_UP_S):
            await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        detail = f"{host} is not known to this machine. See that it is spelled right, and ask DNS for it."
        return False, f"LEASEHOLD_ALERT_URL: {detail}"
    unsigned = "" if secret else "; they are not signed: LEASEHOLD_ALERT_SECRET does that"
    return True, f"go to {host}, which this machine finds; it was not called{unsigned}"
