"""Holds the books against what clients saw: every promise about leases, looked at after the fact. No I/O."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import inf

from tests.faults.books import Books, Grant
from tests.faults.history import Call, History

# As fine as the coarsest of the databases keeps time.
TICK_S = 0.001
# A statement looks at the clock more than once, and a busy machine may let it wait in between.
BUSY_S = 1.0
# What a server says that was too slow to tell of a grant, and which part of the lease must have gone by for that.
TOO_SLOW, STALE = "too slow to tell in time", 2 / 3

ENDS = {"released", "expired", "revoked"}
REASONS = {"all_leased", "cooling", "blocked", "site_capped", "paused", "none_match"}
ANSWERS = {
    "acquire": {200, 410},
    "heartbeat": {200, 410},
    "heartbeat_owner": {200},
    "release": {200, 410},
    "revoke": {200},
    "revoke_owner": {200},
    "revive": {200},
}
# The first rung of the ladder; an account that failed rests at least so long.
FAILED_REST_S = 60


class Case:
    """The books and the history with ways to find things in them."""

    def __init__(self, history: History, books: Books) -> None:
        self.books = books
        self.history = history
        self.grants = {grant.lease: grant for grant in books.grants}
        self.of_account: defaultdict[str, list[Grant]] = defaultdict(list)
        self.of_owner: defaultdict[str, list[Grant]] = defaultdict(list)
        for grant in sorted(books.grants, key=lambda grant: (grant.acquired_at, grant.fence)):
            self.of_account[grant.account].append(grant)
            self.of_owner[grant.owner].append(grant)
        self.by_op: defaultdict[str, list[Call]] = defaultdict(list)
        self.on: defaultdict[tuple[str, str], list[Call]] = defaultdict(list)
        self.told: defaultdict[str, list[tuple[Call, float]]] = defaultdict(list)
        for call in history.calls:
            self.by_op[call.op].append(call)
            for subject in ("lease", "owner", "account", "key"):
                if call.asked.get(subject) is not None:
                    self.on[call.op, call.asked[subject]].append(call)
            if call.op == "acquire":
                for lease in call.seen.get("leases", ()):
                    self.told[lease["id"]].append((call, lease["expires_at"]))

    def asks(self, grant: Grant) -> list[Call]:
        """The calls that this may be the answer to."""
        asks = self.on["acquire", grant.owner]
        return [ask for ask in asks if ask.asked["site"] == grant.site and ask.covers(grant.acquired_at)]

    def heartbeats(self) -> Iterator[tuple[Call, Grant]]:
        """Every heartbeat that was answered well, and whose it was; those of an owner once for each lease renewed."""
        for call in self.by_op["heartbeat"]:
            if call.result == "ok" and call.asked["lease"] in self.grants:
                yield call, self.grants[call.asked["lease"]]
        for call in self.by_op["heartbeat_owner"]:
            for lease in call.seen.get("renewed", ()):
                if lease in self.grants:
                    yield call, self.grants[lease]


def one_holder(case: Case) -> Iterator[str]:
    """L1: no two live leases on one account."""
    for grants in case.of_account.values():
        for earlier, later in pairwise(grants):
            if earlier.ended_at is None or later.acquired_at < earlier.ended_at - TICK_S:
                yield f"{later} was granted before the end of {earlier}"


def within_the_cap(case: Case) -> Iterator[str]:
    """L1: never more live leases at a site than its cap."""
    for site, policy in case.books.policies.items():
        if policy.cap is None:
            continue
        changes = [(grant.acquired_at, 1, grant) for grant in case.books.grants if grant.site == site]
        changes += [(grant.end, -1, grant) for grant in case.books.grants if grant.site == site]
        live = 0
        for at, change, grant in sorted(changes, key=lambda one: one[:2]):
            live += change
            if change > 0 and live > policy.cap:
                yield f"{live} live leases at {site}, whose cap is {policy.cap}, at {at:.6f}: the last is {grant}"


def fences(case: Case) -> Iterator[str]:
    """L2: the fences of an account are 1, 2, 3 … in the order of its grants, and the account knows the last."""
    for account, kept in case.books.accounts.items():
        found = [grant.fence for grant in case.of_account[account]]
        if found != list(range(1, len(found) + 1)):
            yield f"the fences of {account} are {found}"
        if kept.fence != len(found):
            yield f"{account} has fence {kept.fence} after {len(found)} grants"


def as_told(case: Case) -> Iterator[str]:
    """L2: what a client was told of a lease is what the books say; and it got what it asked for."""
    for call in case.by_op["acquire"]:
        if call.result != "ok":
            continue
        leases = call.seen["leases"]
        if len(leases) not in (0, call.asked["count"]) or bool(leases) == bool(call.seen.get("waiting")):
            yield f"neither all nor nothing: {call}"
        if not leases and call.seen["waiting"] not in REASONS:
            yield f"no known reason: {call}"
        if len({lease["resource"] for lease in leases}) != len(leases):
            yield f"one account twice in one answer: {call}"
        for lease in leases:
            grant, account = case.grants.get(lease["id"]), case.books.accounts.get(lease["resource"])
            if grant is None or account is None:
                yield f"{lease['id']} was told to a client and is in no book: {call}"
                continue
            if (grant.account, grant.fence, grant.owner) != (lease["resource"], lease["fence"], call.asked["owner"]):
                yield f"{grant} was told otherwise: {call}"
            if abs(grant.acquired_at - lease["acquired_at"]) > TICK_S:
                yield f"{grant} was told to have begun at {lease['acquired_at']:.6f}: {call}"
            if account.site != call.asked["site"] or not call.asked["labels"].items() <= account.labels.items():
                yield f"not an account that was asked for: {call}"


def every_grant_was_asked_for(case: Case) -> Iterator[str]:
    """L13: nobody gets what it did not ask for, at a time when it did not ask."""
    for grant in case.books.grants:
        if not case.asks(grant):
            yield f"nobody asked for {grant}"


def every_end_has_its_cause(case: Case) -> Iterator[str]:
    """L3, L6: a lease ends by the call that names it, or when it runs out; by nothing else, and not later."""
    for grant in case.books.grants:
        if grant.ended_at is None:
            continue
        if grant.how == "expired":
            if abs(grant.ended_at - grant.expires_at) > TICK_S or grant.ended_at > case.books.now:
                yield f"ended as expired, but runs out at {grant.expires_at:.6f}: {grant}"
            continue
        if grant.ended_at > grant.expires_at + BUSY_S:
            yield f"had run out at {grant.expires_at:.6f}: {grant}"
        if grant.how == "revoked":
            causes = case.on["revoke", grant.lease] + case.on["revoke_owner", grant.owner]
        elif not grant.is_undelivered:
            causes = [call for call in case.on["release", grant.lease] if call.asked["outcome"] == grant.outcome]
        elif case.told[grant.lease]:
            yield f"was taken back as never delivered after its holder was told of it: {grant}"
            continue
        else:
            causes = case.on["acquire", grant.owner]
        covering = [cause for cause in causes if cause.covers(grant.ended_at)]
        if not covering:
            yield f"nobody ended {grant}"
        elif all(cause.began > grant.expires_at for cause in covering):
            yield f"had run out at {grant.expires_at:.6f} before anybody ended it: {grant}: {covering[0]}"


def only_live_leases_act(case: Case) -> Iterator[str]:
    """L3, L4: no call on a lease that had ended was answered well."""
    for call, grant in case.heartbeats():
        if grant.end < call.began:
            yield f"renewed after its end at {grant.end:.6f}: {grant}: {call}"
    for lease, tellings in case.told.items():
        for call, _ in tellings:
            if lease in case.grants and case.grants[lease].end < call.began:
                yield f"handed out after its end: {case.grants[lease]}: {call}"
    for call in case.by_op["release"]:
        released = case.grants.get(call.asked["lease"])
        if call.result != "ok" or released is None:
            continue
        ended_at = inf if released.ended_at is None else released.ended_at
        if released.how != "released" or ended_at > call.ended:
            yield f"a release was acknowledged that is not booked: {released}: {call}"
        elif not call.seen["already"] and ended_at < call.began:
            yield f"released after its end: {released}: {call}"


def revoked_is_gone(case: Case) -> Iterator[str]:
    """L3: what an operator was told is revoked is booked so, and what counted for nothing had ended."""
    for call in case.by_op["revoke"]:
        grant = case.grants.get(call.asked["lease"])
        if call.result != "ok" or grant is None:
            continue
        if call.seen["revoked"] and (grant.how != "revoked" or not call.covers(grant.ended_at or inf)):
            yield f"a revocation was acknowledged that is not booked: {grant}: {call}"
        if not call.seen["revoked"] and grant.end > call.ended:
            yield f"not revoked, though it lived: {grant}: {call}"


def refusals_are_true(case: Case) -> Iterator[str]:
    """L4: who is told that its lease is lost has lost it, for the reason that is booked."""
    for call in (*case.by_op["heartbeat"], *case.by_op["release"]):
        grant = case.grants.get(call.asked["lease"])
        if call.status != 410 or grant is None:
            continue
        reason = call.seen.get("reason")
        is_so = reason == grant.how or (reason == "expired" and grant.expires_at <= call.ended)
        if not is_so or (call.op, reason) == ("release", "released"):
            yield f"refused for a reason that is not booked: {grant}: {call}"
        if grant.end > call.ended:
            yield f"refused before its end: {grant}: {call}"
    for call in case.by_op["heartbeat_owner"]:
        for lease in call.seen.get("lost", ()):
            grant = case.grants.get(lease)
            if grant is None or grant.end > call.ended or grant.how == "released":
                yield f"told to be lost: {grant or lease}: {call}"
        for grant in case.of_owner[call.asked["owner"]] if call.result == "ok" else ():
            if grant.acquired_at < call.began and call.ended < grant.end and grant.lease not in call.seen["renewed"]:
                yield f"not renewed with the others of its owner: {grant}: {call}"


def heartbeats_lengthen(case: Case) -> Iterator[str]:
    """L5: a heartbeat renews from now, never shortens, and never revives."""
    for call, grant in case.heartbeats():
        others = [other for other in case.on["heartbeat", grant.lease] if other is not call]
        others += [other for other in case.on["heartbeat_owner", grant.owner] if other is not call]
        others = [other for other in others if other.began < call.ended and other.result != "fail"]
        known = [ask.asked["ttl"] + grant.acquired_at for ask in case.asks(grant)]
        known += [expires_at for other, expires_at in case.told[grant.lease] if other.began < call.ended]
        known += [other.seen.get("expires_at", other.ended + other.asked["ttl"]) for other in others]
        if known and all(other.result == "ok" for other in others) and max(known) < call.began:
            yield f"revived, it had run out at {max(known):.6f}: {grant}: {call}"
    for lease, grant in case.grants.items():
        beats = [call for call in case.on["heartbeat", lease] if call.result == "ok"]
        seen = case.told[lease] + [(call, call.seen["expires_at"]) for call in beats]
        for call, expires_at in seen:
            if expires_at > grant.expires_at + TICK_S:
                yield f"booked to run out at {grant.expires_at:.6f}, sooner than its holder was told: {call}"
            if call.op == "heartbeat" and expires_at < call.began + call.asked["ttl"] - TICK_S:
                yield f"not renewed from now: {call}"
            earlier = [before for other, before in seen if other.ended < call.began]
            if earlier and expires_at < max(earlier) - TICK_S:
                yield f"shortened, it was {max(earlier):.6f}: {call}"


def one_release(case: Case) -> Iterator[str]:
    """L6: however often a lease is released, one release changed something, and its outcome is the booked one."""
    for lease, grant in case.grants.items():
        first = [call for call in case.on["release", lease] if call.result == "ok" and not call.seen["already"]]
        if len(first) > 1:
            yield f"{len(first)} releases of one lease each believed to be the first: {grant}"
        if any(call.asked["outcome"] != grant.outcome for call in first):
            yield f"booked with the outcome {grant.outcome}: {first[0]}"


def one_grant_per_key(case: Case) -> Iterator[str]:
    """L7: one key is one acquire, however often it is sent. The owner of a call with a key is that key's own."""
    keys = {call.asked["key"] for call in case.by_op["acquire"] if call.asked["key"] is not None}
    for key in keys:
        calls = case.on["acquire", key]
        ended = [grant.end for grant in case.of_owner[calls[0].asked["owner"]]]
        booked = [grant for grant in case.of_owner[calls[0].asked["owner"]] if not grant.is_undelivered]
        if len(booked) > calls[0].asked["count"]:
            yield f"{len(booked)} grants under one key: {'; '.join(map(str, booked))}: {calls[0]}"
        told = {
            tuple(sorted(lease["id"] for lease in call.seen["leases"])) for call in calls if call.seen.get("leases")
        }
        if len(told) > 1:
            yield f"one key was told of {told}"
        for call in calls:
            if call.status == 410 and not any(end <= call.ended for end in ended):
                yield f"refused, but nothing of this key had ended: {call}"
            if call.result == "ok" and not call.seen["leases"] and any(g.acquired_at < call.began for g in booked):
                yield f"the key forgot what it was granted, {booked[0]}: {call}"


