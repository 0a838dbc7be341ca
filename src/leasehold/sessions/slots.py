"""What one entry of a browser state is called: the identity under which two captures mean the same thing. No I/O.

A slot is one text, so that it can be a key in memory and in JSON alike: a letter for its kind and its parts, divided by
tabs. No part but the last can hold a tab, because hosts, origins, cookie names and paths with control characters are
refused before they get here.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from ada_url import normalize_url
from publicsuffixlist import PublicSuffixList

COOKIE: Final = "c"
LOCAL: Final = "l"  # one key of an origin's localStorage
DATABASE: Final = "i"  # one IndexedDB database
FILE: Final = "o"  # one path of the origin private file system
CREDENTIAL: Final = "k"  # one passkey

NOUNS: Final = {
    COOKIE: "cookie",
    LOCAL: "localStorage",
    DATABASE: "indexedDB",
    FILE: "opfs",
    CREDENTIAL: "credential",
}

_LONGEST_SHOWN: Final = 200
_LONGEST_HOST: Final = 260  # what DNS can name, and a port
# A name that the parser would write just so: nothing to decode, and no number at its end.
_PLAIN: Final = re.compile(r"(?!.*xn--)(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*\.?")
_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]")
_NOT_IN_A_HOST: Final = re.compile(r"[\s\x00-\x20\x7f/\\?#@]")
_PORT: Final = re.compile(r"(.*[^:]):([0-9]{1,5})", re.DOTALL)
_IPV4: Final = re.compile(r"[0-9]+(?:\.[0-9]+){3}")


class CookieSlot(NamedTuple):
    name: str
    domain: str  # a leading dot makes it a domain cookie
    path: str
    partition: str | None  # the top-level site of a partitioned cookie
    ancestor: bool | None  # whether a frame of another site stood between; None when unpartitioned

    @property
    def text(self) -> str:
        mark = "" if self.ancestor is None else "1" if self.ancestor else "0"
        return f"{COOKIE}\t{self.name}\t{self.domain}\t{self.path}\t{self.partition or ''}\t{mark}"

    @property
    def host(self) -> str:
        return self.domain.removeprefix(".")


def cookie_of(slot: str) -> CookieSlot:
    _, name, domain, path, partition, mark = slot.split("\t")
    return CookieSlot(name, domain, path, partition or None, mark == "1" if mark else None)


def stored_of(slot: str) -> tuple[str, str]:
    """The origin and the name of anything that belongs to an origin; of a passkey its party and its id."""
    _, origin, name = slot.split("\t", 2)
    return origin, name


def stored_slot(kind: str, origin: str, name: str) -> str:
    return f"{kind}\t{origin}\t{name}"


def host_of(slot: str) -> str:
    """The host an entry belongs to."""
    if slot[0] == COOKIE:
        return cookie_of(slot).host
    place = stored_of(slot)[0]
    return place if slot[0] == CREDENTIAL else host_of_origin(place)


def host_of_origin(origin: str) -> str:
    door = origin.partition("://")[2]
    return (
        door if door.endswith("]") else door.partition(":")[0] if not door.startswith("[") else door.rpartition(":")[0]
    )


def show(slot: str) -> str:
    """A slot for people: what it is, where, and its name. Never a value; hostile names are cut and made printable."""
    if slot[0] == COOKIE:
        cookie = cookie_of(slot)
        within = f" (in {cookie.partition})" if cookie.partition else ""
        return printable(f"cookie {cookie.domain}{cookie.path} {cookie.name}{within}")
    place, name = stored_of(slot)
    return printable(f"{NOUNS[slot[0]]} {place} {name}")


def printable(text: str) -> str:
    cut = text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
    return cut if cut.isprintable() else "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in cut)


def is_transportable(text: str) -> bool:
    """Whether JSON can carry it: half of a surrogate pair is no character of any encoding."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=4096)
def canonical_host(text: str) -> str | None:
    """A host as a browser writes it, a port cut off; None where no browser would find a host."""
    if len(text) > _LONGEST_HOST:
        return None
    if _PLAIN.fullmatch(text):
        return text
    with_port = _PORT.fullmatch(text)
    bare = with_port[1] if with_port else text
    if not bare or _NOT_IN_A_HOST.search(bare) or (with_port and int(with_port[2]) > 65535):
        return None
    try:
        host = normalize_url(f"https://{bare}/").removeprefix("https://").removesuffix("/")
    except ValueError:  # an encoding error is one of these too
        return None
    return host if _HOST.fullmatch(host) else None


@lru_cache(maxsize=4096)
def canonical_origin(text: str) -> str | None:
    """`scheme://host[:port]` of http and https, however it was spelled; None for anything else."""
    try:
        href = normalize_url(text)
    except ValueError:
        return None
    scheme, _, after = href.partition("://")
    door = after.partition("/")[0]
    if scheme not in ("http", "https") or not _HOST.fullmatch(host_of_origin(f"{scheme}://{door}")):
        return None
    return f"{scheme}://{door}"


def is_address(host: str) -> bool:
    """An IP address in canonical form. The suffix list would find a domain in it."""
    return host.startswith("[") or _IPV4.fullmatch(host) is not None


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    # 0.1 s to load, so only when first asked. Both sections count, as they do for a browser's cookies.
    return PublicSuffixList()


@lru_cache(maxsize=4096)
def site_of(host: str) -> str:
    """The registrable domain of a canonical host; an address or a public suffix is a site by itself."""
    if is_address(host):
        return host
    found: str | None = _suffixes().privatesuffix(host.removesuffix("."))
    return found or host


@lru_cache(maxsize=4096)
def is_shared(host: str) -> bool:
    """Whether no domain cookie can be set for this host: an address, or a public suffix."""
    return is_address(host) or bool(_suffixes().is_public(host.removesuffix(".")))


@lru_cache(maxsize=4096)
def partition_site(text: str) -> str | None:
    """A partition key reduced to scheme and registrable domain; None where it is not of the web."""
    origin = canonical_origin(text)
    if origin is None:
        return None
    return f"{origin.partition('://')[0]}://{site_of(host_of_origin(origin))}"
