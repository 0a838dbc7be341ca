"""A session on the address its site has moved to."""

from typing import Any

import pytest

from leasehold.sessions import History, Placement, Projection, hand_out, project
from leasehold.sites import Mount, Subdomains, Trust
from tests.sessions.states import ALL, cookie, known, sample, sample_time, send, state

OLD, NEW = Mount("board1.example"), Mount("board2.example", since=500)


def place(history: History, placement: Placement, now: float = 1000) -> tuple[dict[str, Any], Projection]:
    report = Projection()
    given = hand_out(history, now, ALL, lambda kept, deleted: project(kept, deleted, placement, report))
    return given.state, report


def moved(held: dict[str, Any], current: Mount = NEW, former: Mount = OLD, **other: Any) -> dict[str, Any]:
    return place(send(History(), "u0", 100, held).history, Placement(current, [former], **other))[0]


def on(domain: str, name: str = "a", **other: Any) -> dict[str, Any]:
    return cookie(name, domain=domain, **other)


def domains(given: dict[str, Any]) -> list[str]:
    return [one["domain"] for one in given["cookies"]]


def test_a_state_of_the_old_address_becomes_one_of_the_new() -> None:
    now = sample_time("12a") / 1000
    history = send(History(), "u0", now, sample("12a")).history

    given, report = place(history, Placement(NEW, [OLD]), now)

    expected = [{**one, "domain": one["domain"].replace("board1", "board2")} for one in sample("12a")["cookies"]]
    assert given["cookies"] == expected
    assert {one["origin"] for one in given["origins"]} == {
        one["origin"].replace("board1", "board2") for one in sample("12a")["origins"]
    }
    assert len(report.moved) == len(history.entries())
    assert report.names()[0]["from"].replace("board1", "board2") == report.names()[0]["to"]


def test_what_is_stored_stays_where_it_was_captured() -> None:
    history = send(History(), "u0", 100, sample("12a")).history
    there = Placement(NEW, [OLD])
    back = Placement(Mount("board1.example", since=900), [OLD, NEW])

    place(history, there)
    given, report = place(history, back)

    assert given == hand_out(history, 1000, ALL).state
    assert report.moved == []


@pytest.mark.parametrize("trust", [Trust.URLS, Trust.OBSERVED])
def test_without_trust_for_credentials_it_is_given_as_captured(trust: Trust) -> None:
    held = state(on("board1.example"))

    assert domains(moved(held, Mount("board2.example", since=500, trust=trust))) == ["board1.example"]


def test_a_projection_that_was_stopped_does_nothing() -> None:
    assert domains(moved(state(on("board1.example")), is_stopped=True)) == ["board1.example"]


def test_an_address_that_was_only_proposed_is_none_of_the_sites() -> None:
    former = Mount("evil.example", trust=Trust.OBSERVED)

    assert domains(moved(state(on("evil.example")), former=former)) == ["evil.example"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (".board1.example", ".board2.example"),
        ("img.cdn.board1.example", "img.cdn.board2.example"),
        (".www.board1.example", ".www.board2.example"),
        ("notboard1.example", "notboard1.example"),
        ("third.example", "third.example"),
    ],
)
def test_the_host_is_exchanged_at_a_label(given: str, expected: str) -> None:
    assert domains(moved(state(on(given)))) == [expected]


def test_a_subdomain_the_new_address_cannot_have_stays_and_a_folded_one_does_not() -> None:
    bare = Mount("board2.example", since=500, subdomains=Subdomains.NONE)
    held = state(on("img.board1.example", "a"), on("www.board1.example", "b"))
    history = send(History(), "u0", 100, held).history

    given, report = place(history, Placement(bare, [OLD]))

    assert sorted(domains(given)) == ["board2.example", "img.board1.example"]
    assert [one.reason for one in report.stayed] == ["subdomain"]


def test_no_domain_cookie_is_set_on_a_public_suffix() -> None:
    assert domains(moved(state(on(".board1.example")), Mount("github.io", since=500))) == ["github.io"]


def test_a_partition_on_the_site_moves_with_it() -> None:
    own = on("board1.example", "a", partitionKey="https://board1.example", _crHasCrossSiteAncestor=False)
    other = on("board1.example", "b", partitionKey="https://top.example", _crHasCrossSiteAncestor=True)
    widget = on("widget.example", "c", partitionKey="https://board1.example", _crHasCrossSiteAncestor=True)

    given = {one["name"]: (one["domain"], one["partitionKey"]) for one in moved(state(own, other, widget))["cookies"]}

    assert given == {
        "a": ("board2.example", "https://board2.example"),
        "b": ("board2.example", "https://top.example"),
        "c": ("widget.example", "https://board1.example"),
    }


