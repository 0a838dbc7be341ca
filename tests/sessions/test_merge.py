"""What an upload proves, and what becomes of it: writes, echoes, deletions, holds, forks, undo, rolling back."""

from typing import Any

import pytest

from leasehold.sessions import (
    Health,
    History,
    Policy,
    Rules,
    Source,
    Start,
    blame,
    capture_time,
    decode,
    drop_aside,
    encode,
    forks,
    hand_out,
    prune,
    read_state,
    replace,
    roll_back,
    take_in,
    undo,
)
from leasehold.sessions.history import HistoryUnreadable
from leasehold.sessions.receiving import Envelope
from leasehold.sessions.register import digest
from tests.sessions.states import ALL, EVERYTHING, KEY, cookie, known, sample, send, shown, state

TWO = state(cookie("sid", "s1"), cookie("dev", "d1"), tok="t1")


def started(held: dict[str, Any] = TWO) -> History:
    return send(History(), "u0", 100, held).history


@pytest.mark.parametrize(
    ("received", "sent", "captured", "start", "found"),
    [
        (1000, 500, 490, None, 990_000),  # a clock that is behind
        (1000, 9_000, 8_990, None, 990_000),  # one that is ahead
        (1000, 500, 600, None, 1_000_000),  # captured after it was sent: nobody can say
        (1000, None, None, None, 1_000_000),
        (1000, 5000, 1000, 900, 900_001),  # before the lease began
        (1000, 500, 490, 995, 995_001),
    ],
)
def test_the_time_of_a_capture_does_not_depend_on_the_senders_clock(
    received: float, sent: float | None, captured: float | None, start: float | None, found: int
) -> None:
    assert capture_time(received, sent, captured, start) == found


def test_the_report_counts_and_names_and_shows_no_value() -> None:
    held = state(cookie("sid", "s2"), cookie("new", "secret"), cookie("bad", "se;cret"), tok="t1")

    report = send(started(), "u1", 200, held, known(TWO)).report

    counts = report.counts()
    assert counts["rejected"] == [{"slot": "cookie a.example/ bad", "reason": "chars"}]
    assert {name: counts[name] for name in ("set", "unchanged", "deleted")} == {"set": 2, "unchanged": 1, "deleted": 1}
    assert report.names()["deleted"] == ["cookie a.example/ dev"]
    assert report.names()["unchanged"] == ["localStorage https://a.example tok"]
    assert "secret" not in str(report.names()) + str(counts)


def test_an_echo_of_a_replaced_value_is_told_as_stale() -> None:
    rotated = send(started(), "u1", 200, state(cookie("sid", "s2"), cookie("dev", "d1"), tok="t1"), known(TWO)).history

    with_base = send(rotated, "u2", 300, TWO, known(TWO)).report
    without = send(rotated, "u2", 300, TWO, Start.UNKNOWN).report

    for report in (with_base, without):
        assert report.names()["stale_echo"] == ["cookie a.example/ sid"]
        assert len(report.unchanged) == 2
        assert report.set == []


def test_a_write_that_a_later_capture_stands_over_is_told() -> None:
    later = send(started(), "u2", 300, state(cookie("sid", "s3"), cookie("dev", "d1"), tok="t1"), known(TWO)).history

    report = send(later, "u1", 200, state(cookie("sid", "s2"), cookie("dev", "d1"), tok="t1"), known(TWO)).report

    assert report.names()["superseded"] == ["cookie a.example/ sid"]


def test_what_is_absent_and_proves_nothing_is_counted() -> None:
    report = send(started(), "u1", 200, state(cookie("sid", "s2")), Start.UNKNOWN).report

    assert sorted(report.names()["absent_kept"]) == ["cookie a.example/ dev", "localStorage https://a.example tok"]


