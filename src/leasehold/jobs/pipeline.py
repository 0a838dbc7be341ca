"""What becomes of documents on the way from a crawler to the writer: normalise, validate, tell apart, enrich. No I/O.

A document that fails on the way goes to the dead letters as it came; the others of its chunk go on.
"""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from leasehold.jobs.messages import CrawlerResult
from leasehold.platforms import PLAIN, About, Document, Platform, faults, find

_NUL = b"\\u0000"


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that is not written, as it came, and why."""

    document: Document
    why: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A chunk on its way to the writer."""

    key: bytes  # of its cursor
    sha256: bytes  # of what came, before anything was done with it
    documents: Sequence[Document]
    identities: Sequence[bytes | None] = ()  # of each, where the platform tells them apart
    refused: Sequence[Refused] = ()

    def new(self, seen: Collection[bytes]) -> "Prepared":
        """Without documents that were seen before, here or elsewhere in the job."""
        if not self.identities:
            return self
        known, documents, identities = set(seen), [], []
        for document, identity in zip(self.documents, self.identities, strict=True):
            if identity is None or identity not in known:
                documents.append(document)
                identities.append(identity)
                known.update({identity} if identity else ())
        return Prepared(self.key, self.sha256, documents, identities, self.refused)


@dataclass(slots=True)
class _Line:
    """Documents as they pass the stations."""

    documents: list[Document] = field(default_factory=list)
    identities: list[bytes | None] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def prepare(message: CrawlerResult, platform: Platform | None) -> Prepared:
    """A message's documents as its platform wants them written."""
    raw = orjson.dumps(message.payload_chunk, option=orjson.OPT_SORT_KEYS)
    key, digest = key_of(message.cursor), hashlib.sha256(raw).digest()
    given = message.payload_chunk
    # What no database of ours can hold. It may also be a backslash that was meant; then nothing changes.
    documents: list[Document] = [_without_nul(one) for one in given] if _NUL in raw else list(given)
    if platform is None or _leaves_alone(platform):
        return Prepared(key, digest, documents)
    line = _Line()
    told = message.model_dump(mode="json", exclude={"payload_chunk"})
    about = About(message.platform, message.task_type, message.job_id, message.cursor, told)
    for document in documents:
        _pass(document, about, platform, line)
    return Prepared(key, digest, line.documents, line.identities, line.refused)


def _leaves_alone(platform: Platform) -> bool:
    results = platform.results
    return results.handler == PLAIN and results.schema_ is None and not results.identity


def _pass(document: Document, about: About, platform: Platform, line: _Line) -> None:
    handler = find(platform.results.handler)
    try:
        formed = handler.normalise(document, about)
        if formed is None:
            return
        if why := _schema_says(formed, platform) or handler.validate(formed, about):
            line.refused.append(Refused(document, why))
            return
        identity = _identity(formed, platform, lambda: handler.identity(formed, about))
        enriched = handler.enrich(formed, about)
        orjson.dumps(enriched)
    except Exception as error:
        line.refused.append(Refused(document, f"The handler {platform.results.handler} raised {type(error).__name__}."))
        return
    line.documents.append(enriched)
    line.identities.append(identity)


def _schema_says(document: Document, platform: Platform) -> str | None:
    validator = platform.results.validator
    if validator is None:
        return None
    found = faults(validator, document)
    return f"{found[0][0] or '/'}: {found[0][1]}" if found else None


def _identity(document: Document, platform: Platform, otherwise: Callable[[], Any]) -> bytes | None:
    named = platform.results.identity
    told = [document.get(name) for name in named] if named else otherwise()
    if told is None or (named and all(value is None for value in told)):
        return None
    return _short(told)


def key_of(cursor: Any) -> bytes:
    """A cursor of any length and shape as a short key."""
    return _short(cursor)


def _short(value: Any) -> bytes:
    return hashlib.blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, list):
        return [_without_nul(one) for one in value]
    if isinstance(value, dict):
        return {_without_nul(name): _without_nul(one) for name, one in value.items()}
    return value
