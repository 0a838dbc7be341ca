"""The change of keys, for the command line: beside running servers, and begun again wherever it was cut short."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from psycopg import AsyncConnection

from leasehold import vault
from leasehold.accounts import MongoSafe, PostgresSafe, at_rest, connect
from leasehold.app import organisations
from leasehold.db import APPLICATION_NAME, Conn, Database
from leasehold.entities import SuppressionSafe
from leasehold.life import CannotStart, database, key_place, keyring
from leasehold.migrate import migrate
from leasehold.sessions import MongoSessionSafe, PostgresSessionSafe
from leasehold.settings import Settings
from leasehold.vault import Keyring, KeysInvalid, Safe, SecretsSealed, Vault

# Any number, as long as it is ours alone: the key of the lock that one who changes keys holds.
LOCK_KEY = 0x6B657973
# One that was killed still holds the lock until PostgreSQL notices.
_PATIENCE_S = 5.0
_LOOK_EVERY_S = 0.2

# Transactions of servers that were open already at a given time.
_OPEN = """
SELECT count(*)
  FROM pg_stat_activity
 WHERE datname = current_database() AND application_name = %(application)s::text
   AND xact_start < %(since)s::timestamptz
"""


@dataclass(frozen=True, slots=True)
class _Turn:
    """One who changes the keys, and nobody else does meanwhile."""

    settings: Settings
    keys: Keyring
    db: Database
    # As the owner, who sees what servers have under way.
    owner: Conn
    say: Callable[[str], None]

    @property
    def is_setting(self) -> bool:
        return bool(self.settings.keys.get_secret_value())

    @property
    def where(self) -> str:
        return key_place(self.settings)

    @property
    def older(self) -> list[str]:
        return [key_id for key_id in self.keys.ids if key_id != self.keys.newest.id]

    async def census(self) -> Counter[str]:
        async with safes(self.db, self.settings) as found:
            return await census(found)

    async def rewrap(self) -> None:
        """Bring everything under the newest key."""
        async with safes(self.db, self.settings) as found:
            taken = await vault.rotate(Vault(self.keys), found, self.say)
        self.say(f"Every secret is under {self.keys.newest.id} ({sum(taken.values()):,} re-wrapped).")

    async def unused(self) -> list[str]:
        """The keys that no secret needs, nor will: what was sealed with them is stored by now, or never will be."""
        while True:
            await self._wait_for_older_work()
            used = await self.census()
            if not set(used) - {self.keys.newest.id}:
                return self.older
            await self.rewrap()

    async def _wait_for_older_work(self) -> None:
        # A server seals inside a transaction, with the newest key it knows. One that is open since before now may hold
        # secrets under an older key that nobody else can see yet.
        (since,) = (await (await self.owner.execute("SELECT clock_timestamp()")).fetchall())[0]
        looks = 0
        while True:
            cur = await self.owner.execute(_OPEN, {"application": APPLICATION_NAME, "since": since})
            (left,) = (await cur.fetchall())[0]
            if not left:
                return
            looks += 1
            if looks == 5:
                self.say(f"waiting for work that servers have under way ({left:,} open)")
            await asyncio.sleep(_LOOK_EVERY_S)


def begin(settings: Settings, say: Callable[[str], None]) -> None:
    """Bring every secret under a new key, or go on with that. Keys of the setting are the operator's to make."""
    _run(_begin, settings, say)


def finish(settings: Settings, say: Callable[[str], None]) -> None:
    """End a change of keys: re-wrap what is left, and remove the keys that no secret needs. Makes no key."""
    _run(_finish, settings, say)


async def _begin(turn: _Turn) -> None:
    used = await turn.census()
    newest = turn.keys.newest.id
    if older := used.total() - used[newest]:
        turn.say(f"{older:,} of {used.total():,} secrets are not under {newest} yet.")
    elif not turn.is_setting:
        turn.say(f"{turn.keys.add_key()} is the new key, the first in {turn.where}.")
    await turn.rewrap()
    if turn.is_setting:
        await _tell_what_may_leave(turn)
    elif left := turn.older:
        turn.say(
            f"{_and(left)} {'is' if len(left) == 1 else 'are'} still in {turn.where}. Make a copy of that file, then"
            f" remove {_it(left)} with `leasehold keys rotate --finish`."
        )