@pytest.mark.parametrize("source", [Source.API, Source.MANUAL])
def test_a_source_that_cannot_know_never_deletes(source: Source) -> None:
    report = send(started(), "u1", 200, state(), known(TWO), source=source).report

    assert report.deleted == []
    assert len(report.absent_kept) == 3


def test_a_state_without_a_list_of_cookies_deletes_none() -> None:
    assert send(started(), "u1", 200, {"origins": []}, known(TWO)).report.names()["deleted"] == [
        "localStorage https://a.example tok"
    ]
    assert send(started(), "u1", 200, {"cookies": []}, known(TWO)).report.names()["deleted"] == [
        "cookie a.example/ sid",
        "cookie a.example/ dev",
    ]


def test_what_was_quarantined_is_not_gone() -> None:
    held = state(cookie("sid", "s;1"), cookie("dev", "d1"), tok="t1")
    held["origins"][0].pop("localStorage")

    got = send(started(), "u1", 200, held, known(TWO))

    assert got.report.deleted == []
    assert shown(got.history) == {"sid": "s1", "dev": "d1", "tok": "t1"}


def test_an_old_file_is_neither_a_write_nor_a_deletion() -> None:
    old = state(cookie("a", "old", expires=150))

    got = send(send(History(), "u0", 100, old).history, "u1", 200, state(cookie("a", "older", expires=120)), known(old))

    assert (got.operations.sets, got.operations.deletions) == ([], [])
    assert len(got.report.expired) == 1


def files(*paths: str) -> dict[str, Any]:
    listed = [{"path": path, "type": "file", "base64": "aGk="} for path in paths]
    return {"cookies": [], "origins": [{"origin": "https://a.example", "localStorage": [], "opfs": listed}]}


@pytest.mark.parametrize(
    ("source", "left", "expected"),
    [
        (Source.CONTEXT, files("a"), {"a"}),
        (Source.CONTEXT, files(), set()),
        (Source.CONTEXT, state(x="1"), {"a", "b"}),
        (Source.PERSISTENT, files("a"), {"a"}),
        (Source.PERSISTENT, files(), {"a", "b"}),
        (Source.API, files(), {"a", "b"}),
    ],
)
def test_a_file_is_gone_only_where_files_were_listed(source: Source, left: dict[str, Any], expected: set[str]) -> None:
    both = files("a", "b")

    got = send(started(both), "u1", 200, left, known(both), source=source).history

    origins = hand_out(got, 1000, ALL).state["origins"]
    assert {file["path"] for origin in origins for file in origin.get("opfs", [])} == expected


def test_a_lossy_source_does_not_reset_what_it_cannot_know() -> None:
    full = state(cookie("sid", "s1", sameSite="Strict", httpOnly=True))
    bare = {"name": "sid", "value": "s2", "domain": "a.example", "path": "/"}

    for first, second in ((0, 1), (1, 0)):
        history = History()
        for which in (first, second):
            if which == 0:
                history = send(history, "u0", 100, full).history
            else:
                history = send(history, "u1", 200, state(bare), Start.UNKNOWN, is_lossy=True).history

        (found,) = hand_out(history, 1000).state["cookies"]
        assert found == cookie("sid", "s2", sameSite="Strict", httpOnly=True)


def test_a_lossy_echo_of_a_replaced_value_does_not_bring_it_back() -> None:
    rotated = send(started(), "u1", 200, state(cookie("sid", "s2"), cookie("dev", "d1"), tok="t1"), known(TWO)).history
    bare = {"name": "sid", "value": "s1", "domain": "a.example", "path": "/", "secure": True}

    got = send(rotated, "u2", 300, state(bare), Start.UNKNOWN, is_lossy=True).history

    assert shown(got)["sid"] == "s2"


def test_a_shortened_life_without_a_base_does_not_bring_a_value_back() -> None:
    long = state(cookie("y", "1", expires=1e8))
    history = send(started(long), "u1", 150, state(cookie("y", "2", expires=1e8)), known(long)).history

    got = send(history, "u2", 200, state(cookie("y", "1", expires=180 + 400 * 86400)), Start.UNKNOWN).history

    assert shown(got)["y"] == "2"


