"""Accounts as MongoDB documents: how they look, what is indexed, and the updates that change them. No I/O.

One account is one document, its lease inside it, so that every grant, renewal and end is one atomic update. Times are
the server's own (`$$NOW`). `rev` grows with every change but a renewal: an update that was computed from what was read
names the `rev` it read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from bson import Int64
from pymongo import ASCENDING, DESCENDING, IndexModel

from leasehold.accounts.batch import Ending, Held
from leasehold.accounts.machine import Health, Standing, State
from leasehold.accounts.models import Account, Candidate, Grant, NewAccount, SealedSecret, Wish
from leasehold.leases import Ended, How, Kind, Lease

Document = dict[str, Any]
Pipeline = list[Document]

_BETWEEN = "\x1f"  # between the name and the value of a label; no name contains it
_NOW = "$$NOW"
_LIVE: Document = {"$gt": ["$lease.expires_at", _NOW]}

# Those that are used at every grant are partial: they hold what is free, or due, or leased, and nothing else.
INDEXES = [
    IndexModel([("organisation", 1), ("site", 1), ("username", 1)], name="name", unique=True),
    IndexModel(
        [
            ("organisation", ASCENDING),
            ("site", ASCENDING),
            ("priority", DESCENDING),
            ("last_leased_at", ASCENDING),
            ("_id", ASCENDING),
        ],
        name="free",
        partialFilterExpression={"free": True},
    ),
    IndexModel(
        [("organisation", 1), ("site", 1), ("back_at", 1)],
        name="due",
        partialFilterExpression={"back_at": {"$type": "date"}},
    ),
    # For the reaper, who looks at all sites at once.
    IndexModel(
        [("organisation", 1), ("back_at", 1)],
        name="due_anywhere",
        partialFilterExpression={"back_at": {"$type": "date"}},
    ),
    # Whatever else goes wrong, one lease is on one account.
    IndexModel(
        [("lease.id", 1)], name="lease", unique=True, partialFilterExpression={"lease.id": {"$type": "binData"}}
    ),
    IndexModel(
        [("organisation", 1), ("lease.owner", 1)],
        name="owner",
        partialFilterExpression={"lease.id": {"$type": "binData"}},
    ),
    IndexModel([("lease.once", 1)], name="once", partialFilterExpression={"lease.once": {"$type": "binData"}}),
    IndexModel([("organisation", 1)], name="pending", partialFilterExpression={"pending": True}),
    IndexModel([("secret.key_id", 1)], name="key"),
]
END_INDEXES = [
    IndexModel([("organisation", 1), ("resource", 1), ("fence", -1)], name="resource"),
    IndexModel(
        [("organisation", 1), ("owner", 1), ("ended_at", 1)],
        name="lost",
        partialFilterExpression={"how": {"$in": ["expired", "revoked", "superseded"]}},
    ),
]

STATE: Document = {
    "$switch": {
        "branches": [
            {"case": _LIVE, "then": State.USING},
            {"case": {"$ne": ["$standing", Standing.ACTIVE]}, "then": "$standing"},
            {"case": {"$gt": ["$cooling_until", _NOW]}, "then": State.COOLING},
        ],
        "default": State.ACTIVE,
    }
}
# What is asked for along with every document: what follows from the clock, by the server's.
SEEN: Pipeline = [{"$set": {"state": STATE, "is_live": {"$ifNull": [_LIVE, False]}, "now": _NOW}}]


def new(organisation: UUID, account: UUID, wanted: NewAccount, secret: SealedSecret) -> Document:
    """A new account; its times are set by the server when it is written."""
    return {
        "_id": account,
        "organisation": organisation,
        "site": wanted.site,
        "username": wanted.username,
        "labels": labels(wanted.labels or {}),
        "priority": wanted.priority or 0,
        **_health(Health()),
        "cooling_until": None,
        "last_leased_at": None,
        "last_outcome": None,
        "last_outcome_at": None,
        "fence": Int64(0),
        "fence_base": Int64(0),
        "lease": None,
        "back_at": None,
        "free": True,
        "ended": [],
        "pending": False,
        "moved": False,
        "secret": asdict(secret),
        "rev": Int64(1),
    }


def labels(given: Mapping[str, str]) -> list[str]:
    return sorted(f"{name}{_BETWEEN}{value}" for name, value in given.items())


def read_labels(stored: Sequence[str]) -> dict[str, str]:
    return {name: value for name, _, value in (label.partition(_BETWEEN) for label in stored)}


def wanted(organisation: UUID, wish: Wish) -> Document:
    """The filter for what a wish is about, free or not."""
    filter_: Document = {"organisation": organisation, "site": wish.site, "moved": False}
    if wish.labels:
        filter_["labels"] = {"$all": labels(wish.labels)}
    if wish.account is not None:
        filter_["_id"] = wish.account
    return filter_


def due(organisation: UUID, site: str | None) -> Document:
    here = {"site": site} if site is not None else {}
    later = {"back_at": {"$type": "date"}, "$expr": {"$lte": ["$back_at", _NOW]}}
    return {"organisation": organisation, **here, "moved": False, **later}


def renewal(ttl_seconds: int | None, max_age_s: int) -> Pipeline:
    """Never shorter, never beyond the greatest age."""
    ttl: object = ttl_seconds * 1000 if ttl_seconds is not None else {"$multiply": ["$lease.ttl_seconds", 1000]}
    until = {"$min": [{"$add": [_NOW, ttl]}, {"$add": ["$lease.acquired_at", max_age_s * 1000]}]}
    return [{"$set": {"lease.expires_at": {"$max": ["$lease.expires_at", until]}}}]


def renewable(organisation: UUID, lease: UUID) -> Document:
    return {"organisation": organisation, "lease.id": lease, "moved": False, "$expr": _LIVE}


def grant(lease: Mapping[str, Any], ttl_seconds: int) -> Pipeline:
    """The fence grows with every grant, in the update that makes it."""
    until = {"$add": [_NOW, ttl_seconds * 1000]}
    # What callers say stands as it is: `$literal`, or a name with a dollar in it would be a question.
    held = {name: {"$literal": value} for name, value in lease.items()}
    return [
        {
            "$set": {
                "lease": {**held, "ttl_seconds": ttl_seconds, "acquired_at": _NOW, "expires_at": until},
                "fence": {"$add": ["$fence", 1]},
                "last_leased_at": _NOW,
                "back_at": until,
                "free": False,
                "rev": {"$add": ["$rev", 1]},
            }
        },
    ]


def grantable(organisation: UUID, account: UUID) -> Document:
    return {"_id": account, "organisation": organisation, "free": True, "moved": False}


def endable(organisation: UUID, held: Held, rev: int, how: How) -> Document:
    """The lease and its time are in the filter: a release needs a live lease, an expiry one that ran out."""
    filter_: Document = {"_id": held.account, "organisation": organisation, "lease.id": held.lease, "rev": rev}
    if how is How.RELEASED:
        filter_["$expr"] = _LIVE
    elif how is How.EXPIRED:
        filter_["$expr"] = {"$lte": ["$lease.expires_at", _NOW]}
    return {**filter_, "moved": False}


def end(ending: Ending, by: UUID) -> Pipeline:
    """End the lease, book how, and leave the account as the verdict says. `by` marks whose doing it was."""
    health, rest_s = ending.verdict.health, ending.verdict.rest_s
    ended_at: object = "$lease.expires_at" if ending.how is How.EXPIRED else _NOW
    until = {"$add": [ended_at, rest_s * 1000]} if rest_s else None
    lies_ahead = {"$gt": [until, _NOW]} if rest_s else False
    is_active = health.standing is Standing.ACTIVE
    later = {"$cond": [lies_ahead, until, None]} if rest_s else None
    said = {"outcome": ending.outcome, "reason": ending.reason}
    booked = {
        **{name: f"$lease.{name}" for name in ("id", "owner", "token", "job_id", "acquired_at", "expires_at", "once")},
        "fence": "$fence",
        "site": "$site",
        "ended_at": ended_at,
        "how": str(ending.how),
        "by": by,
        **{name: {"$literal": value} for name, value in said.items()},
    }
    change: Document = {
        **{name: {"$literal": value} for name, value in _health(health).items()},
        "ended": {"$concatArrays": ["$ended", [booked]]},
        "pending": True,
        "cooling_until": later if is_active else None,
        "back_at": later if is_active else (until if health.standing is Standing.BLOCKED else None),
        "updated_at": _NOW,
        "rev": {"$add": ["$rev", 1]},
    }
    if ending.outcome is not None:
        change |= {"last_outcome": ending.outcome, "last_outcome_at": _NOW}
    # The second step sees what the first left: nothing is free that rests or was set aside.
    return [{"$set": change}, {"$set": {"lease": None, "free": _is_free(without_lease=True)}}]


def mend(health: Health, **more: Any) -> Pipeline:
    """Leave an account as said, rested, apart from its lease."""
    change = {
        **{name: {"$literal": value} for name, value in {**_health(health), **more}.items()},
        "cooling_until": None,
        "back_at": {"$cond": [{"$eq": ["$lease", None]}, None, "$back_at"]},
        "updated_at": _NOW,
        "rev": {"$add": ["$rev", 1]},
    }
    return [{"$set": change}, {"$set": {"free": _is_free()}}]


def _is_free(*, without_lease: bool = False) -> Document:
    open_ = [{"$eq": ["$standing", Standing.ACTIVE]}, {"$eq": ["$cooling_until", None]}]
    return {"$and": open_ if without_lease else [*open_, {"$eq": ["$lease", None]}]}


def _health(health: Health) -> Document:
    penalty = None if health.before_penalty is None else dict(health.before_penalty)
    return asdict(health) | {"standing": str(health.standing), "before_penalty": penalty}


def read_health(document: Document) -> Health:
    return Health(
        standing=Standing(document["standing"]),
        blocked_reason=document["blocked_reason"],
        consecutive_failures=document["consecutive_failures"],
        unclean_ends=document["unclean_ends"],
        on_probation=document["on_probation"],
        needs_login=document["needs_login"],
        before_penalty=document["before_penalty"],
    )


def read_held(document: Document) -> Held:
    lease = document["lease"]
    return Held(
        account=document["_id"],
        site=document["site"],
        health=read_health(document),
        lease=lease["id"] if lease else None,
        ran_out=bool(lease) and not document["is_live"],
    )


def read_candidate(document: Document) -> Candidate:
    return Candidate(document["_id"], document["site"], read_labels(document["labels"]))


def read_account(document: Document) -> Account:
    state = State(document["state"])
    lease = document["lease"] if state is State.USING else None
    return Account(
        id=document["_id"],
        site=document["site"],
        username=document["username"],
        state=state,
        standing=Standing(document["standing"]),
        blocked_reason=document["blocked_reason"],
        labels=read_labels(document["labels"]),
        priority=document["priority"],
        cooling_until=document["cooling_until"] if state is State.COOLING else None,
        consecutive_failures=document["consecutive_failures"],
        unclean_ends=document["unclean_ends"],
        on_probation=document["on_probation"],
        needs_login=document["needs_login"],
        last_leased_at=document["last_leased_at"],
        last_outcome=document["last_outcome"],
        last_outcome_at=document["last_outcome_at"],
        created_at=document["created_at"],
        updated_at=document["updated_at"],
        holder=lease["owner"] if lease else None,
        lease_id=lease["id"] if lease else None,
        expires_at=lease["expires_at"] if lease else None,
    )


def read_secret(document: Document) -> SealedSecret:
    return SealedSecret(**document["secret"])


def read_lease(document: Document) -> Lease:
    lease = document["lease"]
    return Lease(
        lease["id"],
        Kind.ACCOUNT,
        document["_id"],
        document["site"],
        lease["owner"],
        lease["job_id"],
        document["fence"],
        lease["acquired_at"],
        lease["expires_at"],
    )


def read_grant(document: Document) -> Grant:
    return Grant(read_lease(document), read_account(document), read_secret(document))


def booked(document: Document) -> list[Document]:
    """The ends an account still carries, as they stand in the history."""
    shared = {"organisation": document["organisation"], "resource": document["_id"]}
    return [
        {"_id": end["id"], **{name: value for name, value in end.items() if name != "id"}, **shared}
        for end in document["ended"]
    ]


def read_ended(document: Document) -> Ended:
    return Ended(
        document["_id"],
        Kind.ACCOUNT,
        document["resource"],
        document["site"],
        document["owner"],
        document["job_id"],
        document["fence"],
        document["acquired_at"],
        document["ended_at"],
        How(document["how"]),
        document["outcome"],
        document["reason"],
    )
