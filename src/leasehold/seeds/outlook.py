"""Why nobody gets a seed right now, and when that changes: in a word, a sentence and numbers. No I/O."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from leasehold.leases import Waiting

STATES = ("due", "not_due", "leased", "disabled")
# How many of each are counted; a question must cost the same with a thousand seeds and a million.
COUNTED = 200
_UNKNOWN_S = 30
_SOONEST_S = 1
_LATEST_S = 300
_RELEASED_SOON_S = 10


@dataclass(frozen=True, slots=True)
class Ground:
    """What limits the handing out at a site; of any site, the one that is limited least."""

    slug: str
    is_paused: bool
    pause_reason: str | None
    cap: int | None
    # When the minimum interval since the last seed has passed; None without one.
    opens_at: datetime | None


@dataclass(frozen=True, slots=True)
class Outlook:
    """What there is of what somebody asked for, and when the first of each kind is there."""

    counts: Mapping[str, int]
    due_at: datetime | None
    lease_ends_at: datetime | None
    now: datetime | None

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def waiting(site: str | None, ground: Ground | None, outlook: Outlook) -> Waiting:
    """Why this was not given."""
    reason = _reason(ground, outlook)
    next_at = _next_at(reason, ground, outlook)
    return Waiting(
        reason=reason,
        detail=_sentence(site, ground, outlook, reason),
        next_available_at=next_at,
        retry_after_seconds=_retry_after(reason, next_at, outlook.now),
        counts={state: outlook.counts.get(state, 0) for state in STATES},
    )


def _reason(ground: Ground | None, outlook: Outlook) -> str:
    counts = outlook.counts
    if ground is not None and ground.is_paused:
        return "paused"
    if outlook.total == counts.get("disabled", 0):
        return "none_match"
    if counts.get("due", 0):
        return _held_back(ground, outlook)
    return "not_due" if counts.get("not_due", 0) else "all_leased"


def _held_back(ground: Ground | None, outlook: Outlook) -> str:
    """Why something that is due was not given."""
    if ground is not None and ground.opens_at and outlook.now and ground.opens_at > outlook.now:
        return "rate_limited"
    if ground is not None and ground.cap is not None and outlook.counts.get("leased", 0) >= ground.cap:
        return "site_capped"
    if ground is not None and ground.opens_at is not None:
        return "rate_limited"  # it opened just now, or others were first
    return "all_leased"


def _next_at(reason: str, ground: Ground | None, outlook: Outlook) -> datetime | None:
    if reason == "rate_limited" and ground is not None:
        return ground.opens_at
    if reason in ("all_leased", "site_capped"):
        return outlook.lease_ends_at
    if reason == "not_due":
        return min((at for at in (outlook.due_at, outlook.lease_ends_at) if at is not None), default=None)
    return None


def _retry_after(reason: str, next_at: datetime | None, now: datetime | None) -> int:
    if next_at is None or now is None:
        return _UNKNOWN_S
    # A lease may be given back long before it would run out; nothing is due before its time.
    latest = _RELEASED_SOON_S if reason in ("all_leased", "site_capped") else _LATEST_S
    return min(latest, max(_SOONEST_S, math.ceil((next_at - now).total_seconds())))


def sentence(ground: Ground, outlook: Outlook) -> str:
    """What an operator is told of a site; nothing of one that has no seeds."""
    if not outlook.total:
        return ""
    if outlook.counts.get("due", 0) and _held_back(ground, outlook) == "all_leased":
        return f"{ground.slug} has seeds to give: {_parts(ground, outlook)}."
    return _sentence(ground.slug, ground, outlook, _reason(ground, outlook))


def _sentence(site: str | None, ground: Ground | None, outlook: Outlook, reason: str) -> str:
    where = site or "any site"
    match reason:
        case "paused" if ground is not None:
            return f"Nobody gets anything of {where}: it is paused ({ground.pause_reason}). Resume it to go on."
        case "none_match":
            return f"There is no seed like that at {where}, or it is disabled. Add one, or ask for another."
        case "rate_limited":
            return f"No seed of {where} yet: its minimum interval has not passed ({_parts(ground, outlook)})."
    return f"No seed of {where}: {_parts(ground, outlook)}."


def _parts(ground: Ground | None, outlook: Outlook) -> str:
    counts = outlook.counts
    cap = f" (cap {ground.cap})" if ground is not None and ground.cap is not None else ""
    until = f", the next at {outlook.due_at:%Y-%m-%d %H:%M:%S} UTC" if outlook.due_at else ""
    named = {"leased": f"being visited{cap}", "due": "due", "disabled": "disabled", "not_due": f"not due yet{until}"}
    parts = [f"{_some(counts[state])} {word}" for state, word in named.items() if counts.get(state)]
    return ", ".join(parts) or "nothing is there"


def _some(count: int) -> str:
    return f"{count:,} or more" if count >= COUNTED else f"{count:,}"
