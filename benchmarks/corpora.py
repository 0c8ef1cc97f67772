"""Where the text of the benchmarks lies, and how it is cut into documents.

A corpus is `NAME.txt` in the folder that `build_corpora.py` fills: `build/benchmarks/corpora`, or the one
that PIECEWORK_BENCH_CORPORA names. Where there is none, a small text that every machine can make stands
in for it (`small_corpora.py`): enough to check answers, and for a first look at speed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

FOLDER_NAME = "PIECEWORK_BENCH_CORPORA"
BUILT = Path(__file__).parent.parent / "build" / "benchmarks" / "corpora"


def corpus_folder() -> Path:
    """Return the folder of the corpora."""
    return Path(os.environ.get(FOLDER_NAME, BUILT))


def built_corpus(name: str) -> Path | None:
    """Return the corpus of that name, None when it has not been built."""
    path = corpus_folder() / f"{name}.txt"
    return path if path.is_file() else None


def lexicon_path(language: str) -> Path:
    """Return the path of the morphemes of words, which `boundaries.py` writes."""
    return corpus_folder() / f"morphemes-{language}.tsv"


def split_documents(job: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the warm-up documents and the rest, in the proportion of the sizes asked for."""
    wanted = job["warm_up_bytes"] + job["steady_bytes"]
    texts = documents(Path(job["files"]["corpus"]), job["document_bytes"], wanted)
    cut = len(texts) * job["warm_up_bytes"] // wanted
    return texts[:cut], texts[cut:]


def documents(corpus: Path, document_bytes: int, total_bytes: int) -> list[str]:
    """Return documents of about `document_bytes`, whole lines, at most `total_bytes` in all.

    With 0 bytes, each line that is not empty is a document, without its end.
    """
    with corpus.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        texts = grouped(lines, document_bytes) if document_bytes else single(lines)
        return list(_limited(texts, total_bytes))


def head(corpus: Path, size_bytes: int, folder: Path) -> Path:
    """Write the first `size_bytes` of a corpus, cut at a line end, to `folder`; return the path."""
    path = folder / "corpus.txt"
    with corpus.open("rb") as source:
        text = source.read(size_bytes)
    path.write_bytes(text[: text.rfind(b"\n") + 1] or text)
    return path


def grouped(lines: Iterator[str], document_bytes: int) -> Iterator[str]:
    """Join lines until they have as many bytes as a document is to have."""
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


def single(lines: Iterable[str]) -> Iterator[str]:
    """Yield each line without its end, but no empty ones."""
    return (text for line in lines if (text := line.rstrip("\n")))


def _limited(texts: Iterator[str], total_bytes: int) -> Iterator[str]:
    for text in texts:
        total_bytes -= len(text.encode())
        if total_bytes < 0:
            return
        yield text