def test_a_request_context_forgets_partitions_and_is_reminded() -> None:
    parted = state(cookie("c", "1", partitionKey="https://top.example", _crHasCrossSiteAncestor=True))

    echoed = send(started(parted), "u1", 200, state(cookie("c", "1")), known(parted), source=Source.API)
    rotated = send(started(parted), "u1", 200, state(cookie("c", "2")), known(parted), source=Source.API)

    assert echoed.operations.sets == []
    (found,) = hand_out(rotated.history, 1000).state["cookies"]
    assert (found["value"], found["partitionKey"]) == ("2", "https://top.example")


def test_a_context_that_says_it_was_fresh_and_repeats_old_values_is_not_believed() -> None:
    rotated = send(started(), "u1", 200, state(cookie("sid", "s2"), cookie("dev", "d1")), known(TWO)).history

    got = send(rotated, "u2", 300, state(cookie("sid", "s1"), cookie("other", "o"), tok="t1"))

    found = shown(got.history)
    assert (found["sid"], found["other"]) == ("s2", "o")
    assert "tok" not in found, "what was deleted does not come back by an old value either"
    assert got.report.names()["stale_echo"][0] == "cookie a.example/ sid"


def test_a_fresh_login_may_set_again_what_was_deleted() -> None:
    deleted = send(started(), "u1", 200, state(cookie("dev", "d1"), tok="t1"), known(TWO)).history

    assert shown(send(deleted, "u2", 300, state(cookie("sid", "s1"))).history)["sid"] == "s1"
    assert "sid" not in shown(send(deleted, "u2", 300, state(cookie("sid", "s1")), Start.UNKNOWN).history)


def test_a_logged_out_upload_is_a_branch() -> None:
    before = started()

    got = send(before, "u1", 200, state(cookie("NID", "anon")), known(TWO), health=Health.LOGGED_OUT)

    assert shown(got.history) == shown(before)
    assert got.history.aside["u1"].kind == "branch"
    assert len(got.report.held) == 4
    assert got.report.deleted == got.report.set == []
    assert drop_aside(got.history, "u1") == before


def test_most_cookies_gone_is_held_when_nobody_knows_whether_it_is_signed_in() -> None:
    held = state(cookie("NID", "anon"), tok="t1")

    unknown = send(started(), "u1", 200, held, known(TWO), health=Health.UNKNOWN)
    ok = send(started(), "u1", 200, held, known(TWO), health=Health.OK)

    assert shown(unknown.history) == shown(started())
    assert unknown.history.aside["u1"].kind == "held"
    assert len(unknown.report.held) == 3
    assert shown(ok.history) == {"NID": "anon", "tok": "t1"}


def test_half_of_the_cookies_gone_is_not_held() -> None:
    got = send(started(), "u1", 200, state(cookie("dev", "d1"), tok="t1"), known(TWO), health=Health.UNKNOWN)

    assert got.report.held == []
    assert len(got.report.deleted) == 1


def test_a_marked_cookie_gone_is_held() -> None:
    policy = Policy(EVERYTHING, markers=frozenset({"sid"}))

    got = send(
        started(), "u1", 200, state(cookie("dev", "d1"), tok="t1"), known(TWO), health=Health.UNKNOWN, policy=policy
    )

    assert len(got.report.held) == 1


def test_a_cookie_given_once_and_echoed_since_is_held_when_it_goes() -> None:
    many = state(*(cookie(f"c{n}", str(n)) for n in range(9)))
    history = started(many)
    fewer = {**many, "cookies": many["cookies"][1:]}

    for n in range(2):
        before = send(history, "u9", 900, fewer, known(many), health=Health.UNKNOWN)
        assert before.report.held == [], "it takes two echoes to learn"
        history = send(history, f"u{n + 1}", 200 + n, many, known(many)).history
    got = send(history, "u9", 900, fewer, known(many), health=Health.UNKNOWN)

    assert len(got.report.held) == 1


