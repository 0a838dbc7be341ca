"""Chooses the blob store that a setting names."""

from pathlib import Path

from leasehold.captures.blobs import Blobs
from leasehold.captures.folder import FolderBlobs
from leasehold.captures.remote import RemoteBlobs

_FOLDER = "file://"


def make(url: str, data_dir: Path) -> Blobs:
    """A folder beside the rest of the data when the setting names nothing."""
    if not url:
        return FolderBlobs(data_dir / "blobs")
    if url.startswith(_FOLDER):
        return FolderBlobs(Path(url.removeprefix(_FOLDER)))
    return RemoteBlobs(url)
