"""Answers of others' services, read up to a limit, whatever they say of their length and however they pack it."""

import httpx

# One layer of what everybody speaks. Packed twice, a kilobyte is a gigabyte.
ENCODINGS = ("", "identity", "gzip", "deflate")
ACCEPTED = {"Accept-Encoding": "gzip, deflate"}


class TooMuch(Exception):
    """An answer is larger than it may be, or packed in a way that could make it so."""


async def read(answer: httpx.Response, most_bytes: int) -> bytes:
    """All of an answer that is being streamed, counted as it comes and as it is unpacked."""
    if answer.headers.get("Content-Encoding", "").strip().lower() not in ENCODINGS:
        raise TooMuch("is packed in a way that was not asked for")
    content = bytearray()
    async for piece in answer.aiter_bytes():
        content += piece
        if len(content) > most_bytes:
            raise TooMuch(f"has more than {most_bytes} bytes")
    return bytes(content)
