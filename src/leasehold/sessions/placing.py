"""Where a session is placed at hand-out: on the address its site had at a time, with the names that show a sign-in."""

from dataclasses import dataclass

from leasehold.sessions.handout import Place
from leasehold.sessions.projection import Placement, Projection, project
from leasehold.sites import Mount, Site, Subdomains, Trust


@dataclass(frozen=True, slots=True)
class Ground:
    """What a site says about sessions."""

    slug: str
    epoch: int
    markers: frozenset[str]
    mounts: list[Mount]  # of trust enough to name it, oldest first

    def place(self, at: float | None = None, report: Projection | None = None) -> Place | None:
        """Moves entries of former addresses to the one the site had then; None where there was only one."""
        known = [mount for mount in self.mounts if at is None or mount.since <= at]
        if len(known) < 2 or known[-1].trust is not Trust.CREDENTIALS:
            return None
        placement = Placement(known[-1], known[:-1])
        return lambda kept, gone: project(kept, gone, placement, report)


def ground_of(site: Site) -> Ground:
    mounts = [
        Mount(
            one.host,
            one.scheme,
            one.port,
            one.prefix,
            Subdomains(one.subdomains),
            tuple(one.fold),
            one.since.timestamp(),
            Trust(one.trust),
        )
        for one in sorted(site.mounts, key=lambda one: one.since)
        if Trust(one.trust).reaches(Trust.URLS)
    ]
    return Ground(site.slug, site.epoch, frozenset(site.policy.auth_markers), mounts)
