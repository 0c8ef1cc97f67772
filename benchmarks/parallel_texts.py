"""Texts of five scripts that say the same, paragraph by paragraph, from the help of LibreOffice.

    python benchmarks/parallel_texts.py  # writes build/benchmarks/parallel

Of each language: `train`, its share of the translated paragraphs, so that English has most text, as in
corpora of the web; `dev` and `test`, 1,500 paragraphs each that all five languages have and `train` lacks.
The packages are those of Debian 12, named by their hashes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from packages import BUILD, debian_archive, debian_files

VERSION = "4:7.4.7-1+deb12u14"
# Language, package, its hash, and 1 / the share of the paragraphs to train on.
LANGUAGES = (
    ("en", "en-us", "8faa840285734d6cfe1ed25537b48f07e74bd6412e3917bf8e5f8a653f7b3712", 1),
    ("ru", "ru", "5a2f75d5b0dfcf660275070647af528a81be28b5d3e9c3ec2d419ef5518db7a2", 2),
    ("zh", "zh-cn", "db867cdece4c2f9c7eebe65e519c6cf386fdcf49d6e061db3dffec893b3e1dee", 2),
    ("ko", "ko", "7ef2d854e9ed58e6bf861cfa9fa2579555233f9df874baf327fcb07ccd190669", 4),
    ("km", "km", "58700c6513c15d78e6dbbfda82b05f45fcb5a8acf0832f3dca50918d71e27f50", 8),
)
NAMES = tuple(name for name, *_ in LANGUAGES)
FOLDER = BUILD / "parallel"
HELD_OUT = 1_500
SHORTEST = 12
PARAGRAPH = re.compile(r"<(?:p|h[1-6])\b[^>]*>(.*?)</(?:p|h[1-6])>", re.DOTALL)
TAG = re.compile(r"<[^>]{0,400}>")

Pages = dict[str, list[str]]


def texts(part: str) -> dict[str, Path]:
    """Return the file of each language: of its training text, or of the paragraphs held out."""
    if not (FOLDER / f"{part}-{NAMES[-1]}.txt").exists():
        write_texts()
    return {name: FOLDER / f"{part}-{name}.txt" for name in NAMES}


def write_texts() -> None:
    """Write all texts."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = {name: pages_of(package, digest) for name, package, digest, _ in LANGUAGES}
    rows = list(aligned(pages))
    # Every tenth row is held out in turns, so that both texts are of all parts of the help.
    held = rows[:: len(rows) // (2 * HELD_OUT)][: 2 * HELD_OUT]
    known = {row[0] for row in held}
    for at, (name, _, _, share) in enumerate(LANGUAGES):
        write(f"dev-{name}", [row[at] for row in held[::2]])
        write(f"test-{name}", [row[at] for row in held[1::2]])
        write(f"train-{name}", list(training_text(pages["en"], pages[name], known))[::share])


def pages_of(package: str, digest: str) -> Pages:
    """Return the paragraphs of each page."""
    archive = debian_archive(f"libreoffice-help-{package}", VERSION, digest)
    pages = {}
    for name, data in debian_files(archive):
        page = re.search(r"/(text/.*\.html)$", name)
        if page:
            found = PARAGRAPH.findall(data.decode("utf-8", errors="replace"))
            pages[page[1]] = [plain(paragraph) for paragraph in found]
    return pages


def plain(paragraph: str) -> str:
    """Return the text of a paragraph in one line."""
    return re.sub(r"\s+", " ", html.unescape(TAG.sub("", paragraph))).strip()


def aligned(pages: dict[str, Pages]) -> Iterator[tuple[str, ...]]:
    """Yield each paragraph that all languages have, once."""
    seen = set()
    for name in sorted(pages["en"]):
        of_page = [of_language.get(name, []) for of_language in pages.values()]
        if len({len(paragraphs) for paragraphs in of_page}) != 1:
            continue
        for row in zip(*of_page, strict=True):
            english, *others = row
            is_translated = all(one not in ("", english) for one in others)
            if is_translated and len(english) >= SHORTEST and english not in seen:
                seen.add(english)
                yield row


def training_text(english: Pages, pages: Pages, held: set[str]) -> Iterator[str]:
    """Yield the translated paragraphs of a language that are not held out, once; all of English."""
    seen = set()
    for name in sorted(pages.keys() & english.keys()):
        if len(pages[name]) != len(english[name]):
            continue
        for original, paragraph in zip(english[name], pages[name], strict=True):
            is_own = pages is english or paragraph != original
            if paragraph and is_own and original not in held and paragraph not in seen:
                seen.add(paragraph)
                yield paragraph


def write(name: str, lines: list[str]) -> None:
    """Write a text of one paragraph a line."""
    (FOLDER / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    write_texts()
    for name in NAMES:
        sizes = [
            path.stat().st_size for part in ("train", "dev", "test") for path in [texts(part)[name]]
        ]
        print(name, *(f"{size:,}" for size in sizes))
