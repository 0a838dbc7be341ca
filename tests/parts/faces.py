"""What tests of faces need: pictures of two people, pictures of nobody, a server that has them, and small models."""

import hashlib
import io
import random
import ssl
import sys
import tarfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from PIL import Image

from leasehold.db import Conn
from leasehold.faces import Part, Wanting
from tests.parts.onnx_words import linear_model

# Three pictures of one person and one of another, out of a package's own tests.
_PEOPLE = {
    "obama.jpg": "obama-1.jpg",
    "obama2.jpg": "obama-2.jpg",
    "obama3.jpg": "obama-3.jpg",
    "biden.jpg": "biden-1.jpg",
}


class FacesMissing(Exception):
    """The pictures are not there; the message says what to do."""


def people(folder: Path) -> Path:
    """A canary of real people in a folder."""
    found = sorted((Path(sys.prefix) / "faces").glob("face_recognition-*.tar.gz"))
    if not found:
        raise FacesMissing("The pictures for the tests are not there. Run `make .venv/.faces`.")
    folder.mkdir()
    with tarfile.open(found[0]) as archive:
        for member in archive.getmembers():
            name = _PEOPLE.get(Path(member.name).name)
            if name and "/tests/test_images/" in member.name and (content := archive.extractfile(member)):
                # Smaller than they are: faces are found in a third of the time.
                with Image.open(content) as opened:
                    opened.thumbnail((520, 520))
                    opened.save(folder / name, quality=95)
    return folder


def pattern(person: int, number: int, size: int = 112, red: int | None = None) -> bytes:
    """A PNG that a small model can take for a face: a pattern for each person, and a little noise.

    What is red in it may be somebody else's.
    """
    cells = np.random.default_rng(person).integers(0, 256, (14, 14, 3))
    if red is not None:
        cells[:, :, 0] = np.random.default_rng(red).integers(0, 256, (14, 14, 3))[:, :, 0]
    noise = np.random.default_rng([person, number]).integers(-20, 21, (14, 14, 3))
    pixels = np.clip(cells + noise, 0, 255).astype(np.uint8)
    return png(Image.fromarray(pixels).resize((size, size), Image.Resampling.NEAREST))


def patterns(folder: Path) -> Path:
    """A canary of three who are nobody."""
    folder.mkdir()
    for person in range(3):
        for number in range(3):
            (folder / f"nobody{person}-{number}.png").write_bytes(pattern(person, number))
    return folder


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def small_model(file: Path, layout: str = "NCHW", colours: Sequence[int] = (0, 1, 2)) -> dict[str, Any]:
    """An ONNX model that tells patterns apart, and its manifest. It wants colours between -127.5 and 127.5."""
    file.write_bytes(linear_model(layout, size=112, cell=8, dimension=64, colours=colours))
    return {
        "name": "small",
        "file": str(file),
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "layout": layout,
        "size": 112,
        "scaling": {"subtract": 127.5, "divide": 1},
        "colour": "RGB",
        "alignment": "none",
        "dimension": 64,
        "metric": "cosine",
        "flip": False,
        "licence": "Ours.",
        "free": True,
    }


@dataclass
class Gallery:
    """A server of pictures, what it has, and what it was asked for."""

    url: str
    has: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    came: list[tuple[str, str]] = field(default_factory=list)  # paths, and the hosts they were asked of

    def show(
        self,
        path: str,
        content: bytes,
        content_type: str = "image/png",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> str:
        self.has[path] = (status, {"Content-Type": content_type, **(headers or {})}, content)
        return self.url + path


def certificate(host: str, folder: Path) -> Path:
    """A certificate for a host that nobody trusts who is not told to, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / host).write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return folder / host


@contextmanager
def gallery(certified: Path | None = None) -> Iterator[Gallery]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.came.append((self.path, self.headers["Host"]))
            status, headers, content = made.has.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(content)
            except OSError:
                self.close_connection = True  # who asked has seen enough

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certified:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certified)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # who does not trust us hangs up
    made = Gallery(f"http{'s' if certified else ''}://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Records:
    """Stands in for whoever keeps records and weighs evidence."""

    wanting: dict[UUID, Wanting] = field(default_factory=dict)
    looked_at: dict[UUID, int] = field(default_factory=dict)
    proposed: dict[tuple[UUID, UUID], Part] = field(default_factory=dict)

    def want(self, *images: str, source: str = "stashdb") -> UUID:
        record = UUID(int=random.getrandbits(128))
        self.wanting[record] = Wanting(record, source, images)
        return record

    async def records_wanting_faces(
        self, conn: Conn, organisation: UUID, limit: int, sources: Sequence[str]
    ) -> Sequence[Wanting]:
        open_ = [one for one in self.wanting.values() if one.source in sources and one.record not in self.looked_at]
        return open_[:limit]

    async def faces_looked_at(self, conn: Conn, organisation: UUID, record: UUID, embeddings: int) -> None:
        self.looked_at[record] = embeddings

    async def propose(self, conn: Conn, organisation: UUID, record: UUID, neighbour: UUID, part: Part) -> None:
        self.proposed[record, neighbour] = part
