"""The life of a task as pure functions: whatever comes in whatever order, its rules hold."""

import hashlib
from dataclasses import replace
from uuid import UUID

import orjson
from hypothesis import given
from hypothesis import strategies as st

from leasehold.jobs import machine
from leasehold.jobs.machine import Chunk, Status, Task, Verdict, judge, together
from leasehold.jobs.messages import CrawlerResult
from leasehold.platforms import Backoff, Retry

RETRY = Retry(attempts=3, backoff=Backoff(first_seconds=1.0), retryable=["timeout"], fatal=["not_found"])
FRESH = Task(UUID(int=1), "j", "alpha", "page", Status.PENDING, attempt=1, max_attempts=3, fence=0)


def begun(task: Task) -> Task:
    return replace(task, status=Status.DISPATCHED, fence=task.fence + 1, is_held=True, rest_s=None)


def message(task: Task, **more: object) -> CrawlerResult:
    about = {"job_id": "j", "attempt": task.attempt, "fence": task.fence, "platform": "alpha", "task_type": "page"}
    return CrawlerResult.model_validate({"status": "success", **about, **more})


steps = st.one_of(
    st.just("begin"),
    st.just("lose"),
    st.just("give back"),
    st.just("write"),
    st.fixed_dictionaries(
        {
            "status": st.sampled_from(["success", "skipped", "failed", "progress"]),
            "final": st.booleans(),
            "cursor": st.sampled_from([None, "a", "b"]),
            "word": st.integers(0, 1),
            "seq": st.one_of(st.none(), st.integers(1, 3)),
            "code": st.sampled_from(["timeout", "not_found", "odd"]),
            "from_before": st.booleans(),
        }
    ),
)


@given(st.lists(steps, max_size=30), st.booleans())
def test_whatever_comes_its_rules_hold(script: list[object], is_written_later: bool) -> None:
    task, known, count, unwritten = FRESH, dict[bytes, bytes](), 0, 0
    for step in script:
        before = task
        if step == "begin" and task.status is Status.PENDING:
            task = begun(task)
        elif step == "lose" and task.is_held:
            task = machine.lost(task)
        elif step == "give back" and task.is_held:
            task = machine.given_back(task)
        elif step == "write" and unwritten:
            task, unwritten = machine.written(task, 1), unwritten - 1
        elif isinstance(step, dict) and task.fence:
            documents = [{"word": step["word"]}] if step["cursor"] else []
            about = {name: step[name] for name in ("status", "final", "cursor", "seq")}
            errors = [{"code": step["code"]}] if step["status"] == "failed" else []
            fence = max(1, task.fence - 1) if step["from_before"] else task.fence
            said = message(replace(task, fence=fence), **about, payload_chunk=documents, errors=errors)
            chunk = None
            if step["cursor"]:
                key = str(step["cursor"]).encode().ljust(16)
                digest = hashlib.sha256(orjson.dumps(documents)).digest()
                chunk = Chunk(key, digest, known.get(key), len(documents), is_written_later)
            judged = judge(task, said, chunk, RETRY, chance=0.0)
            task = replace(judged.task, is_held=judged.task.is_held and not judged.ends_lease)
            if chunk and judged.is_kept:
                assert chunk.key not in known, "a cursor was kept twice"
                known[chunk.key] = chunk.sha256
                count += len(documents)
                unwritten += is_written_later
            if fence < before.fence:
                assert judged.verdict in (Verdict.SUPERSEDED, Verdict.CONFLICT, Verdict.DUPLICATE)
                same = replace(task, result_count=before.result_count, unwritten=before.unwritten) == before
                assert same, "the past changed a state"
        if before.status.is_over:
            assert task.status is before.status, "what was over went on"
        assert 1 <= task.attempt <= task.max_attempts
        assert task.losses <= machine.MOST_LOSSES
        assert task.result_count == count
        assert task.unwritten == unwritten
        if task.status is Status.COMPLETED and not before.status.is_over:
            assert unwritten == 0, "completed before everything was written"
        assert not (task.status.is_over and task.is_held and before.is_held is False)


def test_parts_stand_together_as_the_contract_says() -> None:
    done, bad, late, off = Status.COMPLETED, Status.FAILED, Status.TIMED_OUT, Status.CANCELLED
    waits, runs = Status.PENDING, Status.PROCESSING

    assert together([done, done]) is Status.COMPLETED
    assert together([done, bad]) is together([done, off]) is Status.PARTIAL
    assert together([bad, late]) is Status.FAILED
    assert together([late]) is Status.TIMED_OUT
    assert together([off, off]) is Status.CANCELLED
    assert together([waits, waits]) is Status.PENDING
    assert together([done, waits]) is together([waits, runs]) is Status.PROCESSING


def test_every_message_that_was_counted_must_come_and_no_other_stands_for_it() -> None:
    task = begun(FRESH)
    for seq in (1, 7):
        task = judge(task, message(task, seq=seq, status="progress"), None, RETRY, 0.5).task

    early = judge(task, message(task, seq=3, final=True), None, RETRY, 0.5)
    whole = judge(early.task, message(task, seq=2, status="progress"), None, RETRY, 0.5)

    assert (early.task.status, early.detail) == (Status.PROCESSING, "1 messages are missing.")
    assert whole.task.status is Status.COMPLETED
