"""Files of accounts: every line by itself, with its own number, and nothing that comes in is a crash."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold.accounts.importing import Line, from_csv, from_ndjson

patient = settings(deadline=None, max_examples=200)  # a busy machine is no failure


def items(lines: list[Line]) -> dict[int, object]:
    return {line.number: line.item for line in lines if line.item is not None}


def faults(lines: list[Line]) -> dict[int, str | None]:
    return {line.number: line.fault for line in lines if line.item is None}


def csv_lines(*lines: str, end: str = "\n") -> list[Line]:
    return list(from_csv("".join(line + end for line in lines)))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_the_accounts_own_its_labels_or_parts_of_its_secret(end: str) -> None:
    lines = csv_lines(
        "site,username,priority,label.region,password,secret.totp",
        "board,ann,7,de,hunter2,JBSW",
        "board,bob,,,,",
        end=end,
    )

    assert [(line.number, line.item) for line in lines] == [
        (
            2,
            {
                "site": "board",
                "username": "ann",
                "priority": 7,
                "labels": {"region": "de"},
                "secret": {"password": "hunter2", "totp": "JBSW"},
            },
        ),
        (3, {"site": "board", "username": "bob", "secret": {"password": "", "totp": ""}}),
    ]


def test_a_part_of_the_secret_may_be_called_like_a_column_of_the_account() -> None:
    lines = csv_lines("site,username,secret.site,secret.label.x", "board,ann,s,l")

    assert items(lines)[2] == {"site": "board", "username": "ann", "secret": {"site": "s", "label.x": "l"}}


def test_columns_stand_in_any_order_and_spaces_around_their_names_do_not_matter() -> None:
    lines = csv_lines(" password , username,site ", "x,ann,board")

    assert items(lines) == {2: {"site": "board", "username": "ann", "secret": {"password": "x"}}}


def test_quotes_commas_and_line_breaks_belong_to_the_value() -> None:
    lines = csv_lines("site,username,password", 'board,ann,"a,""b"",\nc\r\nd"', "board,bob,x")

    assert items(lines) == {
        2: {"site": "board", "username": "ann", "secret": {"password": 'a,"b",\nc\r\nd'}},
        5: {"site": "board", "username": "bob", "secret": {"password": "x"}},
    }


def test_one_column_is_one_column() -> None:
    assert faults(csv_lines("site,username", "board")) == {2: "This has 1 column; the first line names 2."}


def test_a_header_may_span_lines() -> None:
    lines = csv_lines('site,username,"pass', 'word"', "board,ann,x", "board,bob")

    assert list(items(lines)) == [3]
    assert faults(lines) == {4: "This has 2 columns; the first line names 3."}


def test_empty_lines_are_no_accounts_but_count() -> None:
    lines = csv_lines("site,username", "", "board,ann", "", "", "board,bob")

    assert (list(items(lines)), faults(lines)) == ([3, 6], {})


def test_bad_lines_cost_the_good_ones_nothing() -> None:
    lines = csv_lines(
        "site,username,password,priority",
        "board,ann,x,1",
        "board,short",
        "board,long,x,1,more",
        'board,"odd"quote,x,1',
        "board,bob,x,high",
        "board,cem,x,-1",
        "board,eve,x,12345678901",
        "board,zoe,x, 5 ",
    )

    assert list(items(lines)) == [2, 9]
    assert faults(lines) == {
        3: "This has 2 columns; the first line names 4.",
        4: "This has 5 columns; the first line names 4.",
        5: "This is not CSV: ',' expected after '\"'.",
        6: "priority: must be a whole number.",
        7: "priority: must be a whole number.",
        8: "priority: must be a whole number.",
    }


def test_a_quote_that_is_never_closed_is_reported_where_it_was_opened() -> None:
    lines = csv_lines("site,username,password", "board,ann,x", 'board,bob,"y', "board,cem,z")

    assert (list(items(lines)), faults(lines)) == ([2], {3: "This is not CSV: unexpected end of data."})


def test_a_value_that_is_far_too_large_is_a_bad_line() -> None:
    lines = csv_lines("site,username,password", f"board,ann,{'x' * 200_000}", "board,bob,y")

    assert list(items(lines)) == [3]
    assert list(faults(lines)) == [2]


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        ("", "The first line must name the columns; site and username is missing."),
        ("username,password", "The first line must name the columns; site is missing."),
        ("site,user", "The first line must name the columns; username is missing."),
        ("Site,Username", "The first line must name the columns; site and username is missing."),
        ("site,username,site", "The first line names a column twice."),
        ("site,username,label.a,label.a ", "The first line names a column twice."),
        ("site,username,password,secret.password", "The first line names a column twice."),
        ('site,"user"name', "This is not CSV: ',' expected after '\"'."),
    ],
)
def test_without_a_header_that_names_the_columns_nothing_is_read(header: str, fault: str) -> None:
    assert csv_lines(header, "board,ann,hunter2") == [Line(1, None, fault)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_object_a_line_and_bad_ones_are_kept_apart(end: str) -> None:
    text = end.join(['{"site": "board"}', "", '{"site":', '["board"]', "null", "  ", '{"username": "ann"}'])

    lines = list(from_ndjson(text))

    assert items(lines) == {1: {"site": "board"}, 7: {"username": "ann"}}
    assert faults(lines) == {
        3: "This is not JSON: unexpected end of data.",
        4: "This is not a JSON object.",
        5: "This is not a JSON object.",
    }


@pytest.mark.parametrize("line", ["[" * 100_000, '{"a": NaN}', "9" * 5000, '{"a": "\\ud800"}', "\ud800", "{]"])
def test_a_line_that_is_no_json_tells_nothing_of_itself(line: str) -> None:
    (read,) = from_ndjson(line)

    assert read.item is None
    assert read.fault
    assert len(read.fault) < 200


pieces = st.sampled_from(
    ["site", "username", "label.a", "secret.", ",", '"', "\n", "\r", "\r\n", "\x00", "\ufeff", "\u2028", "5", "{", "}"]
)
texts = st.one_of(
    st.text(),
    st.lists(pieces | st.text(max_size=3)).map("".join),
    st.lists(pieces | st.text(max_size=3)).map(lambda found: "site,username,a,priority\n" + "".join(found)),
    st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)


@patient
@given(texts)
def test_whatever_the_text_is_its_lines_are_accounts_or_faults(text: str) -> None:
    for read in (from_csv, from_ndjson):
        lines = list(read(text))

        numbers = [line.number for line in lines]
        assert numbers == sorted(set(numbers))
        assert all((line.item is None) == (line.fault is not None) for line in lines)
        assert all(1 <= number <= text.count("\n") + 1 for number in numbers)


@patient
@given(st.lists(st.tuples(st.text(min_size=1), st.text(), st.text()), max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_what_was_written_as_csv_is_read_as_it_was(rows: list[tuple[str, str, str]], end: str) -> None:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["site", "username", "password", "label.region"])
    expected = {}
    for username, password, region in rows:
        item: dict[str, object] = {"site": "board", "username": username, "secret": {"password": password}}
        expected[file.getvalue().count("\n") + 1] = item | ({"labels": {"region": region}} if region else {})
        writer.writerow(["board", username, password, region])

    lines = list(from_csv(file.getvalue()))

    assert (items(lines), faults(lines)) == (expected, {})
