"""The map: a TOML file that says where in the old documents our fields are. Checked whole before anything is read."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leasehold.captures import RECORD_STATES
from leasehold.legacy.converting import CONVERTERS

# What each kind has, and whether it must be said where that is.
_FIELDS: Final[dict[str, dict[str, bool]]] = {
    "sites": {"id": False, "slug": True, "name": False},
    "domains": {
        "site": True,
        "host": True,
        "since": True,
        "scheme": False,
        "port": False,
        "prefix": False,
        "subdomains": False,
        "trust": False,
    },
    "captures": {
        "id": False,
        "site": True,
        "url": True,
        "captured_at": True,
        "received_at": False,
        "job_id": False,
        "state": False,
        "reason": False,
        "labels": False,
    },
    "captures.files": {"name": True, "sha256": True, "size": True, "content_type": False, "location": False},
    "events": {"id": False, "capture": True, "event": True, "at": True, "actor": False, "detail": False},
}
# What a field can only be, so that a table of values that says otherwise is found before anything is read.
_CHOICES: Final = {
    ("domains", "scheme"): ("http", "https"),
    ("domains", "subdomains"): ("keep", "none"),
    ("domains", "trust"): ("urls", "credentials"),
    ("captures", "state"): tuple(map(str, RECORD_STATES)),
}
_CODE: Final = ("$where", "$function", "$accumulator")
_SECTION_KEYS: Final = {"collection", "filter", "each", "fields"}
_FIELD_KEYS: Final = {"path", "value", "as", "map", "default"}
# Where one document may hold several of ours.
_MAY_HAVE_EACH: Final = ("domains", "captures.files", "events")


class MapInvalid(Exception):
    """The map cannot be used; the message says everything that is wrong with it, and where."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where one of our fields is in a document, and how it becomes ours."""

    path: tuple[str, ...] | None  # None: it is `value` in every document
    of_document: bool = False  # the path begins at the document, not at the element of `each`
    value: Any = None
    converters: tuple[str, ...] = ()
    values: Mapping[str, Any] | None = None
    default: Any = None


@dataclass(frozen=True, slots=True)
class Section:
    """Where the things of one kind are."""

    kind: str
    collection: str
    filter: Mapping[str, Any]
    each: tuple[str, ...] | None
    fields: Mapping[str, Field]
    files: "Section | None" = None

    def projection(self) -> list[str]:
        """The top-level fields that are needed: the others may be large, and are never sent."""
        sections = [self, *([self.files] if self.files else [])]
        paths = [section.each for section in sections if section.each]
        for section in sections:
            inside = section.each is not None
            paths += [f.path for f in section.fields.values() if f.path and (f.of_document or not inside)]
        return sorted({path[0] for path in paths} | {"_id"})


@dataclass(frozen=True, slots=True)
class LegacyMap:
    sites: Section | None
    domains: tuple[Section, ...]
    captures: Section | None
    events: Section | None

    @property
    def sections(self) -> list[Section]:
        return [*([self.sites] if self.sites else []), *self.domains, *(s for s in (self.captures, self.events) if s)]


