"""Front door of backups: everything the product keeps as one folder, and a new place made of it."""

from leasehold.backup.folder import BackupBad, check
from leasehold.backup.manifest import Manifest
from leasehold.backup.programs import ProgramFailed
from leasehold.backup.restoring import Restored, RestoreWish, restore
from leasehold.backup.taking import take

__all__ = ["BackupBad", "Manifest", "ProgramFailed", "RestoreWish", "Restored", "check", "restore", "take"]
