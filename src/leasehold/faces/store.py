"""Faces in PostgreSQL: vectors, the looks that made them, and pictures where they are kept."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

import numpy as np
import orjson
from psycopg import errors

from leasehold.db import Conn, queries
from leasehold.faces.configuration import Source
from leasehold.faces.gate import Vectors
from leasehold.faces.manifest import Manifest
from leasehold.faces.models import MOST_FACES, Calibration, Erased, Face, Picture, Wanting
from leasehold.faces.problems import ModelRefused

SQL = queries("leasehold.faces")

# Several times what a record takes at the worst.
_HOLD_S = 120
# So many vectors are all looked at, in a few milliseconds; above that an index proposes.
EXACT_UP_TO = 10_000

# The vectors of a record by model, in the order of their pictures, and the pictures' digests.
OfRecord = Mapping[bytes, tuple[Sequence[bytes], Vectors]]


async def prepare(conn: Conn, organisation: UUID, manifest: Manifest, calibration: Calibration) -> None:
    """Make room for a model's vectors; raises ModelRefused where pgvector is missing."""
    given = {"model": manifest.digest, "dimension": manifest.dimension, "metric": manifest.metric}
    try:
        await conn.execute(SQL["prepare"], given)
    except (errors.InsufficientPrivilege, errors.FeatureNotSupported, errors.UndefinedFile):
        raise ModelRefused(
            "Faces need pgvector, and this database has it not. Install it beside PostgreSQL, and run "
            "CREATE EXTENSION vector in the database as a superuser."
        ) from None
    said = {"name": manifest.name, "calibration": orjson.dumps(calibration.to_json()).decode()}
    await conn.execute(SQL["keep_model"], {"organisation": organisation, **given, **said})


async def take(conn: Conn, organisation: UUID, wanting: Wanting, setup: bytes, holder: UUID) -> bool:
    """Whether it is ours to look at; not while somebody else is at it."""
    given = {"record": wanting.record, "of_source": wanting.source, "setup": setup, "holder": holder, "hold_s": _HOLD_S}
    cur = await conn.execute(SQL["take"], {"organisation": organisation, **given})
    return cur.rowcount > 0


async def finish(conn: Conn, organisation: UUID, record: UUID, holder: UUID, counts: Mapping[str, int]) -> bool:
    """Whether it was still ours. It is not when the record was erased while we looked: then nothing may be kept."""
    given = {"record": record, "holder": holder, "counted": orjson.dumps(counts).decode()}
    cur = await conn.execute(SQL["finish"], {"organisation": organisation, **given})
    return cur.rowcount > 0


async def keep(conn: Conn, organisation: UUID, wanting: Wanting, picture: Picture, source: Source) -> int:
    """Keep the faces of a picture, and the picture where its source says so; returns how many vectors were new."""
    common = {
        "organisation": organisation,
        "record": wanting.record,
        "image": picture.digest,
        "of_source": wanting.source,
        "days": source.retention_days,
    }
    kept = sum([await _keep_face(conn, common, model, face) for model, face in sorted(picture.faces.items())])
    if source.keep_images:
        what = {"content_type": picture.content_type, "content": picture.content}
        await conn.execute(SQL["keep_image"], {**common, **what})
    return kept


async def _keep_face(conn: Conn, common: Mapping[str, object], model: bytes, face: Face) -> int:
    vector = {"vector": list(face.vector), "dimension": len(face.vector), "quality": face.quality}
    cur = await conn.execute(SQL["keep_face"], {**common, "model": model, **vector, "most": MOST_FACES})
    return cur.rowcount


async def vectors(
    conn: Conn, organisation: UUID, records: Sequence[UUID], models: Collection[bytes]
) -> Mapping[UUID, OfRecord]:
    """All vectors of some records by these models, whole, as they were made."""
    given = {"organisation": organisation, "records": list(records)}
    rows = await (await conn.execute(SQL["vectors"], given)).fetchall()
    images: dict[UUID, dict[bytes, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    numbers: dict[UUID, dict[bytes, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for record, model, image, vector in rows:
        if model in models:
            images[record][model].append(image)
            numbers[record][model].append(vector)
    return {
        record: {model: (images[record][model], np.array(found)) for model, found in by_model.items()}
        for record, by_model in numbers.items()
    }


async def near(
    conn: Conn, organisation: UUID, record: UUID, model: bytes, vector: Sequence[float], limit: int, exact_up_to: int
) -> list[tuple[UUID, float]]:
    """Other records with the nearest vectors, and about how far they are."""
    probe = {"record": record, "model": model, "vector": [float(number) for number in vector]}
    given = {"organisation": organisation, **probe, "limit": limit, "exact_up_to": exact_up_to}
    return await (await conn.execute(SQL["near"], given)).fetchall()


async def erase(conn: Conn, organisation: UUID, records: Sequence[UUID]) -> Erased:
    """Everything of some records, also what is just being made: who is at it finds its look gone, and keeps nothing."""
    given = {"organisation": organisation, "records": list(records)}
    await conn.execute(SQL["erase_looks"], given)
    found = (await conn.execute(SQL["erase_faces"], given)).rowcount
    return Erased(found, (await conn.execute(SQL["erase_images"], given)).rowcount)


async def limit(conn: Conn, organisation: UUID, sources: Mapping[str, Source]) -> Erased:
    """Hold what is there to what sources say by now: how long it may be kept, and whether at all."""
    for name, source in sources.items():
        given = {"organisation": organisation, "of_source": name, "days": source.retention_days}
        await conn.execute(SQL["limit_faces"], given)
        await conn.execute(SQL["limit_images"], given)
    found = (await conn.execute(SQL["drop_faces"], {"organisation": organisation, "sources": list(sources)})).rowcount
    keeping = [name for name, source in sources.items() if source.keep_images]
    images = (await conn.execute(SQL["drop_images"], {"organisation": organisation, "sources": keeping})).rowcount
    return Erased(found, images)


async def expire(conn: Conn, organisation: UUID) -> Erased:
    """Delete what is past its time."""
    found = (await conn.execute(SQL["expire_faces"], {"organisation": organisation})).rowcount
    return Erased(found, (await conn.execute(SQL["expire_images"], {"organisation": organisation})).rowcount)
