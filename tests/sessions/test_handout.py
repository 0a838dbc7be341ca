"""What a browser is given: in order, within what it takes, with what the lease asked for."""

from typing import Any

import pytest

from leasehold.sessions import History, StorageFull, Wish, hand_out
from tests.sessions.soundness import faults
from tests.sessions.states import ALL, cookie, known, sample, send, state

PART = {"partitionKey": "https://top.example", "_crHasCrossSiteAncestor": True}


def given(held: dict[str, Any], now: float = 1000, wish: Wish | None = None) -> Any:
    return hand_out(send(History(), "u0", 100, held).history, now, wish)


def names(state_: dict[str, Any]) -> list[str]:
    return [one["name"] for one in state_["cookies"]]


def test_cookies_are_listed_in_the_order_they_were_made() -> None:
    first = state(cookie("a"), cookie("b"), cookie("c"))
    history = send(History(), "u0", 100, first).history
    history = send(history, "u1", 200, state(cookie("new"), cookie("a", "2"), cookie("c")), known(first)).history
    back = state(cookie("b", "again"), cookie("new"), cookie("a", "2"), cookie("c"))
    history = send(history, "u2", 300, back, known(state(cookie("new"), cookie("a", "2"), cookie("c")))).history

    assert names(hand_out(history, 1000).state) == ["a", "c", "new", "b"], "one that was deleted begins anew"


@pytest.mark.parametrize(("now", "there"), [(149, True), (150, False), (151, False)])
def test_an_expired_cookie_is_left_out(now: float, there: bool) -> None:
    assert names(given(state(cookie("a", expires=150)), now).state) == (["a"] if there else [])


@pytest.mark.parametrize(("age", "there"), [(None, True), (800, True), (799, False)])
def test_a_session_cookie_ages_from_when_it_was_last_seen_if_the_account_says_so(
    age: float | None, there: bool
) -> None:
    held = state(cookie("a"))
    history = send(send(History(), "u0", 100, held).history, "u1", 200, held, known(held)).history

    found = hand_out(history, 999.5, Wish(session_cookie_max_age_s=age)).state

    assert names(found) == (["a"] if there else [])


def test_databases_files_and_passkeys_are_given_only_when_asked_for() -> None:
    plain = given(sample("09"), 1_794_800_000).state
    every = given(sample("09"), 1_794_800_000, ALL).state

    assert plain.keys() == {"cookies", "origins"}
    assert plain["origins"][0].keys() == {"origin", "localStorage"}
    assert every["origins"][0].keys() == {"origin", "localStorage", "indexedDB", "opfs"}
    assert given(sample("09b"), 1000).state == {"cookies": [], "origins": []}
    assert given(sample("09b"), 1000, ALL).state["credentials"] == sample("09b")["credentials"]


def crowd(count: int, **other: Any) -> dict[str, Any]:
    return state(*(cookie(f"c{n:03}", "x", domain=f"h{n % 7}.a.example", **other) for n in range(count)))


def test_a_site_gets_180_cookies_and_the_oldest_go_first() -> None:
    out = given(crowd(201))

    assert len(out.state["cookies"]) == 180
    assert names(out.state)[0] == "c021"
    assert len(out.over_cap) == 21
    assert given(crowd(180)).over_cap == []


def test_insecure_cookies_go_before_secure_ones() -> None:
    held = crowd(200)
    for one in held["cookies"][-20:]:
        one["secure"] = False

    assert names(given(held).state) == [f"c{n:03}" for n in range(180)]


def test_what_was_not_seen_for_longest_goes_before_what_is_older() -> None:
    held = crowd(100)
    history = send(History(), "u0", 100, held).history
    rest = state(*(cookie(f"d{n:03}", "x") for n in range(100)))
    history = send(history, "u1", 200, rest).history
    history = send(history, "u2", 300, held, known(held)).history

    found = names(hand_out(history, 1000).state)

    assert {f"c{n:03}" for n in range(100)} <= set(found)
    assert "d019" not in found
    assert "d020" in found


