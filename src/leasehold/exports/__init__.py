"""Front door of exports: what is kept, as lines of JSON, for other tools and for another leasehold."""

from leasehold.exports.service import Exported, Exports

__all__ = ["Exported", "Exports"]
