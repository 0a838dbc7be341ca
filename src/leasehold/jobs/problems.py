"""Why something about a job is refused."""

from leasehold.problems import Problem


class JobUnknown(Problem):
    """No job of your organisation has this id. `GET /v2/jobs` lists them."""

    status, title = 404, "Job unknown"


class PlatformUnknown(Problem):
    """No platform has this name. `GET /v2/platforms` lists them; a platform is a file in the folder of platforms."""

    status, title = 404, "Platform unknown"


class WrongTransport(Problem):
    """The workers of this platform get their tasks another way; `transport` says which, and so does its file."""

    status, title = 409, "Wrong transport"


class WrongState(Problem):
    """It cannot do that where it is; `status_now` says where that is."""

    status, title = 409, "Wrong state"


class LimitsNotYours(Problem):
    """The limits of platforms hold for all organisations, and operators of one of them alone may change them live: the
    setting `LEASEHOLD_LIMITS_ORGANISATION` says whose. Ask them, or change the platform's file."""

    status, title = 403, "Limits are not yours"


class JobOfRun(Problem):
    """This job is an item of a run, which pays for each of its calls once. Use `POST /v2/runs/{run_id}/retry` instead.

    `run_id` says which run that is. It tries what failed once more, within its cap.
    """

    status, title = 409, "Job of a run"


class ShadowMissing(Problem):
    """This platform's results are written to one place alone. Name a `shadow` under `writer` in its file."""

    status, title = 409, "No shadow"


class WritersDiffer(Problem):
    """The places results are written to do not hold the same, or too little was compared. `differences` says what."""

    status, title = 409, "Writers differ"


class ReplayUnknown(Problem):
    """No replay of your organisation has this id. `GET /v2/jobs/dead-letters/replays` lists them."""

    status, title = 404, "Replay unknown"
