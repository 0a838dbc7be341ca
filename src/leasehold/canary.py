"""Sends one job through a platform and tells, step by step, how far it came or what it waits for."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from leasehold.client import Leasehold

_LOOK_EVERY_S = 0.2
_OVER = ("completed", "failed", "timed_out", "partial", "cancelled")
# Events of a job's history that are steps on the way, and how each is told.
_STEPS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "dispatched": lambda one: f"dispatched to {one['detail'].get('owner', 'a worker')} (attempt {one['attempt']})",
    "failed": lambda one: f"failed: {_error(one['detail'].get('error'))}",
    "retrying": lambda one: f"is tried again: attempt {one['attempt']}",
    "lost": lambda one: f"lost: {one['detail'].get('owner', 'its worker')} fell silent",
    "released": lambda one: f"given back by {one['detail'].get('owner', 'its worker')}",
    "cancelled": lambda _one: "cancelled",
    "timed_out": lambda _one: "timed out: the deadline passed",
}


class CanaryFailed(Exception):
    """It cannot even be sent; the message says why."""


class Canary:
    """One job, and what was told of it."""

    def __init__(self, lh: Leasehold, platform: str, task_type: str | None, timeout_s: float) -> None:
        self._lh = lh
        self._platform = platform
        self._task_type = task_type
        self._until_s = time.monotonic() + timeout_s
        self._timeout_s = timeout_s
        self.is_home = False  # it went all the way

    def fly(self) -> Iterator[str]:
        """Send it and follow it; each step is told once."""
        platform = self._lh.jobs.platform(self._platform)
        types = platform["task_types"]
        task_type = self._task_type or next(iter(types))
        if task_type not in types:
            raise CanaryFailed(f"{self._platform} has no type {task_type}, only {', '.join(types)}.")
        job = self._lh.jobs.submit(
            self._platform,
            task_type,
            types[task_type]["example"],
            deadline_seconds=max(1, int(self._timeout_s) + 5),
            metadata={"canary": True},
        )
        yield f"accepted: {task_type} as {job['id']}"
        yield from self._follow(job["id"])

    def _follow(self, job_id: str) -> Iterator[str]:
        told, waits, has_results, is_writing = 0, "", False, False
        while True:
            job = self._lh.jobs.get(job_id)
            for event in job["history"][told:]:
                if step := _STEPS.get(event["event"]):
                    yield step(event)
            told = len(job["history"])
            if job["result_count"] and not has_results:
                has_results = True
                yield f"first result: {job['result_count']} documents so far"
            if job["sub_status"] == "writing" and not is_writing:
                is_writing = True
                yield "all results are in; the writer has not confirmed them yet"
            if job["status"] in _OVER:
                yield from self._end(job)
                return
            if (why := self._why(job)) != waits:
                waits = why
                yield f"  waits: {why}" if why else "  goes on"
            if time.monotonic() > self._until_s:
                yield f"stopped: it is {job['status']} after {self._timeout_s:g} s. {waits}".rstrip()
                return
            time.sleep(_LOOK_EVERY_S)

    def _end(self, job: Mapping[str, Any]) -> Iterator[str]:
        self.is_home = job["status"] == "completed"
        if self.is_home:
            yield f"written: {job['result_count']} documents"
            yield "completed"
        else:
            yield f"stopped: {job['status']}. {_error(job['last_error'])}".rstrip()

    def _why(self, job: Mapping[str, Any]) -> str:
        """What a job that nobody works on waits for."""
        if job["status"] != "pending":
            return ""
        said: str = self._lh.jobs.explain(job["id"])["detail"]
        return said


def _error(error: Mapping[str, Any] | None) -> str:
    if not error:
        return ""
    return f"{error.get('code')}: {error.get('message', '')}".rstrip(": ")
