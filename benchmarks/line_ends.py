"""Train with and without symbols that take line ends, on Python's standard library, and count tokens.

    python benchmarks/line_ends.py

Every tenth file is held out. The others are learned from, whole, so that all line ends are in the text.

    tokens     of the held-out files
    fused      entries that join a line end to a symbol or to an indent
"""

from __future__ import annotations

import platform
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import piecework as pw

SIZES = (8_000, 32_000)
PRESETS = ("cl100k", "cl100k-nl", "o200k", "o200k-nl")


def main() -> None:
    """Print a row for each size and preset."""
    texts = [path.read_text(encoding="utf-8") for path in sources()]
    training = [text for at, text in enumerate(texts) if at % 10]
    held_out = texts[::10]
    print(
        f"Python {platform.python_version()}: {len(training)} files, {sum(map(len, training)):,} characters; "
        f"held out {len(held_out)} files, {sum(map(len, held_out)):,} characters"
    )
    print("  size  preset      tokens  more than the other  fused")
    for size in SIZES:
        tokens: dict[str, int] = {}
        for preset in PRESETS:
            tok = pw.Tokenizer.train_from_iterator(
                training, model="byte-bpe", preset=preset, vocab_size=size
            )
            tokens[preset] = sum(tok.encode_batch(held_out).lengths.tolist())
            other = tokens[preset.removesuffix("-nl")]
            fused = len(pw.analysis.inspect(tok).fused_line_ends)
            more = f"{tokens[preset] / other - 1:.1%}" if preset.endswith("-nl") else ""
            print(f"{size:6}  {preset:9} {tokens[preset]:8} {more:>20} {fused:6}", flush=True)


def sources() -> Iterator[Path]:
    """Yield the files of the standard library without its tests, in the order of their names."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        if "site-packages" in parts or any(part.startswith(("test", "lib2to3")) for part in parts):
            continue
        yield path


if __name__ == "__main__":
    main()
