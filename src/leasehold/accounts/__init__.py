"""Front door of accounts: logins at sites, handed out on leases."""

from leasehold.accounts.books import Books, MongoBooks, postgres_books
from leasehold.accounts.counter import Counter
from leasehold.accounts.holder import AccountHolder
from leasehold.accounts.models import AnySlip
from leasehold.accounts.mongo import MongoPool
from leasehold.accounts.mongo_clock import MongoFace
from leasehold.accounts.mongo_shelf import MongoAddressInvalid, connect, missing_indexes
from leasehold.accounts.moving import MoveFailed, Place, move, purge
from leasehold.accounts.moving_mongo import MongoPlace
from leasehold.accounts.moving_postgres import PostgresPlace
from leasehold.accounts.placing import Store, WrongStore, in_force, settle_in
from leasehold.accounts.pool import Pool
from leasehold.accounts.postgres import PostgresPool
from leasehold.accounts.safes import MongoSafe, PostgresSafe, SecretsDamaged, at_rest
from leasehold.accounts.service import Accounts

__all__ = [
    "AccountHolder",
    "Accounts",
    "AnySlip",
    "Books",
    "Counter",
    "MongoAddressInvalid",
    "MongoBooks",
    "MongoFace",
    "MongoPlace",
    "MongoPool",
    "MongoSafe",
    "MoveFailed",
    "Place",
    "Pool",
    "PostgresPlace",
    "PostgresPool",
    "PostgresSafe",
    "SecretsDamaged",
    "Store",
    "WrongStore",
    "at_rest",
    "connect",
    "in_force",
    "missing_indexes",
    "move",
    "postgres_books",
    "purge",
    "settle_in",
]
