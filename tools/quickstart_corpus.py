"""Write the English that every CPython carries to a file: one paragraph a line.

In: nothing but the running interpreter. Out: the pydoc topics (the language reference) and the
docstrings of the standard library, found by parsing its source files, none of which is imported.
The same interpreter always gives the same file. Time is linear in the size of the library.

    python tools/quickstart_corpus.py corpus.txt
"""

from __future__ import annotations

import ast
import pydoc_data.topics
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

# Test suites and vendored or generated packages: much code, little prose.
SKIPPED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def main(arguments: list[str]) -> int:
    """Write the corpus to the path given; return the exit code."""
    if len(arguments) != 1:
        print("usage: quickstart_corpus.py OUTPUT", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = list(dict.fromkeys(corpus_lines()))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    print(f"{len(lines):,} paragraphs, {path.stat().st_size / 1e6:.1f} MB of English: {path}")
    return 0


def corpus_lines() -> Iterator[str]:
    """Yield every paragraph of the topics, then of the docstrings, in a fixed order."""
    for _, topic in sorted(pydoc_data.topics.topics.items()):
        yield from paragraphs(topic)
    for source in library_files(Path(sysconfig.get_path("stdlib"))):
        for docstring in docstrings(source):
            yield from paragraphs(docstring)


def library_files(root: Path) -> Iterator[Path]:
    """Yield the source files of the standard library, sorted by path."""
    for path in sorted(root.rglob("*.py")):
        if SKIPPED.isdisjoint(path.relative_to(root).parts):
            yield path


def docstrings(source: Path) -> Iterator[str]:
    """Yield the docstrings of a source file, outermost first; none when it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old escapes in the library are no news to anyone
            tree = ast.parse(source.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED):
            yield ast.get_docstring(node) or ""


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text with their line breaks and indentation folded away."""
    for paragraph in re.split(r"\n\s*\n", text):
        if words := paragraph.split():
            # A lone surrogate has no UTF-8 form; some docstrings about codecs hold one.
            yield " ".join(words).encode("utf-8", "replace").decode("utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
