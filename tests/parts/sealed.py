"""The sealed secrets in a store, seen and changed past every wall, as somebody could who holds the database."""

from dataclasses import dataclass, replace
from typing import Any, Protocol
from uuid import UUID

import bson
from bson.codec_options import CodecOptions
from pymongo.collection import Collection

from leasehold.vault import Place, Sealed, Vault
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

_UUIDS = CodecOptions[dict[str, Any]](uuid_representation=bson.UuidRepresentation.STANDARD)


@dataclass(frozen=True)
class Stored:
    """One secret as it lies there."""

    organisation: UUID
    account: UUID
    version: int
    key_id: str
    sealed: bytes

    @property
    def place(self) -> Place:
        return Place(self.organisation, self.account, "account.secret", self.version)

    def open(self, vault: Vault) -> bytes:
        return vault.open(Sealed(self.key_id, self.sealed), self.place)

    def next(self, vault: Vault, plaintext: bytes) -> "Stored":
        """What lies there after somebody changed the secret."""
        later = replace(self, version=self.version + 1)
        made = vault.seal(plaintext, later.place)
        return replace(later, key_id=made.key_id, sealed=made.blob)


class Drawer(Protocol):
    """A store, opened by force."""

    def rows(self) -> dict[UUID, Stored]: ...

    def put(self, row: Stored) -> None: ...

    def remove(self, account: UUID) -> None: ...

    def move_away(self, account: UUID) -> None:
        """As a move to the other store leaves it."""

    def bytes(self) -> bytes:
        """Everything there is, to be searched."""


class PostgresDrawer:
    def __init__(self, database: TestDatabase) -> None:
        self._database = database

    def rows(self) -> dict[UUID, Stored]:
        found = self._database.rows("SELECT organisation, account, version, key_id, sealed FROM account_secret")
        return {row[1]: Stored(*row) for row in found}

    def put(self, row: Stored) -> None:
        self._database.run(
            "UPDATE account_secret SET version = %s, key_id = %s, sealed = %s WHERE account = %s",
            row.version,
            row.key_id,
            row.sealed,
            row.account,
        )

    def remove(self, account: UUID) -> None:
        self._database.run("DELETE FROM account WHERE id = %s", account)

    def move_away(self, account: UUID) -> None:
        self._database.run("UPDATE account SET moved = true WHERE id = %s", account)

    def bytes(self) -> bytes:
        """Every row of every table as text, which shows bytes as hex digits, and those bytes themselves."""
        tables = self._database.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        found = [row[0] for (table,) in tables for row in self._database.rows(f"SELECT t::text FROM {table} t")]
        raw = [row.sealed for row in self.rows().values()]
        return "\n".join(found).encode() + b"\n".join(raw)


class MongoDrawer:
    """The other store keeps the audit and the rest of the house, so that is searched, too."""

    def __init__(self, database: TestDatabase, mongo: MongoDatabase) -> None:
        self._beside = PostgresDrawer(database)
        self._mongo = mongo

    def rows(self) -> dict[UUID, Stored]:
        with self._mongo.connect() as client:
            found = self._accounts(client).find().to_list()
        return {row["_id"]: Stored(row["organisation"], row["_id"], **row["secret"]) for row in found}

    def put(self, row: Stored) -> None:
        secret = {"version": row.version, "key_id": row.key_id, "sealed": row.sealed}
        with self._mongo.connect() as client:
            self._accounts(client).update_one({"_id": row.account}, {"$set": {"secret": secret}})

    def remove(self, account: UUID) -> None:
        with self._mongo.connect() as client:
            self._accounts(client).delete_one({"_id": account})

    def move_away(self, account: UUID) -> None:
        with self._mongo.connect() as client:
            self._accounts(client).update_one({"_id": account}, {"$set": {"moved": True}})

    def bytes(self) -> bytes:
        with self._mongo.connect() as client:
            database = client.get_database(self._mongo.name, codec_options=_UUIDS)
            names = database.list_collection_names()
            documents = [document for name in names for document in database[name].find()]
        return b"".join(bson.encode(document, codec_options=_UUIDS) for document in documents) + self._beside.bytes()

    def _accounts(self, client: Any) -> Collection[dict[str, Any]]:
        accounts: Collection[dict[str, Any]] = client[self._mongo.name].get_collection("accounts", codec_options=_UUIDS)
        return accounts
