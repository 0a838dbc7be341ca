"""How an uploaded state is read: what is put right, what is left out and why, and what is refused."""

import json
from typing import Any

import pytest

from leasehold.sessions import Limits, Rules, StateMalformed, StateTooLarge, parse_state, read_state
from leasehold.sessions.canonical import Canonical
from tests.sessions.states import EVERYTHING, cookie, sample, state

T = 1_794_724_421.0


def read(held: Any, rules: Rules = EVERYTHING, **other: Any) -> Canonical:
    return read_state(held, rules, T, **other)


def origin(name: str = "https://a.example", **members: Any) -> dict[str, Any]:
    return {"cookies": [], "origins": [{"origin": name, "localStorage": [], **members}]}


def store(records: list[Any], **other: Any) -> dict[str, Any]:
    return {"name": "s", "autoIncrement": False, "keyPath": "id", "records": records, "indexes": [], **other}


def database(*stores: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {"name": "app", "version": 1, "stores": list(stores), **other}


def slots_of(*cookies: dict[str, Any]) -> list[list[str]]:
    return [slot.split("\t")[1:] for slot in read(state(*cookies)).entries]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"value": 1}, "type"),
        ({"name": None}, "type"),
        ({"secure": "yes"}, "type"),
        ({"expires": "tomorrow"}, "type"),
        ({"expires": True}, "type"),
        ({"name": "", "value": ""}, "empty"),
        ({"value": "a;b"}, "chars"),
        ({"value": "a\nb"}, "chars"),
        ({"value": "a\x00b"}, "chars"),
        ({"value": "a\tb"}, "chars"),
        ({"value": " a"}, "chars"),
        ({"value": "\ud800"}, "chars"),
        ({"name": "a=b"}, "chars"),
        ({"name": "a\tb"}, "chars"),
        ({"name": "", "value": "a=b"}, "chars"),
        ({"name": "", "value": "__Host-a"}, "chars"),
        ({"value": "x" * 4096}, "size"),
        ({"value": "ü" * 2048}, "size"),
        ({"path": "x"}, "path"),
        ({"path": ""}, "path"),
        ({"path": "/a;b"}, "path"),
        ({"path": "/" + "x" * 1024}, "path"),
        ({"domain": ""}, "domain"),
        ({"domain": "."}, "domain"),
        ({"domain": "a b"}, "domain"),
        ({"domain": "..a.example"}, "domain"),
        ({"domain": "u@a.example"}, "domain"),
        ({"domain": "a.example:99999"}, "domain"),
        ({"domain": "a.example/x"}, "domain"),
        ({"domain": "\ud800.example"}, "domain"),
        ({"sameSite": "sometimes"}, "samesite"),
        ({"sameSite": 1}, "samesite"),
        ({"sameSite": "None", "secure": False}, "samesite-none-insecure"),
        ({"name": "__Host-a", "domain": ".a.example"}, "host-prefix"),
        ({"name": "__host-a", "path": "/x"}, "host-prefix"),
        ({"name": "__Host-a", "secure": False}, "host-prefix"),
        ({"name": "__Secure-a", "secure": False}, "secure-prefix"),
        ({"name": "__Http-a"}, "http-prefix"),
        ({"name": "__Host-Http-a"}, "http-prefix"),
        ({"expires": -2}, "expires"),
        ({"expires": 1e18}, "expires"),
        ({"expires": 10**400}, "expires"),
        ({"expires": float("nan")}, "expires"),
        ({"partitionKey": "top.example"}, "partition"),
        ({"partitionKey": "file:///x"}, "partition"),
        ({"partitionKey": 7}, "partition"),
        ({"partitionKey": "https://top.example", "_crHasCrossSiteAncestor": "no"}, "partition"),
        ({"partitionKey": "https://top.example", "secure": False}, "partition-insecure"),
    ],
)
def test_a_cookie_that_no_browser_loads_is_left_out_with_its_reason(wrong: dict[str, Any], reason: str) -> None:
    found = read(state(cookie("ok"), {**cookie("bad", "secret"), **wrong}))

    assert [rejection.reason for rejection in found.rejected] == [reason]
    assert len(found.entries) == 1
    assert "secret" not in found.rejected[0].slot


@pytest.mark.parametrize("raw", [None, 1, "x", [], ["a"]])
def test_a_cookie_that_is_no_object_is_left_out(raw: Any) -> None:
    assert [one.reason for one in read({"cookies": [raw], "origins": []}).rejected] == ["type"]


