"""Runs a file of URL vectors against `addresses`, so that anyone can check us, or themselves, by the same examples.

A document is `{"registries": {name: {site: [mount, ...]}}, "vectors": [{"kind": ..., "expect": ...}, ...]}`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from leasehold.sites.addresses import HostRefused, Mount, Reference, Refusal, Registry, Subdomains, Trust, admit_host

Vector = Mapping[str, Any]
Registries = Mapping[str, Registry]


class VectorsMalformed(ValueError):
    """The document cannot be run at all; the message says what is wrong with it."""


class _Unusable(Exception):
    """One vector cannot be run. It fails with this text; the others still run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str  # the vector's id, or the host it is about
    passed: bool
    difference: str = ""  # one line, empty when it passed


def registry_from_vectors(spec: Mapping[str, Any]) -> Registry:
    """One registry of a document: the mounts of each site, as JSON writes them."""
    try:
        return Registry({site: [_mount(entry) for entry in entries] for site, entries in spec.items()})
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise VectorsMalformed(f"A registry cannot be built: {type(exc).__name__}: {exc}") from exc


def _mount(entry: Mapping[str, Any]) -> Mount:
    port, fold = entry.get("port"), entry.get("fold", ["www"])
    if not isinstance(fold, list):
        raise TypeError(f"`fold` is a list of labels, not {fold!r}.")
    return Mount(
        host=entry["host"],
        scheme=entry.get("scheme", "https"),
        port=int(port) if port not in (None, "") else None,  # the published file writes ports as text
        prefix=entry.get("prefix", "/"),
        subdomains=Subdomains(entry.get("subdomains", "keep")),
        fold=tuple(fold),
        since=float(entry.get("since", 0)),
        trust=Trust(entry.get("trust", "credentials")),
    )


def run_vectors(document: Mapping[str, Any]) -> Iterator[Outcome]:
    """One outcome for each vector, in the order of the file; raises VectorsMalformed before the first."""
    if not isinstance(document, Mapping):
        raise VectorsMalformed("The document is not a JSON object.")
    specs, vectors = document.get("registries", {}), document.get("vectors")
    if not isinstance(specs, Mapping):
        raise VectorsMalformed("`registries` is not an object of registries by name.")
    if not isinstance(vectors, list) or not all(isinstance(vector, Mapping) for vector in vectors):
        raise VectorsMalformed("`vectors` is missing, or is not a list of objects.")
    registries = {name: registry_from_vectors(spec) for name, spec in specs.items()}
    return (_outcome(registries, vector, place) for place, vector in enumerate(vectors, start=1))


def _outcome(registries: Registries, vector: Vector, place: int) -> Outcome:
    name = str(vector.get("id") or vector.get("host") or f"vector {place}")
    check = KINDS.get(str(vector.get("kind")), _check_unknown)
    try:
        difference = check(registries, vector)
    except _Unusable as exc:
        difference = str(exc)
    return Outcome(name, not difference, f"{name}: {difference}" if difference else "")


def _check_url(registries: Registries, vector: Vector) -> str:
    url = _text(vector, "url")
    got = _registry(registries, vector).rewrite(url, _at(vector))
    expected = (_text(vector, "expect"), _text(vector, "verdict"))
    if (got.url, got.verdict) == expected:
        return ""
    return f"expected {expected[0]!r} ({expected[1]}), got {got.url!r} ({got.verdict})"


def _check_host(_: Registries, vector: Vector) -> str:
    try:
        got = admit_host(_text(vector, "host"))
    except HostRefused as refused:
        got = refused.reason
    return _differ(_text(vector, "expect"), got)


def _check_resolve(registries: Registries, vector: Vector) -> str:
    """`expect` is the site, or the verdict where there is none; null says unmanaged."""
    url = _text(vector, "url", "host")
    got = _registry(registries, vector).resolve(url if ":" in url else f"https://{url}/", _at(vector))
    wanted = vector["expect"] if "expect" in vector else _text(vector, "site")
    if isinstance(wanted, Mapping):
        return _differ(dict(wanted), _parts(got, wanted))
    return _differ("unmanaged" if wanted is None else wanted, got.verdict if isinstance(got, Refusal) else got.site)


def _parts(got: Reference | Refusal, wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {part: getattr(got, part, None) for part in wanted}


def _check_render(registries: Registries, vector: Vector) -> str:
    """`expect` is the URL, or the verdict where there is none."""
    ref = Reference(_text(vector, "site"), str(vector.get("sub", "")), _text(vector, "rest", "path"))
    got = _registry(registries, vector).render(ref, _at(vector))
    return _differ(_text(vector, "expect", "url"), got.verdict if isinstance(got, Refusal) else got)


def _check_time(registries: Registries, vector: Vector) -> str:
    """A question with a time: a path asks how it was rendered then, anything else whose it was then."""
    check = _check_render if "rest" in vector or "path" in vector else _check_resolve
    return check(registries, vector)


def _check_unknown(_: Registries, vector: Vector) -> str:
    return f"no vector is of kind {vector.get('kind')!r}"


def _differ(expected: object, got: object) -> str:
    return "" if expected == got else f"expected {expected!r}, got {got!r}"


def _registry(registries: Registries, vector: Vector) -> Registry:
    name = vector.get("registry")
    if not isinstance(name, str) or name not in registries:
        raise _Unusable(f"the document has no registry {name!r}")
    return registries[name]


def _text(vector: Vector, *fields: str) -> str:
    for field in fields:
        if isinstance(vector.get(field), str):
            return str(vector[field])
    raise _Unusable(f"the vector has no text in {' or '.join(repr(field) for field in fields)}")


def _at(vector: Vector) -> float | None:
    at = vector.get("at")
    if at is None or (isinstance(at, int | float) and not isinstance(at, bool)):
        return at
    raise _Unusable(f"its time {at!r} is not a number")


KINDS: Final[Mapping[str, Callable[[Registries, Vector], str]]] = {
    "url": _check_url,
    "host": _check_host,
    "resolve": _check_resolve,
    "render": _check_render,
    "time": _check_time,
}