def rests_are_kept(case: Case) -> Iterator[str]:
    """L12: nobody gets an account before its rest is over, unless an operator ended the rest."""
    for grants in case.of_account.values():
        for earlier, later in pairwise(grants):
            if earlier.ended_at is None or later.acquired_at >= earlier.ended_at + rest(case, earlier) - TICK_S:
                continue
            revivals = [call for call in case.on["revive", earlier.account] if call.result != "fail"]
            if not any(call.began <= later.acquired_at and earlier.ended_at <= call.ended for call in revivals):
                yield f"{later} was granted in the rest of {rest(case, earlier)} s after {earlier}"


def rest(case: Case, grant: Grant) -> float:
    """How long an account rests after this lease, at the least."""
    policy = case.books.policies[grant.site]
    if grant.how != "released":
        return policy.reclaim_delay_s
    if grant.outcome == "rate_limited":
        releases = [call for call in case.on["release", grant.lease] if call.asked["outcome"] == "rate_limited"]
        return max(policy.cooldown_s, min((call.asked["cooldown"] for call in releases), default=0))
    known = {None: 0, "failed": FAILED_REST_S, "blocked": inf, "invalid_credentials": inf}
    return known.get(grant.outcome, policy.cooldown_s)


def answers_are_known(case: Case) -> Iterator[str]:
    """L4: no call was answered with a fault of the server's own, other than 503 while something is broken, or when so
    little was left of a grant that it was taken back."""
    for call in case.history.calls:
        may_be_down = call.status == 503 and (call.began < case.history.healed_at or is_stale(call))
        if call.status and call.status not in ANSWERS[call.op] and not may_be_down:
            yield f"answered {call.status}: {call}"
        if call.op == "acquire" and call.status == 410 and call.asked["key"] is None:
            yield f"lost what it never had: {call}"


