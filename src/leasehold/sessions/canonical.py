"""Reads a StorageState that somebody sent into slots, one entry each. Nothing in it is believed. No I/O.

Whatever would make a browser refuse the state is left out by name and reason, and the rest is taken. What was left out
still counts as having been there: its absence from what we keep must not look like a deletion.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from leasehold.sessions import slots
from leasehold.sessions.cookies import Entry as CookieEntry
from leasehold.sessions.cookies import Reading, Refused, read_cookie
from leasehold.sessions.databases import check_database

# A cookie is a list (see cookies.py), a localStorage value its text, a database its JSON text, a file `[type, base64]`,
# a passkey `[userHandle, privateKey, publicKey]` with its counter kept apart.
Entry = CookieEntry | str

QUOTA_UNITS: Final = 5_242_880  # of UTF-16, keys and values together: what a browser gives one origin


class StateMalformed(ValueError):
    """This is no StorageState at all; `pointer` (RFC 6901) says where it goes wrong."""

    def __init__(self, pointer: str, detail: str) -> None:
        super().__init__(detail)
        self.pointer = pointer


class StateTooLarge(ValueError):
    """The state is larger than is taken; the message says what to do about it."""

    def __init__(self, what: str, limit: int, advice: str) -> None:
        super().__init__(f"A session may hold at most {limit:,} {what}. {advice}")
        self.what = what
        self.limit = limit


@dataclass(frozen=True, slots=True)
class Limits:
    """How large an uploaded state may be."""

    body_bytes: int = 16 * 2**20
    cookies: int = 5_000
    origins: int = 200
    entries: int = 200_000  # localStorage keys, databases, files and passkeys
    nesting: int = 100  # levels inside a database


@dataclass(frozen=True, slots=True)
class Rules:
    """What an account's session may hold."""

    scope: frozenset[str] | None = None  # registrable domains; None takes all
    allows_files: bool = False
    allows_credentials: bool = False  # they are private keys
    limits: Limits = field(default_factory=Limits)

    def covers(self, host: str) -> bool:
        return self.scope is None or slots.site_of(host) in self.scope


class Rejection(NamedTuple):
    slot: str  # as people read it; never a value
    reason: str


@dataclass(slots=True)
class Canonical:
    """A state by slots, in the order of its list; where a slot was listed twice, the last."""

    entries: dict[str, Entry] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)  # signCount of passkeys
    left_out: set[str] = field(default_factory=set)  # there, but quarantined
    covered: set[str] = field(default_factory=set)  # areas that were listed whole: `c`, `l⇥origin`, `i⇥origin`, …
    emptied: set[str] = field(default_factory=set)  # areas that were listed, with nothing in them
    obscured: set[str] = field(default_factory=set)  # origins of which no absence proves anything
    has_origins: bool = False
    rejected: list[Rejection] = field(default_factory=list)
    out_of_scope: list[str] = field(default_factory=list)
    notes: list[Rejection] = field(default_factory=list)  # what was put right, and which part


def parse_state(body: bytes, limits: Limits | None = None) -> object:
    """The JSON of an upload, bounded before it is parsed; raises StateTooLarge, StateMalformed."""
    most = (limits or Limits()).body_bytes
    if len(body) > most:
        raise StateTooLarge("bytes", most, "Capture it without IndexedDB and OPFS, or delete what the site piled up.")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise StateMalformed("", f"The body is not JSON: line {error.lineno}, column {error.colno}.") from None


def read_state(state: object, rules: Rules, t: float, *, lossy: bool = False) -> Canonical:
    """The slots of a decoded StorageState captured at `t` (seconds); raises StateMalformed, StateTooLarge."""
    return _Reader(rules, Reading(t, lossy)).read(state)


