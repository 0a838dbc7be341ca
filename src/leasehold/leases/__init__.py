"""Front door of leases: the right to use one resource for a time."""

from leasehold.leases.answers import LeaseId, LeaseOut, shown
from leasehold.leases.desk import Desk
from leasehold.leases.models import LONGEST_S, PREFIX, Beaten, Ended, How, Kind, Lease, LeaseFilter, Report, new_id
from leasehold.leases.problems import LeaseLost, LeaseUnknown, lost, unknown
from leasehold.leases.service import Holder, Leases, Returned
from leasehold.leases.store import (
    Holding,
    Place,
    enqueue,
    find,
    history,
    hold,
    leave,
    live,
    lost_of,
    overdue,
    past,
    queue,
    renew,
    renew_owner,
    renewed,
)
from leasehold.leases.timekeeper import PostgresFace, Timekeeper
from leasehold.leases.waiting import WaitingRoom
from leasehold.leases.watch import Jump

__all__ = [
    "LONGEST_S",
    "PREFIX",
    "Beaten",
    "Desk",
    "Ended",
    "Holder",
    "Holding",
    "How",
    "Jump",
    "Kind",
    "Lease",
    "LeaseFilter",
    "LeaseId",
    "LeaseLost",
    "LeaseOut",
    "LeaseUnknown",
    "Leases",
    "Place",
    "PostgresFace",
    "Report",
    "Returned",
    "Timekeeper",
    "WaitingRoom",
    "enqueue",
    "find",
    "history",
    "hold",
    "leave",
    "live",
    "lost",
    "lost_of",
    "new_id",
    "overdue",
    "past",
    "queue",
    "renew",
    "renew_owner",
    "renewed",
    "shown",
    "unknown",
]
