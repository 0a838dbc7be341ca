"""Settings that look like ours but are none are asked about, wherever they stand."""

from pathlib import Path

import pytest

from leasehold import settings


def test_a_mistyped_key_of_the_file_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("leasehold.toml").write_text("prot = 1\nport = 9000\n")

    assert settings.strangers({"LEASEHOLD_HOST": "::1", "PATH": "/bin"}) == [
        "prot in leasehold.toml is not a setting and is ignored; did you mean port?"
    ]
    assert settings.load().port == 9000


def test_a_variable_that_is_nothing_like_ours_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert settings.strangers({"LEASEHOLD_XYZZY": "1"}) == ["LEASEHOLD_XYZZY is not a setting and is ignored."]
