"""Where the text of the benchmarks comes from, and how it is cut.

A path given on the command line, else `PIECEWORK_BENCH_CORPUS`, else the English that came with
Python (about 2 MB, so results on it are for a first look only).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ENVIRONMENT_NAME = "PIECEWORK_BENCH_CORPUS"
MAKER = Path(__file__).parent.parent / "tools" / "quickstart_corpus.py"


def corpus_file(given: Path | None, folder: Path) -> Path:
    """Return the corpus to use, making the fallback in `folder` when none is named."""
    named = given or os.environ.get(ENVIRONMENT_NAME)
    if named:
        return Path(named)
    path = folder / "python-english.txt"
    subprocess.run([sys.executable, str(MAKER), str(path)], check=True, stdout=subprocess.DEVNULL)
    return path


def head(corpus: Path, size_bytes: int, folder: Path) -> Path:
    """Write the first `size_bytes` of a corpus, cut at a line end, to `folder`; return the path."""
    path = folder / "corpus.txt"
    with corpus.open("rb") as source:
        text = source.read(size_bytes)
    path.write_bytes(text[: text.rfind(b"\n") + 1] or text)
    return path


def documents(corpus: Path, document_bytes: int, total_bytes: int) -> list[str]:
    """Return documents of about `document_bytes`, whole lines, at most `total_bytes` in all."""
    with corpus.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        return list(_limited(_grouped(lines, document_bytes), total_bytes))


def _grouped(lines: Iterator[str], document_bytes: int) -> Iterator[str]:
    document: list[str] = []
    size = 0
    for line in lines:
        document.append(line)
        size += len(line.encode())
        if size >= document_bytes:
            yield "".join(document)
            document, size = [], 0
    if document:
        yield "".join(document)


def _limited(texts: Iterator[str], total_bytes: int) -> Iterator[str]:
    for text in texts:
        total_bytes -= len(text.encode())
        if total_bytes < 0:
            return
        yield text
