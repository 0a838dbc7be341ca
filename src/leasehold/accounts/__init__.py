"""Front door of accounts: logins at sites, handed out on leases."""

from leasehold.accounts.holder import AccountHolder
from leasehold.accounts.models import AnySlip
from leasehold.accounts.mongo import MongoPool, connect
from leasehold.accounts.placing import WrongStore, settle_in
from leasehold.accounts.pool import Pool
from leasehold.accounts.postgres import PostgresPool
from leasehold.accounts.service import Accounts, Wanted

__all__ = [
    "AccountHolder",
    "Accounts",
    "AnySlip",
    "MongoPool",
    "Pool",
    "PostgresPool",
    "Wanted",
    "WrongStore",
    "connect",
    "settle_in",
]
