"""The keys that wrap the data keys: from a setting, or from a file that is read again when it was replaced."""

import base64
import fcntl
import os
import re
import secrets
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SETTING = "LEASEHOLD_KEYS"
KEY_BYTES = 32
_ID = re.compile(r"[a-z0-9-]{1,32}")
_SHAPE = "write it as id:base64, and make the base64 with `openssl rand -base64 32`"
_HEADER = (
    "# leasehold's keys: the first seals, all of them open. Without them every stored secret is lost: keep a copy.\n"
)


class KeysInvalid(ValueError):
    """Keys that cannot be used. The message names them by where they stand, and quotes nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """One key that wraps data keys."""

    id: str
    cipher: AESGCM = field(repr=False)


# When a file was replaced, at least one of these is another: modified at, inode, size.
Mark = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Held:
    # What was read at one time; swapped as a whole, so that no thread sees half of a change.
    keys: dict[str, Key]
    newest: Key
    mark: Mark | None = None


class Keyring:
    """Keys by id, newest first: the first seals, all of them open."""

    def __init__(self, held: _Held, path: Path | None = None) -> None:
        self._held = held
        self._path = path

    def __repr__(self) -> str:
        return f"Keyring({', '.join(self._held.keys)})"

    @classmethod
    def parse(cls, text: str) -> "Keyring":
        """The keys of the setting: `id:base64` of 32 bytes, separated by commas. Raises KeysInvalid."""
        entries = enumerate(text.split(","), start=1)
        return cls(_gather((f"Key {number} of {SETTING}", entry.strip()) for number, entry in entries))

    @classmethod
    def from_file(cls, path: Path) -> "Keyring":
        """The keys of a file that only its owner may read, one `id:base64` a line. Raises KeysInvalid."""
        return cls(_read(path)[0], path)

    @classmethod
    def create_file(cls, path: Path) -> "Keyring":
        """The keys of the file; if there is none, it is made, with one new key."""
        # A link that leads nowhere is there: it tells of a disk that is missing, and is no reason to begin anew.
        if not os.path.lexists(path):
            with _changing(path) as real:
                if not os.path.lexists(path):  # nobody was quicker
                    _replace(real, f"{_HEADER}{_line(_mint_id(()))}")
        return cls.from_file(path)

    @property
    def newest(self) -> Key:
        """The key that seals. Raises KeysInvalid when the file is gone: a restart would lose what this key seals."""
        self._refresh()
        return self._held.newest

    @property
    def ids(self) -> tuple[str, ...]:
        """Of every key, newest first."""
        self._refresh()
        return tuple(self._held.keys)

    def find(self, key_id: str) -> Key | None:
        """The key with this id; one that is not known may have come to the file since."""
        if key_id not in self._held.keys:
            self._refresh()
        return self._held.keys.get(key_id)

    def add_key(self) -> str:
        """Put a new key in front of the others; returns its id."""
        with _changing(self._file()) as real:
            held, lines = _read(real)
            made = _mint_id(held.keys)
            first = next(number for number, line in enumerate(lines) if _entry(line))
            _replace(real, "".join([*lines[:first], _line(made), *lines[first:]]))
        self._refresh()
        return made

    def retire(self, ids: Iterable[str]) -> None:
        """Remove keys for ever. One that is gone already is no error; the newest cannot go."""
        gone = set(ids)
        with _changing(self._file()) as real:
            held, lines = _read(real)
            if held.newest.id in gone:
                raise KeysInvalid(f"{held.newest.id} is the newest key, which seals. Add another before it can go.")
            _replace(real, "".join(line for line in lines if _entry(line).partition(":")[0] not in gone))
        self._refresh()

    def _file(self) -> Path:
        if self._path is None:
            raise KeysInvalid(f"These keys come from {SETTING}. Change them there: the first one seals.")
        return self._path

    def _refresh(self) -> None:
        if self._path is not None and self._held.mark != _mark_at(self._path):
            self._held, _ = _read(self._path)


def _gather(entries: Iterable[tuple[str, str]]) -> _Held:
    """Keys from pairs of where something stands and what stands there."""
    keys: dict[str, Key] = {}
    for where, text in entries:
        key = _key(where, text)
        if key.id in keys:
            raise KeysInvalid(f"{where} has the same id as one before it. Give each key an id of its own.")
        keys[key.id] = key
    return _Held(keys, next(iter(keys.values())))


def _key(where: str, text: str) -> Key:
    # No message quotes the id: what stands in its place may be the key.
    key_id, colon, encoded = text.partition(":")
    if not colon:
        raise KeysInvalid(f"{where} has no colon; {_SHAPE}.")
    if not _ID.fullmatch(key_id):
        raise KeysInvalid(f"{where} has an id that is not 1 to 32 of a-z, 0-9 and -; {_SHAPE}.")
    material = _decode(encoded)
    if len(material) != KEY_BYTES:
        raise KeysInvalid(f"{where} is not the base64 of {KEY_BYTES} bytes; {_SHAPE}.")
    return Key(key_id, AESGCM(material))


def _decode(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except ValueError:
        return b""


def _read(path: Path) -> tuple[_Held, list[str]]:
    """The keys in the file, and its lines."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            status = os.fstat(file.fileno())  # before reading: a change in between shows as one next time
            lines = file.read().splitlines(keepends=True)
    except OSError as error:
        raise KeysInvalid(f"The key file {path} cannot be read ({error.strerror}).") from None
    if status.st_mode & 0o077:
        raise KeysInvalid(f"The key file {path} is open to others than its owner. Close it with: chmod 600 {path}")
    entries = [(f"Line {n} of {path}", entry) for n, line in enumerate(lines, start=1) if (entry := _entry(line))]
    if not entries:
        raise KeysInvalid(f"The key file {path} holds no key. Bring back the one that sealed the secrets.")
    held = _gather(entries)
    return _Held(held.keys, held.newest, _mark(status)), lines


def _entry(line: str) -> str:
    return line.partition("#")[0].strip()


def _line(key_id: str) -> str:
    return f"{key_id}:{base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()}\n"


def _mint_id(taken: Collection[str]) -> str:
    while (made := f"k{secrets.token_hex(4)}") in taken:
        pass
    return made


def _mark(status: os.stat_result) -> Mark:
    return status.st_mtime_ns, status.st_ino, status.st_size


def _mark_at(path: Path) -> Mark | None:
    try:
        return _mark(os.stat(path))
    except OSError:
        return None  # reading it will say why


@contextmanager
def _changing(path: Path) -> Iterator[Path]:
    """Hold the file against others who would change it: of two changes at once, one would lose the other's key.

    Gives the place where it really is, so that a link to it stays a link.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        real = path.resolve()
        with os.fdopen(os.open(_beside(real, "lock"), os.O_RDWR | os.O_CREAT, 0o600), "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield real
    except OSError as error:
        raise KeysInvalid(f"The key file {path} cannot be written ({error.strerror}).") from None


def _replace(path: Path, text: str) -> None:
    """Put a whole new file in its place, on the disk before anything is sealed with what is in it."""
    half = _beside(path, "new")
    half.unlink(missing_ok=True)  # of somebody who was killed
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        _keep_owner(path, file.fileno())
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _keep_owner(path: Path, half: int) -> None:
    # Root may change the keys of a server that runs as somebody else, who must be able to read them still.
    if path.exists() and (before := path.stat()).st_uid != os.geteuid():
        os.fchown(half, before.st_uid, before.st_gid)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(f"{path.name}.{ending}")
