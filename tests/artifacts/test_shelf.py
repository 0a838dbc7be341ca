"""What every shelf promises, asked of all; and that a publisher that is killed leaves something whole."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import jsonschema
import orjson
import pytest

from leasehold.artifacts.documents import KINDS, Kind, schema_json
from leasehold.artifacts.publishing import lay_out, put_in_place
from leasehold.artifacts.shelf import Shelf, make
from tests.parts.artifacts import edition

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["folder", "named", "memory", "far"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    urls = {
        "folder": "",
        "named": f"file://{tmp_path}/elsewhere",
        "memory": f"memory://bucket-{os.getpid()}",
        "far": f"dir::file://{tmp_path}/far",  # a store that is reached through another one, on disk
    }
    yield make(urls[request.param], tmp_path)
    fsspec.filesystem("memory").store.clear()


def publish(shelf: Shelf, number: int, depth: int = 3) -> None:
    wanted = edition(number)
    put_in_place(shelf, wanted, lay_out(shelf, wanted, depth), depth)


def test_an_edition_can_be_read_and_replaced_and_the_last_few_are_kept(shelf: Shelf) -> None:
    shelf.probe()
    for number in range(1, 6):
        publish(shelf, number)

    index = orjson.loads(shelf.read("index.json"))
    for artifact in index["artifacts"]:
        document = orjson.loads(shelf.read(artifact["path"]))
        jsonschema.validate(document, orjson.loads(shelf.read(artifact["schema_path"])))
        assert (document["schema"], document["version"], document["edition"]) == (artifact["name"], 1, 5)
        assert [orjson.loads(shelf.read(path))["edition"] for path in artifact["history"]] == [5, 4, 3]
        assert len(shelf.names(f"history/{artifact['name']}")) == 3
    assert all(shelf.read(f"status/{name}") for name in index["page"])
    assert shelf.names("drafts") == []


def test_what_is_not_there_is_told_as_such(shelf: Shelf) -> None:
    with pytest.raises(FileNotFoundError):
        shelf.read("index.json")
    assert shelf.names("history/status") == []
    shelf.remove("status/status.v1.json")


def test_no_history_is_kept_where_none_is_wanted(shelf: Shelf) -> None:
    publish(shelf, 1, depth=2)
    publish(shelf, 2, depth=0)

    assert shelf.names("history/status") == []
    assert orjson.loads(shelf.read("status/status.v1.json"))["edition"] == 2


def test_an_address_that_cannot_be_used_is_told_without_its_secrets(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="LEASEHOLD_ARTIFACT_URL cannot be used") as told:
        make("nosuchstore://key:hunter2@host/bucket", tmp_path)

    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_a_version_promised_is_what_is_made(kind: Kind) -> None:
    promised = (ROOT / "src/leasehold/artifacts/schemas" / kind.schema_file).read_text()

    assert promised == schema_json(kind), "run `make generated`; more than an addition needs another version"


class Killer:
    """Publishes editions into a folder, in processes that die by SIGKILL right before or after the nth rename."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "tests.artifacts.killed", str(folder)]
        self._process = subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def publish(self, number: int, nth: int, when: str) -> str:
        """`killed`, or `done` when there were fewer renames than that."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{number} {nth} {when}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        assert self._process.wait(60) == 0
        self._process.stdout.close()


@pytest.fixture
def killer(tmp_path: Path) -> Iterator[Killer]:
    made = Killer(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_publisher_that_is_killed_at_any_rename_leaves_something_whole(
    tmp_path: Path, killer: Killer, when: str
) -> None:
    shelf = make(f"file://{tmp_path}", tmp_path)
    number, nth = 1, 1
    publish(shelf, number)

    while killer.publish(number + 1, nth, when) == "killed":
        seen = whole(shelf)
        assert seen <= {number, number + 1}
        # Readers got either; now somebody finishes, and nothing is left of the one that died.
        number, nth = number + 2, nth + 1
        publish(shelf, number)
        assert whole(shelf) == {number}
        assert shelf.names("drafts") == []

    assert nth > 4, "history, two artefacts and the index, at least"


def whole(shelf: Shelf) -> set[int]:
    """Every file that anybody reads is one whole edition's; which ones."""
    found = set()
    for kind in KINDS:
        document = json.loads(shelf.read(f"status/{kind.file}"))
        jsonschema.validate(document, json.loads(shelf.read(f"status/{kind.schema_file}")))
        found.add(document["edition"])
    for needed in re.findall(rb'(?:src|href)="\./([^"]+)"', shelf.read("status/index.html")):
        assert shelf.read(f"status/{needed.decode()}")
    for artifact in json.loads(shelf.read("index.json"))["artifacts"]:
        assert all(json.loads(shelf.read(path)) for path in artifact["history"][:1])
    return found
