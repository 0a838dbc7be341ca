"""Front door of accounts: logins at sites, handed out on leases."""

from leasehold.accounts.holder import AccountHolder
from leasehold.accounts.models import AnySlip
from leasehold.accounts.pool import Pool
from leasehold.accounts.postgres import PostgresPool
from leasehold.accounts.service import Accounts, Wanted

__all__ = ["AccountHolder", "Accounts", "AnySlip", "Pool", "PostgresPool", "Wanted"]
