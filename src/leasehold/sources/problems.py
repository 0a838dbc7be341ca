"""Why something about a source is refused."""

from leasehold.problems import Problem


class SourceUnknown(Problem):
    """No source has this name. `GET /v2/sources` lists them; a file in `LEASEHOLD_SOURCES_DIR` adds one."""

    status, title = 404, "Source unknown"


class SourceOff(Problem):
    """This source is not swept: its file switches it off, or its records come by themselves."""

    status, title = 409, "Source off"


def unknown_source(name: str) -> SourceUnknown:
    return SourceUnknown("No source has this name.", source=name[:100])