def is_stale(call: Call) -> bool:
    """Whether it says that it was told too late what it was granted, and really had to wait for so long."""
    is_said = call.op == "acquire" and TOO_SLOW in call.seen.get("detail", "")
    return is_said and call.seen["took"] > call.asked["ttl"] * STALE


def books_add_up(case: Case) -> Iterator[str]:
    """Every grant is booked once and ends once: grants = releases + expiries + revocations + live."""
    for lease, times in Counter(grant.lease for grant in case.books.grants).items():
        if times > 1:
            yield f"{lease} is booked {times} times"
    for grant in case.books.grants:
        if (grant.ended_at is None) != (grant.how is None) or grant.how not in {None, *ENDS}:
            yield f"ended in no known way: {grant}"
        if grant.ended_at is None and grant.expires_at < case.books.now:
            yield f"ran out at {grant.expires_at:.6f} and was never booked: {grant}"
        if grant.account not in case.books.accounts:
            yield f"on no account: {grant}"
    if (total := sum(account.fence for account in case.books.accounts.values())) != len(case.books.grants):
        yield f"the accounts count {total} grants, the books {len(case.books.grants)}"


RULES: tuple[Callable[[Case], Iterator[str]], ...] = (
    one_holder,
    within_the_cap,
    fences,
    as_told,
    every_grant_was_asked_for,
    every_end_has_its_cause,
    only_live_leases_act,
    revoked_is_gone,
    refusals_are_true,
    heartbeats_lengthen,
    one_release,
    one_grant_per_key,
    rests_are_kept,
    answers_are_known,
    books_add_up,
)


def check(history: History, books: Books) -> list[str]:
    """What is wrong, each with the rule it breaks; nothing when every promise was kept."""
    case = Case(history, books)
    return [f"{rule.__name__}: {fault}" for rule in RULES for fault in rule(case)]
