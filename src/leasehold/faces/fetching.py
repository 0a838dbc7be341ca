"""Fetches pictures from addresses that strangers wrote down, without being led anywhere but to the public internet."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Self

import httpx

from leasehold.faces.addresses import is_public
from leasehold.faces.pictures import CONTENT_TYPES, form
from leasehold.faces.problems import ImageRefused

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_PORTS = frozenset({80, 443})
_MOST_BYTES = 10 * 1024 * 1024
_MOST_REDIRECTS = 3
_TIMEOUT_S = 10.0  # for all of it, however slowly it comes
_WAIT_S = httpx.Timeout(5.0)  # for the next of it
_LONGEST_URL = 2000
# It may be better in a moment; waits in seconds.
_AGAIN_AFTER_S = (0.5, 2.0)
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_HEADERS = {
    "Accept": ", ".join(CONTENT_TYPES),
    "Accept-Encoding": "identity",  # what is packed could unpack to anything
    "User-Agent": "leasehold",
}


class _Passing(Exception):
    """It did not work, and might a moment later."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Fetched:
    content: bytes
    content_type: str


async def resolve(host: str, port: int) -> Sequence[str]:
    """Every address of a host, as the machine's resolver finds them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class Fetcher:
    """Fetches pictures, one request at a time for each caller."""

    def __init__(
        self,
        *,
        allow_private: bool = False,
        most_bytes: int = _MOST_BYTES,
        resolve: Resolve = resolve,
        trusted: ssl.SSLContext | None = None,  # certificates; those of the public internet where nothing is said
    ) -> None:
        self._allow_private = allow_private
        self._most_bytes = most_bytes
        self._resolve = resolve
        # Connections are not kept: the next request to an address may be to another host, with another certificate.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._client = httpx.AsyncClient(
            verify=trusted or True, timeout=_WAIT_S, follow_redirects=False, trust_env=False, limits=limits
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._client.aclose()

    async def fetch(self, url: str) -> Fetched:
        """A picture; raises ImageRefused with the reason. What may be better in a moment is tried again."""
        for wait_s in (*_AGAIN_AFTER_S, None):
            try:
                return await self._once(url)
            except _Passing as failure:
                if wait_s is None:
                    raise ImageRefused(failure.reason) from None
                await asyncio.sleep(wait_s)
        raise ImageRefused("unreachable")

    async def _once(self, url: str) -> Fetched:
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                return await self._follow(_parsed(url))
        except (TimeoutError, httpx.TimeoutException):
            raise _Passing("timeout") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError):  # what they say has the address in it
            raise _Passing("unreachable") from None

    async def _follow(self, url: httpx.URL) -> Fetched:
        for _ in range(1 + _MOST_REDIRECTS):
            got = await self._get(url)
            if isinstance(got, Fetched):
                return got
            if url.scheme == "https" and got.scheme != "https":
                raise ImageRefused("downgraded")
            url = got
        raise ImageRefused("too-many-redirects")

    async def _get(self, url: httpx.URL) -> Fetched | httpx.URL:
        """What is there, or where it is said to be."""
        address = await self._address(url)
        # The connection goes to the address that was looked at, whatever the resolver would say next time; the host
        # keeps its place in the request and in the certificate.
        request = self._client.build_request(
            "GET",
            url.copy_with(host=address),
            headers={**_HEADERS, "Host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": url.host},
        )
        response = await self._client.send(request, stream=True)
        try:
            if response.is_redirect:
                return _parsed(str(url.join(response.headers["Location"])))
            return await self._read(response)
        finally:
            await response.aclose()

    async def _address(self, url: httpx.URL) -> str:
        """The one address to connect to. A host that has a single closed address is refused, however many others."""
        port = url.port or (443 if url.scheme == "https" else 80)
        if port not in _PORTS and not self._allow_private:
            raise ImageRefused("port")
        try:
            found = await self._resolve(url.host, port)
        except (OSError, UnicodeError):
            raise _Passing("unknown-host") from None
        if not found or not (self._allow_private or all(map(is_public, found))):
            raise ImageRefused("address")
        return found[0]

    async def _read(self, response: httpx.Response) -> Fetched:
        if response.status_code in _PASSING:
            raise _Passing("status")
        if response.status_code != httpx.codes.OK:
            raise ImageRefused("status")
        content_type = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
        if content_type not in CONTENT_TYPES or response.headers.get("Content-Encoding", "identity") != "identity":
            raise ImageRefused("content-type")
        content = bytearray()
        async for chunk in response.aiter_raw():  # counted as it comes: a length can be a lie, or absent
            content += chunk
            if len(content) > self._most_bytes:
                raise ImageRefused("too-large")
        if form(bytes(content[:16])) is None:
            raise ImageRefused("no-image")
        return Fetched(bytes(content), content_type)


def _parsed(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise ImageRefused("no-url") from None
    is_plain = parsed.scheme in ("http", "https") and parsed.host and not parsed.userinfo
    if not is_plain or len(url) > _LONGEST_URL:
        raise ImageRefused("no-url")
    return parsed
