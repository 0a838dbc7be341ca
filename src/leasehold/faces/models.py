"""What is known of a face, what two records' faces say of each other, and what others do for us here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from leasehold.db import Conn

# More pictures of one person teach little, and cost a second each.
MOST_FACES = 5


@dataclass(frozen=True, slots=True)
class Face:
    """A face in a picture, as a model sees it."""

    vector: tuple[float, ...]
    box: tuple[int, int, int, int]  # left, top, right, bottom, in the picture as it was embedded
    quality: float  # how sure the detector was


class Embedder(Protocol):
    """A model that is loaded: dlib's own, or an ONNX file somebody supplied."""

    def embed(self, image: bytes) -> list[Face]:
        """The faces in a picture, the largest first; raises ImageRefused for what is no picture we take."""
        ...


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the canary showed of one model. Distances of different models cannot be compared with each other."""

    threshold: float  # up to here two faces are one person's
    genuine_median: float
    genuine_max: float
    impostor_min: float
    pairs: int  # how many were looked at

    def to_json(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Part:
    """What faces add to the evidence on two records, in the shape of every other part of it."""

    field: str
    outcome: str
    bits: float
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Wanting:
    """A record that names and URLs left open, and where its pictures are."""

    record: UUID
    source: str
    images: Sequence[str]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that was looked at: what it was, and for each model the one face that counts."""

    digest: bytes
    content_type: str
    content: bytes
    faces: Mapping[bytes, Face]  # by the digest of the model


@dataclass(slots=True)
class Look:
    """What became of a record's pictures: every one of them in exactly one of `counts`."""

    pictures: list[Picture] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, outcome: str) -> None:
        self.counts[outcome] = self.counts.get(outcome, 0) + 1


@dataclass(frozen=True, slots=True)
class Erased:
    """How much was erased."""

    vectors: int
    images: int


class Open(Protocol):
    """Whoever keeps the records; entities does."""

    async def records_wanting_faces(
        self, conn: Conn, organisation: UUID, limit: int, sources: Sequence[str]
    ) -> Sequence[Wanting]:
        """Records of these sources that names and URLs left open and nobody looked at yet, in any order."""
        ...

    async def faces_looked_at(self, conn: Conn, organisation: UUID, record: UUID, embeddings: int) -> None:
        """The record was looked at and `embeddings` were kept; it is not wanting any more, committed with them."""
        ...


class Propose(Protocol):
    """Whoever weighs evidence; entities does."""

    async def propose(self, conn: Conn, organisation: UUID, record: UUID, neighbour: UUID, part: Part) -> None:
        """Two records whose faces are alike. The same pair may be proposed again, and from the other side."""
        ...
