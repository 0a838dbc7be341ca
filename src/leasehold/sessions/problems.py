"""What is refused about sessions."""

from leasehold.problems import Problem


class SessionUnknown(Problem):
    """This account has no session, or none of this version.

    Sign in with a browser and upload its StorageState. Versions are kept for a while only: the list shows which.
    """

    status, title = 404, "No such session"


class SessionNotLoadable(Problem):
    """A browser could not load this session: the localStorage of an origin is larger than it takes.

    Roll the session back to a version before it grew, or upload a fresh one.
    """

    status, title = 409, "Session does not load"


class SessionTooLarge(Problem):
    """With this upload the session would be larger than can be kept. Clear what the site piled up, or sign in anew."""

    status, title = 413, "Session too large"
