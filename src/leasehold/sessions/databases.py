"""Whether an IndexedDB database would load. One that does not would take the whole state with it. No I/O.

A browser restores a database by creating its stores and indexes and adding record after record, so what has to hold is
what `createObjectStore`, `createIndex` and `add` ask for.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from leasehold.sessions.cookies import Refused

_KEY_PATH: Final = re.compile(r"(?:[^\W\d]|\$)[\w$]*(?:\.(?:[^\W\d]|\$)[\w$]*)*|")
_MISSING: Final = object()
_LATEST_VERSION: Final = 2**53


def check_database(database: Mapping[str, Any]) -> None:
    """Raises Refused: `type`, `version`, `schema`, `key-missing`, `key`, `key-duplicate` or `unique`."""
    version, stores = database.get("version"), database.get("stores")
    if isinstance(version, float) and version.is_integer():
        version = int(version)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= _LATEST_VERSION:
        raise Refused("version")
    for store in _objects(stores):
        _check_store(store)
    _refuse_twins(stores)


def _objects(given: object) -> list[Mapping[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise Refused("type")
    return given


def _refuse_twins(named: Any) -> None:
    names = [one["name"] for one in named]
    if len(set(names)) != len(names):
        raise Refused("schema")


def _check_store(store: Mapping[str, Any]) -> None:
    path = _key_path(store)
    if not isinstance(store.get("name"), str) or not isinstance(store.get("autoIncrement"), bool):
        raise Refused("type")
    if store["autoIncrement"] and (isinstance(path, list) or path == ""):
        raise Refused("schema")
    indexes = _objects(store.get("indexes"))
    for index in indexes:
        _check_index(index)
    _refuse_twins(indexes)
    records = _objects(store.get("records"))
    _check_keys(store, path, records)
    for index in indexes:
        if index["unique"]:
            _check_unique(index, records)


def _check_index(index: Mapping[str, Any]) -> None:
    flags = (index.get("multiEntry"), index.get("unique"))
    if not isinstance(index.get("name"), str) or not all(isinstance(flag, bool) for flag in flags):
        raise Refused("type")
    path = _key_path(index)
    if path is None or (isinstance(path, list) and index["multiEntry"]):
        raise Refused("schema")


def _key_path(holder: Mapping[str, Any]) -> str | list[str] | None:
    paths, path = holder.get("keyPathArray"), holder.get("keyPath")
    each = paths if paths is not None else [] if path is None else [path]
    if not isinstance(each, list) or not all(isinstance(one, str) for one in each):
        raise Refused("type")
    if (paths is not None and not paths) or not all(_KEY_PATH.fullmatch(one) for one in each):
        raise Refused("schema")
    return paths if paths is not None else path


def _check_keys(store: Mapping[str, Any], path: str | list[str] | None, records: list[Mapping[str, Any]]) -> None:
    seen = set()
    for record in records:
        given = _given(record, "key")
        if path is not None and given is not _MISSING:
            raise Refused("key")  # a key beside an in-line key is refused
        found = given if path is None else _evaluate(path, _given(record, "value"))
        if found is _MISSING:
            if not store["autoIncrement"]:
                raise Refused("key-missing")
            continue  # the browser counts on
        key = _key(found)
        if key is None:
            raise Refused("key")
        if key in seen:
            raise Refused("key-duplicate")
        seen.add(key)


def _check_unique(index: Mapping[str, Any], records: list[Mapping[str, Any]]) -> None:
    path = _key_path(index)
    taken: set[object] = set()
    for record in records:
        found = _evaluate(path, _given(record, "value")) if path is not None else _MISSING
        keys = set(_index_keys(found, many=bool(index["multiEntry"])))
        if keys & taken:
            raise Refused("unique")
        taken |= keys


def _index_keys(found: object, *, many: bool) -> Iterator[object]:
    each = found if many and isinstance(found, list) else [found]
    return (key for key in map(_key, each) if key is not None)


class _Encoded:
    """A date or bytes: what JSON has no word for, but a key may be."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text


def _given(record: Mapping[str, Any], what: str) -> Any:
    if what in record:
        return record[what]
    return _decode(record[f"{what}Encoded"]) if f"{what}Encoded" in record else _MISSING


def _decode(value: Any) -> Any:
    """The parts of Playwright's encoding that keys can be found in; anything else is no key, and stands for itself."""
    if not isinstance(value, Mapping):
        return value
    if isinstance(value.get("o"), list):
        pairs = [pair for pair in value["o"] if isinstance(pair, Mapping) and isinstance(pair.get("k"), str)]
        return {pair["k"]: _decode(pair.get("v")) for pair in pairs}
    if isinstance(value.get("a"), list):
        return [_decode(one) for one in value["a"]]
    if isinstance(value.get("d"), str):
        return _Encoded("d", value["d"])
    for name in ("ab", "ta"):
        part = value.get(name)
        if isinstance(part, Mapping) and isinstance(part.get("b"), str):
            return _Encoded("b", part["b"])
    if value.get("v") == "-0":
        return 0
    if isinstance(value.get("n"), int | float):
        return value["n"]
    if value.get("v") in ("Infinity", "-Infinity"):
        return float(value["v"])
    return _MISSING if value.get("v") == "undefined" else None


def _evaluate(path: str | list[str], value: Any) -> Any:
    if isinstance(path, list):
        parts = [_evaluate(one, value) for one in path]
        return _MISSING if _MISSING in parts else parts
    for step in path.split(".") if path else ():
        if isinstance(value, str | list) and step == "length":
            value = len(value)
        elif isinstance(value, Mapping) and step in value:
            value = value[step]
        else:
            return _MISSING
    return value


def _key(value: Any) -> object:
    """A key in a form that is equal where the browser finds it equal; None where it is no valid key."""
    if isinstance(value, bool) or value is None or value is _MISSING:
        return None
    if isinstance(value, int | float):
        return ("n", value) if value == value else None
    if isinstance(value, str):
        return ("s", value)
    if isinstance(value, _Encoded):
        return (value.kind, value.text)
    if isinstance(value, list):
        parts = tuple(_key(one) for one in value)
        return None if None in parts else ("a", parts)
    return None
