"""Front door of runs: budgeted batches of items, planned, driven and watched."""

from leasehold.runs.answers import event_out, run_out, snapshot
from leasehold.runs.drivers import LOOK_EVERY_S, Drivers
from leasehold.runs.models import RUN, Event, Run, RunFilter
from leasehold.runs.problems import RunUnknown
from leasehold.runs.router import routes
from leasehold.runs.service import Collectors, Runs
from leasehold.runs.shelf import Shelf, Stock
from leasehold.runs.store import CHANNEL, books
from leasehold.runs.watching import News, Watchers
from leasehold.runs.workers import LOOK_EVERY_S as WORK_EVERY_S
from leasehold.runs.workers import Workers

__all__ = [
    "CHANNEL",
    "LOOK_EVERY_S",
    "RUN",
    "WORK_EVERY_S",
    "Collectors",
    "Drivers",
    "Event",
    "News",
    "Run",
    "RunFilter",
    "RunUnknown",
    "Runs",
    "Shelf",
    "Stock",
    "Watchers",
    "Workers",
    "books",
    "event_out",
    "routes",
    "run_out",
    "snapshot",
]
