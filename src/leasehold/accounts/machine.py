"""The whole life of an account's health: what each end of a lease does to it. No I/O; both stores obey it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from leasehold.leases import Report


class Standing(StrEnum):
    """What operators and outcomes say of an account. In use and cooling are not said but follow from its lease."""

    ACTIVE = "active"
    INACTIVE = "inactive"  # set aside: by an operator, or because its credentials were refused
    BLOCKED = "blocked"  # the site blocked it, or it ended unclean too often


class State(StrEnum):
    """What a caller sees: the standing, and what follows from the lease and the clock."""

    ACTIVE = "active"
    USING = "using"  # has a live lease
    COOLING = "cooling"  # rests until `cooling_until`
    INACTIVE = "inactive"
    BLOCKED = "blocked"


class Outcome(StrEnum):
    """What a holder says of its work when it gives the account back."""

    OK = "ok"
    FAILED = "failed"
    RATE_LIMITED = "rate_limited"
    BLOCKED = "blocked"
    LOGGED_OUT = "logged_out"
    INVALID_CREDENTIALS = "invalid_credentials"


# Rest after a failure, by the rung it leads to. The first failure leads to rung 1.
LADDER_S = (0, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400)


@dataclass(frozen=True, slots=True)
class Rules:
    """The parts of a site's policy that decide how its accounts fare."""

    cooldown_seconds: int
    reclaim_delay_seconds: int
    quarantine_after_unclean: int
    probation_after_seconds: int | None


@dataclass(frozen=True, slots=True)
class Health:
    """How an account stands, apart from its lease."""

    standing: Standing = Standing.ACTIVE
    blocked_reason: str | None = None
    consecutive_failures: int = 0
    unclean_ends: int = 0
    on_probation: bool = False
    needs_login: bool = False
    before_penalty: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an account stands after a lease, and how long it rests from the end of that lease."""

    health: Health
    rest_s: int = 0


def _settled(before: Health, verdict: Verdict) -> Verdict:
    # Who was set aside while it was in use stays so: no rest of a lease brings it back.
    return verdict if before.standing is Standing.ACTIVE else Verdict(verdict.health)


def released(health: Health, rules: Rules, report: Report) -> Verdict:
    """What an outcome does. A holder that says anything at all was alive, so unclean ends are forgotten."""
    return _settled(health, _released(health, rules, report))


def _released(health: Health, rules: Rules, report: Report) -> Verdict:
    outcome = Outcome(report.outcome)
    alive = replace(health, unclean_ends=0)
    if outcome is Outcome.OK:
        rung = max(0, health.consecutive_failures - 1)
        well = replace(alive, consecutive_failures=rung, on_probation=False, needs_login=False, before_penalty=None)
        return Verdict(well, rules.cooldown_seconds)
    verdict = _PENALTIES[outcome](alive, rules, report)
    return replace(verdict, health=replace(verdict.health, before_penalty=health.before_penalty or _kept(health)))


def _failed(health: Health, rules: Rules, report: Report) -> Verdict:
    if health.on_probation and health.standing is Standing.ACTIVE:
        return _blocked(health, rules, replace(report, reason="failed on probation"))
    return _climbed(health, rules)


def _climbed(health: Health, rules: Rules) -> Verdict:
    rung = min(health.consecutive_failures + 1, len(LADDER_S) - 1)
    return Verdict(replace(health, consecutive_failures=rung), max(LADDER_S[rung], rules.cooldown_seconds))


def _rate_limited(health: Health, rules: Rules, report: Report) -> Verdict:
    # Who knows when the site will take it again is believed; else it climbs like any failure.
    if report.cooldown_seconds is not None:
        return Verdict(health, max(report.cooldown_seconds, rules.cooldown_seconds))
    return _climbed(health, rules)


def _blocked(health: Health, rules: Rules, report: Report) -> Verdict:
    reason = report.reason or "its holder reported it blocked"
    blocked = replace(health, standing=Standing.BLOCKED, blocked_reason=reason, on_probation=False)
    return Verdict(blocked, rules.probation_after_seconds or 0)


def _logged_out(health: Health, rules: Rules, _report: Report) -> Verdict:
    return Verdict(replace(health, needs_login=True), rules.cooldown_seconds)


def _invalid_credentials(health: Health, _rules: Rules, _report: Report) -> Verdict:
    return Verdict(replace(health, standing=Standing.INACTIVE, blocked_reason=None, on_probation=False))


_PENALTIES = {
    Outcome.FAILED: _failed,
    Outcome.RATE_LIMITED: _rate_limited,
    Outcome.BLOCKED: _blocked,
    Outcome.LOGGED_OUT: _logged_out,
    Outcome.INVALID_CREDENTIALS: _invalid_credentials,
}


def expired(health: Health, rules: Rules) -> Verdict:
    """The holder died or forgot: the account rests, and too many such ends in a row set it aside."""
    ends = health.unclean_ends + 1
    unclean = replace(health, unclean_ends=ends)
    if health.standing is Standing.ACTIVE and (ends >= rules.quarantine_after_unclean or health.on_probation):
        noun = "unclean end" if ends == 1 else "unclean ends in a row"
        return _blocked(unclean, rules, Report(Outcome.BLOCKED, f"quarantined after {ends} {noun}"))
    return _settled(health, Verdict(unclean, rules.reclaim_delay_seconds))


def revoked(health: Health, rules: Rules) -> Verdict:
    """Its holder may not know yet, so the account rests as after an unclean end, but nothing is held against it."""
    return _settled(health, Verdict(health, rules.reclaim_delay_seconds))


def undelivered(health: Health) -> Verdict:
    """Nobody ever learned of the lease: as if it had not been."""
    return Verdict(health)


def on_probation(health: Health) -> Health:
    """Back from being blocked, with one bad end to spare before it is blocked again."""
    return replace(
        health, standing=Standing.ACTIVE, blocked_reason=None, unclean_ends=0, on_probation=True, before_penalty=None
    )


def set_by_operator(health: Health, wanted: Standing, reason: str | None) -> Health:
    """What an operator says stands; a blocked account that is made active again is on probation."""
    if wanted is Standing.ACTIVE:
        if health.standing is Standing.BLOCKED:
            return on_probation(health)
        # The streak of one that was set aside ends here: forgiving it must not undo this word.
        kept = health.before_penalty if health.standing is Standing.ACTIVE else None
        return replace(health, standing=wanted, blocked_reason=None, unclean_ends=0, before_penalty=kept)
    blocked_reason = (reason or "blocked by an operator") if wanted is Standing.BLOCKED else None
    return replace(health, standing=wanted, blocked_reason=blocked_reason, before_penalty=None)


def forgiven(health: Health) -> Health:
    """As it stood before its bad streak: the fault was the site's."""
    if health.before_penalty is None:
        return health
    return replace(health, **_read(health.before_penalty), before_penalty=None)


