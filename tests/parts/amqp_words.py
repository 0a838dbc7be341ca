"""What goes over a connection to RabbitMQ, frame by frame: AMQP 0-9-1 as far as messages and their acks need it.

A message that is published is one word, `publish EXCHANGE KEY BODY`. An ack is `ack QUEUES BODIES`, with what was
delivered under its number, so that a test can say which one it means.
"""

import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.parts.tapped import Answer, Word

_GREETING = 8  # bytes, before the first frame
_FRAME = struct.Struct("!BHI")
_METHOD, _HEADER, _BODY = 1, 2, 3
_END = b"\xce"
_OPEN, _CONSUME, _PUBLISH, _DELIVER, _ACK = (20, 10), (60, 20), (60, 40), (60, 60), (60, 80)


@dataclass(frozen=True, slots=True)
class Frame:
    kind: int
    channel: int
    payload: bytes
    raw: bytes

    @property
    def method(self) -> tuple[int, int] | None:
        """Its class and its number in that."""
        if self.kind != _METHOD:
            return None
        found: tuple[int, int] = struct.unpack_from("!HH", self.payload)
        return found

    def names(self, count: int, at: int) -> list[str]:
        """Short strings among the arguments, one behind the other."""
        found = []
        for _ in range(count):
            size = self.payload[at]
            found.append(self.payload[at + 1 : at + 1 + size].decode())
            at += 1 + size
        return found

    @property
    def tag(self) -> tuple[int, bool]:
        """Of an ack: its number, and whether it is for all before it, too."""
        number, bits = struct.unpack_from("!QB", self.payload, 4)
        return number, bool(bits & 1)


def frames(buffer: bytearray) -> Iterator[Frame]:
    """Those that are whole; they are taken out of the buffer."""
    while len(buffer) >= _FRAME.size:
        kind, channel, size = _FRAME.unpack_from(buffer)
        whole = _FRAME.size + size + 1
        if len(buffer) < whole:
            return
        raw = bytes(buffer[:whole])
        del buffer[:whole]
        assert raw.endswith(_END), "this is no frame"
        yield Frame(kind, channel, raw[_FRAME.size : -1], raw)


@dataclass
class _Message:
    """A method that content belongs to, and as much of that as has come."""

    method: Frame
    raw: bytes
    size: int | None = None
    body: bytes = b""

    def add(self, frame: Frame) -> None:
        self.raw += frame.raw
        if frame.kind == _HEADER:
            (self.size,) = struct.unpack_from("!Q", frame.payload, 4)
        else:
            self.body += frame.payload

    @property
    def is_whole(self) -> bool:
        return self.size is not None and len(self.body) >= self.size


@dataclass
class _Side:
    """One direction: its bytes, and the messages that are being said on its channels."""

    with_content: tuple[int, int]
    buffer: bytearray = field(default_factory=bytearray)
    open: dict[int, _Message] = field(default_factory=dict)

    def words(self, data: bytes) -> Iterator[Frame | _Message]:
        self.buffer += data
        for frame in frames(self.buffer):
            if frame.method == self.with_content:
                self.open[frame.channel] = _Message(frame, frame.raw)
            elif frame.kind in (_HEADER, _BODY) and frame.channel in self.open:
                self.open[frame.channel].add(frame)
                if self.open[frame.channel].is_whole:
                    yield self.open.pop(frame.channel)
            else:
                yield frame


class Amqp:
    """One connection."""

    def __init__(self) -> None:
        self._said, self._heard = _Side(_PUBLISH), _Side(_DELIVER)
        self._is_greeted = False
        self._published: Counter[int] = Counter()
        self._queues: defaultdict[int, list[str]] = defaultdict(list)
        self._delivered: defaultdict[int, dict[int, str]] = defaultdict(dict)

    def said(self, data: bytes) -> list[Word]:
        words = []
        if not self._is_greeted:
            assert len(data) >= _GREETING, "half a greeting"
            self._is_greeted = True
            words.append(Word(data[:_GREETING]))
            data = data[_GREETING:]
        return words + [self._word(one) for one in self._said.words(data)]

    def heard(self, data: bytes) -> list[Answer]:
        return [self._answer(one) for one in self._heard.words(data)]

    def _word(self, one: Frame | _Message) -> Word:
        if isinstance(one, _Message):
            channel = one.method.channel
            self._published[channel] += 1
            exchange, key = one.method.names(2, 6)
            text = f"publish {exchange} {key} {one.body.decode(errors='replace')}"
            return Word(one.raw, text, (channel, self._published[channel]))
        if one.method == _OPEN:
            self._published[one.channel] = 0
            self._queues[one.channel] = []
            self._delivered[one.channel] = {}
        elif one.method == _CONSUME:
            self._queues[one.channel] += one.names(1, 6)
        elif one.method == _ACK:
            return Word(one.raw, f"ack {' '.join(self._queues[one.channel])} {self._acked(one)}")
        return Word(one.raw)

    def _acked(self, ack: Frame) -> str:
        number, is_multiple = ack.tag
        waiting = self._delivered[ack.channel]
        numbers = [one for one in waiting if one == number or (is_multiple and one < number)]
        return " ".join(waiting.pop(one) for one in numbers)

    def _answer(self, one: Frame | _Message) -> Answer:
        if isinstance(one, _Message):
            (consumer,) = one.method.names(1, 4)
            (number,) = struct.unpack_from("!Q", one.method.payload, 5 + len(consumer))
            self._delivered[one.method.channel][number] = one.body.decode(errors="replace")
        elif one.method == _ACK:
            number, is_multiple = one.tag
            return Answer(one.raw, one.channel, range(1 if is_multiple else number, number + 1))
        return Answer(one.raw)
