"""Tasks in virtual time: workers fail, fall silent and speak twice, messages come late and in any order, and the clock
runs: attempts, rests and deadlines are kept, nothing is done twice, and once all is well everything comes to its end.

The verdicts are the product's own; the store is the smallest thing that obeys them.
"""

import hashlib
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import orjson

from leasehold.jobs import machine
from leasehold.jobs.machine import MOST_LOSSES, Chunk, Judged, Status, Task, Verdict
from leasehold.jobs.messages import CrawlerResult
from leasehold.platforms import Backoff, Retry
from tests.simulation.storm import storm

STEPS = 80
LEASE_S = 30.0
CODES = {"retryable": ["timeout"], "fatal": ["not_found"], "snooze": ["no_account"], "outages": ["down"]}


@dataclass
class Row:
    """A task in the store, and what was promised of it."""

    task: Task
    deadline_s: float
    not_before_s: float = 0.0
    lease_until_s: float | None = None
    known: dict[bytes, bytes] = field(default_factory=dict)
    kept: int = 0
    unconfirmed: int = 0
    over: Status | None = None


@dataclass
class World:
    rng: random.Random
    retry: Retry
    is_written_later: bool
    rows: list[Row]
    now_s: float = 0.0
    mail: list[tuple[Row, CrawlerResult]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, seed: int) -> "World":
        rng = random.Random(seed)  # noqa: S311
        backoff = Backoff(first_seconds=rng.choice([0, 1, 60]), most_seconds=90, jitter=rng.choice([0, 0.5, 1]))
        retry = Retry(attempts=rng.randint(1, 4), backoff=backoff, snoozes=rng.randint(0, 3), **CODES)
        rows = [Row(_fresh(number, retry.attempts), rng.choice([200.0, 1e9])) for number in range(rng.randint(1, 4))]
        return cls(rng, retry, rng.random() < 0.5, rows)

    def step(self) -> None:
        moves = [self.claim, self.claim, self.speak, self.speak, self.speak, self.deliver, self.deliver, self.deliver]
        self.rng.choice([*moves, self.pass_time, self.give_back, self.confirm, self.confirm, self.cancel])()

    def pass_time(self) -> None:
        self.now_s += self.rng.choice([1, 10, 40, 100])
        for row in self.rows:
            if not row.task.status.is_over and row.deadline_s <= self.now_s:
                self.put(row, replace(row.task, status=Status.TIMED_OUT, is_held=False))
                self.seen["timed out"] += 1
            elif row.lease_until_s is not None and row.lease_until_s <= self.now_s:
                # Who announced more than came has the same time as who says nothing.
                if not row.task.status.is_over and (row.task.is_held or row.task.awaits_messages):
                    self.rest(row, machine.lost(row.task))
                    self.seen["lost"] += 1
                row.lease_until_s = None

    def claim(self) -> None:
        free = [row for row in self.rows if row.task.status is Status.PENDING and row.not_before_s <= self.now_s]
        if free:
            row = self.rng.choice(free)
            begun = replace(row.task, status=Status.DISPATCHED, fence=row.task.fence + 1, is_held=True, rest_s=None)
            assert begun.attempt <= begun.max_attempts, "one attempt too many"
            self.put(row, begun)
            row.lease_until_s = self.now_s + LEASE_S
            self.seen["begun"] += 1

    def speak(self) -> None:
        """Somebody who holds it, or once did, says something: now, later, or twice."""
        row = self.rng.choice(self.rows)
        if row.task.fence == 0:
            return
        fence = self.rng.choice([row.task.fence, row.task.fence, row.task.fence, max(1, row.task.fence - 1)])
        said = _message(replace(row.task, fence=fence), **self._words())
        self.mail += [(row, said)] * self.rng.choice([1, 1, 1, 2])

    def _words(self) -> dict[str, Any]:
        match self.rng.randint(0, 4):
            case 0:
                code = self.rng.choice([code for codes in CODES.values() for code in codes] + ["odd"])
                more = {"retry_after_seconds": 7} if self.rng.random() < 0.3 else {}
                return {"status": "failed", "final": True, "errors": [{"code": code, "message": "So.", **more}]}
            case 1:
                return {"final": True, "seq": self.rng.choice([None, 2, 3])}
        word = self.rng.choice(["same", "same", "same", "other"])
        number = self.rng.randint(1, 2)
        return {"cursor": f"p{number}", "seq": number, "payload_chunk": [{"n": number, "word": word}]}

    def deliver(self) -> None:
        if self.mail:
            row, said = self.mail.pop(self.rng.randrange(len(self.mail)))
            self.hear(row, said)

    def hear(self, row: Row, said: CrawlerResult) -> Judged:
        before, chunk = row.task, self._chunk(row, said)
        judged = machine.judge(before, said, chunk, self.retry, self.rng.random())
        is_past = not before.is_current(said.attempt, said.fence)
        if chunk is not None and judged.is_kept:
            assert chunk.key not in row.known, "a cursor was kept twice"
            row.known[chunk.key] = chunk.sha256
            row.kept += chunk.documents
            row.unconfirmed += chunk.is_written_later
        after = replace(judged.task, is_held=judged.task.is_held and not judged.ends_lease)
        if is_past:
            same = replace(after, result_count=before.result_count, unwritten=before.unwritten, is_held=before.is_held)
            assert same == before, "who was superseded changed something"
            assert judged.verdict is not Verdict.ACCEPTED
        if after.status is Status.PENDING:
            self.rest(row, after)
        else:
            self.put(row, after)
        if judged.ends_lease and not after.awaits_messages:
            row.lease_until_s = None
        self.seen[judged.verdict] += 1
        return judged

    def _chunk(self, row: Row, said: CrawlerResult) -> Chunk | None:
        if not said.payload_chunk:
            return None
        key = str(said.cursor).encode()
        digest = hashlib.sha256(orjson.dumps(said.payload_chunk)).digest()
        return Chunk(key, digest, row.known.get(key), len(said.payload_chunk), self.is_written_later)

    def give_back(self) -> None:
        if held := [row for row in self.rows if row.task.is_held and not row.task.status.is_over]:
            row = self.rng.choice(held)
            self.rest(row, machine.given_back(row.task))

    def confirm(self) -> None:
        if waiting := [row for row in self.rows if row.unconfirmed]:
            row = self.rng.choice(waiting)
            row.unconfirmed -= 1
            self.put(row, machine.written(row.task, 1))

    def cancel(self) -> None:
        row = self.rng.choice(self.rows)
        if not row.task.status.is_over and self.rng.random() < 0.1:
            self.put(row, replace(row.task, status=Status.CANCELLED))
            self.seen["cancelled"] += 1

    def rest(self, row: Row, after: Task) -> None:
        """It goes back, and may be tried again when its rest is over."""
        self.put(row, after)
        row.lease_until_s = None
        rest_s = after.rest_s or 0.0
        assert 0 <= rest_s <= self.retry.backoff.most_seconds, "a rest that nobody asked for"
        row.not_before_s = self.now_s + rest_s
        self.seen["rested"] += rest_s > 0

    def put(self, row: Row, after: Task) -> None:
        """Every change of a row comes by here, and what must never be is looked for."""
        before = row.task
        assert row.over is None or after.status is row.over, "what is over came back"
        assert before.attempt <= after.attempt <= before.attempt + 1, "attempts go one by one"
        assert after.fence >= before.fence, "a fence that fell"
        assert after.losses <= MOST_LOSSES, "more workers than it may cost"
        assert after.snoozes <= self.retry.snoozes, "put off more often than it may be"
        assert after.result_count == row.kept, "documents that are not counted, or twice"
        assert after.unwritten == row.unconfirmed, "chunks that wait for a writer are not counted"
        if after.status is Status.COMPLETED and before.status is not Status.COMPLETED:
            assert after.is_whole, "completed before all was there"
            assert not after.unwritten, "completed before it was written"
            self.seen["completed"] += 1
        if after.attempt > before.attempt:
            assert before.attempt < before.max_attempts, "an attempt beyond the last"
            self.seen["retried"] += 1
        if after.status is Status.FAILED and before.status is not Status.FAILED:
            self.seen[f"failed: {after.sub_status}"] += 1
        row.over = after.status if after.status.is_over else None
        row.task = after

    def heal(self) -> None:
        """From now on workers do what is asked of them, and whatever is on its way arrives."""
        while self.mail:
            self.deliver()
        for _ in range(50):
            for row in self.rows:
                while row.unconfirmed:
                    row.unconfirmed -= 1
                    self.put(row, machine.written(row.task, 1))
                if row.task.is_held:
                    self.hear(row, _message(row.task, final=True))
            if all(row.over for row in self.rows):
                return
            self.pass_time()
            self.claim()
        raise AssertionError(f"it never ends: {[row.task for row in self.rows if not row.over]}")


def _fresh(number: int, attempts: int) -> Task:
    return Task(
        UUID(int=number), f"j{number}", "alpha", "page", Status.PENDING, attempt=1, max_attempts=attempts, fence=0
    )


def _message(task: Task, **more: object) -> CrawlerResult:
    about = {"job_id": task.job, "attempt": task.attempt, "fence": task.fence}
    return CrawlerResult.model_validate(
        {"status": "success", "platform": "alpha", "task_type": "page", **about, **more}
    )


def play(seed: int) -> Counter[str]:
    world = World.of(seed)
    for _ in range(STEPS):
        world.step()
    world.heal()
    return world.seen


def test_a_task_keeps_its_attempts_its_rests_and_its_end() -> None:
    ends = {"completed", "timed out", "cancelled", "failed: attempts_exhausted", "failed: snoozes_exhausted"}
    ends |= {"failed: not_found", "failed: worker_lost"}
    storm(play, {*ends, "begun", "lost", "rested", "retried", *Verdict} - {Verdict.INVALID}, share=0.5)
