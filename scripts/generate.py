"""Writes what is printed from the code: openapi.json, docs/problems.md, docs/settings.md, docs/schema.sql."""

import ast
import inspect
import re
import subprocess
import tempfile
from pathlib import Path

import orjson

from leasehold import settings
from leasehold.app import build
from leasehold.embedded import Embedded
from leasehold.migrate import migrate
from leasehold.problems import Problem
from leasehold.settings import Settings
from leasehold.vault import Keyring

ROOT = Path(__file__).parents[1]
# To build an app that seals nothing.
KEYS = Keyring.parse("none:" + "A" * 43 + "=")


def openapi_json() -> str:
    app = build(Settings(), "postgresql://nowhere/nothing", KEYS)
    return orjson.dumps(app.openapi(), option=orjson.OPT_INDENT_2).decode() + "\n"


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
    default = Settings.model_fields[name].default
    text = default.get_secret_value() if hasattr(default, "get_secret_value") else default
    return f"`{str(text).lower() if isinstance(text, bool) else text}`" if text not in (None, "") else "empty"


def schema_sql(url: str, programs: Path) -> str:
    """The schema the migrations make, as pg_dump writes it."""
    command = [str(programs / "pg_dump"), "--schema-only", "--no-owner", "--exclude-table=*yoyo*", f"--dbname={url}"]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    lines = [line for line in dumped.splitlines() if not line.startswith(("--", "SET ", "SELECT pg_catalog", "\\"))]
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return f"-- The whole schema, for readers; made from the migrations by `make generated`.\n\n{body}\n"


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
    made |= {"openapi.json": openapi_json(), "docs/problems.md": problems_md(), "docs/settings.md": settings_md()}
    for name, text in made.items():
        file = ROOT / name
        fresh = file.exists() and file.read_text(encoding="utf-8") == text
        file.write_text(text, encoding="utf-8")
        print(f"{'kept   ' if fresh else 'written'} {name}")


if __name__ == "__main__":
    main()
