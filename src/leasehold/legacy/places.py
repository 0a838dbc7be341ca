"""Sites out of an older system, each with the whole history of its addresses or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from leasehold.accounts import digest
from leasehold.caller import Caller
from leasehold.db import Conn, Database, RollBack
from leasehold.legacy import store
from leasehold.legacy.converting import Unfit
from leasehold.legacy.documents import Document, domain_of, elements, origin, site_of, site_reference
from leasehold.legacy.mapping import LegacyMap, Section
from leasehold.legacy.models import ImportFailed, Item, LegacySite, Origin, Tally
from leasehold.legacy.report import Report
from leasehold.legacy.source import Source
from leasehold.sites import Brought, HistoryConflict, PastAddress, PastSite, bring

# Histories are put together in memory. Nobody moves this often.
MOST_ADDRESSES = 500_000
_AT_ONCE = 100


@dataclass(slots=True)
class _Past:
    """What documents say of the addresses of one site."""

    addresses: list[tuple[Origin, PastAddress]] = field(default_factory=list)
    wrong: str | None = None  # of one of them; then none of them counts

    def history(self) -> tuple[PastAddress, ...]:
        return tuple(sorted((address for _, address in self.addresses), key=lambda one: one.since))


@dataclass(frozen=True, slots=True)
class _Found:
    origin: Origin
    site: LegacySite
    past: _Past


class SiteImport:
    def __init__(
        self, db: Database, source: Source, caller: Caller, wanted: LegacyMap, report: Report, tallies: dict[str, Tally]
    ) -> None:
        self._db = db
        self._source = source
        self._caller = caller
        self._map = wanted
        self._report = report
        self._sites, self._domains = tallies["sites"], tallies["domains"]

    async def run(self, *, dry_run: bool, allow_special: bool) -> dict[str, str]:
        """Import all of them; tells their slugs by their old ids."""
        pasts: dict[str, _Past] = {}
        for section in self._map.domains:
            async for document in self._source.documents(section):
                self._read_domains(section, document, pasts, allow_special)
        found = await self._read_sites(self._map.sites, pasts) if self._map.sites else []
        slugs: dict[str, str] = {}
        for begin in range(0, len(found), _AT_ONCE):
            async with self._db.transaction(self._caller.organisation) as conn:
                await store.take_turn(conn, self._caller.organisation)
                slugs |= await self._keep(conn, found[begin : begin + _AT_ONCE])
                if dry_run:
                    raise RollBack
        for past in pasts.values():
            self._refuse_domains(past, "site: no document of a site has this id or slug.")
        return slugs

    def _read_domains(self, section: Section, document: Document, pasts: dict[str, _Past], allow_special: bool) -> None:
        try:
            found = list(elements(section, document))
        except Unfit as error:
            self._domains.read += 1
            self._bad(self._domains, origin(section, document), str(error))
            return
        for place, element in found:
            self._domains.read += 1
            if self._domains.read > MOST_ADDRESSES:
                raise ImportFailed(
                    f"There are more than {MOST_ADDRESSES:,} domains. Import them in parts, with filters."
                )
            where, past = origin(section, document, place), None
            try:
                past = pasts.setdefault(site_reference(section, document, element), _Past())
                past.addresses.append((where, domain_of(section, document, element, allow_special=allow_special)))
            except Unfit as error:
                self._bad(self._domains, where, str(error))
                if past is not None:
                    past.wrong = f"one of its domains is bad ({where})."

    async def _read_sites(self, section: Section, pasts: dict[str, _Past]) -> list[_Found]:
        found: list[_Found] = []
        seen: set[tuple[str, str]] = set()
        async for document in self._source.documents(section):
            self._sites.read += 1
            where = origin(section, document)
            try:
                site = site_of(section, document)
            except Unfit as error:
                self._bad(self._sites, where, str(error))
                continue
            if {("id", site.id), ("slug", site.slug)} & seen:
                self._bad(self._sites, where, "another document has the same id or slug.")
                continue
            seen |= {("id", site.id), ("slug", site.slug)}
            found.append(_Found(where, site, _Past()))
        return [_Found(one.origin, one.site, _claimed(pasts, one.site)) for one in found]

    async def _keep(self, conn: Conn, some: Sequence[_Found]) -> dict[str, str]:
        organisation = self._caller.organisation
        known = await store.known(conn, organisation, "site", [one.site.id for one in some])
        slugs: dict[str, str] = {}
        kept: list[Item] = []
        for one in some:
            history = one.past.history()
            wrong = one.past.wrong or (None if history else "no domain speaks of this site.")
            before = known.get(one.site.id)
            if before is not None and before.document != str(one.origin):
                wrong = f"the document {before.document} was imported under this id."
            if before is not None and before.site != one.site.slug:
                wrong = wrong or "it was imported before, under another slug."
            if wrong is None:
                wrong = await self._bring(conn, one, history)
            if wrong is not None:
                self._bad(self._sites, one.origin, wrong)
                self._refuse_domains(one.past, "its site was not imported.")
                continue
            slugs[one.site.id] = one.site.slug
            read = digest(told(one.site.slug, history))
            kept.append(Item(one.site.id, str(one.origin), one.site.slug, None, None, len(history), read))
        await store.keep(conn, organisation, "site", kept)
        return slugs

    async def _bring(self, conn: Conn, one: _Found, history: tuple[PastAddress, ...]) -> str | None:
        """Why it cannot be, or None when it is here."""
        try:
            how, new = await bring(conn, self._caller, PastSite(one.site.slug, one.site.name, history))
        except HistoryConflict as conflict:
            return f"conflict: {conflict}."
        self._sites.imported += how is Brought.CREATED
        self._sites.there += how is not Brought.CREATED
        self._domains.imported += new
        self._domains.there += len(history) - new
        return None

    def _refuse_domains(self, past: _Past, why: str) -> None:
        for where, _ in past.addresses:
            self._bad(self._domains, where, why)

    def _bad(self, tally: Tally, where: Origin, wrong: str) -> None:
        tally.bad += 1
        self._report.tell(where, wrong)


def _claimed(pasts: dict[str, _Past], site: LegacySite) -> _Past:
    """What speaks of a site, by its old id or by its slug; taken from what nobody has claimed yet."""
    both = [pasts.pop(name) for name in dict.fromkeys((site.id, site.slug)) if name in pasts]
    addresses = [address for past in both for address in past.addresses]
    return _Past(addresses, next((past.wrong for past in both if past.wrong), None))


def told(slug: str, history: tuple[PastAddress, ...]) -> dict[str, object]:
    """What is compared: the same whether it was read there or here."""
    return {"slug": slug, "addresses": [address.told() for address in history]}
