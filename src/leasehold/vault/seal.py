"""A secret in its envelope: a data key of its own encrypts it, and a key of the keyring wraps the data key.

    format (1) | nonce (12) | wrapped data key (32 + 16) | nonce (12) | encrypted payload (any + 16)

Both are AES-256-GCM, and both are bound to the place the secret belongs to: copied to another place, or put back after
the version moved on, it does not open.
"""

import os
import struct
from dataclasses import dataclass, field
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from leasehold import logs
from leasehold.vault.keyring import KEY_BYTES, Key, Keyring, KeysInvalid
from leasehold.vault.problems import SecretsSealed

log = logs.get(__name__)

FORMAT = b"\x01"
_NONCE = 12
_TAG = 16
_HEAD = len(FORMAT) + _NONCE + KEY_BYTES + _TAG  # up to here it is about the data key; what follows never changes
_SHORTEST = _HEAD + _NONCE + _TAG


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret belongs; it opens nowhere else."""

    organisation: UUID
    row: UUID
    field: str
    version: int


@dataclass(frozen=True, slots=True)
class Sealed:
    """A secret as it is stored."""

    key_id: str
    blob: bytes = field(repr=False)


class Vault:
    """Seals secrets and opens them."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        # Keys that have opened something: what does not open under one of these was changed.
        self._proven: set[str] = set()

    def __repr__(self) -> str:
        return f"Vault({self._keyring!r})"

    @property
    def newest(self) -> str:
        """The id of the key that seals."""
        return self._newest().id

    def knows(self, key_id: str) -> bool:
        return self._find(key_id) is not None

    def seal(self, plaintext: bytes, place: Place) -> Sealed:
        key = self._newest()
        random = os.urandom(KEY_BYTES + _NONCE)
        data_key, nonce = random[:KEY_BYTES], random[KEY_BYTES:]
        bound = _bound(place)
        payload = AESGCM(data_key).encrypt(nonce, plaintext, _payload_data(bound))
        return Sealed(key.id, _wrap(key, data_key, bound) + nonce + payload)

    def open(self, sealed: Sealed, place: Place) -> bytes:
        """What was sealed for this place. Raises SecretsSealed."""
        bound = _bound(place)
        data_key, blob = self._unwrap(sealed, place, bound), sealed.blob
        try:
            return AESGCM(data_key).decrypt(blob[_HEAD : _HEAD + _NONCE], blob[_HEAD + _NONCE :], _payload_data(bound))
        except InvalidTag:
            raise _changed(sealed, place, is_damaged=True) from None

    def rewrap(self, sealed: Sealed, place: Place) -> Sealed:
        """The same secret under the newest key; the payload stays as it is. Raises SecretsSealed."""
        key = self._newest()
        if sealed.key_id == key.id:
            return sealed
        bound = _bound(place)
        data_key = self._unwrap(sealed, place, bound)
        return Sealed(key.id, _wrap(key, data_key, bound) + sealed.blob[_HEAD:])

    def _unwrap(self, sealed: Sealed, place: Place, bound: bytes) -> bytes:
        key, blob = self._find(sealed.key_id), sealed.blob
        if key is None:
            raise _refused(f"This server does not have the key {sealed.key_id}.", sealed, place)
        if len(blob) < _SHORTEST or blob[:1] != FORMAT:
            raise _changed(sealed, place, is_damaged=True)
        try:
            data_key = key.cipher.decrypt(blob[1 : 1 + _NONCE], blob[1 + _NONCE : _HEAD], _key_data(bound, key.id))
        except InvalidTag:
            raise _changed(sealed, place, is_damaged=key.id in self._proven) from None
        self._proven.add(key.id)
        return data_key

    def _newest(self) -> Key:
        try:
            return self._keyring.newest
        except KeysInvalid as error:
            _report(error)
            raise SecretsSealed("This server cannot read its key file, so it seals nothing.") from None

    def _find(self, key_id: str) -> Key | None:
        try:
            return self._keyring.find(key_id)
        except KeysInvalid as error:
            _report(error)
            return None


def _report(error: KeysInvalid) -> None:
    log.error("vault.keys_invalid", reason=str(error))


def _wrap(key: Key, data_key: bytes, bound: bytes) -> bytes:
    nonce = os.urandom(_NONCE)
    return FORMAT + nonce + key.cipher.encrypt(nonce, data_key, _key_data(bound, key.id))


# Associated data: each part after its length, so that no two places are spelled alike.


def _bound(place: Place) -> bytes:
    version = place.version.to_bytes(8, "big", signed=True)
    return _parts(place.organisation.bytes, place.row.bytes, place.field.encode(), version)


def _parts(*parts: bytes) -> bytes:
    return b"".join([_LENGTH(len(part)) + part for part in parts])


_LENGTH = struct.Struct(">I").pack
_PAYLOAD = _parts(FORMAT, b"payload")
_DATA_KEY = _parts(FORMAT, b"data key")


def _payload_data(bound: bytes) -> bytes:
    return _PAYLOAD + bound


def _key_data(bound: bytes, key_id: str) -> bytes:
    return _DATA_KEY + bound + _parts(key_id.encode())


def _changed(sealed: Sealed, place: Place, *, is_damaged: bool) -> SecretsSealed:
    refused = _refused("The stored secret is not what was sealed for this place.", sealed, place)
    refused.is_damaged = is_damaged
    return refused


def _refused(detail: str, sealed: Sealed, place: Place) -> SecretsSealed:
    log.error(
        "vault.sealed",
        organisation=str(place.organisation),
        row=str(place.row),
        field=place.field,
        version=place.version,
        key_id=sealed.key_id,
        reason=detail,
    )
    return SecretsSealed(detail)
