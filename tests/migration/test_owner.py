"""The owner of a database need not be a superuser: it makes the roles, or is given them."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from leasehold.db import Database
from leasehold.migrate import migrate, shipped
from tests.parts.postgres import Postgres, TestDatabase


@pytest.fixture
def owner(postgres: Postgres) -> Iterator[str]:
    """A database of an ordinary role. The roles of requests belong to the cluster and are there already."""
    database = postgres.create("lh_owned")
    database.run("DROP ROLE IF EXISTS lh_owner")
    database.run("CREATE ROLE lh_owner LOGIN")
    database.run("ALTER DATABASE lh_owned OWNER TO lh_owner")
    yield make_conninfo(database.url, user="lh_owner")
    database.run("REVOKE leasehold_app, leasehold_system FROM lh_owner")
    database.run("DROP OWNED BY lh_owner CASCADE")
    database.run("ALTER DATABASE lh_owned OWNER TO postgres")
    database.run("DROP ROLE lh_owner")


async def test_an_owner_that_was_given_the_roles_migrates_and_serves(postgres: Postgres, owner: str) -> None:
    with psycopg.connect(postgres.cluster.url("lh_owned"), autocommit=True) as conn:
        conn.execute("DO $$ BEGIN CREATE ROLE leasehold_app; EXCEPTION WHEN duplicate_object THEN END $$")
        conn.execute("DO $$ BEGIN CREATE ROLE leasehold_system; EXCEPTION WHEN duplicate_object THEN END $$")
        conn.execute("GRANT leasehold_app, leasehold_system TO lh_owner")

    assert migrate(owner) == shipped()

    async with Database(owner, pool_size=2) as db, db.system() as conn_as_system:
        cur = await conn_as_system.execute("SELECT current_user, session_user")
        assert await cur.fetchone() == ("leasehold_system", "lh_owner")


async def test_options_of_the_address_are_kept(database: TestDatabase) -> None:
    url = make_conninfo(database.url, options="-c work_mem=5MB")

    async with Database(url, pool_size=2) as db, db.system() as conn:
        cur = await conn.execute("SELECT current_setting('work_mem'), current_setting('timezone')")
        assert await cur.fetchone() == ("5MB", "UTC")


def test_an_owner_without_the_roles_is_told_which(owner: str) -> None:
    with pytest.raises(Exception, match="leasehold_app"):
        migrate(owner)