def test_a_held_upload_is_taken_in_by_a_person_or_by_its_lease_found_signed_in() -> None:
    held = state(tok="t1")
    waiting = send(started(), "u1", 200, held, known(TWO), health=Health.UNKNOWN, lease="L1").history

    by_person = take_in(waiting, "u1", KEY)
    by_lease = send(waiting, "u2", 300, held, known(held), lease="L1").history
    by_other = send(waiting, "u2", 300, TWO, known(TWO), lease="L2").history

    assert shown(by_person) == shown(by_lease) == {"tok": "t1"}
    assert shown(by_other) == shown(started())
    assert by_person.aside == by_lease.aside == {}


def test_two_leases_that_replaced_one_value_have_forked() -> None:
    one = send(started(), "u1", 200, state(cookie("sid", "A"), cookie("dev", "d1"), tok="t1"), known(TWO), lease="L1")
    two = send(one.history, "u2", 300, state(cookie("sid", "B"), cookie("dev", "d1"), tok="t1"), known(TWO), lease="L2")
    same = send(
        one.history, "u2", 300, state(cookie("sid", "A"), cookie("dev", "d1"), tok="t1"), known(TWO), lease="L2"
    )

    (fork,) = forks(two.history, KEY)
    assert (fork.leases, fork.uploads) == (("L1", "L2"), ("u1", "u2"))
    assert two.report.names()["forked"] == ["cookie a.example/ sid"]
    assert one.report.forked == []
    assert forks(same.history, KEY) == []


def test_every_slot_knows_who_wrote_it() -> None:
    got = send(started(), "u1", 200, state(cookie("sid", "s2"), cookie("dev", "d1"), tok="t1"), known(TWO), lease="L1")

    found = {slot.split("\t")[-1] or slot.split("\t")[1]: writer.id for slot, writer in blame(got.history).items()}

    assert found == {"sid": "u1", "dev": "u0", "tok": "u0"}


def test_an_upload_can_be_undone_for_good() -> None:
    bad = state(cookie("dev", "broken"), cookie("extra", "x"))
    got = send(started(), "u1", 200, bad, known(TWO)).history

    undone = undo(got, "u1")

    assert shown(undone) == shown(started())
    assert shown(send(undone, "u1", 200, bad, known(TWO)).history) == shown(started()), "also when it is sent again"
    assert shown(undo(got, "no such upload")) == shown(got)


def test_what_two_uploads_wrote_stays_when_one_is_undone() -> None:
    got = send(started(), "u1", 200, TWO).history

    assert shown(undo(got, "u0")) == shown(undo(got, "u1")) == shown(got)


def test_a_session_can_be_rolled_back_and_late_uploads_do_not_undo_that() -> None:
    early = started()
    changed = send(early, "u1", 200, state(cookie("sid", "s2"), cookie("x", "y")), known(TWO)).history

    back = roll_back(changed, early, Envelope("u9", 400_000), KEY)
    late = send(back.history, "u2", 300, state(cookie("sid", "s3")), Start.UNKNOWN).history

    assert shown(back.history) == shown(late) == shown(early)
    assert len(back.report.deleted) == 1


def test_a_session_can_be_replaced() -> None:
    history = send(started(), "u1", 200, sample("08")).history

    got = replace(history, state(cookie("only", "this")), Envelope("u2", 300_000), KEY)

    assert hand_out(got.history, 1000, ALL).state == {**state(cookie("only", "this")), "credentials": []}


