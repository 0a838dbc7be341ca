"""Front door of health: is this process alive, and is it ready for work."""

from leasehold.health.checks import Health

__all__ = ["Health"]
