"""The duty: looks at the pictures of records that names and URLs left open, and proposes those whose faces are alike.

Nothing is joined here. What is found is handed on as a part of the evidence, which alone is never enough.
"""

import asyncio
import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

import numpy as np

from leasehold import logs
from leasehold.db import Conn, Database, RollBack
from leasehold.faces import evidence, store
from leasehold.faces.configuration import Setup
from leasehold.faces.fetching import Fetcher
from leasehold.faces.gate import distances
from leasehold.faces.manifest import Manifest
from leasehold.faces.models import Calibration, Erased, Face, Look, Open, Part, Picture, Propose, Wanting
from leasehold.faces.problems import ImageRefused
from leasehold.faces.store import EXACT_UP_TO, OfRecord
from leasehold.faces.studio import Studio
from leasehold.ids import uuid7

log = logs.get(__name__)

EVERY_S = 1.0
EXPIRE_EVERY_S = 3600.0
# A step ends soon after the first, however much there is; no record takes longer than the second, however slow it is.
_STEP_S = 10.0
_RECORD_S = 15.0
_AT_ONCE = 20
_NEIGHBOURS = 10
# An index rounds: what is a little too far by its numbers may be near enough by the whole ones.
_MARGIN = 1.02
# A second face that is larger than this part of the first: whose record it is cannot be told.
_RIVAL = 0.5
# Where deleted vectors and pictures stay until they are vacuumed.
TABLES = ("faces.face", "faces.image")


