"""One edition, as files, in the order that leaves readers with something whole wherever it is cut short.

What is named by its content comes first, then what it explains, then the page that points to it. Every single file is
replaced whole, so a publisher that dies in the middle leaves some files new and the rest as they were; and each of them
says of when it is.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources

from leasehold.artifacts.documents import KINDS, Edition, Kind, documents, index_json, promised, stamp
from leasehold.artifacts.models import Published
from leasehold.artifacts.shelf import Shelf

INDEX = "index.json"
# The only folder that is meant for the public.
PAGE = "status"
ENTRY = "index.html"
_HISTORY = "history"


@dataclass(frozen=True, slots=True)
class Files:
    """The page: its entry, and what that needs, under names that change with their content."""

    entry: bytes
    rest: Mapping[str, bytes]


@cache
def page() -> Files:
    folder = resources.files("leasehold.artifacts") / "page"
    entry = (folder / ENTRY).read_text("utf-8")
    rest = {}
    for name in ("page.css", "page.js", "icon.svg"):
        content = (folder / name).read_bytes()
        stem, _, ending = name.rpartition(".")
        hashed = f"{stem}.{hashlib.sha256(content).hexdigest()[:12]}.{ending}"
        rest[hashed] = content
        entry = entry.replace(f'"./{name}"', f'"./{hashed}"')
    return Files(entry.encode(), rest)


def lay_out(shelf: Shelf, edition: Edition, depth: int) -> Mapping[Kind, bytes]:
    """Write what nobody reads yet, and what explains the rest. Raises OSError where the shelf fails."""
    made = documents(edition)
    shelf.clear()
    for name, content in {**page().rest, **{kind.schema_file: promised(kind) for kind in KINDS}}.items():
        _put(shelf, f"{PAGE}/{name}", content)
    for kind, content in made.items() if depth else ():
        shelf.replace(f"{_HISTORY}/{kind.name}/{_edition_file(edition, kind)}", content)
    return made


def put_in_place(shelf: Shelf, edition: Edition, made: Mapping[Kind, bytes], depth: int) -> list[Published]:
    """Replace what readers see. Raises OSError where the shelf fails."""
    for kind, content in made.items():
        shelf.replace(f"{PAGE}/{kind.file}", content)
    _put(shelf, f"{PAGE}/{ENTRY}", page().entry)
    found = [_published(edition, kind, content) for kind, content in made.items()]
    histories = {kind.name: _pruned(shelf, kind, depth) for kind in KINDS}
    shelf.replace(INDEX, _index(edition, found, histories))
    return found


def _edition_file(edition: Edition, kind: Kind) -> str:
    """By its time, so that files sort, and by its number, so that none takes another's place."""
    return f"{stamp(edition.figures.at)}-{edition.number}.v{kind.version}.json"


def _put(shelf: Shelf, path: str, content: bytes) -> None:
    """What hardly ever changes is only written when it does."""
    with suppress(FileNotFoundError):
        if shelf.read(path) == content:
            return
    shelf.replace(path, content)


def _pruned(shelf: Shelf, kind: Kind, depth: int) -> list[str]:
    """What is left of the history, newest first."""
    folder = f"{_HISTORY}/{kind.name}"
    names = shelf.names(folder)
    for name in names[: max(0, len(names) - depth)]:
        shelf.remove(f"{folder}/{name}")
    return [f"{folder}/{name}" for name in reversed(names[max(0, len(names) - depth) :])]


def _published(edition: Edition, kind: Kind, content: bytes) -> Published:
    etag = hashlib.sha256(content).hexdigest()
    path = f"{PAGE}/{kind.file}"
    return Published(kind.name, kind.name, kind.version, path, edition.number, edition.figures.at, len(content), etag)


def _index(edition: Edition, found: Sequence[Published], histories: Mapping[str, Sequence[str]]) -> bytes:
    artifacts = [
        {
            "name": one.name,
            "schema": one.schema,
            "version": one.version,
            "path": one.path,
            "schema_path": f"{PAGE}/{kind.schema_file}",
            "bytes": one.bytes,
            "sha256": one.etag,
            "history": histories[one.name],
        }
        for one, kind in zip(found, KINDS, strict=True)
    ]
    names = [ENTRY, *page().rest, *(kind.file for kind in KINDS), *(kind.schema_file for kind in KINDS)]
    return index_json(edition, {"artifacts": artifacts, "page": sorted(names)})
