"""The `leasehold` command; says what to install when only the SDK is there."""

import sys


def main() -> None:
    try:
        from leasehold.cli import app
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("leasehold"):
            raise
        sys.exit(f"This command needs the server ({missing.name} is not installed): pip install 'leasehold[server]'")
    app()


if __name__ == "__main__":
    main()
