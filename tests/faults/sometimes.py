"""What must have happened at least once in a run: nothing may pass by not happening. No I/O."""

from collections import Counter
from collections.abc import Iterable, Iterator

from tests.faults.checker import Case
from tests.faults.history import HEALED, Call

# A wait that was one: longer than an answer takes when something is free.
WAITED_S = 0.3

MUST = (
    "grants",
    "grants by waiting",
    "grants of two at once",
    "grants by label",
    "grants after a rest",
    "keys that found their lease",
    "keys whose lease was gone",
    "keys sent twice at once",
    "releases",
    "releases of a released lease",
    "heartbeats of a lease",
    "heartbeats of an owner",
    "leases told to be lost",
    "expiries",
    "expiries by a stopped holder",
    "expiries by a killed holder",
    "revocations",
    "stale calls refused: expired",
    "stale calls refused: released",
    "stale calls refused: revoked",
    "refusals by the cap",
    "calls cut by the client",
    "grants taken back, never delivered",
    "calls with unknown outcome",
    "client kills",
    "client stops",
)


def counted(case: Case) -> Counter[str]:
    counters: Counter[str] = Counter(_of_calls(case))
    counters.update(_of_books(case))
    counters.update(f"{fault.what}s" for fault in case.history.faults if fault.what != HEALED)
    return counters


# And where the database is down for most of the time.
LEAST = ("grants", "releases", "expiries", "calls with unknown outcome")


def missing(counters: Counter[str], must: Iterable[str] = MUST) -> list[str]:
    return [f"never happened: {what}" for what in must if not counters[what]]


def _of_calls(case: Case) -> Iterator[str]:
    for call in case.history.calls:
        yield "calls"
        if call.result == "unknown":
            yield "calls with unknown outcome"
        if call.status == 503:
            yield "calls answered 503"
        if call.seen.get("error") == "cut":
            yield "calls cut by the client"
        if call.status == 410 and call.op in ("heartbeat", "release"):
            yield f"stale calls refused: {call.seen.get('reason')}"
        yield from _of_op(call)


def _of_op(call: Call) -> Iterator[str]:
    seen, asked = call.seen, call.asked
    match call.op:
        case "acquire" if seen.get("leases"):
            began = min(lease["acquired_at"] for lease in seen["leases"])
            if asked["wait"] and began > call.began + WAITED_S:
                yield "grants by waiting"
            if asked["count"] > 1:
                yield "grants of two at once"
            if asked["labels"]:
                yield "grants by label"
            if began < call.began:
                yield "keys that found their lease"
            if asked.get("twin"):
                yield "keys sent twice at once"
        case "acquire" if call.status == 410:
            yield "keys whose lease was gone"
        case "acquire" if seen.get("waiting") == "site_capped":
            yield "refusals by the cap"
        case "heartbeat" if call.result == "ok":
            yield "heartbeats of a lease"
        case "heartbeat_owner" if call.result == "ok":
            yield from ["heartbeats of an owner"] * bool(seen["renewed"])
            yield from ["leases told to be lost"] * bool(seen["lost"])
        case "release" if seen.get("already"):
            yield "releases of a released lease"


def _of_books(case: Case) -> Iterator[str]:
    names = {"expired": "expiries", "revoked": "revocations", None: "live"}
    for grant in case.books.grants:
        yield "grants"
        if grant.how == "released":
            yield "releases" if grant.outcome else "grants taken back, never delivered"
        else:
            yield names[grant.how]
        if grant.outcome is not None:
            yield f"outcomes: {grant.outcome}"
        process = grant.owner.partition(".")[0]
        for fault in case.history.faults:
            is_theirs = fault.target == process and grant.how == "expired"
            if is_theirs and fault.what == "client stop" and fault.began <= grant.expires_at <= fault.ended:
                yield "expiries by a stopped holder"
            if is_theirs and fault.what == "client kill" and fault.began <= grant.expires_at:
                yield "expiries by a killed holder"
    for grants in case.of_account.values():
        for earlier in grants[:-1]:
            policy = case.books.policies[earlier.site]
            if policy.cooldown_s and earlier.outcome == "ok":
                yield "grants after a rest"
