"""Jobs: requests for crawls, the tasks that workers take, and what they bring."""

from leasehold.jobs.books import books
from leasehold.jobs.problems import JobUnknown, PlatformUnknown, WrongState
from leasehold.jobs.router import routes
from leasehold.jobs.service import Jobs

__all__ = ["JobUnknown", "Jobs", "PlatformUnknown", "WrongState", "books", "routes"]
