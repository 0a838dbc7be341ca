"""What can be wrong with models, pictures and their configuration; each message says what to do about it."""


class FacesInvalid(Exception):
    """The configuration cannot be used; the message names the place in it."""


class ModelRefused(Exception):
    """A model is not what its manifest says, or cannot tell people apart; nothing is embedded with it."""


class ImageRefused(Exception):
    """A picture is not taken. The reason is one word, so that it can be counted; no address is in it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
