"""An upload from the door to the history: read, derived, guarded, joined, reported. No I/O.

What is merged does not depend on the order of arrival. What is *held* may: whether a deletion looks like the end of a
session is a judgement, made with what is known when it arrives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from leasehold.sessions import cookies, slots
from leasehold.sessions.canonical import Canonical, Rules, read_state
from leasehold.sessions.handout import Kept, cap, is_pinned, living, may_crowd
from leasehold.sessions.history import History, forks, join, put_aside, take_in
from leasehold.sessions.merge import Base, Group, Health, Operations, Source, Upload, derive
from leasehold.sessions.report import Report, report_on


@dataclass(frozen=True, slots=True)
class Envelope:
    """What comes with an uploaded state."""

    id: str
    t: int  # milliseconds, see capture_time
    source: Source = Source.CONTEXT
    health: Health = Health.UNKNOWN
    lease: str | None = None
    handed_out: float | None = None  # seconds; when the base was given to the context
    entry_times: Mapping[str, int] = field(default_factory=dict)
    is_lossy: bool = False  # the source cannot know every attribute of a cookie


@dataclass(frozen=True, slots=True)
class Policy:
    """What a site and an account say about merging."""

    rules: Rules = field(default_factory=Rules)
    markers: frozenset[str] = frozenset()  # cookies that show somebody is signed in
    groups: Sequence[Group] = ()  # names of entries that only make sense together


class Received(NamedTuple):
    history: History
    report: Report
    operations: Operations


def receive(
    history: History, state: object, envelope: Envelope, base: Base, key: bytes, policy: Policy | None = None
) -> Received:
    """Merge one upload; raises StateMalformed, StateTooLarge. A dry run is this, with the history thrown away."""
    policy = policy or Policy()
    found = read_state(state, policy.rules, envelope.t / 1000, lossy=envelope.is_lossy)
    done = derive(_upload(envelope, found), base, key, policy.groups)
    return settle(history, found, done, key, (envelope.health, policy))


def replace(history: History, state: object, envelope: Envelope, key: bytes, policy: Policy | None = None) -> Received:
    """Make the session what this state says, whatever it was: for an operator, who answers for it."""
    policy = policy or Policy()
    found = read_state(state, policy.rules, envelope.t / 1000)
    return _put(history, found, envelope, key)


def roll_back(history: History, to: History, envelope: Envelope, key: bytes) -> Received:
    """Make the session show what an earlier version of it showed. History goes on: nothing is forgotten."""
    entries = to.entries()
    found = Canonical(entries, has_origins=True)
    return _put(history, found, envelope, key)


def _put(history: History, found: Canonical, envelope: Envelope, key: bytes) -> Received:
    now = history.entries()
    base = Canonical(now)
    # The operator means the whole state, so every area counts as listed.
    found.covered |= {slots.COOKIE, slots.CREDENTIAL}
    found.covered |= {
        f"{slot[0]}\t{slots.stored_of(slot)[0]}" for slot in now if slot[0] in (slots.DATABASE, slots.FILE)
    }
    found.has_origins = True
    upload = Upload(envelope.id, envelope.t, found, Source.CONTEXT, Health.OK, envelope.lease)
    return settle(history, found, derive(upload, base, key), key, (Health.OK, Policy()))


def _upload(envelope: Envelope, found: Canonical) -> Upload:
    return Upload(
        envelope.id,
        envelope.t,
        found,
        envelope.source,
        envelope.health,
        envelope.lease,
        envelope.handed_out,
        envelope.entry_times,
    )


def settle(history: History, found: Canonical, done: Operations, key: bytes, judged: tuple[Health, Policy]) -> Received:
    health, policy = judged
    kind = _aside(history, done, health, policy.markers)
    if kind is not None:
        held = [one[0] for one in done.sets] + [one[0] for one in done.deletions]
        report = Report(held=held, rejected=found.rejected, repaired=found.notes, out_of_scope=found.out_of_scope)
        return Received(put_aside(history, done, kind), report, done)
    before = _with_confirmed(history, done, health, key)
    after = join(before, done, key)
    report = report_on(before, after, done, found)
    report.forked = [fork.slot for fork in forks(after, key, [one[0] for one in done.sets if one[4]])]
    if may_crowd(after.registers):
        report.over_cap = [one.slot for one in cap(_cookies(after, done.t / 1000, policy.markers))[1]]
    return Received(after, report, done)


def _cookies(history: History, now: float, markers: frozenset[str]) -> list[Kept]:
    every = living(history, markers)
    return [one for one in every if not cookies.is_expired(list(one.entry), now)]


def _aside(history: History, done: Operations, health: Health, markers: frozenset[str]) -> str | None:
    """Why an upload is put aside instead of merged: `branch`, `held`, or None."""
    if health is Health.LOGGED_OUT:
        return "branch"
    if health is Health.OK or history.number(done.upload) is not None:
        return None
    gone = [slot for slot, *_ in done.deletions if slot[0] == slots.COOKIE]
    if any(is_pinned(history, slot, markers) for slot in gone):
        return "held"
    # Of what the context started with: the deletions, the echoes and the replaced. Known from the upload alone.
    started = len(gone) + sum(slot[0] == slots.COOKIE for slot in done.echoes)
    started += sum(slot[0] == slots.COOKIE and isinstance(proof, str) for slot, *_, proof in done.sets)
    return "held" if len(gone) * 2 > started else None


def _with_confirmed(history: History, done: Operations, health: Health, key: bytes) -> History:
    """A lease that is found signed in afterwards has shown that what it deleted was no sign-out."""
    if health is not Health.OK or done.lease is None:
        return history
    for name, one in sorted(history.aside.items()):
        if one.kind == "held" and one.operations.lease == done.lease and one.operations.t <= done.t:
            history = take_in(history, name, key)
    return history
