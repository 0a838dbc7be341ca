"""Sites that had a life before they came here: brought in with every address they had, each with its own time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any
from uuid import UUID

from leasehold import audit
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.sites import store
from leasehold.sites.addresses import (
    DEFAULT_PORT,
    HostRefused,
    Mount,
    PrefixRefused,
    Subdomains,
    Trust,
    admit_host,
    admit_prefix,
)
from leasehold.sites.models import Address, NewSite, Policy


class AddressUnfit(ValueError):
    """No site can have lived there; the message says which rule that breaks, and nothing of the address."""


class HistoryConflict(Exception):
    """The past of a site contradicts what is here; the message says how."""


class Brought(StrEnum):
    CREATED = "created"
    EXTENDED = "extended"  # it was there with the first of its addresses, and has all of them now
    THERE = "there"


@dataclass(frozen=True, slots=True)
class PastAddress:
    """Where a site lived from a moment on."""

    since: datetime
    mount: Mount

    def told(self) -> list[Any]:
        mount = self.mount
        where = [mount.scheme, mount.host, mount.port, mount.prefix, str(mount.subdomains), list(mount.fold)]
        return [*where, self.since, str(mount.trust)]


@dataclass(frozen=True, slots=True)
class PastSite:
    """A site with its addresses, oldest first; it lives at the last."""

    slug: str
    name: str
    addresses: tuple[PastAddress, ...]


def past_address(since: datetime, given: dict[str, Any], *, allow_special: bool) -> PastAddress:
    """An address that passes the same rules as in the API; raises AddressUnfit."""
    scheme = given.get("scheme") or "https"
    if scheme not in DEFAULT_PORT:
        raise AddressUnfit("scheme: must be http or https")
    port = None if given.get("port") == DEFAULT_PORT[scheme] else given.get("port")
    try:
        host = admit_host(given["host"], allow_special=allow_special)
        prefix = admit_prefix(given.get("prefix") or "/")
    except HostRefused as error:
        raise AddressUnfit(f"host: a site cannot live there ({error.reason})") from None
    except PrefixRefused as error:
        raise AddressUnfit(f"prefix: a site cannot live there ({error.reason})") from None
    try:
        subdomains, trust = Subdomains(given.get("subdomains") or "keep"), Trust(given.get("trust") or "credentials")
    except ValueError:
        raise AddressUnfit("subdomains: must be keep or none; trust: must be urls or credentials") from None
    if trust is Trust.OBSERVED:
        raise AddressUnfit("trust: an address that was only observed is no part of a history")
    mount = Mount(host, scheme, port, prefix, subdomains, trust=trust, since=since.timestamp())
    return PastAddress(since, mount)


async def bring(conn: Conn, caller: Caller, past: PastSite) -> tuple[Brought, int]:
    """Make the site with its history, or give one that is here the rest of it; raises HistoryConflict.

    Tells how many addresses are new.
    """
    for one, other in pairwise(past.addresses):
        if one.since >= other.since:
            raise HistoryConflict("two of its addresses begin at the same time")
    await store.raise_version(conn, caller.organisation)
    site = await store.lock(conn, caller.organisation, past.slug)
    own = _trusted(site.mounts) if site else []
    together = min(len(own), len(past.addresses))
    if [one.told() for one in own[:together]] != [one.told() for one in past.addresses[:together]]:
        raise HistoryConflict("a site of this slug is here, and its history of addresses is another one")
    missing = past.addresses[together:]
    if not missing:
        return Brought.THERE, 0
    await _refuse_contradictions(conn, caller, past, missing)
    if site is None:
        await store.create(conn, caller.organisation, NewSite(past.slug, past.name, missing[0].mount, Policy()))
    await _settle(conn, caller, past.slug, own[-1] if own else None, missing, site.epoch if site else 0)
    detail = {"address": _text(missing[-1].mount), "addresses": len(past.addresses), "new": len(missing)}
    await audit.record(conn, caller, "site.imported", past.slug, detail)
    return Brought.EXTENDED if site else Brought.CREATED, len(missing)


async def past_addresses(conn: Conn, organisation: UUID, slugs: Sequence[str]) -> dict[str, list[PastAddress]]:
    """The trusted addresses of sites as they are here, oldest first."""
    found = await store.mounts(conn, organisation, list(slugs))
    return {slug: _trusted(addresses) for slug, addresses in found.items()}


async def known_slugs(conn: Conn, organisation: UUID, slugs: Sequence[str]) -> set[str]:
    """Those of the slugs that are sites."""
    return {slug for slug, addresses in (await store.mounts(conn, organisation, list(slugs))).items() if addresses}


def _trusted(addresses: Sequence[Address]) -> list[PastAddress]:
    return [_past(address) for address in addresses if address.trust != Trust.OBSERVED]


def _past(address: Address) -> PastAddress:
    subdomains, trust = Subdomains(address.subdomains), Trust(address.trust)
    mount = Mount(
        address.host, address.scheme, address.port, address.prefix, subdomains, tuple(address.fold), trust=trust
    )
    return PastAddress(address.since.astimezone(UTC), mount)


async def _refuse_contradictions(conn: Conn, caller: Caller, past: PastSite, missing: Sequence[PastAddress]) -> None:
    for address in missing:
        is_last, where = address is missing[-1], (address.mount, address.since)
        is_ahead, rival = await store.past_fault(conn, caller.organisation, past.slug, where, current=is_last)
        if is_ahead:
            raise HistoryConflict("one of its addresses begins in the future")
        if rival:
            raise HistoryConflict(f"the site {rival} has one of its addresses at the same time")
    holder = await store.holder(conn, caller.organisation, missing[-1].mount)
    if holder not in (None, past.slug):
        raise HistoryConflict(f"the site {holder} lives at its last address now")


async def _settle(
    conn: Conn, caller: Caller, slug: str, last: PastAddress | None, missing: Sequence[PastAddress], epoch: int
) -> None:
    for address in missing:
        is_last = address is missing[-1]
        await store.settle_past(conn, caller.organisation, slug, (address.mount, address.since), current=is_last)
        epoch += 1
        if last:
            await store.raise_epoch(conn, caller.organisation, slug)
            row = {"site": slug, "epoch": epoch, "since": address.since, "trust": address.mount.trust}
            ends = {"from_address": _text(last.mount), "to_address": _text(address.mount)}
            await store.record_past_move(conn, caller, row | ends)
        last = address


def _text(mount: Mount) -> str:
    return f"{mount.scheme}://{mount.door}{mount.prefix}"
