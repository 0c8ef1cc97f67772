"""The navigation of the site, read from the lists of pages that readers of the repository have.

A tab is a section of docs/README.md; the guides come from docs/how-to/README.md. A page of docs/ that neither
lists cannot be found by readers of the repository, and ends the build.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from sources import ROOT, places

Nav: TypeAlias = list[Any]

ITEM = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.(?:md|ipynb))\)", re.DOTALL)
DECISION = re.compile(r"^\| \[(\d+)\]\(([^)]+)\) \| (.+?) \|", re.MULTILINE)
# Pages that docs/README.md lists, and that have a tab of their own.
OTHER_TABS = (
    "docs/how-to/README.md",
    "docs/decisions/README.md",
    "docs/explanation/benchmarks.md",
    "benchmarks/OPTIMIZATIONS.md",
)
PROJECT = {
    "Changelog": "CHANGELOG.md",
    "Architecture": "ARCHITECTURE.md",
    "Contributing": "CONTRIBUTING.md",
    "Security": "SECURITY.md",
}


def navigation(api: Nav) -> Nav:
    """Return the tabs of the site with their pages; `api` is the part about Python's API."""
    contents = sections("docs/README.md")
    nav = [
        {"Home": ["index.md", {"All pages": "contents.md"}]},
        {"Tutorials": contents["Tutorial"]},
        {"How-to guides": ["how-to/index.md", *groups("docs/how-to/README.md")]},
        {"Reference": [*contents["Reference"], {"Python API, in full": api}]},
        {"Explanation": contents["Explanation"]},
        {"Benchmarks": benchmark_pages()},
        {"Project": [*project_pages(), {"Decisions": ["decisions/index.md", *decisions()]}]},
    ]
    missing = sorted(set(places().values()) - set(pages_of(nav)))
    if missing:
        raise SystemExit(f"no index lists these pages: {', '.join(missing)}")
    return nav


def sections(index: str) -> dict[str, Nav]:
    """Return the headings of an index -> the pages that it lists below each."""
    text = (ROOT / index).read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {
        heading: [*linked_pages(part, index)]
        for heading, part in zip(parts[1::2], parts[2::2], strict=True)
    }


def groups(index: str) -> Nav:
    """Return the sections of an index as groups of pages."""
    return [{heading: pages} for heading, pages in sections(index).items()]


def linked_pages(text: str, index: str) -> Iterator[dict[str, str]]:
    """Yield the title and the page of each link of an index, without the pages of other tabs."""
    site = places()
    for title, target in ITEM.findall(text):
        file = os.path.normpath(os.path.join(os.path.dirname(index), target))
        if file not in OTHER_TABS:
            yield {title_of(title, file): site[file]}


def title_of(link: str, file: str) -> str:
    """Return the title of a page in the navigation: its heading, or the text of the link to a notebook."""
    if file.endswith(".ipynb"):
        title = " ".join(link.split())
        return title[0].upper() + title[1:]
    heading = re.search(r"^# (.+)$", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert heading, f"{file} has no heading"
    return heading[1].replace("`", "")


def benchmark_pages() -> Nav:
    """Return the pages about benchmarks."""
    return [
        {"Benchmarks": "explanation/benchmarks.md"},
        {"How they are made": "benchmarks/method.md"},
        {"Optimizations": "benchmarks/optimizations.md"},
        {"Records": "benchmarks/record.md"},
    ]


def project_pages() -> Nav:
    """Return the pages about the project."""
    site = places()
    return [{title: site[file]} for title, file in PROJECT.items()]


def decisions() -> Nav:
    """Return the decisions, by number, with the sentence of each in the index."""
    index = (ROOT / "docs/decisions/README.md").read_text(encoding="utf-8")
    found = sorted(DECISION.findall(index))
    return [{f"{number} {plain(about)}": f"decisions/{file}"} for number, file, about in found]


def plain(markdown: str) -> str:
    """Return the text of a line of Markdown without marks of code."""
    return markdown.replace("`", "")


def pages_of(nav: Any) -> Iterator[str]:
    """Yield the paths of all pages of a navigation."""
    if isinstance(nav, str):
        yield nav
    for item in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from pages_of(item)
