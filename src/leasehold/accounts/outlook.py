"""Why nobody gets an account right now, and when that changes: in a word, a sentence and numbers. No I/O."""

import math
from collections.abc import Mapping
from datetime import datetime

from leasehold.accounts.machine import State
from leasehold.accounts.models import Ground, Outlook, Wish
from leasehold.leases import Waiting

# When nothing tells how long, ask again after this; and never sooner or later than within these.
_UNKNOWN_S = 30
_SOONEST_S = 1
_LATEST_S = 300
_RELEASED_SOON_S = 10


def waiting(ground: Ground, wish: Wish, outlook: Outlook) -> Waiting:
    """Why this wish was not met."""
    reason = _reason(ground, wish, outlook)
    next_at = outlook.next_at if reason in ("all_leased", "cooling", "site_capped") else None
    return Waiting(
        reason=reason,
        detail=sentence(ground, outlook, wish),
        next_available_at=next_at,
        retry_after_seconds=_retry_after(reason, next_at, outlook.now),
        counts={str(state): outlook.counts.get(state, 0) for state in State},
    )


def _reason(ground: Ground, wish: Wish, outlook: Outlook) -> str:
    counts = outlook.counts
    if ground.is_paused:
        return "paused"
    if outlook.total < wish.count:
        return "none_match"
    if ground.cap is not None and counts.get(State.ACTIVE, 0) and ground.cap - ground.live < wish.count:
        return "site_capped"
    if counts.get(State.USING, 0):
        return "all_leased"
    if counts.get(State.COOLING, 0):
        return "cooling"
    if counts.get(State.ACTIVE, 0) >= wish.count:
        return "all_leased"  # free a moment ago or again by now: others were first
    return "blocked"


def _retry_after(reason: str, next_at: datetime | None, now: datetime | None) -> int:
    if next_at is None or now is None:
        return _UNKNOWN_S
    # A lease may be given back long before it would run out; a rest is never shorter than it says.
    latest = _LATEST_S if reason == "cooling" else _RELEASED_SOON_S
    return min(latest, max(_SOONEST_S, math.ceil((next_at - now).total_seconds())))


def sentence(ground: Ground, outlook: Outlook, wish: Wish | None = None) -> str:
    """What an operator is told."""
    slug = ground.slug
    if ground.is_paused:
        return f"Nobody gets anything of {slug}: it is paused ({ground.pause_reason}). Resume it to go on."
    kind = " like that" if wish is not None and (wish.labels or wish.account) else ""
    if outlook.total == 0:
        return f"{slug} has no account{kind}. Add one, or ask for another."
    free = outlook.counts.get(State.ACTIVE, 0)
    room = None if ground.cap is None else max(0, ground.cap - ground.live)
    parts = _parts(ground, outlook)
    wanted = wish.count if wish is not None else 1
    if free >= wanted and (room is None or room >= wanted):
        return f"{slug} has {_accounts(free)}{kind} free: {parts}."
    what = "No account" if wanted == 1 else f"Not {wanted} accounts"
    return f"{what}{kind} for {slug}: {parts}."


def _parts(ground: Ground, outlook: Outlook) -> str:
    counts = outlook.counts
    using = counts.get(State.USING, 0)
    cap = f" (cap {ground.cap})" if ground.cap is not None else ""
    parts = [f"{using} of {outlook.total} in use{cap}"]
    until = f" until {outlook.next_at:%H:%M:%S} UTC" if outlook.next_at and not using else ""
    named: Mapping[State, str] = {
        State.COOLING: f"cooling{until}",
        State.BLOCKED: "blocked",
        State.INACTIVE: "inactive",
        State.ACTIVE: "free",
    }
    parts += [f"{counts[state]} {word}" for state, word in named.items() if counts.get(state)]
    return ", ".join(parts)


def _accounts(count: int) -> str:
    return "one account" if count == 1 else f"{count} accounts"
