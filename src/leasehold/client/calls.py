"""Every call there is, once: what is sent and how the answer is read. Two transports send them."""

import math
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from leasehold.client.models import (
    Account,
    AccountStats,
    Explanation,
    Grants,
    Imported,
    Lease,
    Moved,
    Page,
    PastLease,
    Released,
    Renewal,
    Renewed,
    Rewritten,
    Site,
)

T = TypeVar("T")
Span = float | timedelta  # a length of time: seconds, or a timedelta


@dataclass(frozen=True, slots=True)
class Content:
    """A part of a body that has several: bytes, a path to them, or something to read them from."""

    name: str | None
    source: Any = field(repr=False)
    content_type: str | None = None

    @property
    def is_repeatable(self) -> bool:
        return not hasattr(self.source, "read") or self.source.seekable()


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how to read its answer."""

    method: str
    path: str
    read: Callable[[Any], T]
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    params: Mapping[str, Any] | None = None
    key: str | None = None  # an idempotency key, so that a retry is harmless
    harmless: bool = False  # to repeat, without a key, although it is no GET
    text: tuple[str, str] | None = field(default=None, repr=False)  # a body that is no JSON, after its content type
    held_s: float = 0.0  # how long the server may keep us waiting on purpose
    parts: Sequence[tuple[str, Content]] = ()  # a body of several parts
    headers: Mapping[str, str] = field(default_factory=dict)
    is_timed: bool = False  # it says when it is sent, each time anew
    is_versioned: bool = False  # `ETag` is half of the answer: what is read is a pair, the version first

    @property
    def is_repeatable(self) -> bool:
        if not all(content.is_repeatable for _, content in self.parts):
            return False
        return self.key is not None or self.harmless or self.method == "GET"


def new_key() -> str:
    return uuid.uuid4().hex


def seconds(span: Span) -> int:
    """Whole seconds, as the server takes them; a part of one counts as one."""
    return math.ceil(span.total_seconds() if isinstance(span, timedelta) else span)


def create_site(
    slug: str, *, domain: str | Mapping[str, Any], name: str | None = None, policy: Mapping[str, Any] | None = None
) -> Call[Site]:
    """Make a site that lives at `domain`: a host, or an address in full."""
    body = {"slug": slug, "domain": domain, "name": name, "policy": dict(policy or {})}
    return Call("POST", "/v2/sites", Site.model_validate, body, key=new_key())


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
    return Call("POST", f"{_site(slug)}/moves", Moved.model_validate, body, key=new_key())


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
    return Call("POST", "/v2/sites/rewrite", _rewritten, body, harmless=True)


def create_account(
    site: str,
    username: str,
    *,
    secret: Mapping[str, Any],
    labels: Mapping[str, str] | None = None,
    priority: int | None = None,
) -> Call[Account]:
    """Add a login to a site. `secret` is whatever its collectors need: password, one-time key, recovery address."""
    body = {"site": site, "username": username, "secret": dict(secret)}
    body |= _given(labels=labels, priority=priority)
    return Call("POST", "/v2/accounts", Account.model_validate, body, key=new_key())


def import_accounts(
    items: Iterable[Mapping[str, Any]] | None = None, *, csv: str | None = None, ndjson: str | None = None
) -> Call[Imported]:
    """Add or change many accounts, by site and name: from mappings, from CSV, or from a JSON object per line."""
    texts = [("text/csv", csv), ("application/x-ndjson", ndjson)]
    given = [(kind, text) for kind, text in texts if text is not None]
    if len(given) + (items is not None) != 1:
        raise TypeError("import_ takes one of: items, csv=, ndjson=")
    body = None if items is None else {"items": [dict(item) for item in items]}
    text = given[0] if given else None
    return Call("POST", "/v2/accounts/import", Imported.model_validate, body, text=text, harmless=True)


def get_account(account_id: str) -> Call[Account]:
    """One account, without its secret."""
    return Call("GET", _account(account_id), Account.model_validate)


def list_accounts(
    *,
    site: str | None = None,
    state: str | None = None,
    labels: Mapping[str, str] | None = None,
    q: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Call[Page[Account]]:
    """Accounts by site and name, a page at a time; every filter narrows, `q` by a part of the name."""
    label = [f"{name}:{value}" for name, value in (labels or {}).items()]
    params = _given(site=site, state=state, label=label or None, q=q, limit=limit, cursor=cursor)
    return Call("GET", "/v2/accounts", Page[Account].model_validate, params=params)


def change_account(
    account_id: str,
    *,
    state: Literal["active", "inactive", "blocked"] | None = None,
    reason: str | None = None,
    secret: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    priority: int | None = None,
) -> Call[Account]:
    """Change what is given; what is left out stays. `secret` and `labels` are replaced as a whole."""
    body = _given(state=state, reason=reason, secret=secret, labels=labels, priority=priority)
    return Call("PATCH", _account(account_id), Account.model_validate, body)


def delete_account(account_id: str) -> Call[None]:
    """Remove an account and its secret; one that is in use is refused."""
    return Call("DELETE", _account(account_id), lambda _answer: None)


def reveal_account(account_id: str) -> Call[dict[str, Any]]:
    """The secret itself. Who asked is in the audit."""
    return Call("POST", f"{_account(account_id)}/reveal", lambda answer: dict(answer["secret"]))


def acquire_accounts(
    site: str,
    *,
    owner: str,
    ttl: Span = 120,
    wait: Span = 0,
    priority: int | None = None,
    job_id: str | None = None,
    count: int = 1,
    labels: Mapping[str, str] | None = None,
    account_id: str | None = None,
    include_session: bool = False,
) -> Call[Grants]:
    """Lease accounts: all that are wanted, or none and why. Renewing them and giving them back is up to you."""
    body: dict[str, Any] = {"site": site, "owner": owner, "ttl_seconds": seconds(ttl), "wait_seconds": seconds(wait)}
    body |= {"count": count, "include_session": include_session}
    body |= _given(priority=priority, job_id=job_id, labels=labels or None, account_id=account_id)
    return Call("POST", "/v2/accounts/acquire", Grants.model_validate, body, key=new_key(), held_s=seconds(wait))


def reclaim_accounts(*, site: str | None = None) -> Call[int]:
    """Settle the leases that ran out, now; returns how many. Nothing needs this, it only tidies up early."""
    return Call(
        "POST", "/v2/accounts/reclaim", lambda answer: int(answer["reclaimed"]), _given(site=site), harmless=True
    )


def account_stats(*, site: str | None = None) -> Call[AccountStats]:
    """How many accounts are in each state."""
    return Call("GET", "/v2/accounts/stats", AccountStats.model_validate, params=_given(site=site))


def account_history(account_id: str, *, limit: int = 50, cursor: str | None = None) -> Call[Page[PastLease]]:
    """Who held an account and how each lease ended, newest first, a page at a time."""
    params = _given(limit=limit, cursor=cursor)
    return Call("GET", f"{_account(account_id)}/leases", Page[PastLease].model_validate, params=params)


def list_leases(
    *,
    kind: str | None = None,
    site: str | None = None,
    owner: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Call[Page[Lease]]:
    """Who holds what now, a page at a time."""
    params = _given(kind=kind, site=site, owner=owner, limit=limit, cursor=cursor)
    return Call("GET", "/v2/leases", Page[Lease].model_validate, params=params)


def heartbeat(lease_id: str, *, ttl: Span | None = None) -> Call[Renewal]:
    """Renew a lease from now; it never gets shorter by that."""
    body = _given(ttl_seconds=None if ttl is None else seconds(ttl))
    return Call("POST", f"{_lease(lease_id)}/heartbeat", Renewal.model_validate, body, harmless=True)


def heartbeat_all(owner: str, *, ttl: Span | None = None) -> Call[Renewed]:
    """Renew all that this token holds under that owner."""
    body = {"owner": owner} | _given(ttl_seconds=None if ttl is None else seconds(ttl))
    return Call("POST", "/v2/leases/heartbeat", Renewed.model_validate, body, harmless=True)


def release(
    lease_id: str,
    *,
    outcome: str = "ok",
    reason: str | None = None,
    cooldown: Span | None = None,
    found: int | None = None,
    cursor: Any = None,
) -> Call[Released]:
    """Give a lease back and say how it went; a second time changes nothing. `found` and `cursor` go with seeds."""
    cooldown_seconds = None if cooldown is None else seconds(cooldown)
    body = {"outcome": outcome}
    body |= _given(reason=reason, cooldown_seconds=cooldown_seconds, found=found, cursor=cursor)
    return Call("POST", f"{_lease(lease_id)}/release", Released.model_validate, body, harmless=True)


def revoke_lease(lease_id: str) -> Call[int]:
    """Take a lease from its holder, who learns of it with its next heartbeat; returns how many were taken."""
    return Call("DELETE", _lease(lease_id), _revoked, harmless=True)


def revoke_owner(owner: str) -> Call[int]:
    """Take everything an owner holds; returns how many leases that were."""
    return Call("DELETE", "/v2/leases", _revoked, params={"owner": owner}, harmless=True)


def _revoked(answer: Any) -> int:
    return int(answer["revoked"])


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _account(account_id: str) -> str:
    return f"/v2/accounts/{quote(account_id, safe='')}"


def _lease(lease_id: str) -> str:
    return f"/v2/leases/{quote(lease_id, safe='')}"


def _rewritten(answer: Any) -> list[Rewritten]:
    return [Rewritten.model_validate(item) for item in answer["items"]]


def _site(slug: str) -> str:
    return f"/v2/sites/{quote(slug, safe='')}"
