"""Why something about a seed is refused."""

from leasehold.problems import Problem


class SeedUnknown(Problem):
    """No seed of your organisation has this id. `GET /v2/seeds` lists them."""

    status, title = 404, "Seed unknown"


class SeedInUse(Problem):
    """Somebody holds a lease on this seed. Wait until it ends, or revoke it: `lease` names it."""

    status, title = 409, "Seed in use"


def unknown_seed() -> SeedUnknown:
    return SeedUnknown("No seed of your organisation has this id.")