def test_an_origin_takes_the_scheme_and_the_port_of_the_new_address() -> None:
    held = {
        "cookies": [],
        "origins": [{"origin": "http://s.example:8443", "localStorage": [{"name": "k", "value": "v"}]}],
    }
    former, current = Mount("s.example", "http", 8443), Mount("t.example", "https", 9000, since=500)

    assert [one["origin"] for one in moved(held, current, former)["origins"]] == ["https://t.example:9000"]
    assert [one["origin"] for one in moved(held, current, Mount("s.example"))["origins"]] == ["http://s.example:8443"]


def test_what_is_bound_to_a_domain_stays() -> None:
    held = state(
        on("board1.example", "cf_clearance"),
        on("board1.example", "_pxhd"),
        on("board1.example", "sid"),
        on("board1.example", "plain", secure=False),
    )
    history = send(send(History(), "u0", 100, held).history, "u1", 100, sample("09b")).history

    given, report = place(history, Placement(NEW, [OLD]))
    named, _ = place(history, Placement(NEW, [OLD], not_migrated=["si*"]))
    _, insecure = place(history, Placement(Mount("board2.example", "http", since=500), [OLD]))

    assert {one["name"] for one in given["cookies"] if "board1" in one["domain"]} == {"cf_clearance", "_pxhd"}
    assert {one["name"] for one in named["cookies"] if "board1" in one["domain"]} == {"sid"}
    assert [one.reason for one in report.stayed] == ["bound", "bound"]
    assert [one.reason for one in insecure.stayed].count("insecure-mount") == 1


def test_a_passkey_of_the_site_stays() -> None:
    history = send(History(), "u0", 100, sample("09b")).history

    given, report = place(history, Placement(NEW, [Mount("app1.example")]))

    assert given["credentials"][0]["rpId"] == "app1.example"
    assert [one.reason for one in report.stayed] == ["passkey"]


@pytest.mark.parametrize(
    ("native", "migrated", "expected"),
    [
        (600, 100, "native"),  # written there since the site moved
        (600, 700, "native"),  # that is the site's word, whatever is newer elsewhere
        (400, 450, "migrated"),  # an older life of the new address: the newest stands
        (400, 300, "native"),
    ],
)
def test_what_was_written_at_the_new_address_stands(native: float, migrated: float, expected: str) -> None:
    history = send(History(), "n", native, state(on("board2.example", "sid", value="native"))).history
    history = send(history, "m", migrated, state(on("board1.example", "sid", value="migrated"))).history

    given, _ = place(history, Placement(NEW, [OLD]))

    assert [one["value"] for one in given["cookies"]] == [expected]


def test_what_the_site_deleted_at_the_new_address_does_not_come_back_from_the_old() -> None:
    history = send(History(), "u0", 100, state(on("board1.example", "sid"), on("board1.example", "b"))).history
    given, _ = place(history, Placement(NEW, [OLD]))
    left = {**given, "cookies": [one for one in given["cookies"] if one["name"] != "sid"]}

    after = send(history, "u1", 600, left, known(given)).history

    assert [one["name"] for one in place(after, Placement(NEW, [OLD]))[0]["cookies"]] == ["b"]


def test_of_two_former_addresses_the_newest_stands() -> None:
    history = send(History(), "a", 100, state(on("board0.example", "sid", value="older"))).history
    history = send(history, "b", 200, state(on("board1.example", "sid", value="newer"))).history

    given, report = place(history, Placement(NEW, [Mount("board0.example"), OLD]))

    assert [one["value"] for one in given["cookies"]] == ["newer"]
    assert len(report.moved) == 1


def test_a_path_below_a_prefix_moves_to_the_new_prefix() -> None:
    former, current = Mount("host.example", prefix="/forum/"), Mount("forum.example", since=500)
    held = state(
        *(on("host.example", name, path=path) for name, path in zip("abc", ("/forum/t", "/forum", "/"), strict=True))
    )

    paths = {one["name"]: one["path"] for one in moved(held, current, former)["cookies"]}

    assert paths == {"a": "/t", "b": "/", "c": "/"}
