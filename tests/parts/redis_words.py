"""What goes over a connection to Redis, command by command; a transaction from MULTI to EXEC is one word."""

from collections.abc import Iterator

from tests.parts.tapped import Answer, Word

_LINE = b"+-:_,#("
_STRING = b"$="
_LISTS = {ord("*"): 1, ord("~"): 1, ord(">"): 1, ord("%"): 2}


def values(buffer: bytearray) -> Iterator[bytes]:
    """Those that are whole, as they came; they are taken out of the buffer."""
    while (end := _end(buffer, 0)) is not None:
        raw = bytes(buffer[:end])
        del buffer[:end]
        yield raw


def _end(buffer: bytearray, start: int) -> int | None:
    """Where the value ends that begins there; None when not all of it has come."""
    line = buffer.find(b"\r\n", start)
    if line < 0:
        return None
    kind, after = buffer[start], line + 2
    if kind in _LINE:
        return after
    size = int(buffer[start + 1 : line])
    if kind in _STRING:
        end = after + (size + 2 if size >= 0 else 0)
        return end if end <= len(buffer) else None
    assert kind in _LISTS, f"no value begins with {chr(kind)!r}"
    at: int | None = after
    for _ in range(max(0, size) * _LISTS[kind]):
        at = None if at is None else _end(buffer, at)
    return at


def parts(raw: bytes) -> list[bytes]:
    """The words of a command."""
    found, at = [], raw.index(b"\r\n") + 2
    while at < len(raw):
        line = raw.index(b"\r\n", at)
        size = int(raw[at + 1 : line])
        found.append(raw[line + 2 : line + 2 + size])
        at = line + 4 + size
    return found


class Resp:
    """One connection."""

    def __init__(self) -> None:
        self._said, self._heard = bytearray(), bytearray()
        self._commands = self._replies = 0
        self._transaction: list[bytes] = []

    def said(self, data: bytes) -> list[Word]:
        self._said += data
        words = []
        for raw in values(self._said):
            self._commands += 1
            self._transaction.append(raw)
            first = parts(self._transaction[0])[0].upper()
            if first != b"MULTI" or parts(raw)[0].upper() in (b"EXEC", b"DISCARD"):
                words.append(self._word())
        return words

    def heard(self, data: bytes) -> list[Answer]:
        self._heard += data
        answers = []
        for raw in values(self._heard):
            if raw.startswith(b">"):  # nobody asked
                answers.append(Answer(raw))
                continue
            self._replies += 1
            answers.append(Answer(raw, 0, range(self._replies, self._replies + 1)))
        return answers

    def _word(self) -> Word:
        raws, self._transaction = self._transaction, []
        text = " ".join(b" ".join(parts(raw)).decode(errors="replace") for raw in raws)
        return Word(b"".join(raws), text, (0, self._commands))
