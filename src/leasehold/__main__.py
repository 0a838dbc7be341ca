"""The `leasehold` command; says what to install when only the SDK is there."""

import gc
import sys
from collections.abc import Callable


def main() -> None:
    # All that is imported stays: looking through it again and again for what could go is a fifth of starting.
    gc.disable()
    try:
        from leasehold.cli import app

        run: Callable[[], int | None] = app
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("leasehold"):
            raise
        if sys.argv[1:2] != ["worker"]:
            sys.exit(
                f"This command needs the server ({missing.name} is not installed): pip install 'leasehold[server]'"
            )
        run = _worker
    finally:
        gc.enable()
    sys.exit(run())  # only now: a worker lives long, and nothing of its own may stay for good


def _worker() -> int:
    """The one command that needs nothing but the SDK."""
    from leasehold.client.worker_command import main

    return main(sys.argv[2:])


if __name__ == "__main__":
    main()
