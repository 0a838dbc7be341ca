"""Front door of the overview: how everything stands, and what needs somebody, in one answer."""

from leasehold.overview.router import routes
from leasehold.overview.service import Overview

__all__ = ["Overview", "routes"]
