"""The books on the command line: a line for each that was looked at, and whether all is well."""

from collections.abc import Callable

from leasehold.app import organisations
from leasehold.captures import make as make_blobs
from leasehold.db import Database
from leasehold.doctor import Finding
from leasehold.relocation import bookkeeper
from leasehold.settings import Settings
from leasehold.verify import captures_of, findings_of, leftovers

Say = Callable[[str], None]


async def verify(chosen: Settings, url: str, say: Say) -> bool:
    all_well = True
    async with Database(url, pool_size=2) as db, bookkeeper(chosen, db) as keep:
        everybody = await organisations(db)
        for organisation, slug in everybody:
            async for finding in findings_of(db, keep, organisation, slug):
                say(line_of(finding))
                all_well = all_well and finding.is_well
    if not everybody:
        say("nothing to verify: there is no organisation yet")
    return all_well


async def verify_captures(chosen: Settings, url: str, say: Say, *, repair: bool) -> bool:
    blobs = make_blobs(chosen.blob_url.get_secret_value(), chosen.data_dir)
    async with Database(url, pool_size=2) as db:
        everybody = await organisations(db)
        findings = [await captures_of(db, blobs, organisation, slug) for organisation, slug in everybody]
        findings.append(await leftovers(db, blobs, [organisation for organisation, _ in everybody], repair=repair))
    for finding in findings:
        say(line_of(finding))
    return all(finding.is_well for finding in findings)


def line_of(finding: Finding) -> str:
    return f"{'ok  ' if finding.is_well else 'FAIL'}  {finding.what:<12} {finding.detail}"
