"""Why something about a capture is refused."""

from leasehold.problems import Problem


class CaptureUnknown(Problem):
    """No capture of your organisation has this id, or it has no file of this name. `GET /v2/captures` lists them."""

    status, title = 404, "Capture unknown"


class CaptureInUse(Problem):
    """A consumer has claimed the capture right now. Wait until its lease ends, or revoke it."""

    status, title = 409, "Capture in use"


class CaptureNotAside(Problem):
    """Only a capture that was set aside (`stuck` or `rejected`) can be put back; `state` says what this one is."""

    status, title = 409, "Capture not aside"


class RangeRefused(Problem):
    """The file has no such bytes. `size` says how many it has."""

    status, title = 416, "Range refused"


class StorageFull(Problem):
    """The server has no room for these bytes. Nothing of the upload was kept; send it again when there is room."""

    status, title = 507, "Storage full"


class FileElsewhere(Problem):
    """The capture was imported as a record of an older system, and the bytes of its files stayed there.

    `location` says where they were, if the record said so.
    """

    status, title = 410, "File elsewhere"
