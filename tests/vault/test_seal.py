"""A sealed secret opens where it belongs, with its key, byte for byte; and nowhere else."""

import base64
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold import vault
from leasehold.vault import Keyring, Place, Sealed, SecretsSealed, Vault

OLD, NEW = bytes(range(32)), bytes(range(32, 64))
SECRET = b"correct horse battery staple"
PLACE = Place(UUID(int=1), UUID(int=2), "password", 3)

places = st.builds(
    Place, st.uuids(), st.uuids(), st.text(st.characters(exclude_categories=["Cs"])), st.integers(-(2**63), 2**63 - 1)
)


def keyring(**keys: bytes) -> Keyring:
    return Keyring.parse(",".join(f"{key_id}:{base64.b64encode(key).decode()}" for key_id, key in keys.items()))


@given(st.binary(), places)
def test_what_was_sealed_opens_again(plaintext: bytes, place: Place) -> None:
    safe = Vault(keyring(old=OLD))

    assert safe.open(safe.seal(plaintext, place), place) == plaintext


def test_nothing_shows_and_no_two_are_alike() -> None:
    safe = Vault(keyring(old=OLD))

    first, second = safe.seal(SECRET, PLACE).blob, safe.seal(SECRET, PLACE).blob

    assert SECRET not in first
    shared = [here for here, (a, b) in enumerate(zip(first, second, strict=True)) if a == b]
    assert len(shared) < 10  # the format's byte, and what chance makes equal


def test_a_secret_opens_in_its_own_place_alone() -> None:
    safe = Vault(keyring(old=OLD))
    ids = UUID(int=1), UUID(int=2)
    everywhere = [Place(*parts) for parts in product(ids, ids, ("password", "cookies"), (1, 2))]
    sealed = {place: safe.seal(SECRET, place) for place in everywhere}

    for own, other in permutations(everywhere, 2):
        with pytest.raises(SecretsSealed):
            safe.open(sealed[own], other)


@given(places, places)
def test_no_two_places_are_spelled_alike(own: Place, other: Place) -> None:
    safe = Vault(keyring(old=OLD))
    sealed = safe.seal(SECRET, own)

    if own != other:
        with pytest.raises(SecretsSealed):
            safe.open(sealed, other)


@pytest.mark.parametrize("change", [{"row": UUID(int=9)}, {"field": "cookies"}, {"version": 4}])
def test_a_secret_in_another_place_is_not_rewrapped(change: dict[str, object]) -> None:
    sealed = Vault(keyring(old=OLD)).seal(SECRET, PLACE)

    with pytest.raises(SecretsSealed):
        Vault(keyring(new=NEW, old=OLD)).rewrap(sealed, replace(PLACE, **change))  # type: ignore[arg-type]


def test_one_flipped_bit_anywhere_keeps_it_closed() -> None:
    safe = Vault(keyring(old=OLD))
    sealed = safe.seal(SECRET, PLACE)

    for where, bit in product(range(len(sealed.blob)), (1, 0x80)):
        flipped = bytearray(sealed.blob)
        flipped[where] ^= bit
        with pytest.raises(SecretsSealed):
            safe.open(Sealed("old", bytes(flipped)), PLACE)


def test_a_blob_cut_short_or_made_longer_stays_closed() -> None:
    safe = Vault(keyring(old=OLD))
    blob = safe.seal(SECRET, PLACE).blob

    for wrong in [*(blob[:end] for end in range(len(blob))), blob + b"\0"]:
        with pytest.raises(SecretsSealed):
            safe.open(Sealed("old", wrong), PLACE)
        with pytest.raises(SecretsSealed):
            safe.open(Sealed("nobody", wrong), PLACE)


def test_a_payload_of_another_secret_in_the_same_place_does_not_open() -> None:
    safe = Vault(keyring(old=OLD))
    one, two = safe.seal(SECRET, PLACE).blob, safe.seal(SECRET, PLACE).blob

    with pytest.raises(SecretsSealed):
        safe.open(Sealed("old", one[:61] + two[61:]), PLACE)


