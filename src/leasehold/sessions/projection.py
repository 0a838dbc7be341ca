"""A session on the address its site has moved to: entries of former addresses placed on the current one. No I/O.

What is stored stays where it was captured. The placing is done anew at each hand-out, so a site that moves back finds
everything as it left it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from leasehold.sessions import cookies, slots
from leasehold.sessions.handout import Kept
from leasehold.sessions.register import Stamp
from leasehold.sites import Mount, Subdomains, Trust

# Given by gatekeepers for one domain, address and browser: elsewhere they are at best useless, at worst a give-away.
BOUND_TO_DOMAIN: Final = (
    "cf_clearance",
    "__cf_bm",
    "__cflb",
    "_cfuvid",
    "datadome",
    "_abck",
    "ak_bmsc",
    "bm_sv",
    "bm_sz",
    "bm_mi",
    "_px*",
    "pxcts",
    "incap_ses_*",
    "visid_incap_*",
    "nlbi_*",
    "reese84",
    "aws-waf-token",
    "KP_UID*",
)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a site lives, and where it lived."""

    current: Mount
    former: Sequence[Mount]
    not_migrated: Sequence[str] = BOUND_TO_DOMAIN  # names of cookies; `*` stands for anything
    is_stopped: bool = False  # a login failed after the move, or one at the new address has succeeded


class Moved(NamedTuple):
    source: str
    target: str


class Stayed(NamedTuple):
    slot: str
    reason: str  # bound, passkey, insecure-mount, subdomain, native, older


@dataclass(slots=True)
class Projection:
    """What a placement did, slot by slot."""

    moved: list[Moved] = field(default_factory=list)
    stayed: list[Stayed] = field(default_factory=list)

    def names(self) -> list[dict[str, str]]:
        return [{"from": slots.show(source), "to": slots.show(target)} for source, target in self.moved]


def project(
    kept: Sequence[Kept], deleted: Mapping[str, Stamp], placement: Placement, report: Projection | None = None
) -> list[Kept]:
    """The entries with those of former addresses on the current one. Without trust they stay as captured."""
    report = report if report is not None else Projection()
    if placement.is_stopped or placement.current.trust is not Trust.CREDENTIALS:
        return list(kept)
    # What the site deleted at its new address must not come back from the old one.
    native = {one.slot: one.stamp for one in kept} | dict(deleted)
    placed: dict[str, Kept] = {}
    origins: dict[str, str] = {}
    stay: list[Kept] = []
    for one in kept:
        target = _target(one, placement, report)
        if target is None:
            stay.append(one)
        elif _loses(one, native.get(target), placed.get(target), placement.current):
            report.stayed.append(Stayed(one.slot, "native" if target in native else "older"))
        else:
            placed[target] = one._replace(slot=target)
            origins[target] = one.slot
    report.moved += [Moved(source, target) for target, source in origins.items()]
    return [one for one in stay if one.slot not in placed] + list(placed.values())


def _loses(one: Kept, native: Stamp | None, rival: Kept | None, current: Mount) -> bool:
    if native is not None and (native.t >= current.since * 1000 or native > one.stamp):
        return True  # what the site itself wrote there since it moved is its word
    return rival is not None and rival.stamp > one.stamp


def _target(one: Kept, placement: Placement, report: Projection) -> str | None:
    """The slot on the current address; None where the entry stays as it was captured."""
    host = slots.host_of(one.slot)
    if _belongs(host, placement.current) is not None and not _is_other_door(one.slot, placement.current):
        return None
    found = _former(one.slot, host, placement.former)
    if found is None:
        return None
    reason = _objection(one, placement)
    target = None if reason else _on_current(one.slot, *found, placement.current)
    if target is None:
        report.stayed.append(Stayed(one.slot, reason or "subdomain"))
    return target if target != one.slot else None


def _belongs(host: str, mount: Mount) -> str | None:
    """What stands before the mount's host; None where the host is not this mount's."""
    if host == mount.host:
        return ""
    label = host.removesuffix(f".{mount.host}")
    return label if label != host and mount.sub_of(label) is not None else None


def _is_other_door(slot: str, mount: Mount) -> bool:
    """Whether an origin has the mount's host but another scheme or port: storage of another door."""
    if slot[0] in (slots.COOKIE, slots.CREDENTIAL):
        return False
    return slots.stored_of(slot)[0] != _origin(mount, slots.host_of(slot))


def _former(slot: str, host: str, former: Sequence[Mount]) -> tuple[str, Mount] | None:
    for mount in sorted(former, key=lambda one: (len(one.host), one.since), reverse=True):
        label = _belongs(host, mount) if mount.trust.reaches(Trust.URLS) else None
        if label is not None and not (
            slot[0] not in (slots.COOKIE, slots.CREDENTIAL) and _port(slot) != _door_port(mount)
        ):
            return label, mount
    return None


def _objection(one: Kept, placement: Placement) -> str | None:
    kind = one.slot[0]
    if kind == slots.CREDENTIAL:
        return "passkey"
    if kind != slots.COOKIE:
        return None
    name = slots.cookie_of(one.slot).name
    if any(fnmatchcase(name, pattern) for pattern in placement.not_migrated):
        return "bound"
    return "insecure-mount" if one.entry[cookies.SECURE] and placement.current.scheme == "http" else None


def _on_current(slot: str, label: str, mount: Mount, current: Mount) -> str | None:
    both = mount.subdomains is Subdomains.KEEP and current.subdomains is Subdomains.KEEP
    kept = label if both else (current.sub_of(mount.sub_of(label) or ""))
    if kept is None:
        return None
    host = f"{kept}.{current.host}" if kept else current.host
    if slot[0] != slots.COOKIE:
        return slots.stored_slot(slot[0], _origin(current, host), slots.stored_of(slot)[1])
    cookie = slots.cookie_of(slot)
    dot = "." if cookie.domain[0] == "." and not slots.is_shared(host) else ""
    return cookie._replace(
        domain=dot + host,
        path=_path(cookie.path, mount.prefix, current.prefix),
        partition=_partition(cookie.partition, mount, current),
    ).text


def _path(path: str, former: str, current: str) -> str:
    """A path below the former prefix is one below the current prefix; any other stays."""
    if former == current or not (path + "/").startswith(former) or former == path == "/":
        return path
    rest = path[len(former) :]
    return current + rest if rest else current if path.endswith("/") else current.removesuffix("/") or "/"


def _partition(partition: str | None, mount: Mount, current: Mount) -> str | None:
    if partition is None or partition.partition("://")[2] != slots.site_of(mount.host):
        return partition
    return f"{current.scheme}://{slots.site_of(current.host)}"


def _origin(mount: Mount, host: str) -> str:
    return f"{mount.scheme}://{host}{mount.door.removeprefix(mount.host)}"


def _port(slot: str) -> str:
    origin = slots.stored_of(slot)[0]
    return origin.partition("://")[2].removeprefix(slots.host_of_origin(origin))


def _door_port(mount: Mount) -> str:
    return mount.door.removeprefix(mount.host)
