"""Addresses that strangers wrote down lead to the public internet or nowhere."""

import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from leasehold.faces import ImageRefused
from leasehold.faces.addresses import is_public
from leasehold.faces.fetching import Fetcher
from tests.parts.faces import Gallery, certificate, png
from tests.parts.faces import gallery as gallery_of

PICTURE = png(Image.new("RGB", (40, 40)))

CLOSED = (
    "0.0.0.0",  # noqa: S104
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.8.8.8",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2607:f8b0::1%eth0",
    "localhost",
    "",
)


@pytest.mark.parametrize("address", CLOSED)
def test_an_address_that_is_not_public_is_closed(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2607:f8b0::1", "2a00:1450::1"])
def test_a_public_address_is_open(address: str) -> None:
    assert is_public(address)


async def refusal(url: str, fetcher: Fetcher) -> str:
    async with fetcher:
        with pytest.raises(ImageRefused) as refused:
            await fetcher.fetch(url)
    assert url not in str(refused.value)
    return refused.value.reason


def told(*addresses: str) -> Fetcher:
    """One whose resolver says so for every host."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return Fetcher(resolve=resolve)


async def test_a_picture_is_fetched_by_the_name_of_its_host_from_the_address_that_was_checked(gallery: Gallery) -> None:
    gallery.show("/face.png", PICTURE)
    asked: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["192.0.2.1"]  # another answer at the second time

    url = gallery.url.replace("127.0.0.1", "pictures.example") + "/face.png"
    async with Fetcher(allow_private=True, resolve=resolve) as fetcher:
        fetched = await fetcher.fetch(url)

    assert (fetched.content, fetched.content_type) == (PICTURE, "image/png")
    assert asked == ["pictures.example"]
    assert [host.split(":")[0] for _, host in gallery.came] == ["pictures.example"]


async def test_a_certificate_must_be_that_of_the_host_though_the_connection_goes_to_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.faces.fetching._AGAIN_AFTER_S", ())
    certified = certificate("pictures.example", tmp_path)
    trusted = ssl.create_default_context(cafile=str(certified))

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    def fetcher() -> Fetcher:
        return Fetcher(allow_private=True, resolve=resolve, trusted=trusted)

    with gallery_of(certified) as gallery:
        gallery.show("/face.png", PICTURE)
        gallery.show("/away", b"", status=302, headers={"Location": "http://pictures.example/face.png"})
        right, wrong = (gallery.url.replace("127.0.0.1", host) for host in ("pictures.example", "other.example"))

        async with fetcher() as one:
            fetched = await one.fetch(right + "/face.png")

        assert fetched.content == PICTURE
        assert await refusal(wrong + "/face.png", fetcher()) == "unreachable"
        assert await refusal(right + "/away", fetcher()) == "downgraded"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
async def test_loopback_is_closed_however_it_is_written(host: str) -> None:
    assert await refusal(f"http://{host}/x", Fetcher()) in ("address", "no-url")


async def test_one_closed_address_among_open_ones_closes_the_host() -> None:
    assert await refusal("http://pictures.example/x", told("1.1.1.1", "10.0.0.1")) == "address"


async def test_a_host_without_an_address_is_refused() -> None:
    assert await refusal("http://pictures.example/x", told()) == "address"


async def test_ports_of_other_services_are_closed() -> None:
    assert await refusal("http://pictures.example:6379/x", told("1.1.1.1")) == "port"


@pytest.mark.parametrize(
    "url",
    ["ftp://a.example/x", "file:///etc/passwd", "data:image/png;base64,AA", "gopher://a.example/", "//a.example/x", "",
     "http://", "http://user:word@a.example/x", "http://[::1/x", "http://a.example/" + "x" * 2000],
)  # fmt: skip
async def test_anything_but_a_plain_web_address_is_refused(url: str) -> None:
    async with told("1.1.1.1") as fetcher:
        with pytest.raises(ImageRefused, match="no-url"):
            await fetcher.fetch(url)


async def test_a_redirect_is_checked_like_the_first_address(gallery: Gallery) -> None:
    gallery.show("/face.png", b"", status=302, headers={"Location": "http://metadata.example/latest"})
    asked: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        # The gallery can be reached, and nothing private after it.
        fetcher._allow_private = host == "127.0.0.1"
        return ["127.0.0.1"] if host == "127.0.0.1" else ["169.254.169.254"]

    fetcher = Fetcher(allow_private=True, resolve=resolve)

    assert await refusal(gallery.url + "/face.png", fetcher) == "address"
    assert asked == ["127.0.0.1", "metadata.example"]


async def test_a_redirect_to_a_file_is_refused(gallery: Gallery) -> None:
    gallery.show("/face.png", b"", status=302, headers={"Location": "file:///etc/passwd"})

    assert await refusal(gallery.url + "/face.png", Fetcher(allow_private=True)) == "no-url"


async def test_redirects_lead_on_but_not_for_ever(gallery: Gallery) -> None:
    for number in range(3):
        gallery.show(f"/{number}", b"", status=301, headers={"Location": f"/{number + 1}"})
    gallery.show("/3", PICTURE)
    gallery.show("/round", b"", status=302, headers={"Location": "/round"})

    async with Fetcher(allow_private=True) as fetcher:
        assert (await fetcher.fetch(gallery.url + "/0")).content == PICTURE

    assert await refusal(gallery.url + "/round", Fetcher(allow_private=True)) == "too-many-redirects"
    assert [path for path, _ in gallery.came].count("/round") == 4


@pytest.mark.parametrize(
    ("content", "content_type", "headers", "reason"),
    [
        (PICTURE, "text/html", {}, "content-type"),
        (PICTURE, "image/svg+xml", {}, "content-type"),
        (PICTURE, "image/png", {"Content-Encoding": "gzip"}, "content-type"),
        (b"<html>", "image/png", {}, "no-image"),
        (PICTURE + bytes(5000), "image/png", {}, "too-large"),
    ],
)
async def test_what_is_there_must_be_a_picture_of_bounded_size(
    gallery: Gallery, content: bytes, content_type: str, headers: dict[str, str], reason: str
) -> None:
    url = gallery.show("/x", content, content_type, headers=headers)

    assert await refusal(url, Fetcher(allow_private=True, most_bytes=4000)) == reason


async def test_what_may_be_better_in_a_moment_is_tried_again(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leasehold.faces.fetching._AGAIN_AFTER_S", (0.01, 0.01))
    url, gone = gallery.show("/busy", b"", status=503), gallery.url + "/gone"

    assert await refusal(url, Fetcher(allow_private=True)) == "status"
    assert await refusal(gone, Fetcher(allow_private=True)) == "status"
    assert [path for path, _ in gallery.came] == ["/busy", "/busy", "/busy", "/gone"]


async def test_nobody_at_home_is_told_without_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leasehold.faces.fetching._AGAIN_AFTER_S", ())

    assert await refusal("http://127.0.0.1:1/secret-in-the-path", Fetcher(allow_private=True)) == "unreachable"
