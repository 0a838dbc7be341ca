"""What looks for secrets everywhere does find one, however it is written. Here the mark is another: this is no leak."""

import base64
import re
from pathlib import Path

import pytest

from tests.parts import canaries
from tests.parts.postgres import TestDatabase

OTHER = "LHSTARLING"


@pytest.mark.parametrize("before", [b"", b"x", b"xy", b"xyz"])
def test_a_mark_is_found_as_it_is_and_packed(tmp_path: Path, before: bytes) -> None:
    secret = before + OTHER.encode() + b" and more"
    ways = {
        "plain": secret,
        "hex": secret.hex().encode(),
        "base64": base64.b64encode(secret),
        "for urls": base64.urlsafe_b64encode(secret),
        "nothing": b"nothing of it",
    }
    (tmp_path / "below").mkdir()
    for name, content in ways.items():
        (tmp_path / "below" / name).write_bytes(b"\x00" * 5000 + b"... " + content)

    found = canaries.in_files([tmp_path], OTHER)

    assert {file.name for file in found} == set(ways) - {"nothing"}


def test_a_row_with_a_secret_is_told_when_it_is_deleted(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.run("INSERT INTO organisation (id, slug) VALUES (gen_random_uuid(), %s)", f"a {OTHER} in the clear")
    sought = canaries.pattern(OTHER)
    monkeypatch.setattr(canaries, "pattern", lambda: sought)

    with pytest.raises(canaries.SecretLeaked, match="organisation"):
        database.empty()


def test_a_test_that_tells_a_secret_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canaries, "_TEXT", re.compile(canaries.pattern(OTHER)))
    report = pytest.TestReport("a", ("", 0, ""), {}, "passed", None, "call", [("Captured stderr", f"key={OTHER}")])

    canaries.fail_if_told(report)

    assert report.failed
    assert "Captured stderr" in str(report.longrepr)
    assert OTHER not in str(report.longrepr)
