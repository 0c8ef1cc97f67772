"""Draw the chart of the README from a recorded run: MB/s of each class, steady, English, one thread.

    python benchmarks/speed_chart.py          # write docs/images/speed.svg
    python benchmarks/speed_chart.py --check  # exit code 1 when the file differs

Each class has a bar for piecework, for the fastest other library with the same ids, for the release
candidate of `tokenizers` 1.0, and for the last release of `tokenizers`. Needs Altair and vl-convert. The
check compares the texts in the file, because other versions of these draw differently.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from cases import OURS
from figures import Case, cases
from records import read_record

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "benchmarks" / "record" / "2026-11-22-table.json"
CHART = ROOT / "docs" / "images" / "speed.svg"
CORPUS = "english"
# Kind of bar -> the engine of the record and the name that readers know.
TOKENIZERS = {
    "candidate": ("tokenizers_rc", "tokenizers 1.0.0-rc.3"),
    "baseline": ("tokenizers", "tokenizers 0.23.3"),
}
CLASSES = {
    "wordpiece-encode": "WordPiece, bert-base-uncased",
    "gpt2-encode": "byte-level BPE, GPT-2",
    "cl100k-encode": "byte-level BPE, cl100k_base",
    "sentencepiece-bpe-encode": "SentencePiece BPE, 32,000",
    "unigram-encode": "Unigram, 32,768",
}

TITLE = "Encoding English text, one thread, MB/s"
SUBTITLE = [
    "piecework, the fastest other library with the same ids,",
    "tokenizers 1.0.0-rc.3 and tokenizers 0.23.3",
]
# Narrow enough that a phone shows the labels at a readable size. The longest label needs the rest.
WIDTH, BAR, LONGEST_BAR = 430, 18, 330
# The color of each kind of bar and of text, on a light and on a dark page.
COLORS = {
    "ours": "#1a7f5a",
    "peer": "#7a8794",
    "candidate": "#97a2ac",
    "baseline": "#b4bcc4",
    "text": "#1f2328",
}
DARK = {
    "ours": "#3fb984",
    "peer": "#7d8894",
    "candidate": "#646e78",
    "baseline": "#4b535c",
    "text": "#f0f6fc",
}


def main() -> None:
    """Write or check the chart."""
    parser = argparse.ArgumentParser(description="Draw the chart of the README.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    svg = in_both_themes(chart(read_record(RECORD)["records"]))
    if not check:
        CHART.write_text(svg, encoding="utf-8")
    elif texts(CHART.read_text(encoding="utf-8")) != texts(svg):
        sys.exit(f"{CHART} differs from the record: run benchmarks/speed_chart.py")


def chart(records: list[dict[str, object]]) -> alt.FacetChart:
    """Return the chart: a group of bars for each class."""
    values = list(bars(cases(records)))
    fastest = max(bar["speed"] for bar in values)
    x = alt.X("speed:Q", axis=None).scale(domain=[0, fastest * WIDTH / LONGEST_BAR], nice=False)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=x, y=alt.Y("kind:N", axis=None, sort=list(COLORS))
    )
    color = alt.Color("kind:N", legend=None).scale(domain=list(COLORS), range=list(COLORS.values()))
    labels = base.mark_text(align="left", dx=6, fontSize=13, color=COLORS["text"])
    return (
        alt.layer(
            base.mark_bar(height=BAR - 3).encode(color=color),
            labels.encode(text="label:N"),
            width=WIDTH,
            height=alt.Step(BAR),
        )
        .facet(row=alt.Row("class:N", title=None, sort=list(CLASSES.values())), spacing=14)
        .properties(
            background="transparent",
            padding={"left": 12, "right": 12, "top": 12, "bottom": 4},
            title=alt.Title(TITLE, subtitle=SUBTITLE, anchor="start", offset=12),
        )
        .configure(font="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif")
        .configure_title(
            color=COLORS["text"], subtitleColor=COLORS["text"], fontSize=15, subtitleFontSize=13
        )
        .configure_header(
            labelOrient="top",
            labelAnchor="start",
            labelColor=COLORS["text"],
            labelFontSize=13,
            labelFontWeight=600,
            labelPadding=2,
        )
        .configure_view(stroke=None)
    )


def bars(found: list[Case]) -> Iterator[dict[str, Any]]:
    """Yield the bars, class by class: `class`, `kind`, `speed` in MB/s and `label`."""
    by_definition = {
        case.about["definition"]: case
        for case in found
        if case.about.get("corpus") == CORPUS and "input" not in case.about
    }
    for definition, label in CLASSES.items():
        for kind, name, speed in bars_of(by_definition[definition]):
            text = f"{rounded(speed)} {name}"
            yield {"class": label, "kind": kind, "speed": speed, "label": text}


def bars_of(case: Case) -> Iterator[tuple[str, str, float]]:
    """Yield the kind, the library and the speed of each bar of one class."""
    best = case.best(lambda engine: case.speed(engine, "steady"))
    assert best is not None
    yield "ours", "piecework", speed_of(case, OURS)
    yield "peer", best[1], best[0]
    for kind, (engine, name) in TOKENIZERS.items():
        yield kind, name, speed_of(case, engine)


def speed_of(case: Case, engine: str) -> float:
    """Return the recorded speed of an engine with warm caches."""
    speed = case.speed(engine, "steady")
    assert speed is not None, engine
    return speed


def rounded(speed: float) -> str:
    """Return a speed with two or three digits."""
    return f"{speed:.1f}" if speed < 10 else f"{speed:.0f}"


def in_both_themes(chart: alt.FacetChart) -> str:
    """Return a chart as SVG whose colors follow the reader's color scheme."""
    svg = vl_convert.vegalite_to_svg(chart.to_json())
    rules = "".join(f'[fill="{COLORS[kind]}"]{{fill:{DARK[kind]}}}' for kind in COLORS)
    style = f"<style>@media (prefers-color-scheme: dark) {{{rules}}}</style>"
    return re.sub(r"(<svg[^>]*>)", rf"\1{style}", svg, count=1) + "\n"


def texts(svg: str) -> list[str]:
    """Return what an SVG says, in order."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


if __name__ == "__main__":
    main()
