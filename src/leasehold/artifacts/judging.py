"""How the installation is, in a word and a sentence, by rules anybody can look up. No I/O.

`docs/artifacts.md` has the same rules as a table; nothing here speaks of a site, an account or an organisation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leasehold.artifacts.models import Figures, Note, State

# Of jobs that ended in the last hour. Fewer than so many say nothing.
_ENOUGH_JOBS = 20
_MANY_FAIL = 0.5
_SOME_FAIL = 0.1
# How long a task may be due before nobody seems to take it.
_LONG_S = 3600.0
_RATHER_LONG_S = 900.0
# Of the seeds that are on.
_MANY_OVERDUE = 0.25


@dataclass(frozen=True, slots=True)
class Verdict:
    state: State
    sentence: str
    notes: Sequence[Note]


def judge(figures: Figures) -> Verdict:
    notes = sorted(_notes(figures), key=lambda note: note.state is not State.TROUBLE)
    if any(note.state is State.TROUBLE for note in notes):
        return Verdict(State.TROUBLE, "Something is wrong, and people have to see to it.", notes)
    if notes:
        return Verdict(State.DEGRADED, "It works, but not everything is as it should be.", notes)
    if _is_quiet(figures):
        return Verdict(State.QUIET, "All is well, and nothing is going on.", notes)
    return Verdict(State.OK, "All is well.", notes)


def _is_quiet(figures: Figures) -> bool:
    leases, jobs = figures.leases, figures.jobs
    is_held = leases.account or leases.seed or leases.capture or leases.task
    is_asked = jobs.waiting or jobs.running or any(hour.arrived for hour in jobs.hours)
    return not (is_held or is_asked or figures.runs.running or figures.sources.sweeping)


def _notes(figures: Figures) -> Iterator[Note]:
    yield from _of_jobs(figures)
    yield from _of_resources(figures)
    yield from _of_work(figures)


def _of_jobs(figures: Figures) -> Iterator[Note]:
    jobs = figures.jobs
    if jobs.ended_last_hour >= _ENOUGH_JOBS and jobs.failure_rate is not None and jobs.failure_rate >= _SOME_FAIL:
        state = State.TROUBLE if jobs.failure_rate >= _MANY_FAIL else State.DEGRADED
        yield Note(state, "jobs", f"{jobs.failure_rate:.0%} of the jobs that ended in the last hour failed.")
    waited_s = jobs.oldest_waiting_seconds or 0.0
    if waited_s >= _RATHER_LONG_S:
        state = State.TROUBLE if waited_s >= _LONG_S else State.DEGRADED
        yield Note(state, "jobs", f"A job that could be begun has been waiting for {_time(waited_s)}.")


def _of_resources(figures: Figures) -> Iterator[Note]:
    accounts, seeds = figures.accounts, figures.seeds
    if accounts.blocked and not (accounts.free or accounts.held or accounts.cooling):
        yield Note(State.TROUBLE, "accounts", "No account can be used: all that are on are blocked.")
    on = seeds.resting + seeds.due + seeds.overdue + seeds.held
    if on and seeds.overdue / on >= _MANY_OVERDUE:
        yield Note(State.DEGRADED, "seeds", f"{seeds.overdue / on:.0%} of the seeds are overdue.")
    if figures.captures.stuck:
        yield Note(State.DEGRADED, "captures", f"{_many(figures.captures.stuck, 'capture')} cannot be handed on.")


def _of_work(figures: Figures) -> Iterator[Note]:
    platforms, runs, sources = figures.platforms, figures.runs, figures.sources
    if platforms.resting:
        verb = "is" if platforms.resting == 1 else "are"
        told = f"{_many(platforms.resting, 'platform')} {verb} resting: most of what was tried there failed."
        yield Note(State.DEGRADED, "platforms", told)
    if runs.stopped:
        verb = "was" if runs.stopped == 1 else "were"
        yield Note(State.DEGRADED, "runs", f"{_many(runs.stopped, 'run')} {verb} paused by trouble.")
    if sources.failed:
        yield Note(State.DEGRADED, "sources", f"{_many(sources.failed, 'source')} could not be read to the end.")


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _time(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes < 120:
        return _many(minutes, "minute")
    return _many(minutes // 60, "hour") if minutes < 48 * 60 else _many(minutes // 1440, "day")
