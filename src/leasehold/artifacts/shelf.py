"""Where artefacts are: small files that are replaced whole, so that whoever reads one finds the old or the new.

Two shelves do this: a folder of this machine (`folder.py`), and anything fsspec has an address for (`remote.py`). All
of it blocks, so it is called in threads.
"""

from pathlib import Path
from typing import Protocol

from leasehold.artifacts.folder import FolderShelf
from leasehold.artifacts.remote import RemoteShelf

_FOLDER = "file://"


class Shelf(Protocol):
    """Files by their paths below a root."""

    @property
    def place(self) -> str:
        """Where that is, for people; nothing secret."""

    def read(self, path: str) -> bytes:
        """Raises FileNotFoundError."""

    def replace(self, path: str, content: bytes) -> None:
        """Readers see all of the old file or all of the new one, whatever happens meanwhile."""

    def names(self, folder: str) -> list[str]:
        """The files of a folder, sorted; one that is not there has none."""

    def remove(self, path: str) -> None:
        """Take a file away; one that is not there is no error."""

    def clear(self) -> None:
        """Take away what a publisher left that never came to its end."""

    def probe(self) -> None:
        """Write something and take it away again; raises OSError where that cannot be done."""


def make(url: str, data_dir: Path) -> Shelf:
    """A folder beside the rest of the data when the setting names nothing."""
    if not url:
        return FolderShelf(data_dir / "artifacts")
    if url.startswith(_FOLDER):
        return FolderShelf(Path(url.removeprefix(_FOLDER)))
    return RemoteShelf(url)
