"""The server's problems as exceptions: one class per `type`, so that code can catch what it can act on."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from leasehold.client.models import Waiting


class ProblemError(Exception):
    """The server refused; a kind of refusal this SDK does not know is raised as this class itself."""

    kinds: ClassVar[dict[str, type["ProblemError"]]] = {}

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.title = str(document.get("title", ""))
        self.detail = str(document.get("detail", ""))
        self.request_id: str | None = document.get("request_id")
        self.members = dict(document)
        told = self.detail or self.title or str(status)
        super().__init__(f"{told} (request {self.request_id})" if self.request_id else told)

    def __init_subclass__(cls) -> None:
        slug = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        ProblemError.kinds[f"/problems/{slug}"] = cls


class InvalidRequest(ProblemError):
    """What was sent does not fit; `members["errors"]` lists each fault."""


class MalformedRequest(ProblemError):
    """What was sent is not HTTP the server reads."""


class Unauthenticated(ProblemError):
    """No token, or one the server does not know."""


class PermissionDenied(ProblemError):
    """The token may not do this; `members["permission"]` names what it would need."""


class NotFound(ProblemError):
    """There is no such thing in your organisation."""


class MethodNotAllowed(ProblemError):
    """This path does not take this method."""


class RequestTimeout(ProblemError):
    """The request took too long to arrive."""


class BodyTooLarge(ProblemError):
    """Send it in smaller pieces; `members["limit_bytes"]` says how small."""


class HeadersTooLarge(ProblemError):
    """Drop cookies or shorten the URL."""


class UnsupportedMediaType(ProblemError):
    """This call takes another content type."""


class IdempotencyMismatch(ProblemError):
    """The idempotency key was used with another body."""


class VersionRetired(ProblemError):
    """This version of the API is gone."""


class Unavailable(ProblemError):
    """The server cannot do its work just now; retries are used up."""


class InternalError(ProblemError):
    """A fault of the server's own; report it with `request_id`."""


class SiteUnknown(ProblemError):
    """No site of your organisation has this slug."""


class SiteExists(ProblemError):
    """A site with this slug is there already."""


class SiteInUse(ProblemError):
    """The site still has things that would be lost; `members["holds"]` counts them."""


class AddressRefused(ProblemError):
    """A site cannot live there; `members["reason"]` says why."""


class LeaseLost(ProblemError):
    """The lease has ended: stop using what it was for. Told by the server, or by this machine's clock first."""

    @property
    def reason(self) -> str:
        """`expired`, `released`, `revoked` or `superseded`; `unknown` to the server; `closed` with the client."""
        return str(self.members.get("reason", ""))

    @classmethod
    def here(cls, lease: str, reason: str, detail: str) -> "LeaseLost":
        """One the server has not told us of, or not as such."""
        return cls(410, {"title": "Lease lost", "detail": detail, "lease": lease, "reason": reason})


class LeaseUnknown(ProblemError):
    """There never was such a lease in your organisation."""


class AccountUnknown(ProblemError):
    """No account of your organisation has this id."""


class AccountExists(ProblemError):
    """The site has an account with this name already."""


class AccountInUse(ProblemError):
    """Somebody holds the account right now."""


class SeedUnknown(ProblemError):
    """No seed of your organisation has this id."""


class SeedInUse(ProblemError):
    """Somebody visits the seed right now."""


class SecretsSealed(ProblemError):
    """The server lacks the key this secret was sealed with."""


class PoolsMoving(ProblemError):
    """Accounts are on their way to another store; nothing is granted meanwhile."""


class CaptureUnknown(ProblemError):
    """No capture of your organisation has this id, or it has no file of this name."""


class CaptureInUse(ProblemError):
    """A consumer has claimed the capture right now."""


class CaptureNotAside(ProblemError):
    """Only a stuck or rejected capture can be put back; `members["state"]` says what this one is."""


class RangeRefused(ProblemError):
    """The file has no such bytes; `members["size"]` says how many it has."""


class FileElsewhere(ProblemError):
    """The bytes stayed in an older system; `members["location"]` says where they were, if that is known."""


class StorageFull(ProblemError):
    """The server has no room for these bytes; nothing of the upload was kept."""


class SourceUnknown(ProblemError):
    """No source has this name."""


class SourceOff(ProblemError):
    """This source is not swept: its file switches it off, or its records come by themselves."""


class RunUnknown(ProblemError):
    """No run of your organisation has this id."""


class BudgetExceeded(ProblemError):
    """It may cost more than the cap allows."""


class PlatformMissing(ProblemError):
    """What this collector finds goes through a platform whose file is not there."""


class PriceMissing(ProblemError):
    """Nobody wrote down what something costs that a run would collect."""


class EntityUnknown(ProblemError):
    """No entity of your organisation has this id."""


class RecordUnknown(ProblemError):
    """No record of your organisation has this id, or the two are of different kinds."""


class BatchUnknown(ProblemError):
    """No batch of records of your organisation has this id."""


class ReviewUnknown(ProblemError):
    """There is no such question; it was answered, or its records changed."""


class EpochUnknown(ProblemError):
    """There is no such set of weights to move to."""


class CannotMerge(ProblemError):
    """These entities cannot be made one."""


class CannotSplit(ProblemError):
    """These records cannot be split off."""


class QueueFull(ProblemError):
    """More records wait to be written than may; send the same again later."""


class JobUnknown(ProblemError):
    """No job of your organisation has this id."""


class PlatformUnknown(ProblemError):
    """No platform has this name."""


class ReplayUnknown(ProblemError):
    """No replay of your organisation has this id."""


class JobOfRun(ProblemError):
    """It is an item of a run, which pays for it and tries it again; `members["run_id"]` says which run."""


class WrongTransport(ProblemError):
    """Workers of this platform get their tasks another way; `members["transport"]` says which."""


class WrongState(ProblemError):
    """It cannot do that where it is; `members["status_now"]` says where that is."""


class LimitsNotYours(ProblemError):
    """The limits of platforms hold for all organisations, and another one's operators may change them live."""


class ShadowMissing(ProblemError):
    """This platform's results are written to one place alone."""


class WritersDiffer(ProblemError):
    """The places results are written to do not hold the same; `members["differences"]` says what differs."""


class DownloadDamaged(Exception):
    """What came over the wire, or lies on the server's disk, is not what was captured."""


class SessionUnknown(ProblemError):
    """The account has no session, or none of this version."""


class SessionNotLoadable(ProblemError):
    """A browser could not load this session; `members["origin"]` names the origin that is too large."""


class SessionTooLarge(ProblemError):
    """With this upload the session would be larger than can be kept."""


class NothingFree(Exception):
    """Nothing was free in time. Not a refusal: `waiting` says why, and when to ask again."""

    def __init__(self, waiting: Waiting | None) -> None:
        self.waiting = waiting
        super().__init__(waiting.detail if waiting else "Nothing was free in time.")


def problem_from(status: int, document: Any) -> ProblemError:
    """The exception for an answer; also for one that is no problem at all, such as a proxy's page."""
    fields = document if isinstance(document, dict) else {}
    return ProblemError.kinds.get(str(fields.get("type")), ProblemError)(status, fields)
