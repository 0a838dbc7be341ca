"""The `leasehold` command where only the SDK is there: its worker is a long life, with the collector in it."""

import gc
import sys

import pytest

from leasehold import __main__
from leasehold.client import worker_command


def test_a_worker_of_the_sdk_alone_has_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def work(_words: list[str]) -> int:
        seen.append(gc.isenabled())
        return 3

    monkeypatch.setitem(sys.modules, "typer", None)  # as if the server had not been installed
    monkeypatch.delitem(sys.modules, "leasehold.cli", raising=False)
    monkeypatch.setattr(worker_command, "main", work)
    monkeypatch.setattr(sys, "argv", ["leasehold", "worker", "crawlers"])

    with pytest.raises(SystemExit) as ended:
        __main__.main()

    assert ended.value.code == 3
    assert seen == [True]
    assert gc.isenabled()
