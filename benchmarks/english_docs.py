"""Gather English text from unpacked documentation packages, lines of over 40 bytes at most once.

apt-get download linux-doc-6.1 python3.11-doc perl-doc
for package in *.deb; do dpkg-deb -x "$package" docs; done
python benchmarks/english_docs.py docs english-docs.txt --megabytes 50
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from extract import without_tags
from packages import unzipped

SUFFIXES = (".txt", ".rst", ".html", ".md", ".pod")
REPEATABLE_BYTES = 40


def main() -> None:
    """Write the text of all files in order of their names, up to the size asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--megabytes", type=int, default=50)
    options = parser.parse_args()
    left = options.megabytes * 1_000_000
    with options.output.open("wb") as out:
        for line in fresh_lines(options.folder):
            left -= len(line)
            if left < 0:
                break
            out.write(line)


def fresh_lines(folder: Path) -> Iterator[bytes]:
    """Give every line that is short or new."""
    seen: set[bytes] = set()
    for path in sorted(folder.rglob("*")):
        for line in lines_of(path):
            if len(line) > REPEATABLE_BYTES:
                if line in seen:
                    continue
                seen.add(line)
            yield line


def lines_of(path: Path) -> list[bytes]:
    """Return the lines of a documentation file, without tags; nothing for other files."""
    name = path.name.removesuffix(".gz")
    if path.is_symlink() or not path.is_file() or not name.endswith(SUFFIXES):
        return []
    text = unzipped(path.read_bytes()).decode("utf-8", errors="replace")
    if name.endswith(".html"):
        text = without_tags(text)
    return text.encode("utf-8", errors="replace").splitlines(keepends=True)


if __name__ == "__main__":
    main()
