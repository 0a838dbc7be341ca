"""What is answered about entities, records and evidence."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import orjson
from pydantic import Field, PlainSerializer

from leasehold.entities.explaining import Belonging, Question, Why, Word
from leasehold.entities.models import (
    BATCH,
    ENTITY,
    LETTER,
    RECORD,
    REVIEW,
    BatchState,
    Change,
    Entity,
    Kept,
    Letter,
    Tie,
)
from leasehold.ids import show
from leasehold.strict import Answer

EntityId = Annotated[UUID, PlainSerializer(lambda value: show(ENTITY, value), return_type=str)]
RecordId = Annotated[UUID, PlainSerializer(lambda value: show(RECORD, value), return_type=str)]
BatchId = Annotated[UUID, PlainSerializer(lambda value: show(BATCH, value), return_type=str)]
ReviewId = Annotated[UUID, PlainSerializer(lambda value: show(REVIEW, value), return_type=str)]
LetterId = Annotated[UUID, PlainSerializer(lambda value: show(LETTER, value), return_type=str)]
OfRun = Annotated[
    UUID | None, PlainSerializer(lambda value: show("run", value) if value else None, return_type=str | None)
]


class RecordOut(Answer):
    id: RecordId
    source: str
    source_id: str
    kind: str
    name: str
    aliases: list[str]
    external_ids: dict[str, list[str]]
    urls: dict[str, list[str]]
    attributes: dict[str, Any]
    images: list[str]
    state: str = Field(description="`live`, or what its source did with it: `deleted`, `merged`.")
    step: str = Field(description="How it came to its entity: `created`, or what it was linked by.")
    entity_id: EntityId
    times_seen: int
    created_at: datetime
    updated_at: datetime


class EntityOut(Answer):
    id: EntityId
    kind: str
    name: str
    aliases: list[str]
    external_ids: dict[str, list[str]]
    urls: dict[str, list[str]]
    attributes: dict[str, Any]
    size: int = Field(description="How many records it is made of.")
    sources: list[str] = Field(description="Where these come from.")
    records: list[RecordOut] = Field(description="What it is made of; empty in lists.")
    times_seen: int
    first_seen_run_id: OfRun
    last_seen_run_id: OfRun
    created_at: datetime
    updated_at: datetime


class BitsOut(Answer):
    field: str
    outcome: str
    bits: float
    left: str
    right: str


class TieOut(Answer):
    a: RecordId
    b: RecordId
    score: float = Field(description="In bits: the base-2 logarithm of the odds that the two are one thing.")
    step: str
    parts: list[BitsOut] = Field(description="What the score is the sum of.")
    conflicts: list[str]
    epoch: int


class WordOut(Answer):
    a: RecordId
    b: RecordId
    decision: str
    actor: str
    at: datetime


class BelongingOut(Answer):
    record_id: RecordId
    source: str
    source_id: str
    name: str
    step: str
    score: float | None
    matched: list[str] = Field(description="What speaks for it, strongest first.")
    best: TieOut | None
    then: TieOut | None = Field(description="What it was linked by when it came, as it was known then.")
    ties: int


class EvidenceOut(Answer):
    id: EntityId
    join: float = Field(description="The score two groups of records need, on the average, to become one.")
    records: list[BelongingOut]
    ties: list[TieOut]
    decisions: list[WordOut]


class WhyOut(Answer):
    a: RecordOut
    b: RecordOut
    same_entity: bool
    evidence: TieOut
    join: float = Field(description="The score two groups of records need, on the average, to become one.")
    decision: WordOut | None
    path: list[TieOut] = Field(description="How one leads to the other where they are in one entity.")
    sentence: str


class QuestionOut(Answer):
    id: ReviewId
    a: RecordOut
    b: RecordOut
    entities: list[EntityId]
    evidence: TieOut
    join: float = Field(description="The score two groups of records need, on the average, to become one.")
    teaches: float


class RecordBatchOut(Answer):
    id: BatchId
    state: str
    items: int
    left: int
    outcomes: dict[str, int]
    created_at: datetime
    done_at: datetime | None


class ChangeOut(Answer):
    seq: int
    at: datetime
    entity_id: EntityId
    change: str
    actor: str
    details: Mapping[str, Any]


class LetterOut(Answer):
    id: LetterId
    source: str | None
    source_id: str | None
    batch_id: BatchId
    reason: str
    content: str
    at: datetime


def record_out(record: Kept) -> RecordOut:
    held = orjson.loads(record.content)
    plain = {
        name: getattr(record, name) for name in ("id", "source", "source_id", "kind", "name", "step", "times_seen")
    }
    times = {"created_at": record.created_at, "updated_at": record.updated_at}
    return RecordOut(**plain, **times, **held, state=str(record.state), entity_id=record.entity)


def entity_out(entity: Entity, records: list[Kept] | None = None) -> EntityOut:
    plain = {name: getattr(entity, name) for name in EntityOut.model_fields if name != "records"}
    return EntityOut(records=[record_out(one) for one in records or ()], **plain)


def tie_out(tie: Tie) -> TieOut:
    return TieOut(
        a=tie.a,
        b=tie.b,
        score=tie.bits,
        step=tie.step,
        parts=[BitsOut(**part) for part in tie.parts],
        conflicts=tie.conflicts,
        epoch=tie.epoch,
    )


def word_out(word: Word) -> WordOut:
    return WordOut(a=word.a, b=word.b, decision=word.decision, actor=word.actor, at=word.at)


def belonging_out(one: Belonging) -> BelongingOut:
    for_it = [part for part in (one.best.parts if one.best else ()) if part["bits"] > 0]
    return BelongingOut(
        record_id=one.record.id,
        source=one.record.source,
        source_id=one.record.source_id,
        name=one.record.name,
        step=one.step,
        score=one.score,
        matched=[part["field"] for part in sorted(for_it, key=lambda part: -part["bits"])],
        best=tie_out(one.best) if one.best else None,
        then=tie_out(one.then) if one.then else None,
        ties=one.ties,
    )


def why_out(why: Why) -> WhyOut:
    return WhyOut(
        a=record_out(why.a),
        b=record_out(why.b),
        same_entity=why.a.entity == why.b.entity,
        evidence=tie_out(why.tie),
        join=why.join,
        decision=word_out(why.decision) if why.decision else None,
        path=[tie_out(tie) for tie in why.path],
        sentence=_sentence(why),
    )


def _sentence(why: Why) -> str:
    """The answer in words."""
    together = why.a.entity == why.b.entity
    if why.decision and why.decision.decision != "unsure":
        return f"{why.decision.actor} said that they are {'one' if why.decision.decision == 'same' else 'different'}."
    weight = f"What they have in common weighs {why.tie.bits:g} bits; {why.join:g} are needed"
    if together and why.tie.bits >= why.join:
        return f"They are one: {weight}."
    if together:
        steps = len(why.path)
        return f"They are one because of others between them ({steps} steps). {weight} for the two alone."
    if why.tie.conflicts:
        return f"They are apart, since {', '.join(why.tie.conflicts)}. {weight}."
    if why.tie.bits >= why.join:
        return f"They are apart: {weight}, but the records around them do not fit each other."
    return f"They are apart: {weight}."


def question_out(question: Question) -> QuestionOut:
    return QuestionOut(
        id=question.id,
        a=record_out(question.a),
        b=record_out(question.b),
        entities=[question.a.entity, question.b.entity],
        evidence=tie_out(question.tie),
        join=question.join,
        teaches=question.teaches,
    )


def batch_out(batch: BatchState) -> RecordBatchOut:
    return RecordBatchOut(
        id=batch.id,
        state="done" if batch.done_at else "queued" if batch.left_over == batch.items else "writing",
        items=batch.items,
        left=batch.left_over,
        outcomes=batch.outcomes,
        created_at=batch.created_at,
        done_at=batch.done_at,
    )


def change_out(change: Change) -> ChangeOut:
    plain = {name: getattr(change, name) for name in ("seq", "at", "change", "actor", "details")}
    return ChangeOut(entity_id=change.entity, **plain)


def letter_out(letter: Letter) -> LetterOut:
    plain = {name: getattr(letter, name) for name in ("id", "source", "source_id", "reason", "content", "at")}
    return LetterOut(batch_id=letter.batch, **plain)
