"""The ground a benchmark stands on: a PostgreSQL of its own, filled with sites and accounts past the API."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import psycopg

from bench.server import KEYS
from leasehold.accounts.records import seal
from leasehold.auth import Role, Tokens, role_wish
from leasehold.db import Database
from leasehold.embedded import Embedded
from leasehold.ids import uuid7
from leasehold.migrate import migrate
from leasehold.vault import Keyring, Vault

SITES = 500


@contextmanager
def scratch_postgres() -> Iterator[tuple[str, Path]]:
    """The owner's address of an empty leasehold database, and the folder of PostgreSQL's programs."""
    with tempfile.TemporaryDirectory(prefix="leasehold-bench-") as folder:
        Path(folder).chmod(0o755)
        embedded = Embedded(Path(folder))
        url = embedded.start()
        try:
            migrate(url)
            yield url, embedded.programs
        finally:
            embedded.stop()


async def token(url: str) -> str:
    async with Database(url, pool_size=2) as db:
        return await Tokens(db).create_locally("default", role_wish("bench", Role.ADMIN))


def fill(url: str, accounts: int, sites: int = SITES) -> UUID:
    """So many accounts over so many sites; whatever was there is gone."""
    vault = Vault(Keyring.parse(KEYS))
    with psycopg.connect(url, autocommit=True) as conn:
        row = conn.execute("SELECT id FROM organisation WHERE slug = 'default'").fetchone()
        organisation: UUID = row[0] if row else UUID(int=0)
        conn.execute("TRUNCATE account, account_secret, lease, lease_end CASCADE")
        conn.execute("SET session_replication_role = replica")
        conn.execute("DELETE FROM audit_event")
        conn.execute("DELETE FROM audit_seal")
        conn.execute("SET session_replication_role = origin")
        conn.execute(
            "INSERT INTO site (organisation, slug, name) SELECT %s, 's' || n, 's' || n FROM generate_series(0, %s) n"
            " ON CONFLICT DO NOTHING",
            [organisation, SITES - 1],
        )
        ids = [uuid7() for _ in range(accounts)]
        with conn.cursor().copy("COPY account (id, organisation, site, username, last_leased_at) FROM STDIN") as copy:
            for n, account in enumerate(ids):
                copy.write_row((account, organisation, f"s{n % sites}", f"u{n}", "2020-01-01"))
        columns = "(account, organisation, version, key_id, sealed)"
        with conn.cursor().copy(f"COPY account_secret {columns} FROM STDIN WITH (FORMAT binary)".encode()) as copy:
            copy.set_types(["uuid", "uuid", "int4", "text", "bytea"])
            for account in ids:
                secret = seal(vault, organisation, account, 1, {"password": "correct horse battery staple"})
                copy.write_row((account, organisation, 1, secret.key_id, secret.sealed))
        conn.execute("VACUUM ANALYZE")
        conn.execute("CHECKPOINT")
    return organisation


def make_busy(url: str, percent: int) -> UUID:
    """Let so many of each site's accounts be held by somebody who keeps them."""
    with psycopg.connect(url, autocommit=True) as conn:
        row = conn.execute("SELECT id FROM organisation WHERE slug = 'default'").fetchone()
        conn.execute("TRUNCATE lease")
        conn.execute(
            "WITH held AS (UPDATE account SET lease = gen_random_uuid(), fence = fence + 1, last_leased_at = now(),"
            " back_at = now() + interval '1 hour' WHERE id IN (SELECT id FROM (SELECT id, row_number()"
            " OVER (PARTITION BY site) AS n, count(*) OVER (PARTITION BY site) AS of FROM account) numbered"
            " WHERE n <= floor(of * %s / 100.0)) RETURNING *)"
            " INSERT INTO lease (id, organisation, kind, resource, site, owner, fence, ttl_seconds, acquired_at,"
            " expires_at) SELECT lease, organisation, 'account', id, site, 'busy', fence, 3600, now(), back_at"
            " FROM held",
            [percent],
        )
        conn.execute("VACUUM ANALYZE")
        organisation: UUID = row[0] if row else UUID(int=0)
        return organisation


@contextmanager
def serving(url: str, port: int, *flags: str) -> Iterator[int]:
    """The product's server as a process of its own; tells its id."""
    command = [sys.executable, "-m", "bench.server", "--database", url, "--port", str(port), *flags]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        if server.stdout is None or server.stdout.readline().strip() != "ready":
            raise RuntimeError("the server did not start; it says why above")
        yield server.pid
    finally:
        server.terminate()
        server.wait(30)
