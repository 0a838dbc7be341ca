"""Entities over HTTP: parse, call, answer."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Query, Request
from pydantic import Field

from leasehold.auth import Permission
from leasehold.door import CallerDep, IdempotencyKey, allows, once, router
from leasehold.entities.answers import (
    BatchId,
    ChangeOut,
    EntityId,
    EntityOut,
    EvidenceOut,
    LetterOut,
    RecordBatchOut,
    batch_out,
    belonging_out,
    change_out,
    entity_out,
    letter_out,
    tie_out,
    word_out,
)
from leasehold.entities.intake import MAX_ID, MAX_NAME, MAX_TEXT, MAX_WORDS
from leasehold.entities.models import BATCH, ENTITY
from leasehold.entities.problems import BatchUnknown, EntityUnknown, QueueFull, unknown_entity
from leasehold.entities.service import Entities
from leasehold.ids import parse
from leasehold.paging import Cursor, Limit, Page, decode, paged, uuid_key
from leasehold.strict import Answer, Line, Strict

routes = router("entities")

IdInPath = Annotated[str, Path(description="The entity's id.", max_length=200)]
Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
Words = Annotated[list[Text], Field(max_length=MAX_WORDS)]
Space = Annotated[str, Field(min_length=1, max_length=100)]


class RecordIn(Strict):
    source: Annotated[str, Field(min_length=1, max_length=100, description="Where it comes from.")]
    source_id: Annotated[str, Field(min_length=1, max_length=MAX_ID, description="What its source calls it.")]
    kind: Annotated[str, Field(min_length=1, max_length=100, description="`performer`, `seller`, or any other.")]
    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
    aliases: Words | None = None
    external_ids: Annotated[dict[Space, Words], Field(max_length=MAX_WORDS)] | None = None
    urls: Annotated[dict[Space, Words], Field(max_length=MAX_WORDS)] | None = None
    attributes: Annotated[dict[Space, Any], Field(max_length=MAX_WORDS)] | None = None
    images: Words | None = None


class RecordsIn(Strict):
    items: Annotated[list[RecordIn], Field(min_length=1, max_length=1000)]


class RecordsAcceptedOut(Answer):
    accepted: int
    batch: BatchId


class EntityStatsOut(Answer):
    linked_by_explicit_id: int
    linked_by_external_url: int
    linked_by_name_metadata: int
    linked_by_face: int
    entities_created: int
    embeddings_added: int
    external_ids_added: int
    urls_added: int
    aliases_added: int
    duplicates_merged: int
    errors: int
    records_seen: int = Field(description="Every record that was handed over and dealt with; the sum of `outcomes`.")
    outcomes: dict[str, int]
    by_source: dict[str, dict[str, int]]
    queued_bytes: int
    open_reviews: int


class ErasureOut(Answer):
    entity_id: EntityId
    records: int
    edges: int
    suppressed: int = Field(description="Marks left, so that none of this comes back by itself.")
    vacuumed: bool = Field(description="Whether what was deleted is out of the database's files, too, by now.")
    also: dict[str, int]


async def _entities(request: Request) -> Entities:
    entities: Entities = request.app.state.entities
    return entities


EntitiesDep = Annotated[Entities, Depends(_entities)]


def entity_in(text: str) -> UUID:
    found = parse(ENTITY, text)
    if found is None:
        raise unknown_entity()
    return found


@routes.post("/v2/entities/records", status_code=202, **allows(Permission.ENTITIES_MANAGE, QueueFull))
async def submit_records(
    body: RecordsIn, caller: CallerDep, entities: EntitiesDep, key: IdempotencyKey = None
) -> RecordsAcceptedOut:
    """Hand records over; the writer links them or makes entities of them. `batches` says when."""
    items = [item.model_dump(exclude_none=True) for item in body.items]
    asked = once(caller, "POST /v2/entities/records", key, body)
    return RecordsAcceptedOut(accepted=len(items), batch=await entities.submit(caller, items, asked))


@routes.get("/v2/entities/batches/{batch_id}", **allows(Permission.ENTITIES_VIEW, BatchUnknown))
async def get_batch(
    batch_id: Annotated[str, Path(description="The batch's id.", max_length=200)],
    caller: CallerDep,
    entities: EntitiesDep,
) -> RecordBatchOut:
    """How far a batch is, and what became of its records."""
    found = parse(BATCH, batch_id)
    if found is None:
        raise BatchUnknown("No batch of your organisation has this id.")
    return batch_out(await entities.batch(caller, found))


@routes.get("/v2/entities/changes", **allows(Permission.ENTITIES_VIEW, EntityUnknown))
async def list_changes(
    caller: CallerDep,
    entities: EntitiesDep,
    since: Annotated[int, Query(ge=0, le=2**63 - 1, description="The last `seq` you have; 0 for everything.")] = 0,
    entity: Annotated[Line | None, Query(description="Only of this one.")] = None,
    limit: Limit = 100,
) -> Page[ChangeOut]:
    """The change feed: what became of entities, in the order it happened. Ask on with the last `seq`."""
    found = await entities.changes(caller, since, entity_in(entity) if entity else None, limit)
    return Page(items=[change_out(one) for one in found], next_cursor=None)


@routes.get("/v2/entities/stats", **allows(Permission.ENTITIES_VIEW))
async def entity_stats(caller: CallerDep, entities: EntitiesDep) -> EntityStatsOut:
    """What was linked by what, and what became of every record that was handed over."""
    stats = await entities.stats(caller)
    more = {name: getattr(stats, name) for name in ("records_seen", "outcomes", "by_source", "queued_bytes")}
    return EntityStatsOut(**stats.totals, **more, open_reviews=stats.open_reviews)


@routes.get("/v2/entities/dead-letters", **allows(Permission.ENTITIES_VIEW))
async def list_record_letters(
    caller: CallerDep,
    entities: EntitiesDep,
    source: Annotated[Line | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[LetterOut]:
    """What could not be taken for a record, and why; the latest first."""
    rows = await entities.letters(caller, source, decode(cursor, uuid_key), limit + 1)
    items, following = paged(rows, limit, lambda one: one.id.hex)
    return Page(items=[letter_out(one) for one in items], next_cursor=following)


@routes.get("/v2/entities", **allows(Permission.ENTITIES_VIEW))
async def list_entities(
    caller: CallerDep,
    entities: EntitiesDep,
    kind: Annotated[str | None, Query(max_length=100)] = None,
    q: Annotated[str | None, Query(max_length=200, description="A part of the name or of an alias.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[EntityOut]:
    """Entities, in the order they were first seen."""
    rows = await entities.page(caller, kind, q, decode(cursor, uuid_key), limit + 1)
    items, following = paged(rows, limit, lambda one: one.id.hex)
    return Page(items=[entity_out(one) for one in items], next_cursor=following)


@routes.get("/v2/entities/{entity_id}", **allows(Permission.ENTITIES_VIEW, EntityUnknown))
async def get_entity(entity_id: IdInPath, caller: CallerDep, entities: EntitiesDep) -> EntityOut:
    """One entity with its records. One that was merged into another answers as that one, by its id."""
    return entity_out(*await entities.get(caller, entity_in(entity_id)))


@routes.get("/v2/entities/{entity_id}/evidence", **allows(Permission.ENTITIES_VIEW, EntityUnknown))
async def get_evidence(entity_id: IdInPath, caller: CallerDep, entities: EntitiesDep) -> EvidenceOut:
    """Why each record is here: by which step, with which score, and what matched."""
    entity, _ = await entities.get(caller, entity_in(entity_id))
    why = await entities.explainer.evidence(caller.organisation, entity.id)
    return EvidenceOut(
        id=entity.id,
        join=why.join,
        records=[belonging_out(one) for one in why.records],
        ties=[tie_out(tie) for tie in why.ties],
        decisions=[word_out(word) for word in why.words],
    )


@routes.delete("/v2/entities/{entity_id}", **allows(Permission.ENTITIES_MANAGE, EntityUnknown))
async def erase_entity(entity_id: IdInPath, caller: CallerDep, entities: EntitiesDep) -> ErasureOut:
    """Erase an entity: its records, evidence, embeddings and images. It does not come back with the next sweep."""
    receipt = await entities.eraser.erase(caller, entity_in(entity_id))
    plain = {name: getattr(receipt, name) for name in ("records", "edges", "suppressed", "vacuumed", "also")}
    return ErasureOut(entity_id=receipt.entity, **plain)
