"""Writes what is printed from the code: openapi.json, asyncapi.json, and pages of docs/ with schema.sql."""

import ast
import inspect
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from leasehold import amqp, artifacts, settings
from leasehold.app import build
from leasehold.embedded import Embedded
from leasehold.migrate import migrate
from leasehold.problems import Problem
from leasehold.settings import Settings
from leasehold.vault import Keyring

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # run as a file, it has its own folder there alone

from scripts import reference  # noqa: E402

# What versions of artefacts promise. Commit a change only if it adds something; else it is another version.
SCHEMAS = "src/leasehold/artifacts/schemas"
# To build an app that seals nothing.
KEYS = Keyring.parse("none:" + "A" * 43 + "=")


def openapi() -> dict[str, Any]:
    return build(Settings(), "postgresql://nowhere/nothing", KEYS).openapi()


def openapi_json() -> str:
    return orjson.dumps(openapi(), option=orjson.OPT_INDENT_2).decode() + "\n"


def asyncapi_json() -> str:
    return orjson.dumps(amqp.asyncapi(), option=orjson.OPT_INDENT_2).decode() + "\n"


def problems_md() -> str:
    build(Settings(), "postgresql://nowhere/nothing", KEYS)  # every feature has declared its problems by now
    kinds = sorted(Problem.kinds.values(), key=lambda kind: (kind.status, kind.slug()))
    parts = [
        "# Problems",
        "Every error is an RFC 9457 problem (`application/problem+json`). Match on `type`; it is also a path on your "
        "own server that shows the text below. Printed from the classes by `make generated`.",
    ]
    for kind in kinds:
        text = inspect.cleandoc(kind.__doc__ or "")
        parts += [f"## {kind.title}", f"`{kind.type()}`, status {kind.status}", text]
    return "\n\n".join(parts) + "\n"


def settings_md() -> str:
    parts = [
        "# Settings",
        f"Each is a variable (`{settings.PREFIX}…`) or a key of `{settings.CONFIG_FILE}` in the folder leasehold is "
        "started in; a variable stands over the file, an option of the command line over both. Printed from the code "
        "by `make generated`.",
    ]
    for name, text in field_docs().items():
        parts += [f"## `{settings.PREFIX}{name.upper()}`", f"{text} Default: {_default(name)}."]
    return "\n\n".join(parts) + "\n"


def field_docs() -> dict[str, str]:
    """The sentence under each field of Settings."""
    (tree,) = ast.parse(inspect.getsource(Settings)).body
    assert isinstance(tree, ast.ClassDef)  # noqa: S101
    found = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            assert isinstance(text.value, ast.Constant)  # noqa: S101
            found[field.target.id] = str(text.value.value)
    return found


def _default(name: str) -> str:
    if name == "data_dir":
        return "`.data` in a checkout; otherwise `~/.local/share/leasehold`, or `/var/lib/leasehold/default` for root"
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    text = default.get_secret_value() if hasattr(default, "get_secret_value") else default
    return f"`{str(text).lower() if isinstance(text, bool) else text}`" if text not in (None, "", {}) else "empty"


def schema_sql(url: str, programs: Path) -> str:
    """The schema the migrations make, as pg_dump writes it."""
    command = [str(programs / "pg_dump"), "--schema-only", "--no-owner", "--exclude-table=*yoyo*", f"--dbname={url}"]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    lines = [line for line in dumped.splitlines() if not line.startswith(("--", "SET ", "SELECT pg_catalog", "\\"))]
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return f"-- The whole schema, for readers; made from the migrations by `make generated`.\n\n{body}\n"


# What is printed without a database, and by what.
PRINTED: dict[str, Callable[[], str]] = {
    "openapi.json": openapi_json,
    "asyncapi.json": asyncapi_json,
    "docs/problems.md": problems_md,
    "docs/settings.md": settings_md,
    "docs/reference-http.md": lambda: reference.http_md(openapi()),
    "docs/reference-shapes.md": lambda: reference.shapes_md(openapi()),
    "docs/reference-messages.md": reference.messages_md,
    "docs/reference-cli.md": reference.cli_md,
    "docs/reference-metrics.md": reference.metrics_md,
    "docs/adr/README.md": lambda: reference.decisions_md(ROOT / "docs/adr"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        embedded = Embedded(Path(folder))
        url = embedded.start()
        try:
            migrate(url)
            made = {"docs/schema.sql": schema_sql(url, embedded.programs)}
        finally:
            embedded.stop()
    made |= {name: make() for name, make in PRINTED.items()}
    made |= {f"{SCHEMAS}/{kind.schema_file}": artifacts.schema_json(kind) for kind in artifacts.KINDS}
    for name, text in made.items():
        file = ROOT / name
        fresh = file.exists() and file.read_text(encoding="utf-8") == text
        file.write_text(text, encoding="utf-8")
        print(f"{'kept   ' if fresh else 'written'} {name}")


if __name__ == "__main__":
    main()
