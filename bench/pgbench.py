"""The floor to compare with: the product's own statements from PostgreSQL's own load generator, one by one.

One acquire is one transaction and one release another, as a plain service would do it; prepared, by a client in C.
"""

import re
import subprocess
import tempfile
from pathlib import Path
from uuid import UUID

from leasehold.accounts.store import SQL as ACCOUNTS
from leasehold.audit.store import SQL as AUDIT
from leasehold.leases.store import SQL as LEASES


def script(organisation: UUID, sites: int) -> str:
    """Acquire an account of a random site and give it back, as the pool does for a batch of one."""
    begin = f"BEGIN;\nSET LOCAL leasehold.organisation = '{organisation}';"
    wanted = {"organisation": f"'{organisation}'", "sites": "ARRAY['s' || :site::text]"}
    lease = {**wanted, "leases": "ARRAY[:lease::uuid]"}
    pick = {**wanted, "counts": "ARRAY[1]"}
    grant = {
        **lease,
        "accounts": "ARRAY[:id::uuid]",
        "owners": "ARRAY['bench']",
        "tokens": "ARRAY[NULL]",
        "jobs": "ARRAY[NULL]",
        "ttls": "ARRAY[600]",
    }
    noted = {
        **wanted,
        "ids": "ARRAY[gen_random_uuid()]",
        "actors": "ARRAY[NULL]",
        "actor_names": "ARRAY['bench']",
        "actions": "ARRAY['account.disclosed']",
        "subjects": "ARRAY[:id::text]",
        "details": 'ARRAY[\'{"owner": "bench"}\']',
        "request_ids": "ARRAY[NULL]",
    }
    ended = {
        **lease,
        "hows": "ARRAY['released']",
        "outcomes": "ARRAY['ok']",
        "reasons": "ARRAY[NULL]",
        "standings": "ARRAY['active']",
        "blocked_reasons": "ARRAY[NULL]",
        "failures": "ARRAY[0]",
        "unclean": "ARRAY[0]",
        "probations": "ARRAY[false]",
        "logins": "ARRAY[false]",
        "penalties": "ARRAY[NULL]",
        "rests": "ARRAY[0]",
    }
    queue = {**wanted, "asking": "ARRAY[]::uuid[]", "kind": "'account'"}
    steps = [
        f"\\set site random(0, {sites - 1})",
        begin,
        _filled(ACCOUNTS["guard"], wanted),
        _filled(ACCOUNTS["grounds"], wanted),
        _filled(LEASES["queue"], queue),
        _filled(ACCOUNTS["due"], {**wanted, "limit": "100"}),
        _filled(ACCOUNTS["pick_any"], pick, gset=True),
        "SELECT gen_random_uuid() AS lease \\gset",
        _filled(ACCOUNTS["grant"], grant),
        _filled(AUDIT["record_many"], noted),
        "COMMIT;",
        begin,
        _filled(ACCOUNTS["held"], lease),
        _filled(ACCOUNTS["grounds"], wanted),
        _filled(ACCOUNTS["settle"], ended),
        _filled(ACCOUNTS["by_ids"], {**wanted, "ids": "ARRAY[:id::uuid]"}),
        "COMMIT;",
    ]
    return "\n".join(steps) + "\n"


def _filled(statement: str, values: dict[str, str], *, gset: bool = False) -> str:
    text = re.sub(r"--.*", "", statement).strip().rstrip(";")
    text = re.sub(r"%\((\w+)\)s", lambda match: values[match[1]], text)
    return " ".join(text.split()) + (" \\gset" if gset else ";")


def pairs_per_second(programs: Path, url: str, text: str, clients: int, seconds: int) -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(text)
        file.flush()
        words = ["-n", "-M", "prepared", "-f", file.name, "-c", str(clients), "-j", "2", "-T", str(seconds)]
        done = subprocess.run([str(programs / "pgbench"), *words, url], capture_output=True, text=True, check=False)
    found = re.search(r"tps = ([0-9.]+) \(without", done.stdout)
    if not found:
        raise RuntimeError(f"pgbench failed: {done.stderr[-2000:]}")
    return float(found[1])
