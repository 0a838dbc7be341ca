"""What a backup says of itself: of which version it is, what is in it, and what it takes to use it."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

FORMAT = 1


class Part(BaseModel):
    """Files of the backup of one kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: int
    bytes: int


class Documents(BaseModel):
    """What was in MongoDB."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Documents of each collection.
    collections: dict[str, int]


class Captured(BaseModel):
    """The bytes of captures."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Left out because somebody said so: their store has backups of its own.
    left_out: bool
    blobs: int
    bytes: int
    # Removed by their owner while the backup was made.
    gone: list[str]
    # Missing or damaged in the store already.
    lost: list[str]


class Manifest(BaseModel):
    """Written last: a folder without it is no backup."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    leasehold: str
    # When everything was as it is in here, by PostgreSQL's clock.
    taken_at: datetime
    postgresql: str
    # Every migration that was applied.
    schema_marks: list[str]
    era: int
    pools: str
    organisations: list[str]
    # The keys that secrets in here are sealed with, and how many each. The keys themselves are not in here.
    keys: dict[str, int]
    # Rows of each table.
    tables: dict[str, int]
    mongo: Documents | None
    captures: Captured
    # Of the list of checksums, which covers every file but this one.
    sums_sha256: str
    total: Part
