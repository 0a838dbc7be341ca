"""Accounts as MongoDB documents: how they look, what is indexed, and the updates that change them. No I/O.

One account is one document, its lease inside it, so that every grant, renewal and end is one atomic update. Times are
the server's own (`$$NOW`). `rev` grows with every change but a renewal: an update that was computed from what was read
names the `rev` it read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from bson import Int64

from leasehold.accounts.batch import Ending, Held
from leasehold.accounts.machine import Health, Standing, State
from leasehold.accounts.models import Account, Candidate, Grant, NewAccount, SealedSecret, Wish
from leasehold.leases import Ended, How, Kind, Lease

Document = dict[str, Any]
Pipeline = list[Document]

# An account carries its last ends itself; when it has so many they go to the history. So a release is one write.
# An end that was no release makes it `pending`: that goes at once, for its holder may ask what it lost.
ENDS_CARRIED = 8

# By then nothing was sure.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)

_BETWEEN = "\x1f"  # between the name and the value of a label; no name contains it
_NOW = "$$NOW"
_LIVE: Document = {"$gt": ["$lease.expires_at", _NOW]}

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
# Ends and secrets are most of a document; who does not look at them does without.
WITHOUT_ENDS: Document = {"$unset": "ended"}
PLAIN: Document = {"$unset": ["ended", "secret"]}
# What `read_held` looks at, and the revision.
HELD: Document = {"$project": dict.fromkeys(("site", "rev", "is_live", "lease.id", *Health.__dataclass_fields__), 1)}


def new(organisation: UUID, account: UUID, wanted: NewAccount, secret: SealedSecret, fence: int) -> Document:
    """A new account, and the fence it begins with; its times are set by the server when it is written."""
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
        "fence": Int64(fence),
        "fence_base": Int64(0),
        "lease": None,
        "back_at": None,
        "free": True,
        "ended": [],
        "pending": False,
        "moved": False,
        "secret": asdict(secret),
        "session": None,
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


def due(organisation: UUID, at: Sequence[str] | None) -> Document:
    """What is worth another look, at these sites or anywhere."""
    here = {"site": {"$in": list(at)}} if at is not None else {}
    later = {"back_at": {"$type": "date"}, "$expr": {"$lte": ["$back_at", _NOW]}}
    return {"organisation": organisation, **here, "moved": False, **later}


def free(organisation: UUID, kinds: Sequence[tuple[Wish, int]], collection: str) -> Pipeline:
    """Free accounts of each kind, so many of each, in one question."""
    shown = {"site": 1, "labels": 1, "priority": 1, "last_leased_at": 1}

    def one(wish: Wish, count: int) -> Pipeline:
        order = {"priority": -1, "last_leased_at": 1, "_id": 1}
        match = {"$match": {**wanted(organisation, wish), "free": True}}
        return [match, {"$sort": order}, {"$limit": count}, {"$project": shown}]

    first, *others = [one(*kind) for kind in kinds]
    return [*first, *({"$unionWith": {"coll": collection, "pipeline": other}} for other in others)]


def renewal(ttl_seconds: int | None, max_age_s: int) -> Pipeline:
    """Never shorter, never beyond the greatest age."""
    ttl: object = ttl_seconds * 1000 if ttl_seconds is not None else {"$multiply": ["$lease.ttl_seconds", 1000]}
    until = {"$min": [{"$add": [_NOW, ttl]}, {"$add": ["$lease.acquired_at", max_age_s * 1000]}]}
    return [{"$set": {"lease.expires_at": {"$max": ["$lease.expires_at", until]}}}]


def renewable(organisation: UUID, lease: UUID) -> Document:
    return {"organisation": organisation, "lease.id": lease, "moved": False, "$expr": _LIVE}


def keeping(unjumped: datetime, seconds: float, longest_s: int) -> tuple[Document, Pipeline]:
    """Across organisations: what lived before a jump of the clock lives on for a fresh term, and what it had left.

    The greatest age does not count here: by a clock that jumped, everything is old.
    """
    fresh = {"$add": [_NOW, {"$multiply": ["$lease.ttl_seconds", 1000]}]}
    left = {"$min": [{"$add": ["$lease.expires_at", int(seconds * 1000)]}, {"$add": [_NOW, longest_s * 1000]}]}
    until = {"$max": ["$lease.expires_at", fresh, left]}
    where = {"lease.id": {"$exists": True}, "moved": False, "lease.expires_at": {"$gt": unjumped}}
    return where, [{"$set": {"lease.expires_at": until}}]


def grants(organisation: UUID, wanted: Sequence[Document]) -> tuple[Document, Pipeline]:
    """One update for many grants: each free account gets what `wanted` says for it, and its fence grows."""
    until = {"$add": [_NOW, {"$multiply": ["$slip.ttl_seconds", 1000]}]}
    held = ("id", "owner", "token", "job_id", "once", "digest", "ttl_seconds")
    where = {"_id": {"$in": [slip["account"] for slip in wanted]}, "organisation": organisation}
    return {**where, "free": True, "moved": False}, [
        {"$set": {"slip": _slip(wanted, {"$eq": ["$$this.account", "$_id"]})}},
        {
            "$set": {
                "lease": {**{name: f"$slip.{name}" for name in held}, "acquired_at": _NOW, "expires_at": until},
                "fence": {"$add": ["$fence", 1]},
                "last_leased_at": _NOW,
                "back_at": until,
                "free": False,
                "rev": {"$add": ["$rev", 1]},
            }
        },
        {"$unset": "slip"},
    ]


def slip(held: Held, rev: int, ending: Ending, by: UUID) -> Document:
    """What an update needs to know to end one lease; `by` marks whose doing it was."""
    return {
        "account": held.account,
        "lease": held.lease,
        "rev": rev,
        "by": by,
        "how": str(ending.how),
        "outcome": ending.outcome,
        "reason": ending.reason,
        "rest_ms": ending.verdict.rest_s * 1000,
        **_health(ending.verdict.health),
    }


def ends(organisation: UUID, slips: Sequence[Document], sure_until: datetime = NEVER) -> tuple[Document, Pipeline]:
    """One update for many ends: book how, and leave each account as its verdict says.

    The lease and its time are in the filter: a release needs a live lease, an expiry one that ran out by a clock that
    was looked at. One that has jumped since shows more than `sure_until`.
    """
    ran_out = {"$and": [{"$lte": ["$lease.expires_at", _NOW]}, {"$lt": [_NOW, sure_until]}]}
    expiries = [slip for slip in slips if slip["how"] == How.EXPIRED]
    others = [slip for slip in slips if slip["how"] != How.EXPIRED]
    allowed = [_as_read(some, when) for some, when in ((others, _LIVE), (expiries, ran_out)) if some]
    where = {
        "_id": {"$in": [slip["account"] for slip in slips]},
        "organisation": organisation,
        "moved": False,
        "$expr": {"$or": allowed},
    }
    return where, [{"$set": {"slip": _slip(slips, {"$eq": ["$$this.lease", "$lease.id"]})}}, *_END, {"$unset": "slip"}]


def _as_read(slips: Sequence[Document], when: Document) -> Document:
    """Whether a document's lease and revision are those that were read."""
    read = [[slip["lease"], slip["rev"]] for slip in slips]
    return {"$and": [when, {"$in": [["$lease.id", "$rev"], {"$literal": read}]}]}


