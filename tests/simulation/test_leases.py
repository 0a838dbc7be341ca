"""The rules of accounts under a seeded storm in virtual time: what must hold of leases holds after every step.

The rules are the product's own; the store is the smallest thing that obeys them. What is checked is kept apart, in a
book that knows nothing of either.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import inf
from uuid import UUID

from leasehold.accounts import machine
from leasehold.accounts.machine import Breaker, Health, Outcome, Rules, Standing, Verdict
from leasehold.accounts.models import Candidate, Ground, Wish
from leasehold.accounts.share import Claim, share
from leasehold.leases import Report
from tests.simulation.storm import storm

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
STEPS = 250


@dataclass
class Lease:
    number: int
    account: int
    fence: int
    expires_s: float


@dataclass
class Row:
    """An account in the store."""

    labels: dict[str, str]
    priority: int
    health: Health = field(default_factory=Health)
    fence: int = 0
    lease: Lease | None = None
    leased_s: float = -1.0
    rests_until_s: float = 0.0
    may_come_back: bool = False  # blocked, and tried again when its rest is over


@dataclass
class Book:
    """What was promised, written down as it happened: each grant, its end, and when the account may go out again."""

    cap: int | None
    rules: Rules
    held_until_s: dict[int, dict[int, float]] = field(default_factory=dict)  # account, lease: end
    fences: dict[int, list[int]] = field(default_factory=dict)
    # Until an operator says so, where it is infinite.
    not_before_s: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    seen: Counter[str] = field(default_factory=Counter)

    def granted(self, lease: Lease, now_s: float) -> None:
        held = self.held_until_s.setdefault(lease.account, {})
        assert all(end_s <= now_s for end_s in held.values()), "two live leases on one account"
        fences = self.fences.setdefault(lease.account, [])
        assert not fences or lease.fence > fences[-1], "a fence that did not grow"
        assert now_s >= self.not_before_s[lease.account], "given out before its rest was over, or though set aside"
        held[lease.number] = lease.expires_s
        fences.append(lease.fence)
        self.seen["granted"] += 1

    def check_cap(self, now_s: float) -> None:
        live = sum(end_s > now_s for held in self.held_until_s.values() for end_s in held.values())
        assert self.cap is None or live <= self.cap, "more live leases than the cap allows"
        self.seen["capped"] += self.cap is not None and live == self.cap

    def renewed(self, lease: Lease) -> None:
        self.held_until_s[lease.account][lease.number] = lease.expires_s

    def ended(self, lease: Lease, at_s: float, rest_s: float) -> None:
        self.held_until_s[lease.account][lease.number] = at_s
        self.not_before_s[lease.account] = max(self.not_before_s[lease.account], at_s + rest_s)

    def least_rest_s(self, outcome: str, cooldown_s: int | None) -> float:
        """What the contract says of an outcome, put as simply as can be."""
        match outcome:
            case "blocked":
                return self.rules.probation_after_seconds or inf
            case "invalid_credentials":
                return inf
            case "failed":
                return max(60, self.rules.cooldown_seconds)
            case "rate_limited":
                return max(60 if cooldown_s is None else cooldown_s, self.rules.cooldown_seconds)
        return self.rules.cooldown_seconds


class World:
    """A site with its accounts, those who wait, and a clock that goes as the seed says."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)  # noqa: S311 (a storm that can be had again is the point)
        rules = Rules(rng.choice([0, 30]), rng.choice([0, 15]), rng.randint(1, 3), rng.choice([None, 300]))
        self.ground = Ground("board", False, None, rng.choice([None, 1, 2, 4]), rules, Breaker(60, 5, 600))
        labels: Sequence[dict[str, str]] = [{}, {"region": "de"}]
        self.rows = [Row(rng.choice(labels), rng.randint(0, 1)) for _ in range(rng.randint(1, 8))]
        self.now_s = 0.0
        self.leases: list[Lease] = []  # ever granted
        self.waiting: list[Wish] = []
        self.book = Book(self.ground.cap, rules)

    def step(self) -> None:
        moves = [self.pass_time, self.ask, self.ask, self.ask, self.give_back, self.give_back, self.beat, self.revoke]
        self.rng.choice([*moves, self.lose, self.operate, self.operate, self.forgive])()
        self.serve()
        self.book.check_cap(self.now_s)

    def pass_time(self) -> None:
        self.now_s += self.rng.choice([1, 5, 15, 60, 300])

    def ask(self) -> None:
        labels: Sequence[dict[str, str]] = [{}, {}, {"region": "de"}]
        since = EPOCH + timedelta(seconds=self.now_s)
        wish = Wish("board", self.rng.randint(3, 5), self.rng.randint(1, 3), self.rng.choice(labels), None, since)
        self.waiting.append(replace(wish, is_waiting=self.rng.random() < 0.5))

    def give_back(self) -> None:
        if not (lease := self._some_lease()) or not (row := self._held(lease)):
            return  # stale: the WHERE finds nothing
        outcome = self.rng.choice([Outcome.OK, Outcome.OK, *Outcome])
        cooldown_s = self.rng.choice([None, 0, 120]) if outcome is Outcome.RATE_LIMITED else None
        verdict = machine.released(row.health, self.ground.rules, Report(outcome, cooldown_seconds=cooldown_s))
        self.book.ended(lease, self.now_s, self.book.least_rest_s(outcome, cooldown_s))
        self._settle(row, verdict, self.now_s)
        self.book.seen[outcome] += 1

    def lose(self) -> None:
        """Nobody ever heard of a lease."""
        if (lease := self._some_lease()) and (row := self._held(lease)):
            self.book.ended(lease, self.now_s, 0)
            self._settle(row, machine.undelivered(row.health), self.now_s)

    def revoke(self) -> None:
        if (lease := self._some_lease()) and (row := self._held(lease)):
            self.book.ended(lease, self.now_s, self.ground.rules.reclaim_delay_seconds)
            self._settle(row, machine.revoked(row.health, self.ground.rules), self.now_s)
            self.book.seen["revoked"] += 1

    def beat(self) -> None:
        if (lease := self._some_lease()) and self._held(lease):
            lease.expires_s = max(lease.expires_s, self.now_s + 120)
            self.book.renewed(lease)

    def operate(self) -> None:
        """An operator's word stands over everything that was before it."""
        in_use = [number for number, row in enumerate(self.rows) if row.lease is not None]
        aside = [number for number, row in enumerate(self.rows) if row.health.standing is not Standing.ACTIVE]
        number = self.rng.choice(self.rng.choice([in_use, aside, aside]) or range(len(self.rows)))
        row, wanted = self.rows[number], self.rng.choice([Standing.ACTIVE, *Standing])
        row.health = machine.set_by_operator(row.health, wanted, None)
        row.rests_until_s, row.may_come_back = 0.0, False
        self.book.not_before_s[number] = 0 if wanted is Standing.ACTIVE else inf
        self.book.seen["set aside in use"] += wanted is not Standing.ACTIVE and row.lease is not None

    def forgive(self) -> None:
        """The breaker trips, now and then."""
        failing = [number for number, row in enumerate(self.rows) if row.health.before_penalty is not None]
        for number in failing if self.rng.random() < 0.3 else []:
            row = self.rows[number]
            row.health = machine.forgiven(row.health)
            row.rests_until_s, row.may_come_back = 0.0, False
            if row.health.standing is Standing.ACTIVE:
                self.book.not_before_s[number] = 0
            self.book.seen["forgiven"] += 1

    def serve(self) -> None:
        self._book_what_ran_out()
        free = sorted(
            (number for number, row in enumerate(self.rows) if self._is_free(row)),
            key=lambda number: (-self.rows[number].priority, self.rows[number].leased_s, number),
        )
        candidates = [Candidate(UUID(int=number), "board", self.rows[number].labels) for number in free]
        ground = self.ground.with_live(sum(row.lease is not None for row in self.rows))
        shares = share([Claim(wish, wish) for wish in self.waiting], {"board": candidates}, {"board": ground})
        for wish, found in shares.given:
            assert len(found) == wish.count, "neither all nor nothing"
            for candidate in found:
                assert wish.fits(candidate)
                self._grant(candidate.id.int)
        self.waiting = [wish for wish in shares.unmet if wish.is_waiting][-5:]

    def _grant(self, number: int) -> None:
        row = self.rows[number]
        row.fence, row.leased_s = row.fence + 1, self.now_s
        row.lease = Lease(len(self.leases), number, row.fence, self.now_s + self.rng.choice([5, 60, 600]))
        self.leases.append(row.lease)
        self.book.granted(row.lease, self.now_s)

    def _book_what_ran_out(self) -> None:
        for row in self.rows:
            if row.lease is not None and row.lease.expires_s <= self.now_s:
                lease, rules = row.lease, self.ground.rules
                verdict = machine.expired(row.health, rules)
                self.book.ended(lease, lease.expires_s, rules.reclaim_delay_seconds)
                self._settle(row, verdict, lease.expires_s)
                self.book.seen["expired"] += 1
            if row.lease is None and row.may_come_back and row.rests_until_s <= self.now_s:
                row.health, row.may_come_back = machine.on_probation(row.health), False
                self.book.seen["on probation"] += 1

    def _settle(self, row: Row, verdict: Verdict, at_s: float) -> None:
        row.lease, row.health, row.rests_until_s = None, verdict.health, at_s + verdict.rest_s
        row.may_come_back = verdict.health.standing is Standing.BLOCKED and verdict.rest_s > 0

    def _is_free(self, row: Row) -> bool:
        return row.health.standing is Standing.ACTIVE and row.lease is None and row.rests_until_s <= self.now_s

    def _held(self, lease: Lease) -> Row | None:
        """The account, if this lease is still the one on it."""
        row = self.rows[lease.account]
        return row if row.lease is lease and lease.expires_s > self.now_s else None

    def _some_lease(self) -> Lease | None:
        """Mostly one that lives; now and then one whose holder did not hear that it ended."""
        held = [row.lease for row in self.rows if row.lease is not None]
        among = held if held and self.rng.random() < 0.8 else self.leases[-12:]
        return self.rng.choice(among) if among else None


def play(seed: int) -> Counter[str]:
    world = World(seed)
    for _ in range(STEPS):
        world.step()
    return world.book.seen


def test_what_must_hold_of_leases_holds_after_every_step() -> None:
    sometimes = {"granted", "capped", "expired", "revoked", "forgiven", "on probation", "set aside in use", *Outcome}
    storm(play, sometimes, share=0.3)
