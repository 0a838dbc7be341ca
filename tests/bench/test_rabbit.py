"""The benchmark's own RabbitMQ."""

from pathlib import Path

import pytest

from bench import jobs, rabbit
from leasehold.life import CannotStart


def test_without_rabbitmq_it_is_said_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rabbit, "HOMES", tmp_path)

    with pytest.raises(CannotStart, match=r"not installed\. Run `make services`, or measure without it: `--only http`"):
        jobs.run(None, rounds=3, jobs=100, only="rabbitmq")


def test_a_part_there_is_not_is_refused() -> None:
    with pytest.raises(CannotStart, match="http or rabbitmq"):
        jobs.run(None, rounds=3, jobs=100, only="amqp")
