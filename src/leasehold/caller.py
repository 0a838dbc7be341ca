"""On whose behalf something is done: handed from the door down to the row that is written."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Caller:
    """An organisation's token at work, or the command line on the server itself."""

    organisation: UUID
    token: UUID | None  # None: the command line on the server itself
    name: str
    permissions: frozenset[str]
    digest_key: bytes = b""  # known to the holder of the token alone; keys what is remembered of its bodies
    request_id: str | None = None

    def may(self, permission: str) -> bool:
        return permission in self.permissions
