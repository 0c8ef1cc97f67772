"""Build the corpora of `corpora.toml` from packages: the same text on every machine, told by its hash.

    python benchmarks/build_corpora.py               # all of them
    python benchmarks/build_corpora.py multilingual  # one

Packages are downloaded by `apt-get`, and unpacked by `dpkg-deb`, as data: nothing of them is installed or
run. A package that cannot be had is left out, with a note; so is the promise of the hash. Takes a few
minutes and 500 MB of disk.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from corpora import BUILT, FOLDER_NAME, grouped
from extract import text_of
from packages import MissingPackageError, debian_archive, debian_files, sha256
from tables import read_toml

HERE = Path(__file__).parent
DOCUMENT_BYTES = 2_000
REPEATABLE_BYTES = 40
SEED = 1


def main(names: Sequence[str]) -> None:
    """Build the corpora named, or all."""
    plans = read_toml(HERE / "corpora.toml")
    folder = Path(os.environ.get(FOLDER_NAME, BUILT))
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
    found = [text for source in plan["sources"] for text in documents_of(source, seen)]
    return b"".join(shuffled(found, plan["megabytes"]))


def documents_of(source: dict[str, Any], seen: set[str]) -> list[bytes]:
    """Return a share of the documents of one package; none, with a note, when it cannot be had."""
    try:
        archive = debian_archive(source["package"], source["version"], source["sha256"])
    except MissingPackageError as error:
        print(f"left out: {error}", file=sys.stderr)
        return []
    texts = (text_of(name, data) for name, data in debian_files(archive) if is_wanted(name, source))
    documents = [
        document.encode()
        for text in texts
        for document in grouped(fresh_lines(text, seen), DOCUMENT_BYTES)
    ]
    kept = shuffled(documents, source.get("megabytes"))
    print(f"  {source['package']}: {sum(map(len, kept)):,} bytes")
    return kept


def is_wanted(name: str, source: dict[str, Any]) -> bool:
    """Tell whether a file of a package belongs to the corpus."""
    return _matches(name, source["files"]) and not _matches(name, source.get("exclude", ()))


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
