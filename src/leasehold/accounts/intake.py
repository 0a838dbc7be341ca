"""Accounts as they come in: each checked by itself, and taken in or told what is wrong with it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field, ValidationError

from leasehold.accounts.importing import Line as FileLine
from leasehold.accounts.models import NewAccount
from leasehold.accounts.service import Accounts
from leasehold.caller import Caller
from leasehold.problems import InvalidRequest
from leasehold.strict import Line, Strict, check

SLUG = r"^[a-z0-9][a-z0-9_-]{0,62}$"
Slug = Annotated[str, Field(pattern=SLUG, description="The site's slug.")]
Username = Annotated[Line, Field(max_length=500)]
MAX_SECRET_BYTES = 64 * 1024


def _sized(secret: dict[str, Any]) -> dict[str, Any]:
    if len(orjson.dumps(secret)) > MAX_SECRET_BYTES:
        raise ValueError(f"must be at most {MAX_SECRET_BYTES} bytes as JSON")
    return secret


Secret = Annotated[
    dict[Annotated[str, Field(max_length=200)], Any],
    AfterValidator(_sized),
    Field(max_length=100, description="Whatever it takes to sign in. Sealed at rest; shown to lease holders alone."),
]
Labels = Annotated[
    dict[Annotated[Line, Field(max_length=100)], Annotated[str, Field(max_length=200)]], Field(max_length=50)
]
Priority = Annotated[int, Field(ge=0, le=1000, description="Higher is given out first.")]


class AccountIn(Strict):
    site: Slug
    username: Username
    secret: Secret
    labels: Labels | None = None
    priority: Priority | None = None

    def new(self) -> NewAccount:
        return NewAccount(self.site, self.username, self.secret, self.labels, self.priority)


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What came of a file: line numbers with what is wrong, in order."""

    created: int
    updated: int
    rejected: list[tuple[int, str]]


async def take_in(accounts: Accounts, caller: Caller, lines: Iterable[FileLine]) -> TakenIn:
    """Add or update what the lines speak of. Bad ones cost the good ones nothing."""
    good: list[tuple[int, NewAccount]] = []
    rejected: list[tuple[int, str]] = []
    for line in lines:
        item = from_line(line)
        if isinstance(item, str):
            rejected.append((line.number, item))
        else:
            good.append((line.number, item))
    known = await accounts.known_sites(caller, {new.site for _, new in good})
    for number, new in good:
        if new.site not in known:
            rejected.append((number, "site: no site of your organisation has this slug."))
    counts = await accounts.import_(caller, [new for _, new in good if new.site in known])
    return TakenIn(counts.created, counts.updated, sorted(rejected))


def from_line(line: FileLine) -> NewAccount | str:
    """The account a line speaks of, or what is wrong with it. Nothing of the line itself is repeated."""
    if line.item is None:
        return line.fault or "This is not an account."
    try:
        check(line.item)
        return AccountIn.model_validate(line.item).new()
    except InvalidRequest as refused:
        return str(refused.members["errors"][0]["detail"])
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(str(step)[:100] for step in first["loc"][:1])
        return f"{where}: {first['msg'].removeprefix('Value error, ')}."
