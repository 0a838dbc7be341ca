"""Seeds in virtual time: handed out by the product's own rules and visited by its own schedule, nobody before its time,
nothing twice, no site above its room, and no site left out for long.

The store is the smallest thing that obeys them.
"""

import random
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from leasehold.leases import Claim
from leasehold.seeds.gathering import Bed, Candidate, Gathering, Scope, share
from leasehold.seeds.models import Seed
from leasehold.seeds.schedule import Rhythm, VisitOutcome, after
from tests.simulation.storm import storm

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
STEPS = 120
TTL_S = 300.0


@dataclass
class Row:
    """A seed in the store."""

    number: int
    site: str
    priority: int
    rhythm: Rhythm
    due_s: float
    held_until_s: float | None = None
    is_gone: bool = False


class World:
    """Some sites with seeds, and a clock that goes as the seed of the storm says."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)  # noqa: S311
        self.sites = [f"s{number}" for number in range(rng.randint(1, 4))]
        self.caps = {site: rng.randint(1, 3) for site in self.sites if rng.random() < 0.5}
        self.rows = [self._row(number) for number in range(rng.randint(1, 14))]
        self.served_s: dict[tuple[str, int], float] = {}
        self.passed_over: Counter[tuple[str, int]] = Counter()
        self.now_s = 0.0
        self.seen: Counter[str] = Counter()

    def _row(self, number: int) -> Row:
        least = self.rng.choice([60, 600])
        most = least * self.rng.choice([1, 10, 500])
        rhythm = Rhythm(self.rng.randint(least, most), least, most)
        return Row(number, self.rng.choice(self.sites), self.rng.choice([0, 50, 50, 50]), rhythm, 0.0)

    def step(self) -> None:
        move = self.rng.choice([self.pass_time, self.hand_out, self.hand_out, self.visit, self.visit, self.drop])
        move()

    def pass_time(self) -> None:
        self.now_s += self.rng.choice([1, 60, 600, 86_400])
        for row in self.rows:
            if row.held_until_s is not None and row.held_until_s <= self.now_s:
                row.held_until_s = None  # due as it was before
                self.seen["ran out"] += 1

    def hand_out(self) -> None:
        site = self.rng.choice([None, None, self.rng.choice(self.sites)])
        limit = self.rng.choice([1, 1, 3, 20])
        rooms = {site: cap - self._live(site) for site, cap in self.caps.items()}
        due = self._due()
        scope = Scope(site, ())
        candidates = self._gathered(scope, limit, due, rooms)
        shared = share([Claim(site, limit, {})], candidates, rooms)
        rows = [self.rows[one.seed.id.int] for _, given in shared for one in given]

        assert len({row.number for row in rows}) == len(rows) <= limit, "the same one twice, or too many"
        assert all(row.due_s <= self.now_s and row.held_until_s is None for row in rows), "before its time, or held"
        fitting = [row for row in due if site in (None, row.site)]
        places = [min(rooms.get(name, 99), sum(row.site == name for row in fitting)) for name in self.sites]
        assert len(rows) == min(limit, sum(max(0, room) for room in places)), "fewer than there were"
        self._check_priorities(rows, fitting, rooms)
        self._check_turns(rows, fitting, due, rooms)
        for row in rows:
            self.now_s += 0.001  # no two are served at one moment, nor when they fall due
            row.held_until_s = self.now_s + TTL_S
            self.served_s[row.site, row.priority] = self.now_s
        self.seen["handed out"] += len(rows)
        self.seen["capped"] += any(self._live(site) == cap for site, cap in self.caps.items())
        assert all(self._live(site) <= cap for site, cap in self.caps.items()), "more at once than the site allows"

    def _gathered(self, scope: Scope, limit: int, due: list[Row], rooms: dict[str, int]) -> list[Candidate]:
        """As the store looks: bed by bed, as many as it is told to, the longest overdue first."""
        beds = {bed.name: bed for bed in self._beds(due)}
        lying = {name: [row for row in due if (row.site, row.priority) == name] for name in beds}
        found: list[Candidate] = []
        gathering = Gathering.of(scope, limit, beds.values(), rooms)
        taken: Counter[tuple[str, int]] = Counter()
        while looks := gathering.looks():
            for look in looks:
                at = taken[look.bed.name]
                rows = lying[look.bed.name][at : at + look.count]
                found += [Candidate(self._seed(row), 0, look.bed, at + n) for n, row in enumerate(rows)]
                taken[look.bed.name] += len(rows)
                gathering.saw(look, len(rows))
        return found

    def _beds(self, due: list[Row]) -> list[Bed]:
        beds = []
        for site, priority in sorted({(row.site, row.priority) for row in due}):
            first = min(row.due_s for row in due if (row.site, row.priority) == (site, priority))
            served = self.served_s.get((site, priority))
            since = _at(first if served is None else max(first, served))
            beds.append(Bed(site, priority, since, None if served is None else _at(served), site in self.caps))
        return beds

    def _check_priorities(self, rows: list[Row], fitting: list[Row], rooms: dict[str, int]) -> None:
        taken = Counter(row.site for row in rows)
        numbers = {row.number for row in rows}
        left = [row for row in fitting if row.number not in numbers and rooms.get(row.site, 99) > taken[row.site]]
        lowest = min((row.priority for row in rows), default=0)
        assert all(row.priority <= lowest for row in left), "a lower priority before a higher one"

    def _check_turns(self, rows: list[Row], fitting: list[Row], due: list[Row], rooms: dict[str, int]) -> None:
        """Of one priority, nobody's second turn comes before another's first."""
        given = {(row.site, row.priority) for row in rows}
        waiting = {(row.site, row.priority) for row in due} - given
        self.passed_over = Counter({name: times for name, times in self.passed_over.items() if name in waiting})
        lowest = min((row.priority for row in rows), default=None)
        taken = Counter(row.site for row in rows)
        for site, priority in waiting & {(row.site, row.priority) for row in fitting}:
            if rooms.get(site, 99) > taken[site] and priority == lowest:
                self.passed_over[site, priority] += 1
                self.seen["had to wait"] += 1
                assert self.passed_over[site, priority] < len(self.sites), "left out again and again"

    def visit(self) -> None:
        held = [row for row in self.rows if row.held_until_s is not None]
        if not held:
            return
        row = self.rng.choice(held)
        outcome = self.rng.choices(list(VisitOutcome), [70, 28, 2])[0]
        found = self.rng.choice([0, 0, 5])
        before = row.rhythm
        then = after(before, outcome, found, self.rng.random())
        now = then.rhythm
        assert before.least_s <= then.delay_s <= before.most_s, "nearer or further than it may be"
        assert before.least_s <= now.interval_s <= before.most_s
        match outcome:
            case VisitOutcome.OK:
                assert now.failures == 0
                assert now.interval_s <= before.interval_s if found else now.interval_s >= before.interval_s
            case VisitOutcome.FAILED:
                assert now == replace(before, failures=before.failures + 1), "a failure changes no interval"
        row.rhythm, row.due_s, row.is_gone = now, self.now_s + then.delay_s, then.is_gone
        row.held_until_s = None
        self.seen[outcome] += 1

    def drop(self) -> None:
        """A worker gives one back that it did not visit: it is due as it was."""
        if held := [row for row in self.rows if row.held_until_s is not None]:
            self.rng.choice(held).held_until_s = None
            self.seen["given back"] += 1

    def _due(self) -> list[Row]:
        free = [row for row in self.rows if row.held_until_s is None and not row.is_gone and row.due_s <= self.now_s]
        return sorted(free, key=lambda row: (row.due_s, row.number))

    def _live(self, site: str) -> int:
        return sum(row.site == site and row.held_until_s is not None for row in self.rows)

    def _seed(self, row: Row) -> Seed:
        rhythm = row.rhythm
        return Seed(
            id=UUID(int=row.number),
            site=row.site,
            sub="",
            rest="/",
            original_url="",
            kind="page",
            priority=row.priority,
            interval_seconds=rhythm.interval_s,
            min_interval_seconds=rhythm.least_s,
            max_interval_seconds=rhythm.most_s,
            next_due_at=_at(row.due_s),
            cursor=None,
            labels={},
            enabled=True,
            consecutive_failures=rhythm.failures,
            last_outcome=None,
            last_found=None,
            last_visited_at=None,
            created_at=EPOCH,
            updated_at=EPOCH,
        )


def _at(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def play(seed: int) -> Counter[str]:
    world = World(seed)
    for _ in range(STEPS):
        world.step()
    return world.seen


def test_seeds_are_handed_out_in_turn_and_in_time() -> None:
    storm(play, {"handed out", "capped", "had to wait", "ran out", "given back", *VisitOutcome}, share=0.4)


def settle(seed: int) -> Counter[str]:
    rng = random.Random(seed)  # noqa: S311
    least = rng.randint(60, 5000)
    rhythm = Rhythm(rng.randint(least, least * 1000), least, least * 1000)
    for found, end in ((1, rhythm.least_s), (0, rhythm.most_s)):
        for _ in range(60):
            rhythm = after(rhythm, VisitOutcome.OK, found, rng.random()).rhythm
        assert rhythm.interval_s in (end, end + 1), "it never comes to its bounds"
    waits = []
    for _ in range(40):
        then = after(rhythm, VisitOutcome.FAILED, 0, 0.5)
        rhythm = then.rhythm
        waits.append(then.delay_s)
    assert waits == sorted(waits), "a later try came sooner"
    return Counter(["settled"])


def test_a_rhythm_comes_to_its_bounds_and_failures_wait_ever_longer() -> None:
    storm(settle, {"settled"})
