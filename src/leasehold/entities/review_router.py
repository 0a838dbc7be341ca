"""What people say of entities over HTTP: merges, splits, reviews, and the weights in force."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from leasehold.auth import Permission
from leasehold.door import CallerDep, IdempotencyKey, allows, once, router
from leasehold.entities.answers import EntityId, EntityOut, QuestionOut, WhyOut, entity_out, question_out, why_out
from leasehold.entities.deciding import review_pair
from leasehold.entities.models import RECORD, REVIEW, Pair
from leasehold.entities.problems import (
    CannotMerge,
    CannotSplit,
    EntityUnknown,
    EpochUnknown,
    RecordUnknown,
    ReviewUnknown,
)
from leasehold.entities.router import EntitiesDep, IdInPath, entity_in
from leasehold.ids import parse
from leasehold.paging import Cursor, Limit, Page, decode, paged
from leasehold.strict import Answer, Line, Strict

review_routes = router("entities")

KindInPath = Annotated[str, Path(description="The kind of entities.", max_length=100)]
ReviewInPath = Annotated[str, Path(description="The question's id.", max_length=200)]


class MergeIn(Strict):
    keep: Annotated[str, Field(max_length=200, description="The entity that stays.")]
    merge: Annotated[str, Field(max_length=200, description="The entity that becomes a part of it.")]


class SplitIn(Strict):
    record_ids: Annotated[list[Annotated[str, Field(max_length=200)]], Field(min_length=1, max_length=1000)]


class SplitOut(Answer):
    items: list[EntityOut] = Field(description="The entities there are now; the one that was split first.")


class ReviewIn(Strict):
    decision: Literal["same", "different", "unsure"]


class DecidedOut(Answer):
    decision: str
    entities: list[EntityId] = Field(description="Where the two records are by now.")


class EpochIn(Strict):
    kind: Annotated[str, Field(min_length=1, max_length=100)]
    learned: bool = Field(True, description="Learn weights from the records there are; else take what is configured.")


class EpochOut(Answer):
    kind: str
    number: int
    version: str
    origin: str
    state: str
    records: int
    difference: dict[str, Any] | None = Field(description="What would change with it, or did.")
    names: dict[str, str] = Field(description="What the entities in the examples of it are called.")
    created_at: datetime
    current_at: datetime | None
    progress: float | None = Field(description="How much of the way is gone, from 0 to 1, while it is `moving`.")


def record_in(text: str) -> UUID:
    found = parse(RECORD, text)
    if found is None:
        raise RecordUnknown("No record of your organisation has this id.")
    return found


def pair_in(text: str) -> Pair:
    found = parse(REVIEW, text)
    if found is None:
        raise ReviewUnknown("There is no such question. `GET /v2/entities/reviews` lists the open ones.")
    return review_pair(found)


@review_routes.post("/v2/entities/merge", **allows(Permission.ENTITIES_MANAGE, EntityUnknown, CannotMerge))
async def merge_entities(body: MergeIn, caller: CallerDep, entities: EntitiesDep) -> EntityOut:
    """Make two entities one. `split` with the records of the other takes it back."""
    merged = await entities.decisions.merge(caller, entity_in(body.keep), entity_in(body.merge))
    return entity_out(*await entities.get(caller, merged.id))


@review_routes.post(
    "/v2/entities/{entity_id}/split",
    **allows(Permission.ENTITIES_MANAGE, EntityUnknown, RecordUnknown, CannotSplit),
)
async def split_entity(entity_id: IdInPath, body: SplitIn, caller: CallerDep, entities: EntitiesDep) -> SplitOut:
    """Take records out of an entity; they and the rest are never linked again. `merge` takes it back."""
    records = [record_in(one) for one in body.record_ids]
    found = await entities.decisions.split(caller, entity_in(entity_id), records)
    return SplitOut(items=[entity_out(*await entities.get(caller, one.id)) for one in found])


@review_routes.get("/v2/entities/reviews", **allows(Permission.ENTITIES_VIEW))
async def list_reviews(
    caller: CallerDep,
    entities: EntitiesDep,
    kind: Annotated[Line | None, Query()] = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Page[QuestionOut]:
    """Pairs of records somebody should look at, by what an answer teaches."""
    rows = await entities.explainer.questions(caller.organisation, kind, decode(cursor, _turn), limit + 1)
    items, following = paged(rows, limit, lambda one: f"{one.teaches!r} {one.a.node} {one.b.node}")
    return Page(items=[question_out(one) for one in items], next_cursor=following)


def _turn(text: str) -> tuple[float, int, int]:
    teaches, a, b = text.split(" ")
    nodes = int(a), int(b)
    if any(not -(2**63) <= node < 2**63 for node in nodes) or not 0 <= float(teaches) < 1e9:
        raise ValueError("not a key")
    return float(teaches), *nodes


@review_routes.post("/v2/entities/reviews/{review_id}", **allows(Permission.ENTITIES_MANAGE, ReviewUnknown))
async def decide_review(
    review_id: ReviewInPath, body: ReviewIn, caller: CallerDep, entities: EntitiesDep
) -> DecidedOut:
    """Say whether two records are one thing. `different` lasts; `unsure` puts the question away."""
    decided = await entities.decisions.decide(caller, pair_in(review_id), body.decision)
    return DecidedOut(decision=decided.decision, entities=list(decided.entities))


@review_routes.delete("/v2/entities/reviews/{review_id}", **allows(Permission.ENTITIES_MANAGE, ReviewUnknown))
async def reopen_review(review_id: ReviewInPath, caller: CallerDep, entities: EntitiesDep) -> DecidedOut:
    """Take back what was said of two records: unless they are one without it, they are a question again."""
    decided = await entities.decisions.reopen(caller, pair_in(review_id))
    return DecidedOut(decision=decided.decision, entities=list(decided.entities))


@review_routes.get("/v2/entities/why", **allows(Permission.ENTITIES_VIEW, RecordUnknown))
async def why_records(
    caller: CallerDep,
    entities: EntitiesDep,
    a: Annotated[str, Query(max_length=200, description="A record.")],
    b: Annotated[str, Query(max_length=200, description="Another.")],
) -> WhyOut:
    """Why two records are one thing, or why not: what speaks for and against it, bit by bit."""
    return why_out(await entities.explainer.why(caller.organisation, record_in(a), record_in(b)))


@review_routes.get("/v2/entities/epochs", **allows(Permission.ENTITIES_VIEW))
async def list_epochs(
    caller: CallerDep, entities: EntitiesDep, kind: Annotated[Line | None, Query()] = None
) -> Page[EpochOut]:
    """The weights in force for each kind, those before, and those proposed."""
    return Page(items=[EpochOut(**one) for one in await entities.epochs(caller, kind)], next_cursor=None)


@review_routes.post("/v2/entities/epochs", status_code=201, **allows(Permission.ENTITIES_MANAGE))
async def propose_epoch(
    body: EpochIn, caller: CallerDep, entities: EntitiesDep, key: IdempotencyKey = None
) -> EpochOut:
    """Weigh anew, and see what would change. Nothing does until it is moved to."""
    asked = once(caller, "POST /v2/entities/epochs", key, body)
    return EpochOut(**await entities.propose(caller, body.kind, asked, learned=body.learned))


@review_routes.post(
    "/v2/entities/epochs/{kind}/{number}/current",
    status_code=202,
    **allows(Permission.ENTITIES_MANAGE, EpochUnknown),
)
async def move_to_epoch(
    kind: KindInPath,
    number: Annotated[int, Path(description="The epoch's number.", ge=1, le=2**31 - 1)],
    caller: CallerDep,
    entities: EntitiesDep,
) -> EpochOut:
    """Put weights into force: the writer compares everything anew, then switches at once."""
    return EpochOut(**await entities.move(caller, kind, number))
