"""Keys come from a setting or from a file, which is guarded, shared by processes, and changed as a whole."""

import base64
import fcntl
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from leasehold.ids import uuid7
from leasehold.vault import Keyring, KeysInvalid, Place, Vault

A, B = (base64.b64encode(bytes([letter]) * 32).decode() for letter in b"ab")
PLACE = Place(uuid7(), uuid7(), "password", 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "keys"


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(text)
    return file


# The setting


def test_the_first_key_of_the_setting_is_the_newest() -> None:
    keys = Keyring.parse(f"new:{A}, old-1:{B}")

    assert keys.ids == ("new", "old-1")
    assert keys.newest is keys.find("new")
    assert keys.find("older") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Key 1 of LEASEHOLD_KEYS has no colon"),
        (A, "Key 1 of LEASEHOLD_KEYS has no colon"),
        (f"new:{A},{B}", "Key 2 of LEASEHOLD_KEYS has no colon"),
        (f"new:{A},", "Key 2 of LEASEHOLD_KEYS has no colon"),
        (f"{A}:new", "Key 1 of LEASEHOLD_KEYS has an id"),
        (f":{A}", "Key 1 of LEASEHOLD_KEYS has an id"),
        (f"New:{A}", "Key 1 of LEASEHOLD_KEYS has an id"),
        (f"{'n' * 33}:{A}", "Key 1 of LEASEHOLD_KEYS has an id"),
        (f"new\n:{A}", "Key 1 of LEASEHOLD_KEYS has an id"),
        (f"new:{A},old:", "Key 2 of LEASEHOLD_KEYS is not the base64 of 32 bytes"),
        (f"new:{A[:-1]}", "Key 1 of LEASEHOLD_KEYS is not the base64 of 32 bytes"),
        (f"new:{A[:-4]}", "Key 1 of LEASEHOLD_KEYS is not the base64 of 32 bytes"),
        (f"new:{A[:20]}YQ==", "Key 1 of LEASEHOLD_KEYS is not the base64 of 32 bytes"),
        (f"new:{A[:20]} {A[20:]}", "Key 1 of LEASEHOLD_KEYS is not the base64 of 32 bytes"),
        (f"new:{A[:43]}é", "Key 1 of LEASEHOLD_KEYS is not the base64 of 32 bytes"),
        (f"new:{A * 2}", "Key 1 of LEASEHOLD_KEYS is not the base64 of 32 bytes"),
        (f"new:{A},new:{B}", "Key 2 of LEASEHOLD_KEYS has the same id"),
    ],
)
def test_a_wrong_setting_is_told_by_its_place_and_quotes_nothing(text: str, told: str) -> None:
    with pytest.raises(KeysInvalid) as refused:
        Keyring.parse(text)

    said = str(refused.value) + repr(refused.value) + repr(refused.value.__context__)
    assert str(refused.value).startswith(told)
    assert A[:6] not in said
    assert B[:6] not in said


def test_keys_of_the_setting_are_changed_there() -> None:
    keys = Keyring.parse(f"new:{A},old:{B}")

    with pytest.raises(KeysInvalid, match="LEASEHOLD_KEYS"):
        keys.add_key()
    with pytest.raises(KeysInvalid, match="LEASEHOLD_KEYS"):
        keys.retire(["old"])


# The file


def test_a_new_file_is_its_owners_alone_and_holds_one_key(file: Path) -> None:
    umask = os.umask(0)
    try:
        keys = Keyring.create_file(file)
    finally:
        os.umask(umask)

    (made,) = keys.ids
    assert re.fullmatch("k[0-9a-f]{8}", made)
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {
        "keys": 0o600,
        "keys.lock": 0o600,
    }


def test_a_new_file_is_on_the_disk_before_its_key_is_used(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[bool, bool]] = []

    def fsync(number: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(number).st_mode), file.exists()))

    monkeypatch.setattr(os, "fsync", fsync)

    Keyring.create_file(file)

    assert synced == [(False, False), (True, True)]  # the file before it has its name, then the folder with the name


