"""Where a site lives: which addresses it has had, whose a URL is, and what that URL is called today. No I/O.

Every answer rests on the WHATWG parser alone. Another parser sees other hosts than a browser does, and that difference
is what an attacker needs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from ada_url import normalize_url
from publicsuffixlist import PublicSuffixList

DEFAULT_PORT: Final = {"http": 80, "https": 443}
LONGEST_NAME: Final = 253  # RFC 1035, as text without the root dot
LONGEST_LABEL: Final = 63

# Names that DNS will never give to a stranger: RFC 6761 and its registry, ICANN's `internal`, and the names RFC 6762
# (appendix G) saw in use on private networks. `test` and `invalid` are in: no site of the public web lives there.
# `example` is out although RFC 6761 lists it: documentation, tests and the published vectors live there.
SPECIAL_USE: Final = frozenset(
    {"alt", "arpa", "internal", "invalid", "local", "localdomain", "localhost", "onion", "test"}
    | {"corp", "home", "intranet", "lan", "private"}
)

# What no host field may hold. A percent sign or a delimiter would let the parser find a host other than the one read.
_NOT_IN_A_HOST: Final = re.compile(r"[\s\x00-\x20\x7f/\\?#@:%\[\]]")
_NAME: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
# A name that stays canonical under any plain label put before it: nothing to decode, and no number at its end.
_PLAIN: Final = re.compile(r"(?!.*xn--)(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*")
_PATH_END: Final = re.compile(r"[?#]")


class Trust(StrEnum):
    OBSERVED = "observed"  # a proposal; it names nothing
    URLS = "urls"  # may be resolved and rendered
    CREDENTIALS = "credentials"  # sessions may be placed on it too

    def reaches(self, other: "Trust") -> bool:
        """The order of trust. `<` would compare the words, by alphabet."""
        ladder = list(Trust)
        return ladder.index(self) >= ladder.index(other)


class Subdomains(StrEnum):
    KEEP = "keep"  # every subdomain is the site's and keeps its name in a move
    NONE = "none"  # the bare host and its folded labels only


@dataclass(frozen=True, slots=True)
class Mount:
    """One address of a site. `host` is as `admit_host` returns it, `prefix` as `admit_prefix` does."""

    host: str
    scheme: str = "https"
    port: int | None = None
    prefix: str = "/"
    subdomains: Subdomains = Subdomains.KEEP
    fold: tuple[str, ...] = ("www",)  # subdomains that mean the bare host
    since: float = 0.0  # epoch seconds
    trust: Trust = Trust.CREDENTIALS

    def __post_init__(self) -> None:
        # URLs are put together from these texts, so a wrong one must not get this far.
        if self.scheme not in DEFAULT_PORT:
            raise ValueError(f"A mount is http or https, not {self.scheme!r}.")
        if self.port is not None and not 0 < self.port < 65536:
            raise ValueError(f"{self.port} is not a port.")
        if not _NAME.fullmatch(self.host):
            raise ValueError(f"{self.host!r} is not a canonical host; admit_host makes one.")
        if admit_prefix(self.prefix) != self.prefix:
            raise ValueError(f"{self.prefix!r} is not a canonical prefix; admit_prefix makes one.")

    @property
    def door(self) -> str:
        """Host and port as a canonical URL shows them; a default port is not shown."""
        shown = self.port is not None and self.port != DEFAULT_PORT[self.scheme]
        return f"{self.host}:{self.port}" if shown else self.host

    def sub_of(self, label: str) -> str | None:
        """The subdomain that `label` before the host means; None where this mount has no such subdomain."""
        if not label or label in self.fold:
            return ""
        return label if self.subdomains is Subdomains.KEEP else None


class HostRefused(ValueError):
    """This text cannot be the host of a site; `reason` says which rule it breaks."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text!r} cannot be the host of a site: {reason}.")
        self.reason = reason


