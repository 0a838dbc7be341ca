"""Every call about seeds, once: what is sent and how the answer is read."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from leasehold.client.calls import Call, Span, new_key, release, seconds
from leasehold.client.models import Grants, Imported, Page
from leasehold.client.seed_models import CheckedOut, Seed, SeedGrants, SeedHistogram, Seeds

__all__ = [
    "acquire_seeds",
    "change_seed",
    "check_out",
    "delete_seed",
    "get_seed",
    "import_seeds",
    "list_seeds",
    "release",
    "seed_histogram",
    "upsert_seeds",
]


def upsert_seeds(items: Iterable[Mapping[str, Any]]) -> Call[Seeds]:
    """Add seeds, or change those whose address is there: mappings with `site`, `url` and what else is to be said."""
    body = {"items": [dict(item) for item in items]}
    return Call("POST", "/v2/seeds", Seeds.model_validate, body, key=new_key())


def import_seeds(
    items: Iterable[Mapping[str, Any]] | None = None,
    *,
    csv: str | None = None,
    ndjson: str | None = None,
    opml: str | None = None,
    site: str | None = None,
) -> Call[Imported]:
    """Add or change many seeds; bad lines are told and cost the good ones nothing. `site` is for lines without one."""
    texts = [("text/csv", csv), ("application/x-ndjson", ndjson), ("text/x-opml", opml)]
    given = [(kind, text) for kind, text in texts if text is not None]
    if len(given) + (items is not None) != 1:
        raise TypeError("import_ takes one of: items, csv=, ndjson=, opml=")
    body = None if items is None else {"items": [dict(item) for item in items]}
    text, params = given[0] if given else None, _given(site=site)
    return Call("POST", "/v2/seeds/import", Imported.model_validate, body, params=params, text=text, harmless=True)


def get_seed(seed_id: str) -> Call[Seed]:
    """One seed, at its site's current address."""
    return Call("GET", _seed(seed_id), Seed.model_validate)


def list_seeds(
    *,
    site: str | None = None,
    due: bool | None = None,
    enabled: bool | None = None,
    kind: str | None = None,
    labels: Mapping[str, str] | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Call[Page[Seed]]:
    """Seeds by site, a page at a time; every filter narrows."""
    label = [f"{name}:{value}" for name, value in (labels or {}).items()]
    truths = {name: str(value).lower() for name, value in _given(due=due, enabled=enabled).items()}
    params = truths | _given(site=site, kind=kind, label=label or None, limit=limit, cursor=cursor)
    return Call("GET", "/v2/seeds", Page[Seed].model_validate, params=params)


def change_seed(
    seed_id: str,
    *,
    priority: int | None = None,
    interval: Span | None = None,
    min_interval: Span | None = None,
    max_interval: Span | None = None,
    labels: Mapping[str, str] | None = None,
    enabled: bool | None = None,
    kind: str | None = None,
    cursor: Any = None,
    forget_cursor: bool = False,
    next_due_at: datetime | Literal["now"] | None = None,
) -> Call[Seed]:
    """Change what is given; what is left out stays. `labels` are replaced as a whole."""
    spans = _given(interval_seconds=interval, min_interval_seconds=min_interval, max_interval_seconds=max_interval)
    due = next_due_at.isoformat() if isinstance(next_due_at, datetime) else next_due_at
    body = {name: seconds(span) for name, span in spans.items()}
    body |= _given(priority=priority, labels=labels, enabled=enabled, kind=kind, cursor=cursor, next_due_at=due)
    return Call("PATCH", _seed(seed_id), Seed.model_validate, body | ({"cursor": None} if forget_cursor else {}))


def delete_seed(seed_id: str) -> Call[None]:
    """Remove a seed; one that is being visited is refused."""
    return Call("DELETE", _seed(seed_id), lambda _answer: None)


def acquire_seeds(
    *,
    owner: str,
    site: str | None = None,
    limit: int = 1,
    ttl: Span = 120,
    wait: Span = 0,
    priority: int | None = None,
    job_id: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Call[SeedGrants]:
    """Lease due seeds, as many as there are up to `limit`. Renewing them and giving them back is up to you."""
    body: dict[str, Any] = {"owner": owner, "limit": limit, "ttl_seconds": seconds(ttl), "wait_seconds": seconds(wait)}
    body |= _given(site=site, priority=priority, job_id=job_id, labels=labels or None)
    return Call("POST", "/v2/seeds/acquire", SeedGrants.model_validate, body, key=new_key(), held_s=seconds(wait))


def check_out(
    site: str,
    *,
    owner: str,
    seeds: int = 1,
    ttl: Span = 120,
    wait: Span = 0,
    priority: int | None = None,
    job_id: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Call[Grants]:
    """Lease an account with its session, and due seeds of its site, as many as there are up to `seeds`; or nothing."""
    body: dict[str, Any] = {"site": site, "owner": owner, "seeds": seeds}
    body |= {"ttl_seconds": seconds(ttl), "wait_seconds": seconds(wait)}
    body |= _given(priority=priority, job_id=job_id, labels=labels or None)
    return Call("POST", "/v2/checkout", _checked_out, body, key=new_key(), held_s=seconds(wait))


def _checked_out(answer: Any) -> CheckedOut:
    account = answer["account"]
    leases = [{**account, "session": answer["session"]}] if account else []
    return CheckedOut.model_validate({"leases": leases, "seeds": answer["seeds"], "waiting": answer["waiting"]})


def seed_histogram(*, site: str | None = None, hours: int = 24) -> Call[SeedHistogram]:
    """How many seeds are due now, and how many fall due in each of the next hours."""
    return Call("GET", "/v2/seeds/histogram", SeedHistogram.model_validate, params=_given(site=site, hours=hours))


def _seed(seed_id: str) -> str:
    return f"/v2/seeds/{quote(seed_id, safe='')}"


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