def test_a_file_that_is_there_is_read_and_not_made_again(file: Path) -> None:
    first = Keyring.create_file(file)
    before = file.read_bytes()

    second = Keyring.create_file(file)

    assert second.ids == first.ids
    assert file.read_bytes() == before


def test_who_comes_second_waits_and_reads_what_the_first_made(file: Path) -> None:
    write(file.with_name("keys.lock"), "")
    found: list[Keyring] = []
    second = threading.Thread(target=lambda: found.append(Keyring.create_file(file)))

    with file.with_name("keys.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second.start()
        second.join(0.2)
        is_waiting = second.is_alive()
        write(file, f"first:{A}\n")
    second.join(10)

    assert is_waiting
    assert [keys.ids for keys in found] == [("first",)]


def test_processes_that_start_at_once_share_one_key(file: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from leasehold.vault import Keyring;"
        "sys.stdout.write('ready\\n'); sys.stdout.flush(); sys.stdin.readline();"
        "sys.stdout.write(Keyring.create_file(Path(sys.argv[1])).newest.id)"
    )
    command = [sys.executable, "-c", program, str(file)]
    racers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()

    ids = {racer.communicate(timeout=60)[0] for racer in racers}

    assert ids == set(Keyring.from_file(file).ids)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_file_open_to_others_is_refused_with_the_way_to_close_it(file: Path, mode: int) -> None:
    Keyring.create_file(file)
    file.chmod(mode)

    with pytest.raises(KeysInvalid) as refused:
        Keyring.from_file(file)

    assert f"chmod 600 {file}" in str(refused.value)


def test_comments_and_blank_lines_are_nothing(file: Path) -> None:
    write(file, f"# the keys of the house\n\n  new:{A}  # since the fire\nold:{B}")

    assert Keyring.from_file(file).ids == ("new", "old")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no key"),
        (f"# new:{A}\n", "holds no key"),
        (f"# one\nnew:{A}\n{B}\n", "Line 3 of "),
        (f"new:{A}\nnew:{B}\n", "Line 2 of "),
        (f"{A}:new\n", "Line 1 of "),
    ],
)
def test_a_wrong_file_is_told_by_its_line_and_quotes_nothing(file: Path, text: str, told: str) -> None:
    write(file, text)

    with pytest.raises(KeysInvalid) as refused:
        Keyring.from_file(file)

    assert told in str(refused.value)
    assert A[:6] not in str(refused.value)
    assert B[:6] not in str(refused.value)


def test_bytes_that_are_no_text_are_told_by_their_line(file: Path) -> None:
    write(file, "").write_bytes(b"new:\xff\xfe" + A.encode())

    with pytest.raises(KeysInvalid, match="Line 1 of ") as refused:
        Keyring.from_file(file)

    assert A[:6] not in repr(refused.value.__context__)


def test_a_file_that_is_not_there_is_told_by_its_name(file: Path) -> None:
    with pytest.raises(KeysInvalid, match="No such file"):
        Keyring.from_file(file)


def test_a_link_that_leads_nowhere_is_no_reason_to_make_keys(file: Path, tmp_path: Path) -> None:
    file.parent.mkdir()
    file.symlink_to(tmp_path / "keys")

    with pytest.raises(KeysInvalid, match="cannot be read"):
        Keyring.create_file(file)

    assert not (tmp_path / "keys").exists()


# Changes


def test_a_new_key_goes_first_and_the_old_one_still_opens(file: Path) -> None:
    keys = Keyring.create_file(file)
    vault, old = Vault(keys), keys.newest.id
    sealed = vault.seal(b"secret", PLACE)

    new = keys.add_key()

    assert keys.ids == Keyring.from_file(file).ids == (new, old)
    assert vault.seal(b"secret", PLACE).key_id == vault.newest == new
    assert vault.open(sealed, PLACE) == b"secret"


def test_comments_and_the_mode_survive_a_change(file: Path) -> None:
    keys = Keyring.from_file(write(file, f"# the keys\nold:{A} # since the fire\nolder:{B}"))

    new = keys.add_key()
    keys.retire(["older"])

    assert re.fullmatch(rf"# the keys\n{new}:\S{{44}}\nold:{re.escape(A)} # since the fire\n", file.read_text())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_another_process_notices_a_new_key_before_it_seals(file: Path) -> None:
    ours = Keyring.create_file(file)
    theirs = Vault(Keyring.from_file(file))

    new = ours.add_key()

    assert theirs.seal(b"secret", PLACE).key_id == new


