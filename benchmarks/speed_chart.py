"""Draw the chart of the README from a recorded run: MB/s of each class, steady, English, one thread.

    python benchmarks/speed_chart.py          # write docs/images/speed.svg
    python benchmarks/speed_chart.py --check  # exit code 1 when the file differs

Each class has a bar for piecework, for the fastest other library with the same ids, and for `tokenizers`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cases import OURS
from figures import Case, cases
from records import read_record

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "benchmarks" / "record" / "2026-11-22-table.json"
CHART = ROOT / "docs" / "images" / "speed.svg"
CORPUS = "english"
BASELINE = "tokenizers"
CLASSES = {
    "wordpiece-encode": "WordPiece, bert-base-uncased",
    "gpt2-encode": "byte-level BPE, GPT-2",
    "cl100k-encode": "byte-level BPE, cl100k_base",
    "sentencepiece-bpe-encode": "SentencePiece BPE, 32,000",
    "unigram-encode": "Unigram, 32,768",
}

WIDTH, LEFT, RIGHT, TOP = 760, 24, 150, 70
BAR, GAP, LABEL = 15, 3, 20
GROUP = LABEL + 3 * (BAR + GAP) + 14

STYLE = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
    .title { font-size: 15px; font-weight: 600; }
    .class { font-weight: 600; }
    .note { fill: #59636e; }
    .ours { fill: #1a7f5a; }
    .peer { fill: #7a8794; }
    .baseline { fill: #b4bcc4; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .note { fill: #9198a1; }
      .ours { fill: #3fb984; }
      .peer { fill: #7d8894; }
      .baseline { fill: #4b535c; }
    }
"""


@dataclass(frozen=True)
class Bar:
    """One bar: its kind, the name of its library and its speed in MB/s."""

    kind: str
    name: str
    speed: float


def main() -> None:
    """Write or check the chart."""
    parser = argparse.ArgumentParser(description="Draw the chart of the README.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    svg = chart(read_record(RECORD)["records"])
    if not check:
        CHART.write_text(svg, encoding="utf-8")
    elif CHART.read_text(encoding="utf-8") != svg:
        sys.exit(f"{CHART} differs from the record: run benchmarks/speed_chart.py")


def chart(records: list[dict[str, object]]) -> str:
    """Return the chart as SVG."""
    groups = list(english_classes(cases(records)))
    scale = (WIDTH - LEFT - RIGHT) / max(bar.speed for _, bars in groups for bar in bars)
    height = TOP + GROUP * len(groups) + 4
    body = [line for row, group in enumerate(groups) for line in drawn_group(row, *group, scale)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
            f' width="{WIDTH}" height="{height}" role="img" aria-labelledby="title">',
            f"  <style>{STYLE}  </style>",
            '  <title id="title">Encoding speed of piecework and of other libraries, MB/s</title>',
            f'  <text class="title" x="{LEFT}" y="24">Encoding English text, one thread, MB/s</text>',
            f'  <text class="note" x="{LEFT}" y="45">piecework, the fastest other library with'
            " the same ids, and Hugging Face tokenizers 0.23.3</text>",
            *body,
            "</svg>\n",
        ]
    )


def english_classes(found: list[Case]) -> Iterator[tuple[str, list[Bar]]]:
    """Yield each class with its bars, in the order of the chart."""
    by_definition = {
        case.about["definition"]: case
        for case in found
        if case.about.get("corpus") == CORPUS and "input" not in case.about
    }
    for definition, label in CLASSES.items():
        yield label, list(bars_of(by_definition[definition]))


def bars_of(case: Case) -> Iterator[Bar]:
    """Yield the bars of one class."""
    best = case.best(lambda peer: case.speed(peer, "steady"))
    ours, baseline = case.speed(OURS, "steady"), case.speed(BASELINE, "steady")
    assert best is not None
    assert ours is not None
    assert baseline is not None
    yield Bar("ours", "piecework", ours)
    yield Bar("peer", best[1], best[0])
    yield Bar("baseline", "tokenizers", baseline)


def drawn_group(row: int, label: str, bars: list[Bar], scale: float) -> Iterator[str]:
    """Yield the SVG elements of one class."""
    y = TOP + GROUP * row
    yield f'  <text class="class" x="{LEFT}" y="{y + 12}">{label}</text>'
    for number, bar in enumerate(bars):
        top = y + LABEL + number * (BAR + GAP)
        width = max(1.0, bar.speed * scale)
        yield (
            f'  <rect class="{bar.kind}" x="{LEFT}" y="{top}" width="{width:.1f}"'
            f' height="{BAR}" rx="2"/>'
        )
        yield (
            f'  <text x="{LEFT + width + 6:.1f}" y="{top + 12}">{rounded(bar.speed)}'
            f' <tspan class="note">{bar.name}</tspan></text>'
        )


def rounded(speed: float) -> str:
    """Return a speed with two or three digits."""
    return f"{speed:.1f}" if speed < 10 else f"{speed:.0f}"


if __name__ == "__main__":
    main()
