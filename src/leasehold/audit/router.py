"""The audit over HTTP: read page by page, newest first."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query, Request

from leasehold.audit import store
from leasehold.auth import Permission
from leasehold.db import Database
from leasehold.door import CallerDep, allows, router
from leasehold.paging import Cursor, Limit, Page, decode, paged, uuid_key
from leasehold.strict import Answer, EventId, TokenId

routes = router("audit")


class EventOut(Answer):
    id: EventId
    at: datetime
    actor: TokenId | None
    actor_name: str
    action: str
    subject: str
    detail: dict[str, Any]
    request_id: str | None


@routes.get("/v2/audit", **allows(Permission.AUDIT_VIEW))
async def list_audit(
    request: Request,
    caller: CallerDep,
    subject: Annotated[str | None, Query(max_length=200, description="The id or slug of what was changed.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[EventOut]:
    """Who changed what and when. Nothing here can be changed or removed."""
    db: Database = request.app.state.db
    async with db.transaction(caller.organisation) as conn:
        found = await store.page(conn, caller.organisation, subject, decode(cursor, uuid_key), limit + 1)
    items, following = paged(found, limit, lambda event: event.id.hex)
    return Page(items=[EventOut.model_validate(event) for event in items], next_cursor=following)
