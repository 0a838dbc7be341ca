"""How accounts in MongoDB are granted: looked for, divided, and taken by one conditional update for many."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import pymongo

from leasehold.accounts import documents
from leasehold.accounts.documents import Document
from leasehold.accounts.models import Ask, Candidate, Grant, Ground
from leasehold.accounts.mongo_ends import Books, Tries
from leasehold.accounts.mongo_gate import GRANT_S, Entry, Gate
from leasehold.accounts.mongo_keys import MongoKeys, mark
from leasehold.accounts.share import Claim, Shares, needs, share
from leasehold.leases import Kind, new_id

Passage = tuple[Gate, Entry]


class MongoGrants(MongoKeys):
    """The part of the MongoDB pool that grants leases."""

    async def _look_for_free(self, work: Books) -> None:
        """What is free for those who ask, as if nobody else waited."""
        work.free = await self._pick(work, [Claim(ask.wish, ask) for ask in work.batch.asks])

    async def _look_at_free(self, work: Books, *, is_stale: bool) -> None:
        """What is free before the ends of this batch; where there is a cap, its room depends on them."""
        work.claimed = [claim for claim in work.claims() if _is_uncapped(work, claim.wish.site)]
        if is_stale or any(claim.holder is None for claim in work.claimed):
            work.free = await self._pick(work, work.claimed)

    def _prepare(self, work: Books) -> Shares[Ask]:
        """Divide what is free already, so that these grants go along with the ends in one write.

        Not while something is due: it may have been idle for longer.
        """
        if work.due:
            return Shares()
        shares = share(work.claimed, work.free, work.grounds)
        work.tries = _tries(work, shares.given)
        work.slips = [slip for ask, wanted in work.tries.items() for slip in _slips(ask, wanted)]
        return shares

    async def _take_up(self, work: Books, early: Shares[Ask]) -> list[Ask]:
        """Keep what was granted along with the ends; returns who got nothing, where nothing came free either."""
        beaten = await self._keep(work, work.tries, work.won)
        early.given = [one for one in early.given if one[0] not in beaten]
        work.count(early)
        return [ask for ask in early.unmet if ask.site not in work.done.freed]

    async def _pick(self, work: Books, claims: Sequence[Any]) -> dict[str, list[Candidate]]:
        """Free accounts of each wanted kind: higher priority first, then longest idle."""
        wanted = [kind for kinds in needs(claims).values() for kind in kinds]
        if not wanted:
            return {}
        by_site: dict[str, dict[UUID, Document]] = {}
        question = documents.free(work.organisation, wanted, self._accounts.name)
        async for document in await self._accounts.aggregate(question):
            by_site.setdefault(document["site"], {})[document["_id"]] = document
        return {
            site: [documents.read_candidate(document) for document in sorted(several.values(), key=_turn)]
            for site, several in by_site.items()
        }

    async def _grant(self, work: Books, given: Sequence[tuple[Ask, list[Candidate]]]) -> list[Ask]:
        """Try to take each; returns the asks for which somebody else was quicker. They keep nothing."""
        tries = _tries(work, given)
        capped: dict[str, Tries] = {}
        slips = []
        for ask, wanted in tries.items():
            if _is_uncapped(work, ask.site):
                slips += _slips(ask, wanted)
            else:
                capped.setdefault(ask.site, {})[ask] = wanted
        if slips:
            await self._accounts.update_many(*documents.grants(work.organisation, slips), hint="_id_")
        entries = [await self._grant_capped(work, work.grounds[site], asks) for site, asks in capped.items()]
        won = await self._won(work.organisation, dict(pair for wanted in tries.values() for pair in wanted))
        for gate, entry in entries:
            await gate.leave(entry)
        return await self._keep(work, tries, won)

    async def _grant_capped(self, work: Books, ground: Ground, tries: Tries) -> Passage:
        """At a site with a cap everybody goes through its gate: `count < cap` alone is overtaken under load."""
        gate = Gate(self._gates, self._accounts, work.organisation, ground.slug)
        entry = await gate.enter(ground.cap or 0, [[lease for _, lease in pairs] for pairs in tries.values()])
        # Others may have been here since we looked; who gets nothing is told how it is now.
        work.grounds[ground.slug] = ground.with_live(entry.others)
        slips = [slip for ask, pairs in tries.items() for slip in _slips(ask, pairs) if slip["id"] in entry.leases]
        if slips:
            where, update = documents.grants(work.organisation, slips)
            with pymongo.timeout(GRANT_S):
                await self._accounts.update_many({**where, **entry.condition}, update, hint="_id_")
        return gate, entry

    async def _won(self, organisation: UUID, tried: Mapping[UUID, UUID]) -> dict[UUID, Grant]:
        """Of the leases that were tried for these accounts, those that are there."""
        if not tried:
            return {}
        where = {"_id": {"$in": list(tried)}, "organisation": organisation}
        return self._read_won(await self._seen(where, documents.WITHOUT_ENDS), tried)

    async def _keep(self, work: Books, tries: Tries, won: Mapping[UUID, Grant]) -> list[Ask]:
        """Note who has everything it asked for; returns the others, who keep nothing."""
        beaten = []
        for ask, wanted in tries.items():
            grants = [won[lease] for _, lease in wanted if lease in won]
            if len(grants) == len(wanted):
                work.done.granted[ask] = grants
            else:
                beaten.append(ask)
                await self._give_back(work.organisation, [grant.lease.id for grant in grants])
        return beaten


def _is_uncapped(work: Books, site: str) -> bool:
    return work.grounds[site].cap is None


def _tries(work: Books, given: Sequence[tuple[Ask, list[Candidate]]]) -> Tries:
    """A lease for each account that is to be taken, noted in case all of it has to be undone."""
    tries = {ask: [(one.id, new_id(Kind.ACCOUNT)) for one in found] for ask, found in given}
    work.granted += [lease for wanted in tries.values() for _, lease in wanted]
    return tries


def _slips(ask: Ask, wanted: Sequence[tuple[UUID, UUID]]) -> list[Document]:
    """What an update needs to know to grant each of these accounts."""
    shared: Document = {"owner": ask.owner, "token": ask.caller.token, "job_id": ask.job_id}
    shared["ttl_seconds"] = ask.ttl_seconds
    if ask.once:
        shared |= {"once": mark(ask.once), "digest": ask.once.body_digest}
    return [{"account": account, "id": lease, **shared} for account, lease in wanted]


def _turn(document: Document) -> tuple[int, float, bytes]:
    leased = document["last_leased_at"]
    return -document["priority"], leased.timestamp() if leased else float("-inf"), document["_id"].bytes