def _slip(slips: Sequence[Document], mine: Document) -> Document:
    """The one of the slips that is about this document. What callers said in it stands as it is."""
    return {"$first": {"$filter": {"input": {"$literal": list(slips)}, "cond": mine}}}


_KEYED = ("once", "digest")
_BOOKED: Document = {
    **{name: f"$lease.{name}" for name in ("id", "owner", "token", "job_id", "acquired_at", "expires_at")},
    **{name: f"$slip.{name}" for name in ("ended_at", "how", "outcome", "reason", "by")},
    # A repeat is told what became of it; what was given back is no longer its key's.
    **{name: {"$cond": [{"$ne": ["$slip.how", How.RELEASED]}, f"$lease.{name}", "$$REMOVE"]} for name in _KEYED},
    "fence": "$fence",
    "site": "$site",
}
_HEALTH = (
    "standing",
    "blocked_reason",
    "consecutive_failures",
    "unclean_ends",
    "on_probation",
    "needs_login",
    "before_penalty",
)
_IS_ACTIVE: Document = {"$eq": ["$slip.standing", Standing.ACTIVE]}
_IS_BLOCKED: Document = {"$eq": ["$slip.standing", Standing.BLOCKED]}
# Each step sees what the one before left.
_END: Pipeline = [
    {"$set": {"slip.ended_at": {"$cond": [{"$eq": ["$slip.how", How.EXPIRED]}, "$lease.expires_at", _NOW]}}},
    {
        "$set": {
            "slip.until": {
                "$cond": [{"$gt": ["$slip.rest_ms", 0]}, {"$add": ["$slip.ended_at", "$slip.rest_ms"]}, None]
            }
        }
    },
    {"$set": {"slip.later": {"$cond": [{"$gt": ["$slip.until", _NOW]}, "$slip.until", None]}}},
    {
        "$set": {
            **{name: f"$slip.{name}" for name in _HEALTH},
            "ended": {"$concatArrays": ["$ended", [_BOOKED]]},
            "pending": {"$or": ["$pending", {"$ne": ["$slip.how", How.RELEASED]}]},
            "cooling_until": {"$cond": [_IS_ACTIVE, "$slip.later", None]},
            "back_at": {
                "$switch": {
                    "branches": [
                        {"case": _IS_ACTIVE, "then": "$slip.later"},
                        {"case": _IS_BLOCKED, "then": "$slip.until"},
                    ],
                    "default": None,
                }
            },
            "last_outcome": {"$ifNull": ["$slip.outcome", "$last_outcome"]},
            "last_outcome_at": {"$cond": [{"$eq": ["$slip.outcome", None]}, "$last_outcome_at", _NOW]},
            "updated_at": _NOW,
            "rev": {"$add": ["$rev", 1]},
        }
    },
    {
        "$set": {
            "lease": None,
            "free": {"$and": [{"$eq": ["$standing", Standing.ACTIVE]}, {"$eq": ["$cooling_until", None]}]},
        }
    },
]


