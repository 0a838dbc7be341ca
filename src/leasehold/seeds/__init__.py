"""Front door of seeds: addresses that are visited again and again, handed out on leases when they are due."""

from leasehold.seeds.answers import SeedGrantOut, granted_seeds
from leasehold.seeds.books import books
from leasehold.seeds.models import Seed
from leasehold.seeds.service import Seeds

__all__ = ["Seed", "SeedGrantOut", "Seeds", "books", "granted_seeds"]
