"""Writers: where results are kept, behind one Protocol, and the stream that may lie between."""

from leasehold.writers.checks import check as check_redis
from leasehold.writers.models import Chunk, Document, Found, Name, Place, Refusals, Space, Target
from leasehold.writers.mongo import MongoTarget, collection_name
from leasehold.writers.postgres import PostgresTarget, write_in
from leasehold.writers.stream import DataWriter, Stream
from leasehold.writers.stream import connect as connect_redis

__all__ = [
    "Chunk",
    "DataWriter",
    "Document",
    "Found",
    "MongoTarget",
    "Name",
    "Place",
    "PostgresTarget",
    "Refusals",
    "Space",
    "Stream",
    "Target",
    "check_redis",
    "collection_name",
    "connect_redis",
    "write_in",
]