class PrefixRefused(ValueError):
    """This text cannot be the path a site is mounted on; `reason` is `query`, `fragment` or `prefix-syntax`."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text!r} cannot be the prefix of a site: {reason}.")
        self.reason = reason


class AddressClaimed(ValueError):
    """Two sites claim one address from the same moment, so nothing can say whose it is."""


@cache
def _suffixes() -> PublicSuffixList:
    # 0.1 s to load, so only when first asked. Both sections count: `github.io` is shared ground like `co.uk`.
    return PublicSuffixList()


def admit_host(text: str, *, allow_special: bool = False) -> str:
    """The canonical form of a host that a site may live on; raises HostRefused."""
    host = _canonical_host(text)
    reason = _objection(host, allow_special)
    if reason:
        raise HostRefused(text, reason)
    return host


def _canonical_host(text: str) -> str:
    if not text or _NOT_IN_A_HOST.search(text):
        raise HostRefused(text, "host-syntax")
    try:
        authority = normalize_url(f"https://{text}/").removeprefix("https://").removesuffix("/")
    except ValueError:
        raise HostRefused(text, "host-syntax") from None
    host = authority.removesuffix(".")
    # The parser lets pass what no name server holds: empty labels, `*`, `!`.
    if not _NAME.fullmatch(host):
        raise HostRefused(text, "host-syntax")
    return host


def _objection(host: str, allow_special: bool) -> str | None:
    """Why a canonical host is refused, in the order of rule S30."""
    labels = host.split(".")
    special = labels[-1] in SPECIAL_USE
    if labels[-1].isdigit():
        # The parser has read every spelling of an IPv4 address by now. The suffix list would find a domain in it.
        return "ip-literal"
    if special and allow_special and (len(labels) > 1 or host == "localhost"):
        return _overlong(labels)
    if len(labels) == 1:
        return "single-label"
    if _suffixes().is_public(host):
        return "public-suffix"
    return "special-use" if special else _overlong(labels)


def _overlong(labels: Sequence[str]) -> str | None:
    fits = len(".".join(labels)) <= LONGEST_NAME and all(len(label) <= LONGEST_LABEL for label in labels)
    return None if fits else "dns-length"


def admit_prefix(text: str) -> str:
    """The canonical form of a mount prefix, with a slash at both ends; raises PrefixRefused."""
    if text == "/":
        return text
    for sign, reason in (("?", "query"), ("#", "fragment")):
        if sign in text:
            raise PrefixRefused(text, reason)
    path = _canonical_rest(text)
    if path is None:
        raise PrefixRefused(text, "prefix-syntax")
    return path if path.endswith("/") else path + "/"


def _canonical_rest(text: str) -> str | None:
    """Path, query and fragment as the parser writes them. `..` cannot climb: there is nothing above this path."""
    try:
        return normalize_url("https://h/" + text.removeprefix("/")).removeprefix("https://h")
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Reference:
    """A URL as the site knows it, whatever the site's address: this is what gets stored."""

    site: str
    sub: str  # "" is the bare host, or a label folded into it
    rest: str  # path below the mount, query and fragment; starts with "/"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer: `unmanaged`, or `refused:` and the rule."""

    verdict: str
    site: str | None = None


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A URL at the current address of its site. Refused and unmanaged URLs are as they came."""

    url: str
    site: str | None
    verdict: str

    @property
    def changed(self) -> bool:
        return self.verdict == "rewritten"


class _Parsed(NamedTuple):
    door: str
    tail: str  # path, query and fragment


def _parse(url: str) -> _Parsed | Refusal:
    # One call and one string back: each part asked of the parser would cost as much as parsing. Cutting is safe since
    # the text is canonical: an http authority ends at the first slash, and an `@` in it can only end the userinfo.
    try:
        href = normalize_url(url)
    except ValueError:
        return Refusal("refused:unparsable")
    scheme, _, after = href.partition("://")
    if scheme not in DEFAULT_PORT:
        return Refusal("refused:scheme")
    door, _, tail = after.partition("/")
    return Refusal("refused:userinfo") if "@" in door else _Parsed(door, "/" + tail)


class _Claim(NamedTuple):
    site: str
    mount: Mount


class _Found(NamedTuple):
    site: str
    sub: str
    rest: str


class _Door:
    """All claims on one host and port, by prefix."""

    __slots__ = ("claims", "lengths")

    def __init__(self) -> None:
        self.claims: dict[str, list[_Claim]] = {}
        self.lengths: list[int] = []  # of the prefixes, longest first: few, however many sites share the host

    def add(self, claim: _Claim) -> None:
        prefix = claim.mount.prefix
        self.claims.setdefault(prefix, []).append(claim)
        if len(prefix) not in self.lengths:
            self.lengths = sorted([*self.lengths, len(prefix)], reverse=True)

    def find(self, label: str, tail: str, at: float | None) -> _Found | None:
        path = _PATH_END.split(tail, 1)[0] + "/"  # the slash lets `/forum` match `/forum/`
        for length in self.lengths:
            claims = self.claims.get(path[:length])
            held = _holder(claims, label, at) if claims else None
            if held:
                rest = tail[length - 1 :]
                return _Found(*held, rest if rest.startswith("/") else "/" + rest)
        return None


def _live(claims: Sequence[_Claim], at: float | None) -> Iterator[_Claim]:
    """The owner's claims on one address at that time, latest first; what others held before it has ended."""
    owner = None
    for claim in reversed(claims):
        if at is not None and claim.mount.since > at:
            continue
        if owner not in (None, claim.site):
            return
        owner = claim.site
        yield claim


