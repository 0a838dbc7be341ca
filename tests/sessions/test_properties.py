"""What holds for any uploads in any order: nothing is lost, nothing comes back, everything loads."""

import random
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold.sessions import (
    Envelope,
    Health,
    History,
    Operations,
    Rules,
    Source,
    Start,
    StateMalformed,
    StateTooLarge,
    StorageFull,
    Upload,
    decode,
    derive,
    encode,
    hand_out,
    handed_out,
    join,
    prune,
    read_state,
    receive,
    undo,
)
from tests.sessions.soundness import faults
from tests.sessions.states import ALL, EVERYTHING, KEY, NOW, cookie, state


@dataclass(frozen=True)
class Sent:
    """One upload, and where its base comes from: another upload's state, fresh or unknown."""

    id: str
    t: int
    held: dict[str, Any]
    base: Any
    source: Source
    is_lossy: bool = False

    def operations(self) -> Operations:
        found = read_state(self.held, EVERYTHING, self.t, lossy=self.is_lossy)
        base = self.base if isinstance(self.base, Start) else read_state(self.base, EVERYTHING, self.t)
        return derive(Upload(self.id, self.t * 1000, found, self.source, Health.OK, handed_out=self.t - 1.0), base, KEY)


COOKIES = st.builds(
    cookie,
    st.sampled_from("ab"),
    st.sampled_from(["1", "2", "3"]),
    domain=st.sampled_from(["a.example", ".a.example", "w.a.example"]),
    expires=st.sampled_from([-1, -1, 4, 20_000, 40_000_000]),
    sameSite=st.sampled_from(["Lax", "None"]),
)
CHIPS = COOKIES.map(lambda one: {**one, "partitionKey": "https://t.example", "_crHasCrossSiteAncestor": True})
KEYS = st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"]))


def database(version: int) -> dict[str, Any]:
    return {"name": "db", "version": version, "stores": []}


@st.composite
def states(draw: st.DrawFn) -> dict[str, Any]:
    held = state(*draw(st.lists(COOKIES | CHIPS, max_size=4)), **draw(KEYS))
    for place in held["origins"]:
        if draw(st.booleans()):
            place["indexedDB"] = [database(version) for version in draw(st.lists(st.integers(1, 2), max_size=1))]
    return held


@st.composite
def uploads(draw: st.DrawFn, bases: bool = True) -> list[Sent]:
    held = draw(st.lists(states(), min_size=1, max_size=5))
    found = []
    for place, one in enumerate(held):
        start: Any = draw(st.sampled_from(list(Start)))
        if bases and draw(st.booleans()):
            start = draw(st.sampled_from(held))
        source = draw(st.sampled_from(list(Source)))
        found.append(Sent(f"u{draw(st.integers(0, 9))}{place}", draw(st.integers(1, 8)), one, start, source))
    return found


def joined(sent: list[Sent]) -> History:
    history = History()
    for one in sent:
        history = join(history, one.operations(), KEY)
    return history


