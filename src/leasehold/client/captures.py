"""Every call about captures, once: what is sent and how the answer is read."""

import json
from collections.abc import Mapping
from datetime import datetime
from os import PathLike
from typing import IO, Any
from urllib.parse import quote

from leasehold.client.calls import Call, Content, Span, new_key, seconds
from leasehold.client.capture_models import Capture, CaptureEvent, CaptureGrants, Receipt
from leasehold.client.models import Page

# The bytes of a file: themselves, a path to them, or something to read them from; with a content type, if one is known.
File = bytes | str | PathLike[str] | IO[bytes]
Files = Mapping[str, File | tuple[File, str]]


def upload_capture(
    *,
    site: str,
    url: str,
    files: Files,
    captured_at: datetime | None = None,
    seed_id: str | None = None,
    account_id: str | None = None,
    job_id: str | None = None,
    lease_id: str | None = None,
    labels: Mapping[str, str] | None = None,
    idempotency_key: str | None = None,
) -> Call[Receipt]:
    """Hand in what a visit brought home. It is durable when this returns, and sent again where an answer was lost.

    `files` maps names to bytes, paths (as text or path) or open files, which are read as they are sent and never held
    in memory as a whole; `(content, content_type)` says what a file is. A file that cannot be rewound is sent once.
    """
    meta: dict[str, Any] = {"site": site, "url": url}
    meta |= _given(
        captured_at=captured_at.isoformat() if captured_at else None, labels=dict(labels) if labels else None
    )
    meta |= _given(seed_id=seed_id, account_id=account_id, job_id=job_id, lease_id=lease_id)
    parts = [("file", Content(name, *_content(file))) for name, file in files.items()]
    return Call(
        "POST",
        "/v2/captures",
        Receipt.model_validate,
        parts=[("meta", Content(None, json.dumps(meta).encode(), "application/json")), *parts],
        key=idempotency_key or new_key(),
    )


def _content(file: File | tuple[File, str]) -> tuple[File, str | None]:
    return file if isinstance(file, tuple) else (file, None)


def get_capture(capture_id: str) -> Call[Capture]:
    """One capture with the list of its files."""
    return Call("GET", path(capture_id), Capture.model_validate)


def list_captures(
    *,
    site: str | None = None,
    state: str | None = None,
    since: datetime | None = None,
    url: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Call[Page[Capture]]:
    """Captures, newest first, a page at a time; every filter narrows, `url` also finds those from before a move."""
    params = _given(site=site, state=state, url=url, limit=limit, cursor=cursor)
    params |= _given(since=since.isoformat() if since else None)
    return Call("GET", "/v2/captures", Page[Capture].model_validate, params=params)


def capture_audit(capture_id: str, *, limit: int = 500, cursor: str | None = None) -> Call[Page[CaptureEvent]]:
    """Every event of its life, oldest first."""
    params = _given(limit=limit, cursor=cursor)
    return Call("GET", f"{path(capture_id)}/audit", Page[CaptureEvent].model_validate, params=params)


def acquire_captures(
    *,
    owner: str,
    site: str | None = None,
    limit: int = 1,
    ttl: Span = 120,
    wait: Span = 0,
    priority: int | None = None,
    job_id: str | None = None,
) -> Call[CaptureGrants]:
    """Claim captures that wait for a consumer, oldest first. Renewing the claims and giving them back is up to you."""
    body: dict[str, Any] = {"owner": owner, "limit": limit, "ttl_seconds": seconds(ttl), "wait_seconds": seconds(wait)}
    body |= _given(site=site, priority=priority, job_id=job_id)
    return Call("POST", "/v2/captures/acquire", CaptureGrants.model_validate, body, key=new_key(), held_s=seconds(wait))


def requeue_capture(capture_id: str, *, reason: str | None = None) -> Call[Capture]:
    """Put a stuck or rejected capture back among those that wait."""
    return Call("POST", f"{path(capture_id)}/requeue", Capture.model_validate, _given(reason=reason))


def delete_capture(capture_id: str) -> Call[None]:
    """Remove a capture; bytes that others have, too, stay."""
    return Call("DELETE", path(capture_id), lambda _answer: None)


def path(capture_id: str) -> str:
    return f"/v2/captures/{quote(capture_id, safe='')}"


def file_path(capture_id: str, name: str) -> str:
    return f"{path(capture_id)}/files/{quote(name, safe='')}"


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
