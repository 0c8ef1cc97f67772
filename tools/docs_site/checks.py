"""Check the built pages: where links and anchors lead, texts of images, and what is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
REMOTE = ("http:", "https:", "//")


@dataclass
class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    anchors: set[str] = field(default_factory=lambda: {"", "__skip"})
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    images_without_text: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Prepare the parser."""
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag names and refers to."""
        found = dict(attrs)
        self.anchors |= {found.get("id") or "", found.get("name") or ""}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")
        if tag in LOADED and found.get("rel") != "canonical":
            self.loaded.append(found.get(LOADED[tag]) or "")
        if tag == "img" and not found.get("alt"):
            self.images_without_text.append(found.get("src") or "")


def faults(site: Path) -> list[str]:
    """Return the faults of all pages of a site, a line each."""
    pages = {file.resolve(): read_page(file) for file in site.rglob("*.html")}
    return [
        f"{file.relative_to(site.resolve())}: {fault}"
        for file, page in sorted(pages.items())
        if file.name != "404.html"
        for fault in faults_of(file, page, pages)
    ]


def read_page(file: Path) -> Page:
    """Parse a page."""
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def faults_of(file: Path, page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield the faults of a page."""
    yield from (f"loads {one}" for one in page.loaded if one.startswith(REMOTE))
    yield from (f"the image {one} has no text" for one in page.images_without_text)
    for link in page.links:
        if not link.startswith((*REMOTE, "mailto:", "data:")) and not leads(file, link, pages):
            yield f"the link {link} leads nowhere"


def leads(file: Path, link: str, pages: dict[Path, Page]) -> bool:
    """Tell whether a link of a page leads to a file, and to an anchor of it."""
    path, anchor = urldefrag(link)
    target = (file.parent / unquote(path)).resolve() if path else file
    if target.is_dir():
        target /= "index.html"
    if target in pages:
        return unquote(anchor) in pages[target].anchors
    return target.exists()
