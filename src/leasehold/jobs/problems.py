"""Why something about a job is refused."""

from leasehold.problems import Problem


class JobUnknown(Problem):
    """No job of your organisation has this id. `GET /v2/jobs` lists them."""

    status, title = 404, "Job unknown"


class PlatformUnknown(Problem):
    """No platform has this name. `GET /v2/platforms` lists them; a platform is a file in the folder of platforms."""

    status, title = 404, "Platform unknown"


class WrongState(Problem):
    """It cannot do that where it is; `status_now` says where that is."""

    status, title = 409, "Wrong state"
