"""What a batch decides, whichever store the accounts are in. No I/O."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from leasehold.accounts import machine
from leasehold.accounts.machine import Health, Verdict
from leasehold.accounts.models import Account, Ask, End, GivenBack, Grant, Ground, Renewal, Wish
from leasehold.accounts.pool import Batch, Done
from leasehold.accounts.problems import PoolsMoving
from leasehold.accounts.share import Claim, Shares
from leasehold.idempotency import Once
from leasehold.leases import Ended, How, lost, unknown
from leasehold.problems import Problem

NEVER_DELIVERED = "never delivered"


@dataclass(frozen=True, slots=True)
class Held:
    """An account and the lease on it, as they were read to be changed."""

    account: UUID
    site: str
    health: Health
    lease: UUID | None
    ran_out: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """How a lease ends, and what that makes of its account."""

    lease: UUID
    how: How
    verdict: Verdict
    outcome: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """A lease that was ended."""

    lease: UUID
    account: UUID
    site: str
    is_free: bool


@dataclass(slots=True)
class Work:
    """One batch at work: what is known so far."""

    organisation: UUID
    batch: Batch
    done: Done = field(default_factory=Done)
    grounds: dict[str, Ground] = field(default_factory=dict)
    held: dict[UUID, Held] = field(default_factory=dict)
    due: list[Held] = field(default_factory=list)
    others: list[Wish] = field(default_factory=list)
    # Asks whose key was used before, with what the first request made.
    repeats: dict[Once, str | Problem] = field(default_factory=dict)

    @property
    def sites(self) -> list[str]:
        return sorted({ask.site for ask in self.batch.asks})

    @property
    def keyed(self) -> list[Once]:
        return [ask.once for ask in self.batch.asks if ask.once]

    def ask_again(self, slip: Ask | End | Renewal, leases: Iterable[UUID]) -> None:
        """Answer it when these leases were booked as run out, or turned out to live."""
        self.done.again.append(slip)
        self.done.overdue.update(leases)

    def recalled(self, ask: Ask, told: list[Grant] | Problem) -> None:
        """It asked before, and is told what it was given then."""
        self.done.granted[ask] = told
        self.done.repeated.add(ask)

    def keep(self, shared: set[Once]) -> None:
        """Of grants whose asker is gone, leave alone those that somebody else was told of."""
        kept = [end for end in self.batch.ends if end.once and end.once in shared]
        self.batch.ends = [end for end in self.batch.ends if end not in kept]
        self.done.ended |= {end: GivenBack(already_released=False, account=None) for end in kept}

    @property
    def tickets(self) -> list[UUID]:
        """Places in the queue that are not somebody else's: of those who ask now, and of those who left."""
        return [*(ask.ticket for ask in self.batch.asks if ask.ticket), *self.batch.left]

    def is_new(self, ask: Ask) -> bool:
        """Whether it has to be served, as opposed to being told what it was given before."""
        return ask.site in self.grounds and (ask.once is None or ask.once not in self.repeats)

    def claims(self) -> list[Claim[Ask]]:
        """Who may be served: at sites that are open, those who wait in other processes included."""
        own = [
            Claim(replace(ask.wish, is_waiting=ask.ticket is not None and ask not in self.batch.last), ask)
            for ask in self.batch.asks
            if self.is_new(ask) and not self.grounds[ask.site].is_paused
        ]
        served = {claim.wish.site for claim in own}
        return [*own, *(Claim(wish, None) for wish in self.others if wish.site in served)]

    def at_paused_sites(self) -> list[Ask]:
        return [ask for ask in self.batch.asks if self.is_new(ask) and self.grounds[ask.site].is_paused]

    def endings(self) -> Iterator[Ending]:
        """What is given back, taken away or run out."""
        for end in self.batch.ends:
            if held := self.held.get(end.lease):
                yield _ending(end, held, self.grounds[held.site])
        given_back = {end.lease for end in self.batch.ends}
        for held in self.due:
            if held.lease is not None and held.ran_out and held.lease not in given_back:
                verdict = machine.expired(held.health, self.grounds[held.site].rules)
                yield Ending(held.lease, How.EXPIRED, verdict)

    def rested(self) -> dict[UUID, Health]:
        """Accounts whose rest is over, as they stand now; from being blocked they come back on probation."""
        return {
            held.account: machine.on_probation(held.health) if held.health.blocked_reason else held.health
            for held in self.due
            if held.lease is None
        }

    def renewed_meanwhile(self) -> list[UUID]:
        """Accounts that are due only because nobody noted how long their lease lives now."""
        return [held.account for held in self.due if held.lease is not None and not held.ran_out]

    def note(self, endings: Collection[Ending], settled: Mapping[UUID, Settled], rested: Mapping[UUID, Health]) -> None:
        """Who is to be told that something is free, and how many had run out."""
        # Where there is a cap, the end of a lease makes room although its own account may rest.
        capped = {slug for slug, ground in self.grounds.items() if ground.cap is not None}
        self.done.freed |= {one.site for one in settled.values() if one.is_free or one.site in capped}
        self.done.freed |= {held.site for held in self.due if held.account in rested}
        for ending in endings:
            if ending.lease in settled:
                ground = self.grounds[settled[ending.lease].site]
                self.grounds[ground.slug] = ground.with_live(max(0, ground.live - 1))
        self.done.expired += sum(ending.how is How.EXPIRED and ending.lease in settled for ending in endings)

    def ended_by_us(self, settled: Mapping[UUID, Settled]) -> set[UUID]:
        """Of the leases somebody wanted to end, those that lived until now."""
        return {lease for lease in settled if lease in self.held and not self.held[lease].ran_out}

    def withdrawn(self, settled: Mapping[UUID, Settled]) -> list[Once]:
        """Keys of grants that were given back just now without anybody knowing of them."""
        ours = self.ended_by_us(settled)
        return list({end.once for end in self.batch.ends if end.once and end.lease in ours})

    def count(self, shares: Shares[Ask]) -> None:
        """What was just given counts against the caps."""
        self.done.left_for_others |= shares.left_for_others
        for ask, given in shares.given:
            ground = self.grounds[ask.site]
            self.grounds[ask.site] = ground.with_live(ground.live + len(given))

    def failed_at(self) -> list[str]:
        """Sites of which somebody said something bad."""
        return sorted(
            {
                self.held[end.lease].site
                for end in self.batch.ends
                if end.lease in self.held and end.report is not None and end.report.outcome != machine.Outcome.OK
            }
        )


