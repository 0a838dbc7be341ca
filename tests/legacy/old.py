"""An older system to import from: its MongoDB, its map, and what the import said."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bson import ObjectId

from leasehold.imports import import_legacy, legacy_wish
from leasehold.settings import Settings
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

MAP = """
[sites]
collection = "boards"
[sites.fields]
slug = { path = "title", as = "slugify" }
name = "title"

[domains]
collection = "boards"
each = "hosts"
[domains.fields]
site = "^_id"
host = { path = "name", as = "lower" }
since = { path = "from", as = "epoch_s" }
trust = { path = "safe", map = { true = "credentials", false = "urls" }, default = "credentials" }

[captures]
collection = "pages"
filter = { test = { "$ne" = true } }
[captures.fields]
site = "board"
url = "request.url"
captured_at = "request.at"
job_id = "job"
state = { path = "status", map = { done = "delivered", "3" = "rejected" }, default = "delivered" }
labels = "tags"
[captures.files]
each = "blobs"
[captures.files.fields]
name = { path = "path", as = "file_name" }
sha256 = "sum"
size = "bytes"
content_type = { value = "text/html" }
location = "path"

[events]
collection = "log"
[events.fields]
capture = "page"
event = { path = "what", as = "lower" }
at = { path = "ts", as = "epoch_ms" }
actor = "who"
detail = "more"
"""

BOARD = ObjectId("5f0000000000000000000001")
SUM = "ab" * 32


@dataclass
class Ran:
    agree: bool
    all_good: bool
    said: list[str]
    bad: list[dict[str, Any]]

    def row(self, kind: str) -> list[int]:
        """read, imported, there, bad"""
        line = next(line for line in self.said if line.startswith(kind) and "read" not in line)
        return [int(number.replace(",", "")) for number in line.split()[1:]]


@dataclass
class Old:
    """The older system, beside the database it is imported into."""

    mongo: MongoDatabase
    database: TestDatabase
    folder: Path
    map: str = MAP

    @property
    def url(self) -> str:
        return self.mongo.url.replace("/?", f"/{self.mongo.name}?")

    @property
    def map_file(self) -> Path:
        file = self.folder / "map.toml"
        file.write_text(self.map)
        return file

    def insert(self, collection: str, *documents: dict[str, Any]) -> None:
        with self.mongo.connect() as client:
            database = client[self.mongo.name]
            if documents:
                database[collection].insert_many(documents)
            elif collection not in database.list_collection_names():
                database.create_collection(collection)

    def change(self, collection: str, id_: Any, change: dict[str, Any]) -> None:
        with self.mongo.connect() as client:
            client[self.mongo.name][collection].update_one({"_id": id_}, {"$set": change})

    def fill(self, pages: int = 3) -> None:
        """A board that moved once, its pages, and two events for each of them."""
        hosts = [{"name": "Old.Example", "from": 1_400_000_000, "safe": False}, {"name": "new.example", "from": 1.5e9}]
        self.insert("boards", {"_id": BOARD, "title": "The Board", "hosts": hosts})
        self.insert("pages", *(page(number) for number in range(pages)))
        self.insert("log", *(event(number) for number in range(2 * pages)))

    @property
    def report(self) -> Path:
        return self.folder / "bad.ndjson"

    async def bring(
        self,
        organisation: str = "default",
        *,
        dry_run: bool = False,
        settings: Settings | None = None,
        heard: Callable[[str], None] = lambda line: None,
    ) -> Ran:
        """Import it; `heard` is told every line while the import runs."""
        said: list[str] = []

        def say(line: str) -> None:
            said.append(line)
            heard(line)

        wish = legacy_wish(self.url, self.map_file, self.report, organisation, dry_run=dry_run)
        agree, all_good = await import_legacy(settings or Settings(), self.database.url, wish, say)
        bad = [json.loads(line) for line in self.report.read_text().splitlines()] if self.report.exists() else []
        return Ran(agree, all_good, said, bad)

    def count(self, table: str) -> int:
        return int(self.database.rows(f"SELECT count(*) FROM {table}")[0][0])


def page(number: int, **changed: Any) -> dict[str, Any]:
    return {
        "_id": number,
        "board": BOARD,
        "request": {
            "url": f"https://old.example/t/{number}",
            "at": datetime(2015, 6, 1, 12, 0, number % 60, tzinfo=UTC),
        },
        "job": "job-7",
        "status": "done",
        "tags": {"lang": "en"},
        "blobs": [{"path": f"/mnt/old/{number}/page.html", "sum": SUM.upper(), "bytes": 1000 + number}],
        "body": "x" * 100,
        **changed,
    }


def event(number: int, **changed: Any) -> dict[str, Any]:
    whole = {"_id": f"e{number:06}", "page": number // 2, "what": "FETCHED" if number % 2 == 0 else "DELIVERED"}
    return {**whole, "ts": 1_433_160_000_000 + number, "who": "robot 4", "more": {"try": 1, "took": 0.5}, **changed}
