"""Jobs: requests for crawls, the tasks that workers take, and what they bring."""

from leasehold.jobs import limits_router as _limits_routes  # noqa: F401 (joins `routes`)
from leasehold.jobs import moving_router as _more_routes  # noqa: F401 (joins `routes`)
from leasehold.jobs.answers import VerdictOut
from leasehold.jobs.books import books, lease_books
from leasehold.jobs.intake import take_in
from leasehold.jobs.limits import breakers
from leasehold.jobs.machine import Verdict
from leasehold.jobs.measuring import BOOKS_EVERY_S, Measuring
from leasehold.jobs.measuring import EVERY_S as MEASURE_EVERY_S
from leasehold.jobs.messages import CollectorTask, CrawlerResult, CrawlRequest
from leasehold.jobs.models import Burial, Order
from leasehold.jobs.posting import Parcel, Posting
from leasehold.jobs.problems import JobOfRun, JobUnknown, PlatformUnknown, ReplayUnknown, WrongState, WrongTransport
from leasehold.jobs.replay import Replays
from leasehold.jobs.replaying import routes as replay_routes
from leasehold.jobs.results import Told
from leasehold.jobs.router import routes
from leasehold.jobs.service import Jobs
from leasehold.jobs.writing import EVERY_S as WRITE_EVERY_S
from leasehold.jobs.writing import Writers, Writing

__all__ = [
    "BOOKS_EVERY_S",
    "MEASURE_EVERY_S",
    "WRITE_EVERY_S",
    "Burial",
    "CollectorTask",
    "CrawlRequest",
    "CrawlerResult",
    "JobOfRun",
    "JobUnknown",
    "Jobs",
    "Measuring",
    "Order",
    "Parcel",
    "PlatformUnknown",
    "Posting",
    "ReplayUnknown",
    "Replays",
    "Told",
    "Verdict",
    "VerdictOut",
    "Writers",
    "Writing",
    "WrongState",
    "WrongTransport",
    "books",
    "breakers",
    "lease_books",
    "replay_routes",
    "routes",
    "take_in",
]
