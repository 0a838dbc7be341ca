"""A change of keys reaches every row, whatever cuts it short and whoever seals meanwhile."""

from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest

from leasehold.ids import uuid7
from leasehold.vault import Keyring, Place, Sealed, SecretsSealed, Vault, rotate

ORGANISATION = uuid7()


class Drawer:
    """A safe in memory."""

    def __init__(self, name: str = "accounts") -> None:
        self.name = name
        self.rows: dict[UUID, Sealed] = {}

    def put(self, vault: Vault, count: int) -> None:
        for _ in range(count):
            row = uuid7()
            self.rows[row] = vault.seal(row.bytes, self.place(row))

    def place(self, row: UUID) -> Place:
        return Place(ORGANISATION, row, "password", 1)

    def opens(self, vault: Vault) -> bool:
        return all(vault.open(sealed, self.place(row)) == row.bytes for row, sealed in self.rows.items())

    async def census(self) -> dict[str, int]:
        return dict(Counter(sealed.key_id for sealed in self.rows.values()))

    async def rewrap(self, vault: Vault, batch: int) -> int:
        newest = vault.newest
        old = [(row, sealed) for row, sealed in self.rows.items() if sealed.key_id != newest][:batch]
        for row, sealed in old:
            made = vault.rewrap(sealed, self.place(row))
            if self.rows[row] is sealed:
                self.rows[row] = made
        return len(old)


class Killed(BaseException):
    """The end of a process, wherever it is."""


@pytest.fixture
def keys(tmp_path: Path) -> Keyring:
    return Keyring.create_file(tmp_path / "keys")


async def turn(vault: Vault, *safes: Drawer, batch: int = 500) -> tuple[dict[str, int], list[str]]:
    said: list[str] = []
    return await rotate(vault, safes, said.append, batch, settle_s=0), said


async def test_every_row_of_every_safe_comes_under_the_newest_key(keys: Keyring) -> None:
    vault, accounts, sessions = Vault(keys), Drawer("accounts"), Drawer("sessions")
    accounts.put(vault, 1200)
    sessions.put(vault, 3)
    new = keys.add_key()

    taken, said = await turn(vault, accounts, sessions)

    assert taken == {"accounts": 1200, "sessions": 3}
    assert said == ["accounts 500 of 1,200", "accounts 1,000 of 1,200", "accounts 1,200 of 1,200", "sessions 3 of 3"]
    assert (await accounts.census(), await sessions.census()) == ({new: 1200}, {new: 3})


async def test_the_old_key_can_go_afterwards(keys: Keyring, tmp_path: Path) -> None:
    vault, accounts = Vault(keys), Drawer()
    accounts.put(vault, 10)
    new = keys.add_key()
    await turn(vault, accounts)

    keys.retire(set(keys.ids) - {new})

    assert accounts.opens(Vault(Keyring.from_file(tmp_path / "keys")))


async def test_nothing_to_do_is_done(keys: Keyring) -> None:
    vault, accounts = Vault(keys), Drawer()
    accounts.put(vault, 2)
    before = dict(accounts.rows)

    assert await turn(vault, accounts, Drawer("sessions")) == ({"accounts": 0, "sessions": 0}, [])
    assert accounts.rows == before


async def test_one_that_was_killed_half_way_goes_on_where_it_stopped(keys: Keyring) -> None:
    vault, accounts = Vault(keys), Drawer()
    accounts.put(vault, 100)
    old, new = vault.newest, keys.add_key()

    def dies(line: str) -> None:
        if line == "accounts 40 of 100":
            raise Killed

    with pytest.raises(Killed):
        await rotate(vault, [accounts], dies, 20, settle_s=0)
    half = await accounts.census()
    opened_half_way = accounts.opens(vault)
    taken, said = await turn(vault, accounts, batch=50)

    assert half == {new: 40, old: 60}
    assert opened_half_way
    assert (taken, said) == ({"accounts": 60}, ["accounts 90 of 100", "accounts 100 of 100"])
    assert await accounts.census() == {new: 100}
    assert accounts.opens(vault)


class Busy(Drawer):
    """A safe into which a server stores, after somebody looked, what it had sealed with the key it knew."""

    def __init__(self, stale: Vault, looks: int) -> None:
        super().__init__()
        self.stale, self.looks = stale, looks

    async def census(self) -> dict[str, int]:
        found = await super().census()
        self.looks -= 1
        if self.looks == 0:
            self.put(self.stale, 1)
        return found


@pytest.mark.parametrize("looks", [1, 2])
async def test_what_a_server_seals_with_the_old_key_meanwhile_is_found(
    keys: Keyring, tmp_path: Path, looks: int
) -> None:
    only_old = (tmp_path / "keys").read_text().splitlines()[-1]
    accounts = Busy(Vault(Keyring.parse(only_old)), looks)
    accounts.put(accounts.stale, 2)
    new = keys.add_key()

    taken, said = await turn(Vault(keys), accounts)

    assert taken == {"accounts": 3}
    assert await accounts.census() == {new: 3}
    assert any("every server" in line for line in said) == (looks == 2)


async def test_a_key_that_is_added_during_a_change_is_the_one_that_counts(keys: Keyring) -> None:
    vault, accounts = Vault(keys), Drawer()
    accounts.put(vault, 30)
    keys.add_key()
    added: list[str] = []

    def say(_line: str) -> None:
        if not added:
            added.append(keys.add_key())

    await rotate(vault, [accounts], say, 10, settle_s=0)

    assert await accounts.census() == {added[0]: 30}


async def test_rows_under_a_lost_key_stop_it_before_it_begins(keys: Keyring, tmp_path: Path) -> None:
    vault, accounts = Vault(keys), Drawer()
    accounts.put(vault, 1)
    accounts.put(Vault(Keyring.create_file(tmp_path / "lost")), 2)
    keys.add_key()
    before = dict(accounts.rows)

    with pytest.raises(SecretsSealed, match="Of accounts, 2 are sealed with k"):
        await turn(vault, accounts)

    assert accounts.rows == before