@pytest.mark.parametrize(
    ("given", "domain"),
    [
        ("A.Example", "a.example"),
        (".A.example", ".a.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("a.example:8443", "a.example"),
        (".a.example:80", ".a.example"),
        (".1.2.3.4", "1.2.3.4"),
        ("0x7f.1", "127.0.0.1"),
        (".[::1]", "[::1]"),
        (".co.uk", "co.uk"),
        (".github.io", "github.io"),
        (".x.github.io", ".x.github.io"),
        (".localhost", "localhost"),
        ("%61.example", "a.example"),
    ],
)
def test_a_domain_is_written_as_a_browser_writes_it(given: str, domain: str) -> None:
    assert slots_of(cookie("a", domain=given))[0][1] == domain


@pytest.mark.parametrize(
    ("given", "path"),
    [("/a b", "/a%20b"), ("/ä", "/%C3%A4"), ("/a?b#c", "/a%3Fb%23c"), ("/a/../b", "/b"), ("//a", "//a")],
)
def test_a_path_is_written_as_a_browser_writes_it(given: str, path: str) -> None:
    assert slots_of(cookie("a", path=given))[0][2] == path


@pytest.mark.parametrize(
    ("given", "ancestor", "found"),
    [
        ("https://www.top.example:8443", True, ["https://top.example", "1"]),
        ("https://top.example", False, ["https://top.example", "0"]),
        ("https://top.example", None, ["https://top.example", "1"]),
        ("https://a.x.github.io", None, ["https://x.github.io", "1"]),
        ("https://1.2.3.4", None, ["https://1.2.3.4", "1"]),
        ({"topLevelSite": "https://top.example", "hasCrossSiteAncestor": False}, None, ["https://top.example", "0"]),
        ("", None, ["", ""]),
    ],
)
def test_a_partition_is_a_site_and_a_bit(given: Any, ancestor: bool | None, found: list[str]) -> None:
    one = cookie("a", partitionKey=given, _crHasCrossSiteAncestor=ancestor)

    assert slots_of(one)[0][3:] == found


@pytest.mark.parametrize(
    ("given", "found"), [("lax", "Lax"), ("no_restriction", "None"), ("unspecified", "Lax"), ("STRICT", "Strict")]
)
def test_other_words_for_same_site_are_put_right_and_noted(given: str, found: str) -> None:
    result = read(state(cookie("a", sameSite=given)))

    assert next(iter(result.entries.values()))[4] == found
    assert [note.reason for note in result.notes] == ["samesite"]


@pytest.mark.parametrize(
    ("given", "found"),
    [(0, -1), (None, -1), (-1.0, -1), (T * 1000 + 86400_000, T + 86400), (1826260442.6073441, 1826260442.607344)],
)
def test_an_expiry_is_put_right(given: Any, found: float) -> None:
    assert next(iter(read(state(cookie("a", expires=given))).entries.values()))[1] == found


def test_the_last_listed_of_a_slot_wins_from_its_own_place() -> None:
    found = read(state(cookie("a", "1"), cookie("b"), cookie("a", "2")))

    assert [(slot.split("\t")[1], entry[0]) for slot, entry in found.entries.items()] == [("b", "v"), ("a", "2")]


def test_spellings_of_an_origin_fold_and_their_keys_meet() -> None:
    spellings = ["https://A.example:443/", "https://a.example", "https://a.example/x"]
    items = [
        {"origin": one, "localStorage": [{"name": str(place), "value": "v"}, {"name": "k", "value": str(place)}]}
        for place, one in enumerate(spellings)
    ]

    found = read({"cookies": [], "origins": items}).entries

    assert found == {f"l\thttps://a.example\t{name}": value for name, value in zip("0k12", "v2vv", strict=True)}


@pytest.mark.parametrize(
    "name",
    ["null", "file://", "about:blank", "chrome-extension://abc", "", "a.example", "https://u@a.example", None, 3],
)
def test_an_origin_that_is_none_is_left_out(name: Any) -> None:
    assert [one.reason for one in read(origin(name)).rejected] == ["origin"]


def test_an_origin_without_local_storage_is_left_out() -> None:
    found = read({"cookies": [], "origins": [{"origin": "https://a.example"}]})

    assert [one.reason for one in found.rejected] == ["origin"]
    assert found.obscured == {"https://a.example"}


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"name": "k"}, "type"),
        ({"name": 1, "value": "v"}, "type"),
        ({"name": "k", "value": None}, "type"),
        ({"name": "k", "value": ["v"]}, "type"),
        (None, "type"),
        ("kv", "type"),
        ({"name": "\udc00", "value": "v"}, "chars"),
        ({"name": "k", "value": "\ud83d"}, "chars"),
        ({"name": "k", "value": "x" * 5_242_880}, "size"),
    ],
)
def test_a_local_storage_entry_that_cannot_be_kept_is_left_out(item: Any, reason: str) -> None:
    found = read(origin(localStorage=[item, {"name": "ok", "value": "\0 ü 😀"}]))

    assert [one.reason for one in found.rejected] == [reason]
    assert list(found.entries.values()) == ["\0 ü 😀"]