_KEPT = ("standing", "blocked_reason", "consecutive_failures", "on_probation", "needs_login")


def _kept(health: Health) -> dict[str, Any]:
    return {name: value for name, value in asdict(health).items() if name in _KEPT}


def _read(kept: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: kept[name] for name in _KEPT}, "standing": Standing(kept["standing"])}


# How the reason of a pause begins that the breaker made.
BREAKER = "breaker: "
# The breaker judges by those used within the window once there are this many of them: waiting for most of a large
# pool to fail would burn it.
ENOUGH_USED = 20


@dataclass(frozen=True, slots=True)
class Tally:
    """How the accounts of a site fared within the breaker's window."""

    failing: int  # whose last word was bad
    used: int  # that were given back at all
    accounts: int  # that could be used, the failing ones included


@dataclass(frozen=True, slots=True)
class Breaker:
    """When so many accounts fail that the site must be at fault."""

    percent: int
    min_accounts: int
    window_seconds: int

    def trips(self, tally: Tally) -> bool:
        of_all = tally.accounts >= self.min_accounts and tally.failing * 100 >= tally.accounts * self.percent
        judged = max(ENOUGH_USED, self.min_accounts)
        of_used = tally.used >= judged and tally.failing * 100 >= tally.used * self.percent
        return tally.failing > 0 and (of_all or of_used)

    def reason(self, tally: Tally) -> str:
        is_of_all = tally.failing * 100 >= tally.accounts * self.percent
        of = f"{tally.accounts} accounts" if is_of_all else f"{tally.used} accounts in use"
        what = f"{tally.failing} of {of} failed within {self.window_seconds} s"
        return f"{BREAKER}{what}; their penalties were taken back"
