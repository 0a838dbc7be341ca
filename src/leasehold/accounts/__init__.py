"""Front door of accounts: logins at sites, handed out on leases."""

from leasehold.accounts.answers import AccountId, AccountOut, GrantedSession, GrantOut, granted
from leasehold.accounts.books import MongoBooks, postgres_books
from leasehold.accounts.counter import AccountCounter
from leasehold.accounts.holder import AccountHolder
from leasehold.accounts.importing import from_csv, from_ndjson
from leasehold.accounts.intake import TakenIn, take_in
from leasehold.accounts.models import AccountFilter, AnySlip, Offer
from leasehold.accounts.mongo import MongoPool
from leasehold.accounts.mongo_clock import MongoFace
from leasehold.accounts.mongo_shelf import MongoAddressInvalid, MongoShelf, connect, missing_indexes, reachable
from leasehold.accounts.moving import MoveFailed, Place, Sum, digest, move, purge
from leasehold.accounts.moving_mongo import MongoPlace, kept_as
from leasehold.accounts.moving_postgres import PostgresPlace
from leasehold.accounts.notes import PREFIX
from leasehold.accounts.placing import Store, WrongStore, in_force, settle_in
from leasehold.accounts.pool import Pool
from leasehold.accounts.postgres import PostgresPool
from leasehold.accounts.problems import AccountUnknown, PoolsMoving
from leasehold.accounts.records import unknown_account
from leasehold.accounts.safes import MongoSafe, PostgresSafe, SecretsDamaged, at_rest
from leasehold.accounts.service import Accounts, Wanted

__all__ = [
    "PREFIX",
    "AccountCounter",
    "AccountFilter",
    "AccountHolder",
    "AccountId",
    "AccountOut",
    "AccountUnknown",
    "Accounts",
    "AnySlip",
    "GrantOut",
    "GrantedSession",
    "MongoAddressInvalid",
    "MongoBooks",
    "MongoFace",
    "MongoPlace",
    "MongoPool",
    "MongoSafe",
    "MongoShelf",
    "MoveFailed",
    "Offer",
    "Place",
    "Pool",
    "PoolsMoving",
    "PostgresPlace",
    "PostgresPool",
    "PostgresSafe",
    "SecretsDamaged",
    "Store",
    "Sum",
    "TakenIn",
    "Wanted",
    "WrongStore",
    "at_rest",
    "connect",
    "digest",
    "from_csv",
    "from_ndjson",
    "granted",
    "in_force",
    "kept_as",
    "missing_indexes",
    "move",
    "postgres_books",
    "purge",
    "reachable",
    "settle_in",
    "take_in",
    "unknown_account",
]
