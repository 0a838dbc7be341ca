"""The `meta` part of an upload: strict JSON about the files beside it."""

from typing import Annotated
from uuid import UUID

import orjson
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, Field, ValidationError

from leasehold.captures.models import Meta
from leasehold.ids import parse
from leasehold.leases import PREFIX as LEASE
from leasehold.problems import fault, invalid
from leasehold.strict import Line, Moment, Strict, check

SLUG = r"^[a-z0-9][a-z0-9_-]{0,62}$"
Slug = Annotated[str, Field(pattern=SLUG, description="The site's slug.")]
Labels = Annotated[
    dict[Annotated[Line, Field(max_length=100)], Annotated[str, Field(max_length=200)]], Field(max_length=50)
]


def _id(prefix: str, text: str) -> str:
    if parse(prefix, text) is None:
        raise ValueError(f"must be an id that begins with {prefix}_")
    return text


SeedId = Annotated[str, AfterValidator(lambda text: _id("seed", text))]
AccountId = Annotated[str, AfterValidator(lambda text: _id("acct", text))]
SourceLeaseId = Annotated[str, AfterValidator(lambda text: _id(LEASE, text))]


class MetaIn(Strict):
    """What the sender says of a capture."""

    site: Slug
    url: str = Field(min_length=1, max_length=32_768, description="As it was fetched. Kept so for ever.")
    captured_at: Moment | None = Field(None, description="When it was fetched; when it arrived, if left out.")
    seed_id: SeedId | None = Field(None, description="The seed that led there.")
    account_id: AccountId | None = Field(None, description="The account it was collected with.")
    job_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,200}$")] | None = Field(
        None, description="The job it was collected for."
    )
    lease_id: SourceLeaseId | None = Field(
        None, description="The lease it was collected under; one that has ended makes it `late`."
    )
    labels: Labels = Field({}, description="Kept with it.")

    def meta(self) -> Meta:
        return Meta(
            site=self.site,
            url=self.url,
            captured_at=self.captured_at,
            seed=_uuid("seed", self.seed_id),
            account=_uuid("acct", self.account_id),
            job_id=self.job_id,
            lease=_uuid(LEASE, self.lease_id),
            labels=self.labels,
        )


def _uuid(prefix: str, text: str | None) -> UUID | None:
    return None if text is None else parse(prefix, text)


def read_meta(raw: bytes) -> MetaIn:
    """The part as a model, or a problem that points into it."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        detail = f"This is not JSON (RFC 8259, UTF-8): {error.msg} at byte {error.pos}."
        raise invalid(fault("body", "/meta", detail)) from None
    check(value)
    try:
        return MetaIn.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError([{**one, "loc": ("body", "meta", *one["loc"])} for one in faults]) from None
