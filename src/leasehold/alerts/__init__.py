"""Front door of alerts: what an operator is told of without having asked, by a call to an address of theirs."""

from leasehold.alerts.checks import check
from leasehold.alerts.models import (
    BREAKER_CLOSED,
    BREAKER_OPENED,
    DEAD_LETTERS,
    PLATFORM_PAUSED,
    PLATFORM_RESUMED,
    Known,
)
from leasehold.alerts.service import EVERY_S, SWEEP_EVERY_S, Alerts
from leasehold.alerts.signing import HEADER, signature
from leasehold.alerts.store import raise_, recent

__all__ = [
    "BREAKER_CLOSED",
    "BREAKER_OPENED",
    "DEAD_LETTERS",
    "EVERY_S",
    "HEADER",
    "PLATFORM_PAUSED",
    "PLATFORM_RESUMED",
    "SWEEP_EVERY_S",
    "Alerts",
    "Known",
    "check",
    "raise_",
    "recent",
    "signature",
]