class Faces:
    """What one process does about faces. Any number may run beside each other."""

    def __init__(
        self, db: Database, setup: Setup, opened: Open, propose: Propose, join: float, *, allow_private: bool = False
    ) -> None:
        self._db = db
        self._setup = setup
        self._open = opened
        self._propose = propose
        self._join = join
        self._manifests = {manifest.digest: manifest for manifest in setup.embedders}
        self._calibrations: Mapping[bytes, Calibration] = {}
        self._prepared: set[UUID] = set()
        self._fetcher = Fetcher(allow_private=allow_private)
        self.studio = Studio(setup.embedders, setup.canary)
        self.exact_up_to = EXACT_UP_TO

    async def close(self) -> None:
        await self._fetcher.close()
        await self.studio.close()

    async def step(self, organisations: Iterable[UUID]) -> int:
        """Look at what there is, some of it; returns how many records. Raises ModelRefused while a model is not fit."""
        if not self._calibrations:
            self._calibrations = await self.studio.calibrations()
        looked, end = 0, time.monotonic() + _STEP_S
        for organisation in organisations:
            await self._settle_in(organisation)
            for wanting in await self._wanting(organisation):
                if time.monotonic() < end:
                    looked += await self.look(organisation, wanting, self._fetcher)
        return looked

    async def look(self, organisation: UUID, wanting: Wanting, fetcher: Fetcher) -> bool:
        """Fetch, embed, keep and propose for one record, all or nothing; False if it is not ours to do."""
        if wanting.source not in self._setup.sources:
            return False
        holder = uuid7()
        async with self._db.transaction(organisation) as conn:
            if not await store.take(conn, organisation, wanting, self._setup.digest, holder):
                return False
        look = await self._seen(wanting, fetcher)
        is_kept = False
        async with self._db.transaction(organisation) as conn:
            if not await store.finish(conn, organisation, wanting.record, holder, look.counts):
                raise RollBack
            await self._keep(conn, organisation, wanting, look)
            is_kept = True
        log.info("faces.looked", source=wanting.source, kept=is_kept, **look.counts)
        return is_kept

    async def between(self, conn: Conn, organisation: UUID, left: UUID, right: UUID) -> Part | None:
        """What the faces of two records say; None where one of them has none."""
        found = await store.vectors(conn, organisation, [left, right], self._manifests.keys())
        if left not in found or right not in found:
            return None
        return self._part(found[left], found[right])

    async def _settle_in(self, organisation: UUID) -> None:
        """Once for each organisation: make room for the models, and hold what is there to what sources say by now."""
        if organisation in self._prepared:
            return
        async with self._db.transaction(organisation) as conn:
            for digest, manifest in self._manifests.items():
                await store.prepare(conn, organisation, manifest, self._calibrations[digest])
            dropped = await store.limit(conn, organisation, self._setup.sources)
        self._prepared.add(organisation)
        if dropped.vectors or dropped.images:
            log.info("faces.dropped", vectors=dropped.vectors, images=dropped.images)

    async def _wanting(self, organisation: UUID) -> Sequence[Wanting]:
        async with self._db.transaction(organisation) as conn:
            sources = sorted(self._setup.sources)
            return await self._open.records_wanting_faces(conn, organisation, _AT_ONCE, sources)

    async def _seen(self, wanting: Wanting, fetcher: Fetcher) -> Look:
        look, end = Look(), asyncio.get_running_loop().time() + _RECORD_S
        for url in list(dict.fromkeys(wanting.images))[: self._setup.images_per_record]:
            try:
                async with asyncio.timeout_at(end):
                    look.pictures.append(await self._picture(url, fetcher))
                look.count("embedded")
            except ImageRefused as refusal:
                look.count(refusal.reason)
            except TimeoutError:
                look.count("timeout")
        return look

    async def _picture(self, url: str, fetcher: Fetcher) -> Picture:
        fetched = await fetcher.fetch(url)
        found = await self.studio.faces(fetched.content)
        faces = {digest: _only(faces) for digest, faces in found.items()}
        digest = hashlib.sha256(fetched.content).digest()
        return Picture(digest, fetched.content_type, fetched.content, faces)

    async def _keep(self, conn: Conn, organisation: UUID, wanting: Wanting, look: Look) -> None:
        source = self._setup.sources[wanting.source]
        kept = sum([await store.keep(conn, organisation, wanting, picture, source) for picture in look.pictures])
        await self._open.faces_looked_at(conn, organisation, wanting.record, kept)
        if look.pictures:
            for neighbour, part in (await self._alike(conn, organisation, wanting.record)).items():
                await self._propose.propose(conn, organisation, wanting.record, neighbour, part)

    async def _alike(self, conn: Conn, organisation: UUID, record: UUID) -> Mapping[UUID, Part]:
        """Other records whose faces are alike: an index proposes them, whole vectors decide."""
        own = (await store.vectors(conn, organisation, [record], self._manifests.keys())).get(record, {})
        near: set[UUID] = set()
        for model, (_, found) in own.items():
            reach = self._calibrations[model].threshold * _MARGIN
            for vector in found:
                rows = await store.near(conn, organisation, record, model, vector, _NEIGHBOURS, self.exact_up_to)
                near |= {neighbour for neighbour, distance in rows if distance <= reach}
        others = await store.vectors(conn, organisation, sorted(near), self._manifests.keys())
        parts = {neighbour: self._part(own, of_neighbour) for neighbour, of_neighbour in sorted(others.items())}
        return {neighbour: part for neighbour, part in parts.items() if part.bits > 0}

    def _part(self, left: OfRecord, right: OfRecord) -> Part:
        both = [self._of_model(self._manifests[model], left, right) for model in sorted(left.keys() & right.keys())]
        return evidence.agreed(both, len(self._manifests))

    def _of_model(self, manifest: Manifest, left: OfRecord, right: OfRecord) -> Part:
        """By the middle of all distances: one picture of somebody else does not speak for a record."""
        images, ours = left[manifest.digest]
        their_images, theirs = right[manifest.digest]
        distance = float(np.median(distances(ours, theirs, manifest.metric)))
        named = (images[0].hex()[:12], their_images[0].hex()[:12])
        return evidence.part(distance, self._calibrations[manifest.digest], self._join, *named)


def _only(faces: Sequence[Face]) -> Face:
    """The one whose picture it is; raises ImageRefused where nobody is, or several are and none stands out."""
    if not faces:
        raise ImageRefused("no-face")
    if len(faces) > 1 and _area(faces[1]) > _RIVAL * _area(faces[0]):
        raise ImageRefused("several-faces")
    return faces[0]


def _area(face: Face) -> int:
    left, top, right, bottom = face.box
    return (right - left) * (bottom - top)


async def expire(db: Database, organisations: Iterable[UUID]) -> Erased:
    """Delete what is past its time, whether faces are switched on here or not."""
    vectors = images = 0
    for organisation in organisations:
        async with db.transaction(organisation) as conn:
            found = await store.expire(conn, organisation)
        vectors, images = vectors + found.vectors, images + found.images
    if vectors:
        await vacuum(db)
    return Erased(vectors, images)


async def vacuum(db: Database) -> None:
    """Take what was erased out of the indexes, too, where deleted vectors stay until then. Not in a transaction."""
    for table in TABLES:
        await db.vacuum(table)
