"""Where sessions are kept, whichever database that is. One contract suite holds both to it."""

from collections.abc import Sequence
from typing import Final, Protocol
from uuid import UUID

from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.sessions.models import Change, Listed, Look, Start, Stored

# How many versions are kept, besides those that a lease started from.
VERSIONS_KEPT: Final = 20


class Drawer(Protocol):
    """The sessions of every organisation, sealed."""

    async def open(self) -> None:
        """Make sure there is what it needs."""

    async def close(self) -> None: ...

    async def look(self, organisation: UUID, account: UUID, lease: UUID | None) -> Look:
        """The session of an account, with the lease if it lives and is on that account. Raises AccountUnknown."""

    async def looks(self, organisation: UUID, accounts: Sequence[UUID]) -> dict[UUID, Look]:
        """The sessions of several; those that have none are left out."""

    async def keep(self, caller: Caller, change: Change, action: str) -> bool:
        """Change what is kept, if nobody was quicker and the lease lives; and that it happened is in the audit."""

    async def forget(self, caller: Caller, look: Look) -> bool:
        """Remove a session with all its versions, if it is still what was read."""

    async def version(self, organisation: UUID, account: UUID, version: int) -> Stored | None: ...

    async def versions(self, organisation: UUID, account: UUID, before: int | None, limit: int) -> list[Stored]:
        """Newest first, and nothing sealed with them."""

    async def page(
        self, organisation: UUID, site: str | None, after: tuple[str, str] | None, limit: int
    ) -> list[Listed]: ...

    async def count(self, conn: Conn, organisation: UUID, site: str) -> int: ...

    async def start(self, organisation: UUID, account: UUID, lease: UUID) -> Start | None:
        """What the context of a lease holds."""

    async def hand_over(self, caller: Caller, account: UUID, lease: UUID | None, start: Start) -> bool:
        """Note what is handed out, and to whom, before it is; False when the lease does not live any more."""

    async def sweep(self, organisation: UUID) -> None:
        """Forget what leases started from that are over."""
