"""What became of an upload: counts and names, never values. No I/O."""

from dataclasses import dataclass, field
from typing import Any

from leasehold.sessions import cookies, slots
from leasehold.sessions.canonical import Canonical, Entry, Rejection
from leasehold.sessions.history import History, elect
from leasehold.sessions.merge import Operations
from leasehold.sessions.register import Raw, is_same


@dataclass(slots=True)
class Report:
    """Slots by what happened to them. `names()` is for people."""

    set: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)  # by themselves
    stale_echo: list[str] = field(default_factory=list)  # repeated a value that had been replaced
    absent_kept: list[str] = field(default_factory=list)  # not there, which proves nothing
    held: list[str] = field(default_factory=list)  # put aside with its upload
    superseded: list[str] = field(default_factory=list)  # of `set` and `deleted`: a later capture stands over it
    over_cap: list[str] = field(default_factory=list)  # kept, but a browser has no room for it
    forked: list[str] = field(default_factory=list)  # two leases replaced the same value
    rejected: list[Rejection] = field(default_factory=list)
    repaired: list[Rejection] = field(default_factory=list)
    out_of_scope: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, Any]:
        """As the HTTP answer has it."""
        found: dict[str, Any] = {name: len(getattr(self, name)) for name in _COUNTED}
        found["rejected"] = [{"slot": slot, "reason": reason} for slot, reason in self.rejected]
        return found

    def names(self) -> dict[str, list[str]]:
        return {name: [slots.show(slot) for slot in getattr(self, name)] for name in _LISTED}


_COUNTED = ("set", "unchanged", "deleted", "expired", "stale_echo", "absent_kept", "held", "over_cap")
_LISTED = (*_COUNTED, "superseded", "forked")


def report_on(before: History, after: History, done: Operations, state: Canonical) -> Report:
    """What a merge did to a history."""
    report = Report(
        expired=done.expired,
        absent_kept=list(done.absent_kept),
        rejected=state.rejected,
        repaired=state.notes,
        out_of_scope=state.out_of_scope,
    )
    distrusted = after.distrusted
    registers, unchanged = after.registers, report.unchanged
    for slot, entry in done.echoes.items():
        raw = registers.get(slot)
        if type(raw) is list and raw[0] == entry:  # nearly all
            unchanged.append(slot)
            continue
        found = elect(slot, raw, distrusted) if raw is not None else None
        same = found is not None and _shows(slot, found.entry, entry)
        (unchanged if same else report.stale_echo).append(slot)
    _sort_writes(report, before, after, done)
    if done.base != "known":
        present = {one[0] for one in done.sets} | set(done.expired) | state.left_out
        absent = ((slot, raw) for slot, raw in before.registers.items() if slot not in present)
        report.absent_kept += [slot for slot, raw in absent if elect(slot, raw, distrusted) is not None]
    return report


def _shows(slot: str, shown: Entry, entry: Entry) -> bool:
    # A cookie whose life was prolonged meanwhile is still the same to whoever echoes it.
    return shown[cookies.VALUE] == entry[cookies.VALUE] if slot[0] == slots.COOKIE else is_same(slot, shown, entry)


def _stood(slot: str, raw: Raw | None, entry: Entry, distrusted: frozenset[int]) -> bool:
    if raw is None or isinstance(raw, list):
        return raw is not None and is_same(slot, raw[0], entry)
    found = elect(slot, raw, distrusted)
    return found is not None and is_same(slot, found.entry, entry)


def _sort_writes(report: Report, before: History, after: History, done: Operations) -> None:
    old, new = before.distrusted, after.distrusted
    number = after.number(done.upload)
    for slot, entry, *_, proof in done.sets:
        raw = after.registers.get(slot)
        if isinstance(raw, list) and raw[2] == number and len(raw) == 5:
            report.set.append(slot)  # nobody else has ever seen it
            continue
        if isinstance(raw, list) and raw[0] == entry:
            report.unchanged.append(slot)
            continue
        now = elect(slot, raw, new) if raw is not None else None
        stands = now is not None and is_same(slot, now.entry, entry)
        if stands and _stood(slot, before.registers.get(slot), entry, old):
            report.unchanged.append(slot)
        elif stands or (proof and number not in new):
            report.set.append(slot)
            report.superseded += [] if stands else [slot]
        else:
            report.stale_echo.append(slot)
    for slot, *_ in done.deletions:
        report.deleted.append(slot)
        raw = after.registers.get(slot)
        if raw is not None and elect(slot, raw, new) is not None:
            report.superseded.append(slot)
