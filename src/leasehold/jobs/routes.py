"""Where results go just now: what a platform's file says, and how far its move has come. No I/O."""

from dataclasses import dataclass

from leasehold.platforms import Phase, Platform
from leasehold.writers import Space


@dataclass(frozen=True, slots=True)
class Route:
    """Where a platform's results go."""

    phase: Phase
    target: str  # the one that has to confirm
    space: Space
    shadow: str | None  # where they go besides

    @property
    def shadows_at(self) -> str | None:
        """Where the shadow is, if there is one: while results are only observed it is all that we write to."""
        return self.target if self.space is Space.SHADOW else self.shadow

    @property
    def is_inline(self) -> bool:
        """Whether accepting and writing is one transaction."""
        return self.target == "postgres" and self.phase is not Phase.STREAM


def route(platform: Platform | None, promoted: Phase | None) -> Route:
    """What somebody has promoted stands over the file."""
    if platform is None:
        return Route(Phase.PRIMARY, "postgres", Space.MAIN, None)
    writer = platform.writer
    phase = promoted or writer.phase
    if phase is Phase.OBSERVE and writer.shadow is not None:
        return Route(phase, writer.shadow, Space.SHADOW, None)
    return Route(phase, writer.target, Space.MAIN, writer.shadow)
