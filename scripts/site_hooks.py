"""What MkDocs is told besides mkdocs.yml: every decision is in the navigation, and links out of docs/ lead somewhere.

Pages link to files of the checkout (`../asyncapi.json`), so that they can be read there. The site has copies of these
below `project/`, and links are bent to them while it is built.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = "docs"
COPIES = "project"
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
log = get_plugin_logger("links")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    decisions = [f"adr/{file.name}" for file in sorted((ROOT / DOCS / "adr").glob("0*.md"))]
    copies = [f"{COPIES}/{name}" for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    config.nav = [*(config.nav or []), {"Decisions": ["adr/README.md", *decisions]}, {"Project": copies}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Copy what pages link to outside of docs/, and what those pages link to in turn."""
    waiting = [ROOT / DOCS / file.src_uri for file in files.documentation_pages()]
    while waiting:
        page = waiting.pop()
        for target in _targets(page):
            uri = site_uri(target)
            if not uri.startswith(COPIES) or files.get_file_from_path(uri):
                continue
            source = ROOT / target
            if not source.is_file():
                log.warning(f"{page.relative_to(ROOT)} links to {target}, which is not there")
                continue
            files.append(File.generated(config, uri, abs_src_path=str(source)))
            if source.suffix == ".md":
                waiting.append(source)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    own = page.file.src_uri
    is_copy = own.startswith(COPIES + "/")

    def bend(found: re.Match[str]) -> str:
        target = _resolved(checkout_path(own), found[2])
        if target is None or not (is_copy or not target.startswith(DOCS + "/")):
            return found[0]
        return f"{found[1]}{posixpath.relpath(site_uri(target), posixpath.dirname(own) or '.')}{found[3]}"

    return LINK.sub(bend, markdown)


def site_uri(path: str) -> str:
    """Where a file of the checkout is in the site."""
    if (ROOT / path).is_dir():
        path = f"{path}/README.md"
    return path.removeprefix(DOCS + "/") if path.startswith(DOCS + "/") else f"{COPIES}/{path}"


def checkout_path(uri: str) -> str:
    """Where a page of the site is in the checkout."""
    return uri.removeprefix(COPIES + "/") if uri.startswith(COPIES + "/") else f"{DOCS}/{uri}"


def _targets(page: Path) -> list[str]:
    own = page.relative_to(ROOT).as_posix()
    found = (_resolved(own, target) for _, target, _ in LINK.findall(page.read_text(encoding="utf-8")))
    return [target for target in found if target is not None]


def _resolved(own: str, target: str) -> str | None:
    """A link as a path from the top of the checkout; None for an address elsewhere."""
    if re.match(r"[a-z]+:|//", target):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(own), target))
