"""Build the corpora of `corpora.toml` from packages: the same text on every machine, told by its hash.

    python benchmarks/build_corpora.py               # all of them
    python benchmarks/build_corpora.py multilingual  # one

Packages are downloaded by `apt-get`, and unpacked by `dpkg-deb`, as data: nothing of them is installed or
run. A package that cannot be had is left out, with a note; so is the promise of the hash. Takes a few
minutes and 600 MB of disk.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from corpora import corpus_folder, grouped
from extract import text_of
from packages import MissingPackageError, debian_archive, debian_files, sha256, zip_files
from tables import read_toml

HERE = Path(__file__).parent
DOCUMENT_BYTES = 2_000
REPEATABLE_BYTES = 40
SEED = 1
# Entries of a file of the program `fortune` are separated by lines of percent signs.
FORTUNE_END = re.compile(r"^%+[ \t]*$", re.MULTILINE)
# Without the no-break spaces of French and the ideographic spaces of Chinese, which messages keep.
WHITE_SPACE = re.compile(r"[ \t\r\n]+")
# Control characters and the replacement of invalid UTF-8: messages with one of them are left out.
DAMAGE = re.compile(r"[\x00-\x1f\x7f\ufffd]")


def main(names: Sequence[str]) -> None:
    """Build the corpora named, or all."""
    plans = read_toml(HERE / "corpora.toml")
    folder = corpus_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or plans:
        if name not in plans:
            raise SystemExit(f"found {name}, expected one of {', '.join(plans)}")
        data = corpus_of(plans[name])
        (folder / f"{name}.txt").write_bytes(data)
        is_recorded = sha256(data) == plans[name]["sha256"]
        print(f"{name}: {len(data):,} bytes, SHA-256 {sha256(data)}")
        if not is_recorded:
            print(f"{name}: not the text that answers are kept for", file=sys.stderr)


def corpus_of(plan: dict[str, Any]) -> bytes:
    """Return the documents of all sources, shuffled, up to the size asked for."""
    seen: set[str] = set()
    limits = plan.get("message_bytes")
    found = [text for source in plan["sources"] for text in documents_of(source, seen, limits)]
    return b"".join(shuffled(found, plan["megabytes"]))


def documents_of(
    source: dict[str, Any], seen: set[str], limits: Sequence[int] | None = None
) -> list[bytes]:
    """Return a share of the documents of one package; none, with a note, when it cannot be had.

    With `limits`, the least and the most bytes, the documents are messages, else lines of about 2 KB:
    new ones, or with `repeats` all as they are.
    """
    try:
        archive = debian_archive(source["package"], source["version"], source["sha256"])
    except MissingPackageError as error:
        print(f"left out: {error}", file=sys.stderr)
        return []
    has_markup, repeats = source.get("markup", False), source.get("repeats", False)
    documents = [
        document.encode()
        for name, data in files_of(archive, source)
        for document in (
            grouped(lines_of(text_of(name, data, has_markup), seen, repeats), DOCUMENT_BYTES)
            if limits is None
            else fresh_messages(name, text_of(name, data), limits, seen)
        )
    ]
    kept = shuffled(documents, source.get("megabytes"))
    print(f"  {source['package']}: {sum(map(len, kept)):,} bytes")
    return kept


def files_of(archive: Path, source: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a package that belong to the corpus, or those of the ZIP archive in it."""
    for name, data in debian_files(archive):
        if "zip" in source and name.endswith(source["zip"]):
            yield from (found for found in zip_files(name, data) if is_wanted(found[0], source))
        elif is_wanted(name, source):
            yield name, data


def is_wanted(name: str, source: dict[str, Any]) -> bool:
    """Tell whether a file of a package belongs to the corpus."""
    return _matches(name, source["files"]) and not _matches(name, source.get("exclude", ()))


def lines_of(text: str, seen: set[str], repeats: bool) -> Iterator[str]:
    """Yield the new lines of a text, or with `repeats` all of them, as they are."""
    return (line + "\n" for line in text.split("\n")) if repeats else fresh_lines(text, seen)


def fresh_lines(text: str, seen: set[str]) -> Iterator[str]:
    """Give every line that is short or new, without blanks at its end, and no two empty ones in a row."""
    last = ""
    for line in text.split("\n"):
        kept = line.rstrip() + "\n"
        if len(kept.encode()) > REPEATABLE_BYTES:
            if kept in seen:
                continue
            seen.add(kept)
        if kept != "\n" or last != "\n":
            yield kept
        last = kept


def fresh_messages(name: str, text: str, limits: Sequence[int], seen: set[str]) -> Iterator[str]:
    """Yield every new message of a file as one line: entries of quotations, lines of other texts.

    `limits` are the least and the most bytes of a message.
    """
    least, most = limits
    entries = FORTUNE_END.split(text) if "/fortunes/" in name else text.split("\n")
    for entry in entries:
        message = WHITE_SPACE.sub(" ", entry).strip(" ")
        is_message = least <= len(message.encode()) <= most and not DAMAGE.search(message)
        if is_message and message not in seen:
            seen.add(message)
            yield f"{message}\n"


def shuffled(documents: Iterable[bytes], megabytes: float | None) -> list[bytes]:
    """Return the documents in an order that depends on nothing else, up to a size."""
    mixed = list(documents)
    random.Random(SEED).shuffle(mixed)
    left = megabytes * 1e6 if megabytes else float("inf")
    kept = []
    for document in mixed:
        left -= len(document)
        if left < 0:
            break
        kept.append(document)
    return kept


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


if __name__ == "__main__":
    main(sys.argv[1:])