def test_a_marked_cookie_and_one_given_once_only_are_never_the_ones_to_go() -> None:
    once = state(cookie("device", "d", secure=False))
    history = send(History(), "u0", 100, once).history
    for n in (1, 2):
        history = send(history, f"u{n}", 100 + n, once, known(once)).history
    history = send(history, "u3", 300, crowd(300)).history

    learned = hand_out(history, 1000).state
    marked = hand_out(send(History(), "u0", 100, crowd(300)).history, 1000, Wish(markers=frozenset({"c000"}))).state

    assert "device" in names(learned)
    assert names(marked)[0] == "c000"
    assert len(names(learned)) == len(names(marked)) == 180


def test_a_partition_has_180_cookies_and_10_kib_of_its_own() -> None:
    many = state(*(cookie(f"c{n:03}", "x", **PART) for n in range(200)), *crowd(180)["cookies"])
    large = state(*(cookie(f"c{n:03}", "x" * 100, **PART) for n in range(200)))

    assert len(given(many).state["cookies"]) == 360
    assert len(given(large).state["cookies"]) == 10_240 // 104


def test_there_are_3300_cookies_at_most() -> None:
    held = state(*(cookie(f"c{n}", domain=f"s{n % 40}.example") for n in range(3_400)))

    out = given(held)

    assert len(out.state["cookies"]) == 3_300
    assert len(out.over_cap) == 100
    assert faults(out.state, 1000) == []


def test_the_report_of_an_upload_names_what_is_over_the_cap() -> None:
    assert len(send(History(), "u0", 100, crowd(185)).report.over_cap) == 5
    assert send(History(), "u0", 100, crowd(180)).report.over_cap == []


def test_local_storage_that_no_browser_takes_is_refused_by_name() -> None:
    half = "x" * 3_000_000
    history = send(send(History(), "u0", 100, state(a=half)).history, "u1", 200, state(b=half)).history

    with pytest.raises(StorageFull, match=r"https://a\.example") as refused:
        hand_out(history, 1000)
    assert refused.value.origin == "https://a.example"


def test_local_storage_may_fill_the_quota_to_the_last_unit() -> None:
    assert given(state(k="x" * 5_242_879)).state["origins"]


def test_a_file_in_the_way_of_a_folder_goes() -> None:
    def files(*listed: dict[str, Any]) -> dict[str, Any]:
        return {"cookies": [], "origins": [{"origin": "https://a.example", "localStorage": [], "opfs": list(listed)}]}

    one = files({"path": "a", "type": "file", "base64": ""})
    two = files({"path": "a/b", "type": "file", "base64": "aGk="}, {"path": "a", "type": "directory"})
    history = send(send(History(), "u0", 100, one).history, "u1", 200, two).history

    (place,) = hand_out(history, 1000, ALL).state["origins"]
    assert {file["path"]: file["type"] for file in place["opfs"]} == {"a": "directory", "a/b": "file"}

    three = files({"path": "a/b", "type": "file", "base64": "aGk="})
    mixed = send(send(History(), "u0", 100, one).history, "u1", 200, three).history
    (place,) = hand_out(mixed, 1000, ALL).state["origins"]
    assert [file["path"] for file in place["opfs"]] == ["a/b"]


def test_the_longest_cookie_header_of_each_host_is_told() -> None:
    held = state(
        cookie("a", "12", domain=".a.example"),  # 4
        cookie("b", "1", domain="w.a.example"),  # 3
        cookie("c", "x" * 100, domain="w.a.example", **PART),  # 102
        cookie("d", "x" * 10, domain="w.a.example", partitionKey="https://b.example"),
        cookie("e", "x" * 4000, domain="other.example"),
        cookie("f", "x" * 4090, domain="other.example"),
        cookie("g", "x" * 100, domain="other.example"),
    )

    out = given(held)

    assert out.header_bytes["a.example"] == len("a=12")
    assert out.header_bytes["w.a.example"] == len("a=12; b=1; c=" + "x" * 100)
    assert out.heavy_hosts == ["other.example"]


def test_the_first_end_of_a_sign_in_is_told() -> None:
    held = state(cookie("sid"), cookie("auth", expires=5000), cookie("auth2", expires=4000), cookie("x", expires=2000))

    def ends(*markers: str) -> tuple[float | None, bool]:
        out = given(held, wish=Wish(markers=frozenset(markers)))
        return out.auth_expires, out.has_auth

    assert ends("sid", "auth", "auth2") == (4000, True)
    assert ends("sid") == (None, True)
    assert ends("nothing") == (None, False)
