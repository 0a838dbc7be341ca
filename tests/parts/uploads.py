"""Captures as a collector sends them, and as somebody sends them who means no good."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

BOUNDARY = "b0undary" * 4
META: dict[str, Any] = {"site": "board", "url": "https://board.example/thread/1"}


def part(disposition: str, content: bytes, *headers: str) -> bytes:
    lines = [f"Content-Disposition: form-data; {disposition}", *headers]
    return f"--{BOUNDARY}\r\n".encode() + "\r\n".join(lines).encode() + b"\r\n\r\n" + content + b"\r\n"


def meta_part(**changes: Any) -> bytes:
    return part('name="meta"', json.dumps(META | changes).encode(), "Content-Type: application/json")


def file_part(name: str = "page.html", content: bytes = b"<p>hello</p>", *headers: str) -> bytes:
    return part(f'name="file"; filename="{name}"', content, *headers)


END = f"--{BOUNDARY}--\r\n".encode()


async def send(client: httpx.AsyncClient, body: Any, **headers: str) -> httpx.Response:
    content_type = f"multipart/form-data; boundary={BOUNDARY}"
    return await client.post("/v2/captures", content=body, headers={"Content-Type": content_type, **headers})


async def upload(
    client: httpx.AsyncClient, files: Mapping[str, bytes] | None = None, key: str | None = None, **changes: Any
) -> httpx.Response:
    parts = [file_part(name, content) for name, content in (files or {"page.html": b"<p>hello</p>"}).items()]
    headers = {"Idempotency-Key": key} if key else {}
    return await send(client, meta_part(**changes) + b"".join(parts) + END, **headers)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def paths(blobs: Path) -> list[Path]:
    """The blobs there are."""
    return list(blobs.glob("*/??/??/*"))


def stored(blobs: Path) -> set[str]:
    """The names of the blobs there are."""
    return {path.name for path in paths(blobs)}


def lose_all(blobs: Path) -> None:
    for path in paths(blobs):
        path.unlink()


def drafts(blobs: Path) -> list[Path]:
    """What uploads have begun to write."""
    return list(blobs.glob("drafts/*/*"))