def test_another_process_notices_a_new_key_when_it_meets_it(file: Path) -> None:
    ours = Keyring.create_file(file)
    theirs = Vault(Keyring.from_file(file))
    ours.add_key()

    sealed = Vault(ours).seal(b"secret", PLACE)

    assert theirs.open(sealed, PLACE) == b"secret"


def test_a_file_of_the_same_size_and_time_is_noticed(file: Path) -> None:
    keys = Keyring.from_file(write(file, f"one:{A}\n"))
    other = write(file.with_name("other"), f"two:{A}\n")
    os.utime(other, ns=(0, file.stat().st_mtime_ns))

    other.replace(file)

    assert keys.newest.id == "two"


def test_a_file_written_in_place_is_noticed(file: Path) -> None:
    keys = Keyring.from_file(write(file, f"one:{A}\n"))

    file.write_text(f"two:{A}\n")
    os.utime(file, ns=(0, 1))

    assert keys.newest.id == "two"


def test_a_file_that_stays_as_it_is_is_not_read_again(file: Path) -> None:
    keys = Keyring.create_file(file)
    newest = keys.newest
    file.chmod(0o644)  # would be refused, if it were read

    assert keys.newest is newest
    assert keys.find("other") is None


def test_a_retired_key_is_gone_for_everybody(file: Path) -> None:
    ours = Keyring.create_file(file)
    theirs, old = Keyring.from_file(file), ours.newest.id
    new = ours.add_key()

    ours.retire([old, "never-was"])

    assert ours.ids == theirs.ids == Keyring.from_file(file).ids == (new,)


def test_the_newest_key_cannot_be_retired(file: Path) -> None:
    keys = Keyring.create_file(file)
    keys.add_key()
    before = file.read_bytes()

    with pytest.raises(KeysInvalid, match="newest"):
        keys.retire(keys.ids)

    assert file.read_bytes() == before


def test_two_who_add_a_key_at_once_lose_none(file: Path) -> None:
    first = Keyring.create_file(file)
    changers = [Keyring.from_file(file) for _ in range(8)]
    made: list[str] = []
    threads = [threading.Thread(target=lambda keys=keys: made.append(keys.add_key())) for keys in changers]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert len(made) == 8
    assert {*made} < {*first.ids}


def test_a_change_waits_for_another_and_builds_on_it(file: Path) -> None:
    keys = Keyring.from_file(write(file, f"old:{A}\n"))
    write(file.with_name("keys.lock"), "")
    change = threading.Thread(target=keys.add_key)

    with file.with_name("keys.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        change.start()
        change.join(0.2)
        is_waiting = change.is_alive()
        write(file, f"new:{B}\nold:{A}\n")
    change.join(10)

    assert is_waiting
    assert keys.ids[1:] == ("new", "old")


def test_what_a_killed_change_left_is_in_nobodys_way(file: Path) -> None:
    keys = Keyring.create_file(file)
    write(file.with_name("keys.new"), "half")

    new = keys.add_key()

    assert keys.newest.id == new
    assert not file.with_name("keys.new").exists()


def test_a_change_that_fails_leaves_the_file_as_it_was(file: Path) -> None:
    keys = Keyring.create_file(file)
    before = file.read_bytes()
    file.with_name("keys.new").mkdir()

    with pytest.raises(KeysInvalid, match="cannot be written"):
        keys.add_key()

    assert file.read_bytes() == before


def test_a_link_to_the_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "keys"
    Keyring.create_file(real)
    file.parent.mkdir()
    file.symlink_to(real)

    new = Keyring.from_file(file).add_key()

    assert file.is_symlink()
    assert Keyring.from_file(real).newest.id == new


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_root_leaves_the_file_to_its_owner(file: Path) -> None:
    keys = Keyring.create_file(file)
    os.chown(file, 12345, 12346)

    keys.add_key()

    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 12346)