async def _finish(turn: _Turn) -> None:
    await turn.rewrap()
    if turn.is_setting:
        await _tell_what_may_leave(turn)
    elif unused := await turn.unused():
        turn.keys.retire(unused)
        turn.say(f"Removed {_and(unused)} from {turn.where}: no secret needs {_it(unused)}.")
    else:
        turn.say(f"It is the only key in {turn.where}: there is nothing to finish.")


async def _tell_what_may_leave(turn: _Turn) -> None:
    if unused := await turn.unused():
        turn.say(
            f"No secret needs {_and(unused)}: once every server was started with {turn.keys.newest.id} as its first"
            f" key, {_it(unused, 'they')} may leave {turn.where}."
        )
    else:
        turn.say(f"It is the only key in {turn.where}. To change it, put a new one before it and run this again.")


def _and(ids: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(ids[:-1]), ids[-1]]))


def _it(ids: Sequence[str], otherwise: str = "them") -> str:
    return "it" if len(ids) == 1 else otherwise


def _run(work: Callable[[_Turn], Awaitable[None]], settings: Settings, say: Callable[[str], None]) -> None:
    keys = keyring(settings, may_make=False)  # before PostgreSQL is started for nothing

    async def take_turn(url: str) -> None:
        async with (
            Database(url, pool_size=4) as db,
            await AsyncConnection.connect(url, autocommit=True, application_name="leasehold-keys") as owner,
        ):
            await _insist_on_being_alone(owner)
            await work(_Turn(settings, keys, db, owner, say))

    try:
        with database(settings) as url:
            migrate(url)
            asyncio.run(take_turn(url))
    except KeysInvalid as error:
        raise CannotStart(str(error)) from None
    except SecretsSealed as error:
        raise CannotStart(f"{error.detail} {bring_back(settings)}") from None


def bring_back(settings: Settings) -> str:
    """What to do when a key is missing."""
    return f"Bring that key back into {key_place(settings)}; if it is lost for good, store those secrets again."


async def _insist_on_being_alone(owner: Conn) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _PATIENCE_S
    while True:
        cur = await owner.execute("SELECT pg_try_advisory_lock(%(key)s::bigint)", {"key": LOCK_KEY})
        if await cur.fetchone() == (True,):
            return
        if loop.time() > deadline:
            raise CannotStart("Another `leasehold keys rotate` is at work on this database. Let it end first.")
        await asyncio.sleep(_LOOK_EVERY_S)


async def census(found: Sequence[Safe]) -> Counter[str]:
    """How many secrets there are under each key, wherever they are."""
    total: Counter[str] = Counter()
    for safe in found:
        total.update(await safe.census())
    return total


@asynccontextmanager
async def safes(db: Database, settings: Settings) -> AsyncIterator[list[Safe]]:
    """Wherever there are secrets of anybody: in PostgreSQL always, for moved accounts leave theirs behind."""
    everybody = [organisation for organisation, _slug in await organisations(db)]
    found: list[Safe] = [
        PostgresSafe(db, everybody),
        PostgresSessionSafe(db, everybody),
        SuppressionSafe(db, everybody),
    ]
    async with db.pool.connection() as conn:
        store = await at_rest(conn)
    address = settings.mongo_url.get_secret_value()
    if store == "mongo" and not address:
        raise CannotStart("The accounts are in mongo: say in LEASEHOLD_MONGO_URL where, as mongodb://host:port/name.")
    async with AsyncExitStack() as stack:
        if address:
            client, name = connect(address)
            await stack.enter_async_context(client)
            found += [MongoSafe(db, client, name), MongoSessionSafe(db, client, name)]
        yield found
