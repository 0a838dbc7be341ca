"""Why a secret stays closed."""

from leasehold.problems import Problem


class SecretsSealed(Problem):
    """The server does not have the key this secret was sealed with, or the stored bytes were changed.

    Give the server that key, in `LEASEHOLD_KEYS` or in the file `keys` of its data folder. A server whose key file
    cannot be read seals nothing new either, because a restart would lose the key. Its log says what is wrong. Nothing
    brings back a secret whose key is lost: store it again.
    """

    status, title = 503, "Secrets sealed"
    # The key is the right one, and what is stored is not what was sealed with it: only storing the secret again helps.
    is_damaged = False