def test_the_id_of_the_key_is_bound_too() -> None:
    safe = Vault(keyring(old=OLD, twin=OLD))
    sealed = safe.seal(SECRET, PLACE)

    with pytest.raises(SecretsSealed):
        safe.open(Sealed("twin", sealed.blob), PLACE)


@pytest.mark.parametrize("keys", [{"new": NEW}, {"old": NEW}])
def test_without_its_key_a_secret_stays_closed(keys: dict[str, bytes]) -> None:
    sealed = Vault(keyring(old=OLD)).seal(SECRET, PLACE)

    with pytest.raises(SecretsSealed) as refused:
        Vault(keyring(**keys)).open(sealed, PLACE)

    told = repr(refused.value.document("req-1"))
    assert (refused.value.status, refused.value.title) == (503, "Secrets sealed")
    assert not any(text in told for key in (OLD, NEW) for text in spellings(key) | spellings(sealed.blob))


def test_the_newest_key_seals_and_every_key_opens() -> None:
    before = Vault(keyring(old=OLD)).seal(SECRET, PLACE)
    safe = Vault(keyring(new=NEW, old=OLD))

    assert safe.seal(SECRET, PLACE).key_id == safe.newest == "new"
    assert safe.open(before, PLACE) == SECRET
    assert (safe.knows("old"), safe.knows("older")) == (True, False)


def test_rewrapping_changes_the_key_and_keeps_the_payload() -> None:
    before = Vault(keyring(old=OLD)).seal(SECRET, PLACE)
    both, new = Vault(keyring(new=NEW, old=OLD)), Vault(keyring(new=NEW))

    after = both.rewrap(before, PLACE)

    assert (after.key_id, after.blob[61:]) == ("new", before.blob[61:])
    assert new.open(after, PLACE) == SECRET
    assert both.rewrap(after, PLACE) is after


def test_what_the_first_release_sealed_still_opens() -> None:
    blob = bytes.fromhex(
        "011ec65536fce1ff8133fe346d20609e319e20614319c87fe713477b050584095b3fa6ee7dd5bbdbfeb86f879f1e95a46b"
        "308554f004bb6b9f7fdb1eacb7e96225d23642238d64d3608319c4f442aeda7a047657b9f77919c8fdded488a70329"
    )

    assert Vault(keyring(first=OLD)).open(Sealed("first", blob), PLACE) == b"hunter2"


def test_nothing_is_sealed_with_a_key_that_a_restart_would_lose(tmp_path: Path) -> None:
    safe = Vault(Keyring.create_file(tmp_path / "keys"))
    sealed = safe.seal(SECRET, PLACE)
    (tmp_path / "keys").unlink()

    with pytest.raises(SecretsSealed):
        safe.seal(SECRET, PLACE)
    with pytest.raises(SecretsSealed):
        safe.open(Sealed("other", sealed.blob), PLACE)

    assert safe.open(sealed, PLACE) == SECRET  # what can be read helps to save what there is
    assert not safe.knows("other")


def test_no_key_shows_when_something_is_printed() -> None:
    keys = keyring(old=OLD, new=NEW)
    safe = Vault(keys)
    sealed = safe.seal(SECRET, PLACE)

    told = "".join(f"{thing!r}{thing}" for thing in (keys, safe, keys.newest, keys.find("new"), sealed))

    assert "old" in told
    assert not any(text in told for key in (OLD, NEW) for text in spellings(key) | spellings(sealed.blob))


def spellings(material: bytes) -> set[str]:
    """How bytes could show: the beginning of each, since a part is a leak too."""
    return {text[:12] for text in (material.hex(), base64.b64encode(material).decode(), repr(material)[2:])}


def test_the_front_door_is_sorted() -> None:
    assert vault.__all__ == sorted(vault.__all__)
