"""Front door of the vault: secrets at rest, the keys they are sealed with, and the change of those keys."""

from leasehold.vault.keyring import Keyring, KeysInvalid
from leasehold.vault.problems import SecretsSealed
from leasehold.vault.rotate import Safe, rotate
from leasehold.vault.seal import Place, Sealed, Vault

__all__ = ["Keyring", "KeysInvalid", "Place", "Safe", "Sealed", "SecretsSealed", "Vault", "rotate"]
