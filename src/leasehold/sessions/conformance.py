"""Runs a file of session vectors against the merge, in every order of their uploads. No I/O.

A document is a list of vectors: `{"id", "uploads": [{"uid", "t", "state", "base", …}], "now", "expect", "rejected"}`.
`expect` is the state that must be handed out, whatever the order in which the uploads arrived.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations
from typing import Any, Final

from leasehold.sessions import slots
from leasehold.sessions.canonical import Canonical, Rules, StateMalformed, StateTooLarge, read_state
from leasehold.sessions.handout import StorageFull, Wish, hand_out
from leasehold.sessions.history import History, undo
from leasehold.sessions.merge import Base, Health, Source, Start, capture_time
from leasehold.sessions.receiving import Envelope, Policy, receive
from leasehold.sites import Outcome, VectorsMalformed

Vector = Mapping[str, Any]

MOST_ORDERS: Final = 720  # of six uploads all; of more the first so many
_KEY: Final = b"a key for vectors, which keep no secret"
_KINDS: Final = {
    "c": slots.COOKIE,
    "cookie": slots.COOKIE,
    "l": slots.LOCAL,
    "ls": slots.LOCAL,
    "localStorage": slots.LOCAL,
    "i": slots.DATABASE,
    "idb": slots.DATABASE,
    "indexedDB": slots.DATABASE,
    "o": slots.FILE,
    "opfs": slots.FILE,
    "f": slots.FILE,
    "k": slots.CREDENTIAL,
    "p": slots.CREDENTIAL,
    "pk": slots.CREDENTIAL,
    "credential": slots.CREDENTIAL,
}


def run_vectors(document: object) -> Iterator[Outcome]:
    """One outcome for each vector, in the order of the file; raises VectorsMalformed before the first."""
    vectors = document.get("vectors") if isinstance(document, Mapping) else document
    if not isinstance(vectors, list) or not all(isinstance(vector, Mapping) for vector in vectors):
        raise VectorsMalformed("The document is not a list of session vectors.")
    return (_outcome(vector, place) for place, vector in enumerate(vectors, start=1))


def _outcome(vector: Vector, place: int) -> Outcome:
    name = str(vector.get("id") or f"vector {place}")
    try:
        difference = _difference(vector)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        difference = f"the vector cannot be run: {type(error).__name__}: {error}"
    return Outcome(name, not difference, f"{name}: {difference}" if difference else "")


def _difference(vector: Vector) -> str:
    uploads: Sequence[Vector] = vector["uploads"]
    for order in islice(permutations(uploads), MOST_ORDERS):
        found = _run(vector, order, {str(upload["uid"]): upload for upload in uploads})
        if found:
            arrived = ", ".join(str(upload["uid"]) for upload in order)
            return f"{found} (arrived: {arrived})"
    return ""


def _run(vector: Vector, order: Sequence[Vector], named: Mapping[str, Vector]) -> str:
    history, totals = History(), {"rejected": 0, "held": 0, "out_of_scope": 0}
    try:
        for upload in order:
            envelope = _envelope(upload)
            rules = _rules(vector, upload)
            policy = Policy(rules, frozenset(_markers(vector)), _groups(vector))
            done = receive(history, upload["state"], envelope, _base(upload, named, rules), _KEY, policy)
            history = done.history
            for count in totals:
                totals[count] += len(getattr(done.report, count))
        for upload_id in vector.get("undo", []):
            history = undo(history, upload_id)
        given = hand_out(history, _now(vector), _wish(vector))
    except (StateMalformed, StateTooLarge, StorageFull) as error:
        refused = type(error).__name__
        return "" if vector.get("refused") in (True, refused) else f"refused: {error}"
    totals["over_cap"] = len(given.over_cap)
    return _compare(vector, given.state, totals)


def _compare(vector: Vector, state: Mapping[str, Any], totals: Mapping[str, int]) -> str:
    if vector.get("refused"):
        return "expected a refusal, got a state"
    everything = Rules(allows_files=True, allows_credentials=True)
    wanted = read_state(vector["expect"], everything, _now(vector))
    got = read_state(state, everything, _now(vector))
    lines = [
        f"{slots.show(slot)}: expected {_told(wanted, slot)}, got {_told(got, slot)}"
        for slot in dict.fromkeys([*wanted.entries, *got.entries])
        if _told(wanted, slot) != _told(got, slot)
    ]
    lines += [
        f"expected {vector[count]} {count}, got {total}"
        for count, total in totals.items()
        if isinstance(vector.get(count), int) and vector[count] != total
    ]
    return "; ".join(lines)


def _told(state: Canonical, slot: str) -> str:
    if slot not in state.entries:
        return "nothing"
    count = f" counted {state.counters[slot]}" if slot in state.counters else ""
    return f"{state.entries[slot]!r}{count}"


def _envelope(upload: Vector) -> Envelope:
    return Envelope(
        str(upload["uid"]),
        _captured(upload),
        Source(upload.get("source", Source.CONTEXT)),
        # A vector that says nothing of health is about merging, not about the guard.
        Health(upload.get("health", Health.OK)),
        upload.get("lease", upload.get("lease_id")),
        upload.get("handed_out"),
        _entry_times(upload.get("entry_times", [])),
        bool(upload.get("lossy", False)),
    )


def _captured(upload: Vector) -> int:
    if "t" in upload:
        return round(float(upload["t"]) * 1000)
    lease_start = upload.get("lease_start", upload.get("lease_started_at"))
    return capture_time(upload["received_at"], upload.get("sent_at"), upload.get("captured_at"), lease_start)


def _entry_times(given: Any) -> dict[str, int]:
    pairs = given.items() if isinstance(given, Mapping) else given
    return {_slot(slot): round(t * 1000) for slot, t in pairs}


def _slot(given: Any) -> str:
    """A slot as vectors write it: a list of its kind and its parts."""
    if isinstance(given, str):
        return given
    kind, *parts = given
    if _KINDS[kind] != slots.COOKIE:
        return slots.stored_slot(_KINDS[kind], parts[0], parts[1])
    name, domain, path, partition, ancestor = [*parts, None, None][:5]
    return slots.CookieSlot(name, domain, path, partition, ancestor).text


def _base(upload: Vector, named: Mapping[str, Vector], rules: Rules) -> Base:
    base = upload.get("base", Start.UNKNOWN)
    if isinstance(base, str):
        other = named.get(base.removeprefix("="))
        if other is None or base in (Start.FRESH, Start.UNKNOWN):
            return Start(base)
        base = other["state"]
    return read_state(base, rules, _captured(upload) / 1000)


def _rules(vector: Vector, upload: Vector) -> Rules:
    scope = upload.get("scope", vector.get("scope"))
    allows = upload.get("allow_credentials", vector.get("allow_credentials", True))
    return Rules(
        None if scope in (None, "all") else frozenset(scope), allows_files=True, allows_credentials=bool(allows)
    )


def _markers(vector: Vector) -> Sequence[str]:
    markers: Sequence[str] = vector.get("auth_markers", vector.get("pinned", []))
    return [one if isinstance(one, str) else one[1] for one in markers]


def _groups(vector: Vector) -> list[frozenset[str]]:
    return [frozenset(group) for group in vector.get("groups", vector.get("affinity", []))]


def _wish(vector: Vector) -> Wish:
    include = vector.get("include", ["indexeddb", "opfs", "credentials"])
    return Wish(
        "indexeddb" in include,
        "opfs" in include,
        "credentials" in include,
        frozenset(_markers(vector)),
        vector.get("session_cookie_max_age"),
    )


def _now(vector: Vector) -> float:
    return float(vector.get("now", 10_000))