Places = dict[Ask, tuple[UUID | None, datetime | None]]


def places(asks: Iterable[Ask]) -> Places:
    """The places in the queue these have."""
    return {ask: (ask.ticket, ask.since) for ask in asks}


def put_back(before: Places) -> None:
    """What a batch took that came to nothing was never taken."""
    for ask, (ticket, since) in before.items():
        ask.ticket, ask.since = ticket, since


def _ending(end: End, held: Held, ground: Ground) -> Ending:
    if held.ran_out:
        return Ending(end.lease, How.EXPIRED, machine.expired(held.health, ground.rules))
    if end.how is How.REVOKED:
        return Ending(end.lease, How.REVOKED, machine.revoked(held.health, ground.rules))
    if end.report is None:
        return Ending(end.lease, How.RELEASED, machine.undelivered(held.health), reason=NEVER_DELIVERED)
    verdict = machine.released(held.health, ground.rules, end.report)
    return Ending(end.lease, How.RELEASED, verdict, end.report.outcome, end.report.reason)


def given_back(
    end: End, past: Ended | None, accounts: Mapping[UUID, Account], *, by_us: UUID | None
) -> GivenBack | None:
    """What somebody is told who ended a lease; None when it could not. `by_us` is the account if it lived until now."""
    if by_us is not None:
        return GivenBack(already_released=False, account=accounts.get(by_us))
    if past is not None and past.how is How.RELEASED and end.how is How.RELEASED:
        return GivenBack(already_released=True, account=accounts.get(past.resource))
    return None


def why_not(lease: UUID, ended: Ended | None, moved: PoolsMoving | None, *, is_present: bool) -> Problem | None:
    """Why a lease cannot do anything; None when it seems to have run out, which has to be booked first."""
    if ended is not None:
        return lost(lease, ended.how)
    return None if is_present else moved or unknown()


def elsewhere(now: str, moving_to: str | None, here: str) -> PoolsMoving | None:
    """The refusal when the pools are in another store than `here`, or on their way there."""
    if moving_to is None and now == here:
        return None
    to = moving_to or now
    said = f"The accounts are moving to {to}." if moving_to else f"The accounts are in {to} now."
    under_way = moving_to is not None
    return PoolsMoving(said, store=to, is_under_way=under_way, headers={"Retry-After": "5"})
