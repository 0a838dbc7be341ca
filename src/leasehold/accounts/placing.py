"""Which store the pools are in: said by a setting, kept by a row, and both must agree before anything is granted."""

from typing import Literal

from leasehold.accounts import store
from leasehold.db import Conn

Store = Literal["postgres", "mongo"]


class WrongStore(Exception):
    """The setting names another store than the one the accounts are in. The message says what to do."""


async def in_force(conn: Conn) -> Store:
    """The store the pools are in; during a move, the one they come from."""
    return "mongo" if (await store.where(conn))[0] == "mongo" else "postgres"


async def settle_in(conn: Conn, wanted: Store) -> None:
    """Make sure the pools are where the setting says; where there was never an account they are from now on."""
    await store.adopt(conn, wanted)
    now, moving_to = await store.where(conn)
    if moving_to is not None:
        raise WrongStore(
            f"The accounts are on their way from {now} to {moving_to}. Run `leasehold migrate-pools --to {moving_to}`"
            f" to the end and start with LEASEHOLD_POOLS={moving_to}."
        )
    if now != wanted:
        raise WrongStore(
            f"The accounts are in {now}, but LEASEHOLD_POOLS says {wanted}. Start with LEASEHOLD_POOLS={now}, or move"
            f" them with `leasehold migrate-pools --to {wanted}` first."
        )
