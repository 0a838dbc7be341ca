"""What each artefact says, as JSON, and the schema that promises it.

A field may be added to a version. To take one away, or to let it mean something else, is another version, under another
file name: what reads the old one goes on reading the old one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any

import orjson
from pydantic import TypeAdapter

from leasehold.artifacts.judging import Verdict, judge
from leasehold.artifacts.models import (
    Accounts,
    Captures,
    Figures,
    Graph,
    Jobs,
    Leases,
    Note,
    Platforms,
    Runs,
    Schedule,
    Seeds,
    Sources,
    State,
)

JSON = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Edition:
    """What one publication is made of."""

    number: int
    figures: Figures
    schedule: Schedule
    shows_spend: bool


@dataclass(frozen=True, slots=True)
class Spend:
    """What runs spent since midnight, UTC; money is in millionths of a dollar."""

    today_micros: int


@dataclass(frozen=True, slots=True)
class StatusBody:
    """How the whole installation is, counted at one moment. No name of a site, an account, a person or a customer."""

    state: State
    sentence: str
    notes: Sequence[Note]
    accounts: Accounts
    seeds: Seeds
    leases: Leases
    jobs: Jobs
    captures: Captures
    runs: Runs
    spend: Spend | None
    graph: Graph
    sources: Sources
    platforms: Platforms


@dataclass(frozen=True, slots=True)
class PulseBody:
    """The same in a word and a sentence, for badges and monitors."""

    state: State
    sentence: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of artefact, at its present version."""

    name: str
    version: int
    body: type
    make: Callable[[Edition, Verdict], Any]

    @property
    def file(self) -> str:
        return f"{self.name}.v{self.version}.json"

    @property
    def schema_file(self) -> str:
        return f"{self.name}.v{self.version}.schema.json"

    def document(self, edition: Edition, verdict: Verdict) -> bytes:
        head = {
            "$schema": self.schema_file,
            "schema": self.name,
            "version": self.version,
            "edition": edition.number,
            "published_at": edition.figures.at,
            "interval_seconds": edition.schedule.interval_s,
            "stale_after_seconds": edition.schedule.stale_after_s,
        }
        return _dumped(head | asdict(self.make(edition, verdict)))


def _status(edition: Edition, verdict: Verdict) -> StatusBody:
    figures = edition.figures
    return StatusBody(
        state=verdict.state,
        sentence=verdict.sentence,
        notes=verdict.notes,
        accounts=figures.accounts,
        seeds=figures.seeds,
        leases=figures.leases,
        jobs=figures.jobs,
        captures=figures.captures,
        runs=figures.runs,
        spend=Spend(figures.spent_today_micros) if edition.shows_spend else None,
        graph=figures.graph,
        sources=figures.sources,
        platforms=figures.platforms,
    )


def _pulse(_edition: Edition, verdict: Verdict) -> PulseBody:
    return PulseBody(verdict.state, verdict.sentence)


STATUS = Kind("status", 1, StatusBody, _status)
PULSE = Kind("pulse", 1, PulseBody, _pulse)
KINDS = (PULSE, STATUS)


def documents(edition: Edition) -> Mapping[Kind, bytes]:
    verdict = judge(edition.figures)
    return {kind: kind.document(edition, verdict) for kind in KINDS}


def schema_json(kind: Kind) -> str:
    """What a version promises, printed from the code; `schemas/` has it as it was promised."""
    made = TypeAdapter(kind.body).json_schema()
    head = {
        "$schema": {"type": "string", "description": "The file with this schema, beside this one."},
        "schema": {"const": kind.name},
        "version": {"const": kind.version},
        "edition": {"type": "integer", "minimum": 1, "description": "Grows with every publication."},
        "published_at": {"type": "string", "format": "date-time", "description": "When all of this was counted, UTC."},
        "interval_seconds": {"type": "integer", "description": "How often there is an edition; 0: not by the clock."},
        "stale_after_seconds": {"type": "integer", "description": "An edition older than this should not be believed."},
    }
    made["properties"] = head | made["properties"]
    made["required"] = [*head, *made["required"]]
    text = orjson.dumps({"$schema": _DIALECT, **made}, option=orjson.OPT_INDENT_2)
    return text.decode() + "\n"


@cache
def promised(kind: Kind) -> bytes:
    """The schema as it is published."""
    return (resources.files("leasehold.artifacts") / "schemas" / kind.schema_file).read_bytes()


def index_json(edition: Edition, content: JSON) -> bytes:
    """What is where, for whoever reads artefacts and cannot list a folder."""
    return _dumped(
        {"schema": "index", "version": 1, "edition": edition.number, "published_at": edition.figures.at, **content}
    )


def stamp(at: datetime) -> str:
    """A moment in a file name: one that sorts."""
    return at.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%fZ")


def _dumped(content: JSON) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2) + b"\n"