class _Reader:
    def __init__(self, rules: Rules, how: Reading) -> None:
        self._rules = rules
        self._how = how
        self._found = Canonical()
        self._stored = 0

    def read(self, state: object) -> Canonical:
        if not isinstance(state, Mapping) or not ("cookies" in state or "origins" in state):
            raise StateMalformed("", "A StorageState is an object with `cookies` and `origins`.")
        cookies, origins = _list(state, "cookies"), _list(state, "origins")
        most = self._rules.limits
        if len(cookies) > most.cookies:
            raise StateTooLarge("cookies", most.cookies, "Clear the cookies of sites that this account does not need.")
        if len(origins) > most.origins:
            raise StateTooLarge("origins", most.origins, "Start from a context that has visited this account's sites.")
        if "cookies" in state:
            self._found.covered.add(slots.COOKIE)
        self._found.has_origins = "origins" in state
        for cookie in cookies:
            self._cookie(cookie)
        for origin in origins:
            self._origin(origin)
        self._credentials(state)
        return self._found

    def _cookie(self, raw: object) -> None:
        try:
            slot, entry, notes = read_cookie(raw, self._how)
        except Refused as refused:
            self._reject(refused.slot or _rough_name(raw), refused)
            return
        if self._rules.scope is not None and not self._rules.covers(slots.host_of(slot)):
            self._out_of_scope(slot)
            return
        if slot in self._found.entries:
            del self._found.entries[slot]  # the last listed wins, from its own place
        self._found.entries[slot] = entry
        self._found.notes += [Rejection(slots.show(slot), note) for note in notes]

    def _origin(self, raw: object) -> None:
        given = raw.get("origin") if isinstance(raw, Mapping) else None
        origin = slots.canonical_origin(given) if isinstance(given, str) else None
        if origin is None or not isinstance(raw, Mapping):
            self._found.rejected.append(Rejection(_rough("origin", given), "origin"))
            return
        if not self._rules.covers(slots.host_of_origin(origin)):
            self._out_of_scope(slots.stored_slot(slots.LOCAL, origin, ""))
            return
        if not isinstance(raw.get("localStorage"), list):
            self._found.obscured.add(origin)
            self._found.rejected.append(Rejection(_rough("origin", origin), "origin"))
            return
        self._local(origin, raw["localStorage"])
        self._databases(origin, raw)
        self._files(origin, raw)

    def _local(self, origin: str, items: list[Any]) -> None:
        self._count(len(items))
        entries, prefix = self._found.entries, slots.stored_slot(slots.LOCAL, origin, "")
        self._cover(slots.LOCAL, origin, items)
        room = QUOTA_UNITS
        for item in items:
            try:
                name, value = item["name"], item["value"]
                room -= len(name) + len(value)
                fits = name.isascii() and value.isascii() and room > QUOTA_UNITS // 2
            except (TypeError, KeyError, AttributeError):
                name = item.get("name") if isinstance(item, Mapping) else None
                self._found.rejected.append(Rejection(_rough(f"localStorage {origin}", name), "type"))
                continue
            if not fits:
                reason, extra = _unstorable(name, value, room)
                room -= extra
                if reason:
                    room += len(name) + len(value)
                    self._reject(prefix + name, Refused(reason, prefix + name))
                    continue
            entries[prefix + name] = value

    def _databases(self, origin: str, raw: Mapping[str, Any]) -> None:
        given = self._area(slots.DATABASE, origin, raw.get("indexedDB"))
        versions: dict[str, object] = {}
        clashes = set()
        for database in given:
            name = database.get("name") if isinstance(database, Mapping) else None
            if not isinstance(name, str) or not slots.is_transportable(name):
                self._found.rejected.append(Rejection(_rough(f"indexedDB {origin}", name), "type"))
                continue
            slot = slots.stored_slot(slots.DATABASE, origin, name)
            if versions.setdefault(name, database.get("version")) != database.get("version"):
                clashes.add(slot)
            self._keep(slot, lambda database=database: self._database(database))
        for slot in sorted(clashes):
            self._found.entries.pop(slot, None)
            self._reject(slot, Refused("version", slot))

    def _database(self, database: Mapping[str, Any]) -> str:
        if _depth_passes(database, self._rules.limits.nesting):
            raise Refused("nesting")
        check_database(database)
        try:
            text = orjson.dumps(database).decode()
        except (TypeError, orjson.JSONEncodeError):
            raise Refused("chars") from None
        return text

    def _files(self, origin: str, raw: Mapping[str, Any]) -> None:
        for file in self._area(slots.FILE, origin, raw.get("opfs")):
            path = file.get("path") if isinstance(file, Mapping) else None
            if not isinstance(path, str):
                self._found.rejected.append(Rejection(_rough(f"opfs {origin}", path), "type"))
                continue
            slot = slots.stored_slot(slots.FILE, origin, path)
            self._keep(slot, lambda file=file: _file(file, allowed=self._rules.allows_files))

    def _credentials(self, state: Mapping[str, Any]) -> None:
        given = _list(state, "credentials")
        self._count(len(given))
        if "credentials" in state:
            self._found.covered.add(slots.CREDENTIAL)
        for credential in given:
            party, ident = _party(credential)
            if party is None or ident is None:
                self._found.rejected.append(Rejection(_rough("credential", ident), "type"))
                continue
            slot = slots.stored_slot(slots.CREDENTIAL, party, ident)
            if not self._rules.covers(party):
                self._out_of_scope(slot)
                continue
            self._keep(slot, lambda credential=credential: self._credential(slot, credential))  # noqa: B023 - at once

    def _credential(self, slot: str, credential: Mapping[str, Any]) -> Entry:
        if not self._rules.allows_credentials:
            raise Refused("not-allowed")
        parts = [credential.get(part) for part in ("userHandle", "privateKey", "publicKey")]
        count = credential.get("signCount", 0)
        if not all(isinstance(part, str) and _is_base64(part) for part in parts):
            raise Refused("type")
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < 2**32:
            raise Refused("type")
        self._found.counters[slot] = max(count, self._found.counters.get(slot, 0))
        return parts

    def _area(self, kind: str, origin: str, given: object) -> list[Any]:
        """What an optional member of an origin lists. Only a list that is there proves what is absent from it."""
        if given is None:
            return []
        if not isinstance(given, list):
            self._found.rejected.append(Rejection(_rough(slots.NOUNS[kind], origin), "type"))
            return []
        self._count(len(given))
        self._cover(kind, origin, given)
        return given

    def _cover(self, kind: str, origin: str, given: list[Any]) -> None:
        area = f"{kind}\t{origin}"
        self._found.covered.add(area)
        if not given:
            self._found.emptied.add(area)

    def _keep(self, slot: str, read: Any) -> None:
        try:
            entry = read()
        except Refused as refused:
            self._reject(slot, refused)
            return
        self._found.entries.pop(slot, None)
        self._found.entries[slot] = entry

    def _reject(self, slot: str, refused: Refused) -> None:
        # A slot is known by its tabs; anything else is a name put together for people.
        known = "\t" in slot
        if known:
            self._found.left_out.add(slot)
        self._found.rejected.append(Rejection(slots.show(slot) if known else slot, refused.reason))

    def _out_of_scope(self, slot: str) -> None:
        self._found.left_out.add(slot)
        self._found.out_of_scope.append(slots.show(slot))

    def _count(self, more: int) -> None:
        self._stored += more
        most = self._rules.limits.entries
        if self._stored > most:
            raise StateTooLarge(
                "stored entries", most, "Clear the site's storage, or capture without IndexedDB and OPFS."
            )


