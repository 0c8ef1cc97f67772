"""Write the novels of a collection as plain text: a paragraph a line, an empty line between novels.

    git clone https://github.com/COST-ELTeC/ELTeC-eng
    python benchmarks/novels.py ELTeC-eng novels-english
    git clone https://github.com/COST-ELTeC/ELTeC-cze
    python benchmarks/novels.py ELTeC-cze novels-czech

The European Literary Text Collection has a hundred novels a language, from 1840 to 1920, marked up with TEI;
each file names its licence (public domain or CC BY 4.0). A clone without a work tree will do as well. Of each
novel the first 200 KB are taken, so that no author prevails, and files of over 2 MB are left out. The text is
written to the folder of corpora (`corpora.py`), and is the same for the same files.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from corpora import corpus_folder

NOVEL_BYTES = 200_000
LARGEST_FILE = 2_000_000
TEI = "{http://www.tei-c.org/ns/1.0}"
PARAGRAPHS = tuple(TEI + name for name in ("p", "l", "head"))
LEFT_OUT = tuple(TEI + name for name in ("note", "pb", "gap"))


def main() -> None:
    """Write the novels of one clone."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clone", type=Path, help="a clone of a collection, or its .git folder")
    parser.add_argument("name", help="the name of the corpus")
    options = parser.parse_args()
    novels = ["\n".join(head(paragraphs(text))) for text in files(options.clone)]
    if not novels:
        sys.exit(f"{options.clone} has no files level1/*.xml: give a clone of COST-ELTeC/ELTeC-*")
    path = corpus_folder() / f"{options.name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(novels) + "\n", encoding="utf-8")
    print(f"{path}: {len(novels)} novels, {path.stat().st_size:,} bytes")


def files(clone: Path) -> Iterator[bytes]:
    """Yield the files of the novels in the newest commit, by name."""
    git = ["git", "-C", str(clone)]
    listed = subprocess.run(
        [*git, "ls-tree", "-r", "-l", "-z", "HEAD", "level1"], check=True, stdout=subprocess.PIPE
    ).stdout.decode()
    for entry in sorted(listed.split("\0"), key=lambda entry: entry.rpartition("\t")[2]):
        about, _, name = entry.rpartition("\t")
        size = about.rpartition(" ")[2]
        if name.endswith(".xml") and size.isdigit() and int(size) <= LARGEST_FILE:
            shown = subprocess.run([*git, "show", f"HEAD:{name}"], check=True, capture_output=True)
            yield shown.stdout


def paragraphs(text: bytes) -> Iterator[str]:
    """Yield the paragraphs, verses and headings of a novel, each on one line.

    >>> markup = "<{}><text><body><p>One <pb n='2'/>two<note>three</note>\\n four.</p></body></text></{}>"
    >>> list(paragraphs(markup.format('TEI xmlns="http://www.tei-c.org/ns/1.0"', "TEI").encode()))
    ['One two four.']
    """
    body = ElementTree.fromstring(text.strip()).find(f"{TEI}text/{TEI}body")
    for element in body.iter() if body is not None else ():
        if element.tag in PARAGRAPHS:
            line = " ".join("".join(spoken(element)).split())
            yield from [line] if line else []


def spoken(element: ElementTree.Element) -> Iterator[str]:
    """Yield the text of an element, but not that of notes and of paragraphs inside."""
    yield element.text or ""
    for child in element:
        if child.tag not in (*LEFT_OUT, *PARAGRAPHS):
            yield from spoken(child)
        yield child.tail or ""


def head(lines: Iterator[str]) -> Iterator[str]:
    """Yield the first lines, `NOVEL_BYTES` in all."""
    size = 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > NOVEL_BYTES:
            return
        yield line


if __name__ == "__main__":
    main()