def read_map(raw: bytes) -> LegacyMap:
    """The map in a file; raises MapInvalid."""
    try:
        document = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise MapInvalid("The map is not UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise MapInvalid(f"The map is not TOML: {error}.") from None
    faults: list[str] = []
    sections = {name: list(_sections(name, document.get(name), faults)) for name in _FIELDS if "." not in name}
    faults += [
        f"{name}: there is no such section; there are {', '.join(sections)}." for name in document - sections.keys()
    ]
    if not document:
        faults.append("The map is empty: it names no collection.")
    if ("sites" in document) != ("domains" in document):
        faults.append("sites and domains go together: a site is imported with the history of its addresses.")
    if "events" in document and "captures" not in document:
        faults.append("events: they belong to captures, and there is no section for those.")
    if faults:
        raise MapInvalid("The map cannot be used:\n" + "\n".join(f"  {fault}" for fault in faults))
    one = {name: next(iter(found), None) for name, found in sections.items()}
    return LegacyMap(one["sites"], tuple(sections["domains"]), one["captures"], one["events"])


def _sections(name: str, given: Any, faults: list[str]) -> Iterator[Section]:
    if given is None:
        return
    several = name == "domains" and isinstance(given, list)
    for number, one in enumerate(given if several else [given]):
        where = f"{name}[{number}]" if several else name
        if isinstance(one, dict):
            yield _section(name, where, one, None, faults)
        else:
            faults.append(f"{where}: this must be a table.")


def _section(kind: str, where: str, given: dict[str, Any], parent: str | None, faults: list[str]) -> Section:
    allowed = _SECTION_KEYS | ({"files"} if kind == "captures" else set())
    if kind not in _MAY_HAVE_EACH:
        allowed = allowed - {"each"}
    if parent is not None:
        allowed = allowed - {"collection", "filter"}
    faults += [f"{where}.{key}: there is no such setting here." for key in given if key not in allowed]
    collection = given.get("collection", parent)
    if not isinstance(collection, str) or not collection or "\x00" in collection or "$" in collection:
        faults.append(f"{where}.collection: this must be the name of a collection.")
    condition = given.get("filter", {})
    if not isinstance(condition, dict):
        faults.append(f"{where}.filter: this must be a table, as MongoDB takes it.")
    elif _runs_code(condition):
        faults.append(f"{where}.filter: code that the server would run is not taken.")
    each = _path(given["each"]) if "each" in given else None
    if "each" in given and each is None:
        faults.append(f"{where}.each: this must be the path of a list, such as history.entries.")
    fields = _fields(kind, where, given.get("fields"), each is not None, faults)
    files = None
    if isinstance(given.get("files"), dict):
        files = _section("captures.files", f"{where}.files", given["files"], str(collection), faults)
    elif "files" in given:
        faults.append(f"{where}.files: this must be a table.")
    return Section(kind, str(collection), condition, each, fields, files)


def _runs_code(condition: Any) -> bool:
    match condition:
        case dict():
            return not condition.keys().isdisjoint(_CODE) or any(map(_runs_code, condition.values()))
        case list():
            return any(map(_runs_code, condition))
    return False


def _fields(kind: str, where: str, given: Any, in_each: bool, faults: list[str]) -> dict[str, Field]:
    known = _FIELDS[kind]
    if not isinstance(given, dict):
        faults.append(f"{where}.fields: this table is missing; it names {', '.join(f for f in known if known[f])}.")
        return {}
    faults += [
        f"{where}.fields.{name}: there is no such field; there are {', '.join(known)}." for name in given - known.keys()
    ]
    faults += [f"{where}.fields.{name}: this must be said." for name in known if known[name] and name not in given]
    found = {}
    for name in known:
        if name in given:
            field = _field(given[name], in_each)
            fault = field if isinstance(field, str) else _choice_fault(field, _CHOICES.get((kind, name)))
            if fault:
                faults.append(f"{where}.fields.{name}: {fault}")
            elif isinstance(field, Field):
                found[name] = field
    return found


def _choice_fault(field: Field, choices: Sequence[str] | None) -> str | None:
    ours = [field.value, field.default] if field.values is None else [*field.values.values(), field.default]
    wrong = choices is not None and any(value not in (None, *choices) for value in ours)
    return f"what this can become is {' or '.join(choices or ())}." if wrong else None


def _field(given: Any, in_each: bool) -> Field | str:
    """A field, or what is wrong with how it is said."""
    spec = {"path": given} if isinstance(given, str) else given
    if not isinstance(spec, dict):
        return "this must be a path, or a table with `path` or `value`."
    if strangers := sorted(spec.keys() - _FIELD_KEYS):
        return f"{', '.join(strangers)}: there is no such setting; there are {', '.join(sorted(_FIELD_KEYS))}."
    if ("path" in spec) == ("value" in spec):
        return "this must have either `path` or `value`."
    converters = spec.get("as", [])
    converters = [converters] if isinstance(converters, str) else converters
    if not isinstance(converters, list) or any(one not in CONVERTERS for one in converters):
        return f"`as` takes {', '.join(CONVERTERS)}, or a list of them."
    if "map" in spec and not (isinstance(spec["map"], dict) and spec["map"]):
        return "`map` must be a table of their values and ours."
    if "value" in spec:
        return Field(None, value=spec["value"], converters=tuple(converters), values=spec.get("map"))
    text = spec["path"]
    of_document = isinstance(text, str) and text.startswith("^")
    path = _path(text.removeprefix("^") if isinstance(text, str) else text)
    if path is None:
        return "this is not a path; one is written as outer.inner, lists as items.0 or items.-1."
    return Field(path, of_document or not in_each, None, tuple(converters), spec.get("map"), spec.get("default"))


def _path(text: object) -> tuple[str, ...] | None:
    if not isinstance(text, str) or "\x00" in text:
        return None
    steps: Sequence[str] = text.split(".")
    return tuple(steps) if all(step and not step.startswith("$") for step in steps) and len(steps) <= 32 else None
