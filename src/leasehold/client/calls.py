"""Every call there is, once: what is sent and how the answer is read. Two transports send them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from leasehold.client.models import Explanation, Moved, Page, Rewritten, Site

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how to read its answer."""

    method: str
    path: str
    read: Callable[[Any], T]
    body: Mapping[str, Any] | None = None
    params: Mapping[str, Any] | None = None
    creates: bool = False  # gets an idempotency key, so that a retry is harmless
    only_reads: bool = False  # harmless without one, although it is no GET

    @property
    def is_repeatable(self) -> bool:
        return self.creates or self.only_reads or self.method == "GET"


def create_site(
    slug: str, *, domain: str | Mapping[str, Any], name: str | None = None, policy: Mapping[str, Any] | None = None
) -> Call[Site]:
    """Make a site that lives at `domain`: a host, or an address in full."""
    body = {"slug": slug, "domain": domain, "name": name, "policy": dict(policy or {})}
    return Call("POST", "/v2/sites", Site.model_validate, body, creates=True)


def get_site(slug: str) -> Call[Site]:
    """One site with all its addresses."""
    return Call("GET", _site(slug), Site.model_validate)


def list_sites(*, limit: int = 50, cursor: str | None = None) -> Call[Page[Site]]:
    """Sites by slug, a page at a time."""
    params = {"limit": limit} | ({"cursor": cursor} if cursor else {})
    return Call("GET", "/v2/sites", Page[Site].model_validate, params=params)


def change_site(slug: str, *, name: str | None = None, policy: Mapping[str, Any] | None = None) -> Call[Site]:
    """Change its name or parts of its policy."""
    return Call("PATCH", _site(slug), Site.model_validate, {"name": name, "policy": dict(policy or {})})


def delete_site(slug: str) -> Call[None]:
    """Remove a site and its history of addresses."""
    return Call("DELETE", _site(slug), lambda _answer: None)


def move_site(
    slug: str,
    *,
    to: str | Mapping[str, Any],
    trust: Literal["observed", "urls", "credentials"] = "credentials",
    dry_run: bool = False,
    reason: str | None = None,
    urls: Sequence[str] = (),
) -> Call[Moved]:
    """The site lives at `to` from now on; a dry run only tells what that would do, also to some `urls`."""
    body = {"to": to, "trust": trust, "dry_run": dry_run, "reason": reason, "urls": list(urls)}
    return Call("POST", f"{_site(slug)}/moves", Moved.model_validate, body, creates=True)


def pause_site(slug: str, *, reason: str) -> Call[Site]:
    """Nobody gets anything of this site until it is resumed."""
    return Call("POST", f"{_site(slug)}/pause", Site.model_validate, {"reason": reason})


def resume_site(slug: str) -> Call[Site]:
    """End a pause."""
    return Call("POST", f"{_site(slug)}/resume", Site.model_validate)


def explain_site(slug: str) -> Call[Explanation]:
    """Why nobody gets an account or a seed of this site right now."""
    return Call("GET", f"{_site(slug)}/explain", Explanation.model_validate)


def rewrite_urls(urls: Sequence[str], *, at: datetime | None = None) -> Call[list[Rewritten]]:
    """What each URL is called at the current address of its site, or was at that time."""
    body: dict[str, Any] = {"urls": list(urls), "at": at.isoformat() if at else None}
    return Call("POST", "/v2/sites/rewrite", _rewritten, body, only_reads=True)


def _rewritten(answer: Any) -> list[Rewritten]:
    return [Rewritten.model_validate(item) for item in answer["items"]]


def _site(slug: str) -> str:
    return f"/v2/sites/{quote(slug, safe='')}"