@settings(max_examples=300)
@given(uploads(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_and_repeats_leave_the_same_bytes(sent: list[Sent], rng: random.Random) -> None:
    shuffled = sent * 2
    rng.shuffle(shuffled)

    assert encode(joined(shuffled)) == encode(joined(sent))


@settings(max_examples=100)
@given(uploads(), st.randoms(use_true_random=False))
def test_lossy_sources_too(sent: list[Sent], rng: random.Random) -> None:
    lossy = [Sent(one.id, one.t, _without(one.held, rng), one.base, one.source, True) for one in sent]
    shuffled = lossy * 2
    rng.shuffle(shuffled)

    assert encode(joined(shuffled)) == encode(joined(lossy))
    assert faults(hand_out(joined(lossy), NOW, ALL).state, NOW) == []


def _without(held: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    names = ("sameSite", "httpOnly", "secure", "expires")
    gone = [name for name in names if rng.random() < 0.5]
    return {**held, "cookies": [{k: v for k, v in one.items() if k not in gone} for one in held["cookies"]]}


@settings(max_examples=200)
@given(uploads(), st.randoms(use_true_random=False))
def test_storing_in_between_changes_nothing(sent: list[Sent], rng: random.Random) -> None:
    history = History()
    for one in sent:
        history = join(history, one.operations(), KEY)
        history = decode(encode(history)) if rng.random() < 0.5 else history

    assert history == decode(encode(joined(sent)))


@settings(max_examples=200)
@given(uploads())
def test_whatever_is_handed_out_loads_and_is_its_own_base(sent: list[Sent]) -> None:
    history = joined(sent)

    for now in (3.0, NOW):
        given_out = hand_out(history, now, ALL).state
        assert faults(given_out, now) == []
        assert handed_out(history, now, ALL).entries == read_state(given_out, EVERYTHING, now).entries
        echo = Sent("zz", int(now) + 1, given_out, given_out, Source.CONTEXT).operations()
        assert (echo.sets, echo.deletions) == ([], []), "a context that did nothing says nothing"


@settings(max_examples=200)
@given(uploads(bases=False))
def test_nothing_is_deleted_without_a_known_base(sent: list[Sent]) -> None:
    written = {slot for one in sent for slot, *_ in one.operations().sets}

    assert joined(sent).entries().keys() == written


@settings(max_examples=200)
@given(uploads(), states())
def test_a_value_that_was_replaced_does_not_come_back_without_a_base(sent: list[Sent], last: dict[str, Any]) -> None:
    history = joined(sent)
    before = history.entries()
    known = {(slot, str(entry)) for one in sent for slot, entry, *_ in one.operations().sets}

    echo = Sent("zz", 9, last, Start.UNKNOWN, Source.CONTEXT).operations()
    after = join(history, echo, KEY).entries()

    for slot, entry, *_ in echo.sets:
        if (slot, str(entry)) in known:
            assert after.get(slot) == before.get(slot)


@settings(max_examples=200)
@given(uploads(), st.integers(0, 10_000))
def test_forgetting_changes_nothing_that_is_shown(sent: list[Sent], keep_from: int) -> None:
    history = joined(sent)

    for values in (0, 2):
        kept = prune(history, KEY, keep_from, values=values)
        assert hand_out(kept, NOW, ALL).state == hand_out(history, NOW, ALL).state
        assert prune(kept, KEY, keep_from, values=values) == kept
        assert decode(encode(kept)) == kept


@settings(max_examples=100)
@given(uploads(), st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_forgetting_what_lossy_sources_said_changes_nothing_either(
    sent: list[Sent], keep_from: int, rng: random.Random
) -> None:
    lossy = [Sent(one.id, one.t, _without(one.held, rng), one.base, one.source, True) for one in sent]
    history = joined(lossy)

    kept = prune(history, KEY, keep_from, values=0)

    assert hand_out(kept, NOW, ALL).state == hand_out(history, NOW, ALL).state


@settings(max_examples=200)
@given(uploads())
def test_undoing_every_upload_leaves_nothing(sent: list[Sent]) -> None:
    history = joined(sent)
    for one in sent:
        history = undo(history, one.id)

    assert history.entries() == {}
    assert history.registers == {}


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["https://a.example", "a.b", "/"]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=3), below, max_size=3),
    max_leaves=8,
)
WORDS = ("name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite", "partitionKey")
ODD = st.dictionaries(st.sampled_from(WORDS), JSON).map(lambda odd: {**cookie("a"), **odd})
PLACES = st.fixed_dictionaries(
    {"origin": JSON, "localStorage": JSON | st.lists(st.dictionaries(st.sampled_from(["name", "value"]), JSON))},
    optional={"indexedDB": JSON, "opfs": JSON},
)


@settings(max_examples=400)
@given(
    JSON
    | st.fixed_dictionaries({"cookies": st.lists(ODD | JSON), "origins": st.lists(PLACES | JSON)})
    | st.fixed_dictionaries({"cookies": JSON, "origins": JSON, "credentials": JSON})
)
def test_no_upload_whatever_it_holds_does_harm(held: Any) -> None:
    for rules in (Rules(), EVERYTHING):
        try:
            found = read_state(held, rules, NOW)
        except (StateMalformed, StateTooLarge):
            continue
        history = join(History(), derive(Upload("u", 1, found), Start.FRESH, KEY), KEY)
        try:
            out = hand_out(decode(encode(history)), NOW, ALL)
        except StorageFull:
            continue
        assert faults(out.state, NOW) == []


def test_a_dry_run_is_a_run_whose_history_is_thrown_away() -> None:
    history = History()

    first = receive(history, state(cookie("a")), Envelope("u", 1), Start.FRESH, KEY)
    again = receive(history, state(cookie("a")), Envelope("u", 1), Start.FRESH, KEY)

    assert history == History()
    assert first.report == again.report
