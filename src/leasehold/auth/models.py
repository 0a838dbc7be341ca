"""What a token is once it is stored, and what a new one should be."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from leasehold.auth.permissions import Permission, Role


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is stored: everything but the token."""

    id: UUID
    name: str
    role: str | None
    permissions: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class TokenWish:
    """What a new token should be: a role's permissions, or a list of its own."""

    name: str
    role: Role | None
    permissions: frozenset[Permission]
    lifetime: timedelta | None