def _holder(claims: Sequence[_Claim], label: str, at: float | None) -> tuple[str, str] | None:
    for site, mount in _live(claims, at):
        sub = mount.sub_of(label)
        if sub is not None:
            return site, sub
    return None


class Registry:
    """The addresses of all sites, indexed so that a question costs the same with ten sites and ten thousand."""

    def __init__(self, sites: Mapping[str, Sequence[Mount]]) -> None:
        self._mounts = {site: _trusted(mounts) for site, mounts in sites.items()}
        self._doors: dict[str, _Door] = {}
        claims = [_Claim(site, mount) for site, mounts in self._mounts.items() for mount in mounts]
        for claim in sorted(claims, key=lambda claim: claim.mount.since):
            self._doors.setdefault(claim.mount.door, _Door()).add(claim)
        for door in self._doors.values():
            _refuse_ties(door)

    def current(self, site: str, at: float | None = None) -> Mount | None:
        """The address the site has at that time: its last trusted one."""
        for mount in reversed(self._mounts.get(site, ())):
            if at is None or mount.since <= at:
                return mount
        return None

    def resolve(self, url: str, at: float | None = None) -> Reference | Refusal:
        """Whose URL this is, or was at that time."""
        parsed = _parse(url)
        if isinstance(parsed, Refusal):
            return parsed
        found = self._find(*parsed, at)
        return Reference(*found) if found else Refusal("unmanaged")

    def render(self, ref: Reference, at: float | None = None) -> str | Refusal:
        """The URL of a reference at the address its site has at that time."""
        rest = _canonical_rest(ref.rest)
        if rest is None:
            return Refusal("refused:unparsable", ref.site)
        return self._place(_Found(ref.site, ref.sub, rest), at)

    def rewrite(self, url: str, at: float | None = None) -> Rewritten:
        """The URL at the current address of its site; doing it twice changes nothing more."""
        parsed = _parse(url)
        if isinstance(parsed, Refusal):
            return Rewritten(url, None, parsed.verdict)
        found = self._find(*parsed, at)
        if found is None:
            return Rewritten(url, None, "unmanaged")
        placed = self._place(found, at)
        if isinstance(placed, Refusal):
            return Rewritten(url, found.site, placed.verdict)
        return Rewritten(placed, found.site, "unchanged" if placed == url else "rewritten")

    def _find(self, door: str, tail: str, at: float | None) -> _Found | None:
        host, colon, port = door.partition(":")
        host = host.removesuffix(".")
        if ".." in host or host.startswith(".") or len(host) > LONGEST_NAME:
            return None  # no such name can exist, and an empty label must not pass for the bare host
        name, start = host + colon + port, 0
        while True:
            # From the longest host to the shortest, a label at a time: the closest mount has the first word.
            claimed = self._doors.get(name[start:])
            found = claimed.find(name[: max(start - 1, 0)], tail, at) if claimed else None
            start = name.find(".", start) + 1
            if found or not start:
                return found

    def _place(self, want: _Found, at: float | None) -> str | Refusal:
        """Puts a reference whose rest is canonical on the current mount, and makes sure that it is found there."""
        mount = self.current(want.site, at)
        if mount is None:
            return Refusal("refused:no-address", want.site)
        before = f"{want.sub}." if want.sub else ""
        parsed = _Parsed(before + mount.door, mount.prefix[:-1] + want.rest)
        url = f"{mount.scheme}://{parsed.door}{parsed.tail}"
        # A plain name is as the parser would write it; any other is parsed again, and must come back the same.
        exact = _PLAIN.fullmatch(before + mount.host) or _parse(url) == parsed
        if mount.sub_of(want.sub) != want.sub or not exact:
            return Refusal("refused:subdomain-not-mapped", want.site)
        found = self._find(*parsed, at)
        return url if found == want else self._shadowed(want.site, mount, found, at)

    def _shadowed(self, site: str, mount: Mount, found: _Found | None, at: float | None) -> Refusal:
        claims = self._doors[mount.door].claims[mount.prefix]
        owner = found.site if found else next(_live(claims, at)).site
        if found is None and owner == site:
            return Refusal("refused:subdomain-not-mapped", site)  # together they are longer than a name may be
        return Refusal(f"refused:shadowed:{owner}", site)


def _trusted(mounts: Sequence[Mount]) -> tuple[Mount, ...]:
    return tuple(sorted((m for m in mounts if m.trust.reaches(Trust.URLS)), key=lambda mount: mount.since))


def _refuse_ties(door: _Door) -> None:
    for claims in door.claims.values():
        for one, other in pairwise(claims):
            if one.mount.since == other.mount.since and one.site != other.site:
                address = one.mount.door + one.mount.prefix
                raise AddressClaimed(f"{one.site!r} and {other.site!r} both claim {address} from the same moment.")
