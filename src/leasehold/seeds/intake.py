"""Seeds as they come in: each item checked by itself and found its place at its site, or told what is wrong with it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

import orjson
from pydantic import AfterValidator, Field, JsonValue, ValidationError, model_validator

from leasehold.problems import InvalidRequest
from leasehold.seeds.importing import Line as FileLine
from leasehold.seeds.models import DUE_NOW, UNSAID, NewSeed, SeedWish
from leasehold.seeds.schedule import RhythmWish
from leasehold.sites import Reference, Refusal, Registry
from leasehold.strict import Line, Moment, Strict, check

SLUG: Final = r"^[a-z0-9][a-z0-9_-]{0,62}$"
LONGEST_URL: Final = 8192
LONGEST_CURSOR: Final = 16 * 1024
_A_YEAR_S = 31_536_000
_EARLIEST, _LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def _sized(cursor: Any) -> Any:
    if len(orjson.dumps(cursor)) > LONGEST_CURSOR:
        raise ValueError(f"must be at most {LONGEST_CURSOR} bytes as JSON")
    return cursor


def _sane(moment: datetime) -> datetime:
    if not _EARLIEST <= moment < _LATEST:
        raise ValueError("must be a time between the years 2000 and 2200")
    return moment


Slug = Annotated[str, Field(pattern=SLUG, description="The site's slug.")]
Labels = Annotated[
    dict[Annotated[Line, Field(max_length=100)], Annotated[str, Field(max_length=200)]], Field(max_length=50)
]
CursorIn = Annotated[JsonValue, AfterValidator(_sized)]
Span = Annotated[int, Field(ge=1, le=_A_YEAR_S)]


class SeedFields(Strict):
    """What may be said of a seed, when it is made and later."""

    kind: Annotated[Line, Field(max_length=50)] | None = Field(None, description="What it is; `page` when left out.")
    priority: int | None = Field(None, ge=0, le=100, description="Higher is handed out first; 50 when left out.")
    interval_seconds: Span | None = Field(None, description="Between two visits, to begin with; 3600 when left out.")
    min_interval_seconds: Span | None = Field(None, description="The interval never adapts below this; 60.")
    max_interval_seconds: Span | None = Field(None, description="The interval never adapts above this; 1209600.")
    labels: Labels | None = None
    enabled: bool | None = Field(None, description="False: left alone until it is true again.")
    cursor: CursorIn = Field(None, description="What the next visit is given; null forgets it.")
    next_due_at: Literal["now"] | Annotated[Moment, AfterValidator(_sane)] | None = Field(
        None, description="When it is visited next; `now` for at once."
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> "SeedFields":
        if contradiction := self._rhythm().contradiction:
            raise ValueError(contradiction)
        return self

    def _rhythm(self) -> RhythmWish:
        return RhythmWish(self.interval_seconds, self.min_interval_seconds, self.max_interval_seconds)

    def wish(self) -> SeedWish:
        return SeedWish(
            kind=self.kind,
            priority=self.priority,
            rhythm=self._rhythm(),
            labels=self.labels,
            enabled=self.enabled,
            cursor=self.cursor if "cursor" in self.model_fields_set else UNSAID,
            next_due_at=DUE_NOW if self.next_due_at == "now" else self.next_due_at,
        )


class SeedIn(SeedFields):
    site: Slug
    url: str = Field(min_length=1, max_length=LONGEST_URL, description="At any address the site has or had.")


class ImportedSeed(SeedFields):
    """A seed out of a file: its site may follow from its address."""

    site: Slug | None = None
    url: str = Field(min_length=1, max_length=LONGEST_URL)


_WRONG = {
    "unmanaged": "no site of your organisation lives at this address",
    "refused:unparsable": "this is not a URL",
    "refused:scheme": "only http and https are visited",
    "refused:userinfo": "an address must not carry a user name or a password",
}


def placed(registry: Registry, site: str | None, url: str) -> Reference | str:
    """Where a URL is at its site, or why it cannot be a seed there. Nothing of the URL is repeated."""
    found = registry.resolve(url)
    if isinstance(found, Refusal):
        return _WRONG.get(found.verdict, "this address cannot be visited")
    if site not in (None, found.site):
        return f"this is an address of the site {found.site}"
    if isinstance(registry.render(found), Refusal):
        return "the site has no place for this at its current address"
    return found


def new_seeds(registry: Registry, items: Iterable[SeedIn]) -> Iterator[NewSeed | str]:
    """Each item as a seed, or what is wrong with its URL."""
    for item in items:
        reference = placed(registry, item.site, item.url)
        yield reference if isinstance(reference, str) else NewSeed(item.url, reference, item.wish())


def from_line(registry: Registry, line: FileLine, site: str | None) -> NewSeed | str:
    """The seed a line speaks of, or what is wrong with it. Nothing of the line itself is repeated."""
    if line.item is None:
        return line.fault or "This is not a seed."
    try:
        check(line.item)
        item = ImportedSeed.model_validate(line.item)
    except InvalidRequest as refused:
        return str(refused.members["errors"][0]["detail"])
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(str(step)[:100] for step in first["loc"][:1])
        message = first["msg"].removeprefix("Value error, ")
        return f"{where}: {message}." if where else f"{message}."
    reference = placed(registry, item.site or site, item.url)
    return f"url: {reference}." if isinstance(reference, str) else NewSeed(item.url, reference, item.wish())