def test_entries_that_belong_together_are_never_mixed() -> None:
    policy = Policy(EVERYTHING, groups=[frozenset({"sid", "csrf"})])
    base = state(cookie("sid", "s0"), cookie("other", "o"), csrf="c0")
    one = state(cookie("sid", "s1"), cookie("other", "o"), csrf="c0")
    two = state(cookie("sid", "s0"), cookie("other", "o2"), csrf="c2")

    history = send(History(), "u0", 100, base, policy=policy).history
    history = send(history, "u2", 300, two, known(base), policy=policy).history
    history = send(history, "u1", 200, one, known(base), policy=policy).history

    assert shown(history) == {"sid": "s0", "other": "o2", "csrf": "c2"}


def test_a_passkeys_counter_never_goes_back() -> None:
    held = sample("09b")
    high = {**held, "credentials": [{**held["credentials"][0], "signCount": 7}]}

    got = send(send(History(), "u1", 100, high).history, "u2", 200, held, known(high))

    (found,) = hand_out(got.history, 1000, ALL).state["credentials"]
    assert found == high["credentials"][0]
    assert got.operations.sets == []


def test_a_database_whose_members_are_listed_in_another_order_is_the_same() -> None:
    held = sample("08")
    turned = sample("08")
    backwards = {name: turned["origins"][0]["indexedDB"][0][name] for name in ("stores", "version", "name")}
    turned["origins"][0]["indexedDB"][0] = backwards

    for base in (known(held), Start.UNKNOWN):
        got = send(started(held), "u1", 200, turned, base)
        assert got.report.set == []
        assert encode(got.history) == encode(send(started(held), "u1", 200, held, base).history)


def rotations(count: int) -> History:
    history, before = History(), state(cookie("sid", "s0"), cookie("gone", "g"))
    history = send(history, "u000", 100, before).history
    for n in range(1, count):
        held = state(cookie("sid", f"s{n}"))
        history = send(history, f"u{n:03}", 100 + n, held, known(before)).history
        before = held
    return history


def test_what_nobody_can_need_is_forgotten_and_the_rest_stays() -> None:
    history = rotations(50)

    kept = prune(history, KEY, keep_from=0)
    old = prune(history, KEY, keep_from=140_000)

    assert shown(history) == shown(kept) == shown(old) == {"sid": "s49"}
    assert len(encode(old)) < len(encode(kept)) < len(encode(history))
    assert len(old.uploads) < 20
    assert not [slot for slot in old.registers if "gone" in slot]
    created = [next(found.created.t for _, found in one.elected()) for one in (history, kept, old)]
    assert created == [100_000] * 3, "the place in the list stays"


def test_a_value_remembered_by_its_digest_still_cannot_come_back() -> None:
    kept = prune(rotations(50), KEY, keep_from=0, values=3)
    assert b'"s5"' not in encode(kept)

    assert shown(send(kept, "u9", 900, state(cookie("sid", "s5")), Start.UNKNOWN).history)["sid"] == "s49"
    assert shown(send(kept, "u9", 900, state(cookie("sid", "s5")), known(state(cookie("sid", "s6")))).history) == {
        "sid": "s5"
    }


def test_a_cookie_that_ended_long_ago_is_forgotten() -> None:
    history = started(state(cookie("a", expires=150), cookie("b")))

    assert len(prune(history, KEY, keep_from=200_000).registers) == 1
    assert len(prune(history, KEY, keep_from=140_000).registers) == 2


def test_a_history_is_stored_and_read_again() -> None:
    history = send(rotations(5), "x", 200, state(), known(state(cookie("sid", "s4"))), health=Health.LOGGED_OUT).history
    history = undo(send(history, "y", 300, sample("09b")).history, "z")

    again = decode(encode(history))

    assert again == history
    assert encode(again) == encode(history)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"format": 2}', b"null"])
def test_bytes_of_another_kind_are_refused(data: bytes) -> None:
    with pytest.raises(HistoryUnreadable):
        decode(data)