def test_the_quota_counts_utf16_units_and_is_exact() -> None:
    items = [{"name": "k", "value": "😀" * (5_242_879 // 2)}, {"name": "", "value": ""}, {"name": "", "value": "12"}]

    found = read(origin(localStorage=items))

    assert [one.reason for one in found.rejected] == ["size"]
    assert len(found.entries) == 2


@pytest.mark.parametrize(
    ("stores", "reason"),
    [
        ([store([{"value": {"id": 1}}, {"value": {"id": 1}}])], "key-duplicate"),
        ([store([{"value": {"id": 1}}, {"value": {"id": 1.0}}])], "key-duplicate"),
        ([store([{"value": {}}])], "key-missing"),
        ([store([{"value": {"id": True}}])], "key"),
        ([store([{"value": {"id": 1}, "key": 1}])], "key"),
        ([store([{"key": 1, "value": 1}, {"key": 1, "value": 2}], keyPath=None)], "key-duplicate"),
        ([store([{"value": 1}], keyPath=None)], "key-missing"),
        ([store([{"key": ["a", [1]], "value": 1}, {"key": ["a", [1]], "value": 2}], keyPath=None)], "key-duplicate"),
        ([store([{"keyEncoded": {"d": "2023"}, "value": n} for n in (1, 2)], keyPath=None)], "key-duplicate"),
        (
            [store([{"valueEncoded": {"o": [{"k": "id", "v": {"d": "2023"}}], "id": 1}} for _ in (1, 2)])],
            "key-duplicate",
        ),
        (
            [store([{"value": {"a": 1, "b": {"c": 2}}} for _ in (1, 2)], keyPath=None, keyPathArray=["a", "b.c"])],
            "key-duplicate",
        ),
        (
            [
                store(
                    [{"value": {"id": n, "mail": "x"}} for n in (1, 2)],
                    indexes=[{"name": "m", "keyPath": "mail", "multiEntry": False, "unique": True}],
                )
            ],
            "unique",
        ),
        (
            [
                store(
                    [{"value": {"id": 1, "t": ["x", "y"]}}, {"value": {"id": 2, "t": ["z", "x"]}}],
                    indexes=[{"name": "t", "keyPath": "t", "multiEntry": True, "unique": True}],
                )
            ],
            "unique",
        ),
        ([store([]), store([])], "schema"),
        ([store([], autoIncrement=True, keyPath="")], "schema"),
        ([store([], keyPath="a..b")], "schema"),
        ([store([], indexes=[{"name": "x", "keyPathArray": ["a"], "multiEntry": True, "unique": False}])], "schema"),
        ([store(None)], "type"),  # type: ignore[arg-type]
        ([store([1])], "type"),
        ("x", "type"),
    ],
)
def test_a_database_that_would_not_load_is_left_out(stores: Any, reason: str) -> None:
    found = read(origin(indexedDB=[{"name": "app", "version": 1, "stores": stores}]))

    assert [one.reason for one in found.rejected] == [reason]
    assert found.left_out == {"i\thttps://a.example\tapp"}


@pytest.mark.parametrize("version", [0, -1, 1.5, True, "1", None, 2**60])
def test_a_database_needs_a_version(version: Any) -> None:
    assert [one.reason for one in read(origin(indexedDB=[database(version=version)])).rejected] == ["version"]


def test_one_database_in_two_versions_is_left_out_whole() -> None:
    found = read(origin(indexedDB=[database(), database(version=2), database(name="other")]))

    assert [one.reason for one in found.rejected] == ["version"]
    assert list(found.entries) == ["i\thttps://a.example\tother"]


@pytest.mark.parametrize(
    "good",
    [
        store([{"value": {}}, {"value": {}}], autoIncrement=True),
        store([{"value": {"id": 1}}, {"value": {"id": "1"}}]),
        store(
            [{"value": {"id": n, "mail": None}} for n in (1, 2)],
            indexes=[{"name": "m", "keyPath": "mail", "multiEntry": False, "unique": True}],
        ),
    ],
)
def test_a_database_that_loads_is_kept(good: dict[str, Any]) -> None:
    found = read(origin(indexedDB=[database(good)]))

    assert found.rejected == []
    assert json.loads(str(found.entries["i\thttps://a.example\tapp"])) == database(good)


def test_a_database_nested_too_deep_is_left_out() -> None:
    deep: Any = 1
    for _ in range(50_000):
        deep = [deep]

    found = read(origin(indexedDB=[database(store([{"value": {"id": 1, "deep": deep}}]))]))

    assert [one.reason for one in found.rejected] == ["nesting"]


@pytest.mark.parametrize("odd", ["\ud800", 2**70])
def test_a_database_that_json_cannot_carry_is_left_out(odd: Any) -> None:
    found = read(origin(indexedDB=[database(store([{"value": {"id": 1, "v": odd}}]))]))

    assert [one.reason for one in found.rejected] == ["chars"]


def test_passkeys_and_files_are_refused_unless_the_account_allows_them() -> None:
    files, passkeys = sample("09"), sample("09b")

    by_default = [read(held, Rules()) for held in (files, passkeys)]
    allowed = [read(held) for held in (files, passkeys)]

    assert [[one.reason for one in found.rejected] for found in by_default] == [["not-allowed"], ["not-allowed"]]
    assert [found.rejected for found in allowed] == [[], []]
    assert "o\thttp://localhost:8801\tnote.txt" in allowed[0].entries
    assert [slot[0] for slot in allowed[1].entries] == ["k"]


@pytest.mark.parametrize(
    "file",
    [
        {"path": "../x", "type": "file", "base64": ""},
        {"path": "a//b", "type": "file", "base64": ""},
        {"path": "", "type": "directory"},
        {"path": "a", "type": "link"},
        {"path": "a", "type": "file"},
        {"path": "a", "type": "file", "base64": "*"},
        {"path": 1, "type": "file", "base64": ""},
        None,
    ],
)
def test_a_file_that_would_not_load_is_left_out(file: Any) -> None:
    found = read(origin(opfs=[file, {"path": "d/e", "type": "directory"}]))

    assert len(found.rejected) == 1
    assert list(found.entries) == ["o\thttps://a.example\td/e"]


@pytest.mark.parametrize(
    "wrong", [{"rpId": 1}, {"id": None}, {"privateKey": "*"}, {"signCount": -1}, {"signCount": True}]
)
def test_a_passkey_that_would_not_load_is_left_out(wrong: dict[str, Any]) -> None:
    held = sample("09b")
    held["credentials"][0] |= wrong

    assert [one.reason for one in read(held).rejected] == ["type"]


def test_a_scope_drops_what_is_of_other_sites_and_counts_it() -> None:
    held = state(cookie("a", domain=".a.example"), cookie("b", domain="b.example"), k="v")
    held["origins"].append({"origin": "https://x.b.example", "localStorage": [{"name": "k", "value": "v"}]})

    found = read(held, Rules(scope=frozenset({"a.example"})))

    assert len(found.entries) == 2
    assert len(found.out_of_scope) == 2
    assert found.rejected == []


@pytest.mark.parametrize(
    ("held", "pointer"),
    [
        (None, ""),
        ([], ""),
        ("x", ""),
        ({}, ""),
        ({"token": 1}, ""),
        ({"cookies": {}}, "/cookies"),
        ({"cookies": None}, "/cookies"),
        ({"cookies": [], "origins": 1}, "/origins"),
        ({"cookies": [], "credentials": "x"}, "/credentials"),
    ],
)
def test_what_is_no_state_is_refused_with_a_pointer(held: Any, pointer: str) -> None:
    with pytest.raises(StateMalformed) as refused:
        read(held)

    assert refused.value.pointer == pointer


@pytest.mark.parametrize(
    ("held", "what"),
    [
        ({"cookies": [0] * 5_001}, "cookies"),
        ({"origins": [0] * 201}, "origins"),
        ({"origins": [{"origin": "https://a.example", "localStorage": [0] * 200_001}]}, "stored entries"),
    ],
)
def test_a_state_that_is_too_large_is_refused_with_what_to_do(held: Any, what: str) -> None:
    with pytest.raises(StateTooLarge) as refused:
        read(held)

    assert refused.value.what == what
    assert str(refused.value).endswith(".")
    assert str(refused.value).count(".") >= 2


def test_a_body_is_bounded_before_it_is_parsed() -> None:
    with pytest.raises(StateTooLarge, match="at most 10 bytes"):
        parse_state(b"[" * 11, Limits(body_bytes=10))
    with pytest.raises(StateMalformed):
        parse_state(b"[" * 100_000)
    assert parse_state(b"{}") == {}


def test_hostile_names_are_cut_and_made_printable() -> None:
    found = read(state(cookie("\x00" * 10_000), {**cookie("n"), "domain": "\ud800\n" * 1000}))

    for rejection in found.rejected:
        assert len(rejection.slot) < 2000
        assert rejection.slot.isprintable()
        json.dumps(rejection).encode()


def test_members_nobody_knows_are_ignored() -> None:
    held = {**state({**cookie("a"), "priority": "High"}), "sessionStorage": [1], "extra": {"deep": [[[]]]}}

    assert len(read(held).entries) == 1
