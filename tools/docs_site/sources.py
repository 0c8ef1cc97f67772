"""The Markdown pages of the repository as pages of the site: where each goes, and its links there.

A page is written for readers of the repository: its links lead to files. In the site, a link to a page leads
to that page, a link to an image to its copy, and a link to any other file to the repository on its host. Each
page gets its description, its source for the edit link, and blocks of code whose prompts are marked.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from front_matter import front_matter

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/piecework/piecework"
HOME = "tools/docs_site/home.md"
# Pages outside docs/. Every page of docs/ keeps its path, and a README becomes the index of its folder.
PLACES = {
    HOME: "index.md",
    "docs/README.md": "contents.md",
    "CHANGELOG.md": "project/changelog.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/README.md": "benchmarks/method.md",
    "benchmarks/OPTIMIZATIONS.md": "benchmarks/optimizations.md",
    "benchmarks/record/README.md": "benchmarks/record.md",
    "conformance/README.md": "reference/conformance-cases.md",
    "python/piecework/reference/README.md": "explanation/reference-implementation.md",
}
# The site has its own home, and links to the README lead there.
UNWRITTEN = {"README.md": "index.md"}
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:)([^)#\s]*)(#[^)\s]*)?(?=\))")
CODE = re.compile(r"(^(?:```|~~~).*?^(?:```|~~~)$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
SESSION = re.compile(r"^```(?:(python)(?=\n>>> )|sh(?=\n\$ ))", re.MULTILINE)


def places() -> dict[str, str]:
    """Return the path of each page in the repository -> its path in the site.

    >>> found = places()
    >>> found["docs/how-to/README.md"], found["docs/notebooks/what-sampling-does.ipynb"]
    ('how-to/index.md', 'notebooks/what-sampling-does.md')
    """
    found = dict(PLACES)
    for pattern in ("*.md", "*.ipynb"):
        for page in sorted((ROOT / "docs").rglob(pattern)):
            path = page.relative_to(ROOT / "docs")
            name = "index.md" if path.stem == "README" else f"{path.stem}.md"
            found.setdefault(f"docs/{path.as_posix()}", (path.parent / name).as_posix())
    return found


def write_pages(folder: Path, text_of: Callable[[Path], str]) -> None:
    """Write every page into a folder, with links for the site; `text_of` returns the Markdown of a file."""
    site = places()
    for source, place in site.items():
        page = folder / place
        page.parent.mkdir(parents=True, exist_ok=True)
        text = with_sessions(text_of(ROOT / source))
        linked = with_site_links(text, source, site | UNWRITTEN)
        page.write_text(front_matter(text, source) + linked, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "images", folder / "images", dirs_exist_ok=True)


def with_sessions(markdown: str) -> str:
    r"""Return a page whose blocks with prompts are sessions, in which prompts and outputs are marked.

    >>> with_sessions("```python\n>>> 1\n1\n```\n\n```sh\n$ ls\n```")
    '```pycon\n>>> 1\n1\n```\n\n```console\n$ ls\n```'
    """
    return SESSION.sub(lambda found: "```pycon" if found[1] else "```console", markdown)


def with_site_links(text: str, source: str, site: dict[str, str]) -> str:
    """Return a page whose links lead to pages of the site, or to the repository.

    >>> site = {"README.md": "index.md", "docs/how-to/load.md": "how-to/load.md"}
    >>> with_site_links("[load](docs/how-to/load.md#names) `[a](b)`", "README.md", site)
    '[load](how-to/load.md#names) `[a](b)`'
    >>> with_site_links("[build](../../Makefile)", "docs/how-to/load.md", site)
    '[build](https://github.com/piecework/piecework/blob/main/Makefile)'
    """

    def link(match: re.Match[str]) -> str:
        target, heading = match[1], match[2] or ""
        return f"{site_target(target, source, site)}{heading}" if target else heading

    parts = CODE.split(text)
    return "".join(part if at % 2 else LINK.sub(link, part) for at, part in enumerate(parts))


def site_target(target: str, source: str, site: dict[str, str]) -> str:
    """Return where a link of a page leads in the site."""
    file = os.path.normpath(os.path.join(os.path.dirname(source), target))
    folder = os.path.dirname(site[source]) or "."
    if file in site:
        return os.path.relpath(site[file], folder)
    if file.startswith("docs/images/"):
        return os.path.relpath(file.removeprefix("docs/"), folder)
    if not (ROOT / file).exists():
        raise SystemExit(f"{source}: a link leads to {target}, which does not exist")
    return f"{REPOSITORY}/{'tree' if (ROOT / file).is_dir() else 'blob'}/main/{file}"