def test_a_history_is_not_changed_by_what_is_made_of_it() -> None:
    history = rotations(5)
    before = encode(history)

    send(history, "a", 50, TWO)
    send(history, "zz", 900, TWO, known(state(cookie("sid", "s4"))))
    prune(history, KEY, keep_from=10**9)
    undo(history, "u002")

    assert encode(history) == before


def test_a_base_that_was_handed_out_is_what_the_context_held() -> None:
    from leasehold.sessions import handed_out

    history = send(started(), "u1", 200, sample("08")).history

    for wish in (None, ALL):
        given = hand_out(history, 1000, wish).state
        assert handed_out(history, 1000, wish).entries == read_state(given, Rules(), 1000).entries


def test_a_life_that_was_prolonged_to_400_days_is_a_write() -> None:
    short = state(cookie("y", "1", expires=30 * 86400))

    got = send(
        started(short), "u1", 200, state(cookie("y", "1", expires=150 + 400 * 86400)), known(short), handed_out=150
    )

    assert len(got.report.set) == 1


def test_what_a_lossy_source_knows_and_what_it_does_not_never_make_a_cookie_that_is_dropped() -> None:
    full = state(cookie("a", "1", sameSite="None"))
    bare = {"name": "a", "value": "2", "domain": "a.example", "path": "/", "secure": False}

    got = send(started(full), "u1", 200, state(bare), Start.UNKNOWN, is_lossy=True).history

    assert hand_out(got, 1000).state["cookies"] == [cookie("a", "2", secure=False, sameSite="Lax")]


def test_a_microsecond_lost_in_a_browser_is_no_write() -> None:
    held = state(cookie("y", "1", expires=5000.123457))

    got = send(started(held), "u1", 200, state(cookie("y", "1", expires=5000.123456)), known(held))

    assert got.operations.sets == []


def test_a_value_is_as_old_as_its_first_sighting_also_when_that_arrives_last() -> None:
    history = send(History(), "u3", 300, state(cookie("a", "1")), Start.UNKNOWN).history
    history = send(history, "u2", 200, state(cookie("a", "2")), Start.UNKNOWN).history
    assert shown(history)["a"] == "1"

    history = send(history, "u1", 100, state(cookie("a", "1")), Start.UNKNOWN).history

    assert shown(history)["a"] == "2"


def test_a_cookie_that_was_deleted_before_was_not_given_once_only() -> None:
    many = state(*(cookie(f"c{n}", str(n)) for n in range(9)))
    fewer = {**many, "cookies": many["cookies"][1:]}
    history = send(History(), "u0", 100, many, Start.UNKNOWN).history
    for n in (1, 2):
        history = send(history, f"u{n}", 100 + n, many, known(many)).history
    history = send(history, "u3", 300, fewer, known(many)).history
    history = send(history, "u4", 400, many).history

    got = send(history, "u5", 500, fewer, known(many), health=Health.UNKNOWN)

    assert got.report.held == []
    assert len(got.report.deleted) == 1


def test_a_digest_depends_on_the_key_of_the_session() -> None:
    slot = "l\thttps://a.example\tpin"

    assert digest(KEY, slot, "1234") == digest(KEY, slot, "1234")
    assert digest(KEY, slot, "1234") != digest(b"another", slot, "1234")


def test_what_was_only_taken_along_with_its_group_is_no_fork() -> None:
    policy = Policy(EVERYTHING, groups=[frozenset({"sid", "csrf"})])
    base = state(cookie("sid", "s0"), csrf="c0")
    history = send(History(), "u0", 100, base, policy=policy).history
    one, two = state(cookie("sid", "A"), csrf="c0"), state(cookie("sid", "B"), csrf="c1")
    history = send(history, "u1", 200, one, known(base), lease="L1", policy=policy).history
    history = send(history, "u2", 300, two, known(base), lease="L2", policy=policy).history

    assert [fork.slot.split("\t")[1] for fork in forks(history, KEY)] == ["sid"]
