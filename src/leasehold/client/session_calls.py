"""The calls on sessions. An upload may be sent twice: the server knows it by the id that is made here."""

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import quote

from leasehold.client.calls import Call, Span, new_key
from leasehold.client.models import Page, Session, SessionEntry, SessionState, SessionVersion, UploadReport
from leasehold.client.tenure import clock
from leasehold.client.transport import stamp

Health = Literal["ok", "logged_out", "unknown"]
Source = Literal["context", "persistent", "api", "manual"]
Part = Literal["indexeddb", "opfs"]  # what is handed out only if it is asked for


def get_session(account_id: str, *, lease: str | None = None, include: Iterable[Part] = ()) -> Call[SessionState]:
    """The state, for `new_context(storage_state=…)`, and its version, which is the base of the next upload."""
    wanted = ",".join(include)
    return Call(
        "GET",
        _session(account_id),
        _state,
        params={"include": wanted} if wanted else None,
        headers=_held(lease),
        is_versioned=True,
    )


def upload_session(
    account_id: str,
    state: Mapping[str, Any],
    *,
    lease: str | None = None,
    base: int | Literal["fresh", "unknown"] = "unknown",
    source: Source = "context",
    health: Health = "unknown",
    upload_id: str | None = None,
    age: Span = 0,
    mode: Literal["merge", "replace"] = "merge",
    dry_run: bool = False,
) -> Call[UploadReport]:
    """Merge a state into the session; `age` is how long ago it was captured.

    Only an upload that names the version it started from as `base` can delete anything.
    """
    age_s = age.total_seconds() if isinstance(age, timedelta) else age
    params = {"base": base, "source": source, "health": health, "upload_id": upload_id or new_key()}
    params |= {"captured_at": stamp(clock() - max(age_s, 0.0))}
    params |= ({"mode": mode} if mode != "merge" else {}) | ({"dry_run": "true"} if dry_run else {})
    return Call(
        "PUT",
        _session(account_id),
        UploadReport.model_validate,
        params=params,
        harmless=True,
        text=("application/json", json.dumps(state)),
        headers=_held(lease),
        is_timed=True,
    )


def list_sessions(*, site: str | None = None, limit: int = 50, cursor: str | None = None) -> Call[Page[Session]]:
    """Sessions by site and username, a page at a time: facts, never values."""
    params = {"limit": limit} | ({"site": site} if site else {}) | ({"cursor": cursor} if cursor else {})
    return Call("GET", "/v2/sessions", Page[Session].model_validate, params=params)


def session_versions(account_id: str, *, limit: int = 50, cursor: str | None = None) -> Call[Page[SessionVersion]]:
    """The versions that are kept, newest first, a page at a time."""
    params = {"limit": limit} | ({"cursor": cursor} if cursor else {})
    return Call("GET", f"{_session(account_id)}/versions", Page[SessionVersion].model_validate, params=params)


def session_entries(account_id: str) -> Call[list[SessionEntry]]:
    """Every cookie and stored key by name, with the upload that wrote it."""
    return Call(
        "GET", f"{_session(account_id)}/entries", lambda answer: Page[SessionEntry].model_validate(answer).items
    )


def roll_back_session(account_id: str, *, version: int) -> Call[UploadReport]:
    """Make the session what it was at an earlier version."""
    return Call("POST", f"{_session(account_id)}/rollback", UploadReport.model_validate, {"version": version})


def undo_upload(account_id: str, *, upload_id: str) -> Call[UploadReport]:
    """Take out what one upload wrote and deleted, and leave what others did."""
    return Call("POST", f"{_session(account_id)}/undo", UploadReport.model_validate, {"upload_id": upload_id})


def decide_upload(account_id: str, upload_id: str, *, decision: Literal["take", "drop"]) -> Call[UploadReport]:
    """Merge an upload that was put aside after all, or forget it."""
    path = f"{_session(account_id)}/asides/{quote(upload_id, safe='')}"
    return Call("POST", path, UploadReport.model_validate, {"decision": decision})


def delete_session(account_id: str) -> Call[None]:
    """Forget the session of an account with all its versions."""
    return Call("DELETE", _session(account_id), lambda _answer: None)


def _state(answer: Any) -> SessionState:
    etag, state = answer
    return SessionState(version=int(etag.strip('W/"')), storage_state=state)


def _held(lease: str | None) -> dict[str, str]:
    return {"Leasehold-Lease": lease} if lease else {}


def _session(account_id: str) -> str:
    return f"/v2/sessions/{quote(account_id, safe='')}"
