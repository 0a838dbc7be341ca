"""States that a real Chromium wrote: what the merge makes of logins, refreshes, logouts and half captures."""

from itertools import permutations
from typing import Any

import pytest

from leasehold.sessions import History, Received, Rules, Source, Start, hand_out, read_state
from tests.sessions.states import ALL, EVERYTHING, MANIFEST, known, sample, sample_time, send, shown


def merge(history: History, name: str, base: str | Start = Start.FRESH, **other: Any) -> Received:
    start = base if isinstance(base, Start) else known(sample(base))
    return send(history, name, sample_time(name) / 1000, sample(name), start, **other)


def after(*names: str) -> History:
    history = History()
    for name in names:
        history = merge(history, name).history
    return history


def now() -> float:
    return sample_time("14") / 1000 + 1


@pytest.mark.parametrize("name", [name.split("_")[0] for name in MANIFEST if not name.startswith("_")])
def test_a_state_that_chromium_wrote_comes_back_as_it_was(name: str) -> None:
    held = sample(name)

    got = send(History(), name, sample_time(name) / 1000, held)

    assert got.report.rejected == []
    assert got.report.repaired == []
    given = hand_out(got.history, sample_time(name) / 1000, ALL).state
    assert given["cookies"] == held["cookies"]
    assert read_state(given, EVERYTHING, now()).entries == read_state(held, EVERYTHING, now()).entries


def test_a_second_login_without_the_one_time_step_keeps_what_was_given_once() -> None:
    found = shown(after("01", "03"), now())

    assert found["device_trust"] == shown(after("01"), now())["device_trust"]
    assert found["sid"] == shown(after("03"), now())["sid"]


def test_a_logout_removes_what_the_site_took_away_and_nothing_else() -> None:
    before = after("01")

    got = merge(before, "05", base="01")

    gone = shown(before, now()).keys() - shown(got.history, now()).keys()
    assert gone == {"sid", "remember", "__Host-sess", "auth.access", "auth.refresh"}
    assert {"device_trust", "onboarding.done"} <= shown(got.history, now()).keys()
    assert len(got.report.deleted) == 5


def test_the_same_file_without_a_base_removes_nothing() -> None:
    before = after("01")

    got = merge(before, "05", Start.UNKNOWN)

    assert got.report.deleted == []
    assert shown(before, now()).keys() <= shown(got.history, now()).keys()


def test_a_cookie_that_ended_by_itself_is_no_operation() -> None:
    got = merge(after("01", "04a"), "04b", base="04a")

    assert (got.operations.sets, got.operations.deletions) == ([], [])
    assert [slot.split("\t")[1] for slot in got.report.expired] == ["otp_window"]


def test_local_storage_that_was_cleared_is_gone() -> None:
    found = shown(merge(after("01"), "05b", base="01").history, now())

    assert "sid" in found
    assert "auth.access" not in found


@pytest.mark.parametrize("base", ["01", Start.UNKNOWN])
@pytest.mark.parametrize("order", list(permutations(["01", "11a", "11b"])))
def test_a_stale_worker_adds_its_own_and_overwrites_nothing(base: str | Start, order: tuple[str, ...]) -> None:
    history = History()
    for name in order:
        history = merge(history, name, Start.FRESH if name == "01" else base).history

    found, fresh = shown(history, now()), shown(after("11a"), now())
    assert found.pop("pref.theme")
    assert found == fresh


def test_three_partitions_and_three_scopes_of_one_name_stay_apart() -> None:
    chips = hand_out(after("07", "07b"), now()).state["cookies"]
    dups = hand_out(after("06"), now()).state["cookies"]

    assert [one["name"] for one in chips].count("chip") == 3
    assert [one["name"] for one in dups].count("dup") == 3


def test_a_profile_that_was_opened_again_removes_nothing() -> None:
    before = after("01")

    got = merge(before, "14", base="01", source=Source.PERSISTENT)

    assert got.report.deleted == []
    assert shown(before, now()).keys() <= shown(got.history, now()).keys()


def test_a_capture_without_databases_keeps_them() -> None:
    got = merge(after("08"), "08b", base="08")

    (place,) = hand_out(got.history, now(), ALL).state["origins"]
    assert len(place["indexedDB"]) == 2
    assert (got.operations.sets, got.operations.deletions) == ([], [])


@pytest.mark.parametrize(("name", "base"), [("07b", "07"), ("08c", "08")])
def test_a_state_that_was_loaded_and_saved_is_no_operation(name: str, base: str) -> None:
    got = merge(after(base), name, base=base)

    assert (got.operations.sets, got.operations.deletions) == ([], [])


def test_a_request_context_rotates_cookies_and_deletes_nothing() -> None:
    before = after("01")

    got = merge(before, "10", base="01", source=Source.API)

    assert got.report.deleted == []
    assert shown(got.history, now())["sid"] != shown(before, now())["sid"]


def test_a_life_that_chromium_cut_short_is_kept_as_it_is() -> None:
    held = sample("13")
    long = {**held["cookies"][0], "expires": sample_time("13") / 1000 + 3650 * 86400}
    given = {"cookies": [long], "origins": []}
    before = send(History(), "a", sample_time("13") / 1000 - 60, given).history

    got = send(before, "b", sample_time("13") / 1000, held, known(given), handed_out=sample_time("13") / 1000 - 30)

    assert got.operations.sets == []
    assert hand_out(got.history, now()).state["cookies"][0]["expires"] == long["expires"]


def test_the_closing_check_has_71_slots() -> None:
    history = after("01", "02", "03", "06", "07", "08", "12a", "12b")

    assert len(history.entries()) == 71
    assert len(read_state(hand_out(history, now(), ALL).state, Rules(), now()).entries) == 71