def _list(state: Mapping[str, Any], member: str) -> Sequence[Any]:
    given = state.get(member, [])
    if not isinstance(given, list):
        raise StateMalformed(f"/{member}", f"`{member}` is a list.")
    return given


def _rough(noun: str, name: object) -> str:
    return slots.printable(f"{noun} {name}" if isinstance(name, str) else noun)


def _rough_name(raw: object) -> str:
    """What can be said of a cookie that has no identity."""
    parts = [raw.get(part) for part in ("domain", "path", "name")] if isinstance(raw, Mapping) else []
    domain, path, name = [part if isinstance(part, str) else "" for part in parts] or ["", "", ""]
    return slots.printable(f"cookie {domain}{path} {name}".replace("\t", "\\t"))


def _unstorable(name: str, value: str, room: int) -> tuple[str | None, int]:
    """Why a localStorage entry cannot be kept, and how many units more than characters it has."""
    if not slots.is_transportable(name) or not slots.is_transportable(value):
        return "chars", 0
    extra = utf16_units(name) + utf16_units(value) - len(name) - len(value)
    return ("size", 0) if room < extra else (None, extra)


def utf16_units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _depth_passes(value: object, most: int) -> bool:
    """Level by level, not by recursion: the nesting is the sender's choice."""
    level: list[object] = [value]
    for _ in range(most):
        level = [below for one in level for below in _below(one)]
        if not level:
            return False
    return True


def _below(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        return iter(value.values())
    return iter(value) if isinstance(value, list) else iter(())


def _file(file: Mapping[str, Any], *, allowed: bool) -> Entry:
    path, kind, content = file["path"], file.get("type"), file.get("base64")
    if not allowed:
        raise Refused("not-allowed")
    if kind not in ("file", "directory"):
        raise Refused("type")
    steps = path.split("/")
    if not slots.is_transportable(path) or "\0" in path or any(step in ("", ".", "..") for step in steps):
        raise Refused("path")
    if kind == "directory":
        return [kind, None]
    if not isinstance(content, str) or not _is_base64(content):
        raise Refused("type")
    return [kind, content]


def _is_base64(text: str) -> bool:
    """Either alphabet; passkeys come without padding."""
    try:
        plain = text.replace("-", "+").replace("_", "/")
        base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (ValueError, binascii.Error):
        return False
    return True


def _party(credential: object) -> tuple[str | None, str | None]:
    party, ident = (credential.get("rpId"), credential.get("id")) if isinstance(credential, Mapping) else (None, None)
    host = slots.canonical_host(party) if isinstance(party, str) else None
    return host, ident if isinstance(ident, str) and _is_base64(ident) else None
