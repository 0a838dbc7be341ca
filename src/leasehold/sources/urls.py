"""Addresses of profiles: one spelling for each, the site it belongs to, and the id that stands in it.

Only sites where people present themselves by profession, and catalogues of them, are known. Whatever else somebody has
written down of a person, such as a private page, is left where it is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LONGEST_URL = 500
_LONGEST_RULED = 300
_LONGEST_RULE = 300
# More of them in one rule, and reading a long address could take for ever.
_MOST_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Site:
    """One site: its hosts, what a profile's path looks like, and whether what stands in it is an id."""

    hosts: tuple[str, ...]
    path: re.Pattern[str]
    is_id: bool = False
    ignores_case: bool = True


def _site(hosts: str, path: str, *, is_id: bool = False, ignores_case: bool = True) -> Site:
    return Site(tuple(hosts.split()), re.compile(rf"^/{path}/?$", re.IGNORECASE), is_id, ignores_case)


def _box(host: str) -> Site:
    return _site(host, rf"performers/({_UUID})(?:/.*)?", is_id=True)


SITES: Final[Mapping[str, Site]] = {
    "adultfilmdatabase": _site("adultfilmdatabase.com", r"actor/([^/]+)", is_id=True),
    "babepedia": _site("babepedia.com", r"babe/([^/]+)"),
    "boobpedia": _site("boobpedia.com", r"boobs/([^/]+)"),
    "data18": _site("data18.com", r"(?:name|pornstars)/([^/]+)"),
    "egafd": _site("egafd.com", r"actresses/details\.php/id/([a-z0-9]+)", is_id=True),
    "eurobabeindex": _site("eurobabeindex.com", r"sbandoindex/([^/]+)\.html"),
    "fansdb": _box("fansdb.cc"),
    "fansly": _site("fansly.com", r"([^/]+)(?:/posts)?"),
    "freeones": _site("freeones.com freeones.xxx", r"([^/]+)(?:/bio|/profile|/feed)?"),
    "iafd": _site("iafd.com", r"person\.rme/(?:perfid|id)=([^/]+)(?:/.*)?", is_id=True),
    "imdb": _site("imdb.com", r"name/(nm[0-9]+)(?:/.*)?", is_id=True),
    "indexxx": _site("indexxx.com", r"(?:m|models)/([^/]+)", is_id=True),
    "instagram": _site("instagram.com", r"([a-z0-9_.]+)"),
    "javstash": _box("javstash.org"),
    "linktree": _site("linktr.ee", r"([^/]+)"),
    "manyvids": _site("manyvids.com", r"profile/([0-9]+)(?:/.*)?", is_id=True),
    "minnano": _site("minnano-av.com", r"actress([0-9]+)\.html", is_id=True),
    "onlyfans": _site("onlyfans.com", r"([a-z0-9_.-]+)"),
    "pmvstash": _box("pmvstash.org"),
    "pornhub": _site("pornhub.com", r"(?:pornstar|model)/([^/]+)(?:/.*)?"),
    "stashdb": _box("stashdb.org"),
    "theporndb": _site("theporndb.net metadataapi.net", r"performers/([^/]+)", is_id=True),
    "twitter": _site("twitter.com x.com", r"([a-z0-9_]+)"),
    "wikidata": _site("wikidata.org", r"(?:wiki|entity)/(Q[0-9]+)", is_id=True),
}
_HOSTS = {host: name for name, site in SITES.items() for host in site.hosts}
_PREFIXES = ("www.", "m.", "mobile.", "en.")


@dataclass(frozen=True, slots=True)
class Address:
    """A profile: on which site, in one spelling, and its id there."""

    namespace: str
    url: str
    id: str | None


class Addresses:
    """Reads addresses, with the rules that a source itself has for those it collects."""

    def __init__(self, allowed: Sequence[str] | None) -> None:
        self._allowed = frozenset(SITES if allowed is None else allowed)
        self._rules: dict[str, tuple[str, re.Pattern[str] | None]] = {}

    def learn(self, sites: Sequence[Any]) -> None:
        """Take over a source's own rules: the pattern of each site, whose first group is the part that counts."""
        for site in sites:
            if isinstance(site, dict) and isinstance(site.get("id"), str) and isinstance(site.get("name"), str):
                self._rules[site["id"]] = (slug(site["name"]), safe_rule(site.get("regex")))

    def read(self, url: str, site: Any = None) -> Address | None:
        """The profile behind an address; None for what is none, or of a site that does not count."""
        if not isinstance(url, str) or not 0 < len(url) <= _LONGEST_URL or not url.isprintable():
            return None
        named, rule = self._rules.get(site, (None, None)) if isinstance(site, str) else (None, None)
        if rule and len(url) <= _LONGEST_RULED and (match := rule.search(url)):
            cut = match[1] if match.re.groups and match[1] else url
            url = cut if cut.startswith(("http://", "https://")) else url
        return self._known(url) or (self._other(url, named) if named else None)

    def _known(self, url: str) -> Address | None:
        host, path = _parts(url)
        name = _HOSTS.get(host)
        if name is None or name not in self._allowed:
            return None
        site = SITES[name]
        match = site.path.match(path)
        if match is None:
            return None
        path = path[: match.end(1)]  # what comes after it is a page of the same profile
        path = path.lower() if site.ignores_case else path
        found = unquote(match[1]).lower() if site.ignores_case else unquote(match[1])
        canonical = f"https://{site.hosts[0]}{quote(unquote(path), safe='/=.-_~:@')}"
        return Address(name, canonical, found if site.is_id else None)

    def _other(self, url: str, named: str) -> Address | None:
        """One of a site that nobody but the source knows; only where its file asks for it by name."""
        host, path = _parts(url)
        if named in SITES or named not in self._allowed or not host or path.strip("/") == "":
            return None
        return Address(named, f"https://{host}{path.rstrip('/')}", None)


def _parts(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").lower().rstrip(".")
    except ValueError:
        return "", ""
    if parts.scheme.lower() not in ("http", "https"):
        return "", ""
    for prefix in _PREFIXES:
        host = host.removeprefix(prefix)
    return host, re.sub(r"/{2,}", "/", parts.path) or "/"


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.lower())


def safe_rule(pattern: Any) -> re.Pattern[str] | None:
    """A rule that others wrote, if reading an address by it cannot take long: theirs do not backtrack, ours do."""
    if not isinstance(pattern, str) or not 0 < len(pattern) <= _LONGEST_RULE:
        return None
    # A group that repeats, a reference back, or a look around is what makes a pattern slow.
    if re.search(r"\)[*+{]|\\[1-9]|\(\?(?:=|!|<|P|\()", pattern):
        return None
    if len(re.findall(r"(?<!\\)[*+{]", pattern)) > _MOST_REPEATS:
        return None
    try:
        return re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError):
        return None
