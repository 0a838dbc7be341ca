"""The form of a token: `lh_`, 36 random letters and digits, and six that check them."""

import hashlib
import secrets
import string
import zlib

PREFIX = "lh_"
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM_LENGTH = 36  # 214 bits: too many to guess, so a fast hash at rest is enough
_CHECK_LENGTH = 6


def mint() -> str:
    """A new token. The checksum lets a scanner find a leaked one and a person find a typing error."""
    body = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    return PREFIX + body + _checksum(body)


def is_well_formed(token: str) -> bool:
    """Whether the checksum fits; a bootstrap token, which somebody else made up, has none."""
    body, check = token[len(PREFIX) : -_CHECK_LENGTH], token[-_CHECK_LENGTH:]
    return token.startswith(PREFIX) and len(body) == _RANDOM_LENGTH and check == _checksum(body)


def hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def digest_key(token: str) -> bytes:
    """A key only the holder's token gives: unrelated to the stored hash, which a stolen backup would show."""
    return hashlib.sha256(b"leasehold digest key\0" + token.encode()).digest()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = []
    for _ in range(_CHECK_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