def mend(health: Health, **more: Any) -> Pipeline:
    """Leave an account as said, rested, apart from its lease."""
    change = {
        **{name: {"$literal": value} for name, value in {**_health(health), **more}.items()},
        "cooling_until": None,
        "back_at": {"$cond": [{"$eq": ["$lease", None]}, None, "$back_at"]},
        "updated_at": _NOW,
        "rev": {"$add": ["$rev", 1]},
    }
    is_free = [{"$eq": ["$standing", Standing.ACTIVE]}, {"$eq": ["$cooling_until", None]}, {"$eq": ["$lease", None]}]
    return [{"$set": change}, {"$set": {"free": {"$and": is_free}}}]


def _health(health: Health) -> Document:
    penalty = None if health.before_penalty is None else dict(health.before_penalty)
    return asdict(health) | {"standing": str(health.standing), "before_penalty": penalty}


def ended_by(batch: UUID) -> Pipeline:
    """Of the ends an account carries, those of this batch by their ids alone, and how many there are in all."""
    ours = {"$filter": {"input": "$ended", "cond": {"$eq": ["$$this.by", batch]}}}
    return [{"$set": {"ended": {"$map": {"input": ours, "in": "$$this.id"}}, "carries": {"$size": "$ended"}}}]


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
        has_session=bool(document.get("session") and document["session"]["kept"]),
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
