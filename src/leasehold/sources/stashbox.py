"""Speaks with a stash-box: performers page by page, one by one, and the rules of its sites."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import SecretStr

from leasehold.sources import performers
from leasehold.sources.declared import Source
from leasehold.sources.models import JSON, Denied, Listing, ListWish, Mapped, Rejected, Thing
from leasehold.sources.urls import Addresses
from leasehold.sources.wire import Answer, Limits, Wire

# All that is asked of a performer. Not its scenes or studios: each of those is a query per row on their side.
_FIELDS: Final = """
id name disambiguation aliases gender birth_date death_date ethnicity country eye_color hair_color height
cup_size band_size waist_size hip_size breast_type career_start_year career_end_year
tattoos { location description } piercings { location description }
urls { url site { id name } } images { id url width height }
deleted merged_ids merged_into_id created updated
"""
LIST: Final = f"""query ($input: PerformerQueryInput!) {{
  queryPerformers(input: $input) {{ count performers {{ {_FIELDS} }} }}
}}"""
ONE: Final = f"query ($id: ID!) {{ findPerformer(id: $id) {{ {_FIELDS} }} }}"
SITES: Final = "query { querySites { sites { id name url regex valid_types } } }"
_NOT_AUTHORISED = ("not authorized", "unauthorized", "not authorised")


class StashBox:
    """A fetcher for one stash-box."""

    has_changes = True

    def __init__(self, source: Source, key: SecretStr) -> None:
        secret = key.get_secret_value()
        limits = Limits(source.timeout_seconds, source.answer_limit_bytes)
        self._source = source.name
        self._wire = Wire(source.name, source.url, {"ApiKey": secret}, secret, limits)
        self._addresses = Addresses(source.namespaces)

    async def aclose(self) -> None:
        await self._wire.aclose()

    async def prepare(self) -> None:
        data, _ = await self._query(SITES, {})
        self._addresses.learn(_list(data.get("querySites"), "sites"))

    async def page(self, wish: ListWish) -> Listing:
        order = ("UPDATED_AT", "DESC") if wish.newest_first else ("CREATED_AT", "ASC")
        given = {"page": wish.page, "per_page": wish.per_page, "sort": order[0], "direction": order[1]}
        data, answer = await self._query(LIST, {"input": given})
        found = data.get("queryPerformers")
        rows = _list(found, "performers")
        count = found.get("count") if isinstance(found, dict) else None
        if not isinstance(count, int) or isinstance(count, bool):
            raise Rejected(f"{self._source} does not say how many performers it has.")
        return Listing(count, [_thing(row) for row in rows], answer.date)

    async def find(self, source_id: str) -> Thing | None:
        data, _ = await self._query(ONE, {"id": source_id})
        found = data.get("findPerformer")
        return _thing(found) if found is not None else None

    def read(self, thing: Thing) -> Mapped:
        return performers.from_stashbox(self._source, thing.raw, self._addresses)

    def hide(self, text: str) -> str:
        return self._wire.hide(text)

    async def _query(self, query: str, variables: JSON) -> tuple[JSON, Answer]:
        answer = await self._wire.ask("POST", "", json={"query": query, "variables": variables})
        document = answer.document
        if isinstance(document, dict) and isinstance(document.get("data"), dict) and not document.get("errors"):
            return document["data"], answer
        complaint = self._wire.complaint(document)
        if any(words in complaint.lower() for words in _NOT_AUTHORISED):
            raise Denied(complaint)
        raise Rejected(complaint)


def _list(found: Any, name: str) -> Sequence[Any]:
    rows = found.get(name) if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise Rejected(f"There is no list of {name} in the answer.")
    return rows


def _thing(row: Any) -> Thing:
    if not isinstance(row, dict):
        return Thing(None, row)
    merged = row.get("merged_ids")
    return Thing(
        id=_id(row.get("id")),
        raw=row,
        created=_moment(row.get("created")),
        updated=_moment(row.get("updated")),
        merged_ids=[one for one in merged if _id(one)] if isinstance(merged, list) else (),
        merged_into=_id(row.get("merged_into_id")),
        is_deleted=row.get("deleted") is True,
    )


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable() else None


def _moment(value: Any) -> datetime | None:
    try:
        told = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return told.astimezone(UTC) if told.tzinfo else None
