"""Front door of the live socket: news of runs as they come, for those who have a ticket."""

from leasehold.live.hub import CHECK_EVERY_S, Live
from leasehold.live.router import routes
from leasehold.live.tickets import SWEEP_EVERY_S, Tickets

__all__ = ["CHECK_EVERY_S", "SWEEP_EVERY_S", "Live", "Tickets", "routes"]
