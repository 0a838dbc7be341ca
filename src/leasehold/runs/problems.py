"""Why something about a run is refused."""

from leasehold.problems import Problem


class RunUnknown(Problem):
    """No run of your organisation has this id. `GET /v2/runs` lists them."""

    status, title = 404, "Run unknown"


class BudgetExceeded(Problem):
    """It may cost more than the cap allows: `estimated_cost_micros` and `budget_cap_micros` say how much.

    Choose fewer categories, or have the cap raised.
    """

    status, title = 409, "Budget exceeded"


class PlatformMissing(Problem):
    """What this collector finds goes through a platform whose file is not there: `platform` says which.

    Put the file into the folder of platforms; the shipped one is a beginning. `GET /v2/platforms` lists those in force.
    """

    status, title = 409, "Platform missing"


class PriceMissing(Problem):
    """Nobody wrote down what `categories` cost, so nobody can say what the run may.

    Add their price to `prices.yaml`, or leave them out.
    """

    status, title = 409, "Price missing"


def unknown_run() -> RunUnknown:
    return RunUnknown("No run of your organisation has this id.")
