"""Print what the language model says of each vocabulary, and draw it: from the record of `language_model.py`.

    python benchmarks/language_model_report.py          # write the page and the chart
    python benchmarks/language_model_report.py --check  # exit code 1 when they differ from the record
    python benchmarks/language_model_report.py --print --record FILE

The tables are written between two comments of `docs/explanation/language-model.md`. Differences are paired:
of runs with the same seed, that is the same first weights and the same documents. Needs Altair and
vl-convert.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import correlation, mean, stdev
from typing import Any, NamedTuple

import altair as alt

from judging.matrix import (
    RECORD,
    planned,
    read_definition,
    read_record,
    recipe_checksum,
    run_of,
)
from speed_chart import COLORS, in_both_themes, texts

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "language-model.md"
CHART = ROOT / "docs" / "images" / "language-model.svg"
START, END = "<!-- figures of the record -->\n", "<!-- end of the figures -->\n"
NONE = "\nNo run is recorded yet: there are no figures, and nothing follows for the choice of a learner.\n\n"
BASELINE = "pruning"  # the default of WordPiece
SPREADS = 2  # a difference counts if it is larger than this many spreads
SEEDS = 3  # and of so many seeds

Records = Sequence[Mapping[str, Any]]


class Setting(NamedTuple):
    """What runs have together whose bits can be compared."""

    language: str
    size: int
    budget: str

    def __str__(self) -> str:
        budget = {"text": "equal text", "compute": "equal compute"}[self.budget]
        return f"{self.language.capitalize()}, {self.size:,} entries, {budget}"


class Difference(NamedTuple):
    """Paired differences of two learners: their mean, their spread if there are several, and their number."""

    mean: float
    spread: float | None
    seeds: int

    @property
    def counts(self) -> bool:
        """Whether there are enough seeds, and the mean is larger than `SPREADS` spreads."""
        return (
            self.spread is not None
            and self.seeds >= SEEDS
            and abs(self.mean) > SPREADS * self.spread
        )

    def __str__(self) -> str:
        spread = "" if self.spread is None else f" ± {self.spread:.4f}"
        return f"{self.mean:+.4f}{spread}"


Bits = dict[Setting, dict[str, dict[int, float]]]


def main() -> None:
    """Write, check or print the tables and the chart."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", type=Path, default=RECORD)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="write nothing, compare")
    action.add_argument("--print", action="store_true", help="write nothing, print the tables")
    options = parser.parse_args()
    records = current(read_record(options.record))
    if options.print:
        print(figures(records))
        return
    page = PAGE.read_text(encoding="utf-8")
    written = with_figures(page, figures(records))
    drawn_records = of_learners(records)
    svg = in_both_themes(chart(drawn_records)) if drawn_records else None
    if options.check:
        drawn = CHART.read_text(encoding="utf-8") if CHART.exists() else None
        if page != written or (svg and texts(svg)) != (drawn and texts(drawn)):
            sys.exit(f"{PAGE} or {CHART} differs from the record: run {Path(__file__).name}")
        return
    PAGE.write_text(written, encoding="utf-8")
    if svg:
        CHART.write_text(svg, encoding="utf-8")


def current(records: Records) -> Records:
    """Return the records with the newest recipe and texts, in the order of the definition."""
    definition = read_definition()
    recipe = recipe_checksum(definition)
    chosen = [record for record in records if record["recipe"] == recipe]
    newest = {record["language"]: record["text"] for record in chosen}
    found = {run_of(r): r for r in chosen if r["text"] == newest[r["language"]]}
    return [found[run] for run in planned(definition) if run in found]


def with_figures(page: str, tables: str) -> str:
    """Return the page with other tables."""
    head, _, rest = page.partition(START)
    return head + START + tables + END + rest.partition(END)[2]


# ---- figures

OWN_TABLES = {
    "superwords": (
        "Entries that cross spaces",
        "Byte-level BPE over lines: `o200k` learns within words, `o200k-superwords` a quarter of its\n"
        "entries across them. They are not compared with the learners of words.",
    ),
    "boundaries": (
        "Entries that keep morphemes",
        "Learners that end in `-boundaries` have a lexicon of morphemes, whose boundaries no entry\n"
        "crosses.",
    ),
}
"""The title and the introduction of the tables of each matrix of its own."""


def figures(records: Records) -> str:
    """Return all tables as Markdown."""
    if not records:
        return NONE
    of_words, parts = of_learners(records), []
    if of_words:
        found, n_grams = bits_of(of_words, "bits_per_byte"), bits_of(of_words, "kneser_ney")
        parts = [
            f"![Bits per byte of each learner against {BASELINE}](../images/language-model.svg)",
            *map("\n".join, setting_tables(found, of_words, BASELINE)),
            "\n".join(verdicts(found, read_definition()["main_learners"])),
            agreement(found, n_grams),
        ]
    for name, (title, about) in OWN_TABLES.items():
        names = read_definition()[name]["learners"]
        own = [record for record in records if record["learner"] in names]
        own = [one for one in own if one["size"] in read_definition()[name]["sizes"]]
        found = bits_of(own, "bits_per_byte")
        if len({record["learner"] for record in own} - set(read_definition()["learners"])):
            parts += [
                f"### {title}",
                about,
                *map("\n".join, setting_tables(found, own, names[0])),
                "\n".join(verdicts(found, names)),
            ]
    return "\n" + "\n\n".join(parts) + "\n\n"


def of_learners(records: Records) -> Records:
    """Return the records of learners of words."""
    return [record for record in records if record["learner"] in read_definition()["learners"]]


def bits_of(records: Records, measure: str) -> Bits:
    """Return the bits per byte of each setting, learner and seed."""
    found: Bits = defaultdict(lambda: defaultdict(dict))
    for record in records:
        setting = Setting(record["language"], record["size"], record["budget"])
        found[setting][record["learner"]][record["seed"]] = record[measure]
    return found


def setting_tables(found: Bits, records: Records, baseline: str) -> Iterator[list[str]]:
    """Yield a table for each setting: learners by their level, and their difference from the baseline."""
    bytes_of_id = {
        (Setting(record["language"], record["size"], record["budget"]), record["learner"]): record[
            "held_out_bytes"
        ]
        / record["held_out_ids"]
        for record in records
    }
    for setting, learners in found.items():
        yield [
            f"**{setting}**",
            "",
            f"| learner | bits per byte | seeds | from {baseline} | bytes per id |",
            "|---|---|---|---|---|",
            *(
                f"| {learner} | {spelled(list(seeds.values()))} | {len(seeds)} "
                f"| {difference(learners, learner, baseline) or '-'} "
                f"| {bytes_of_id[setting, learner]:.3f} |"
                for learner, seeds in sorted(
                    learners.items(), key=lambda item: level(learners, item[0], baseline)
                )
            ),
        ]


def spelled(values: Sequence[float]) -> str:
    """Return the mean of values, and their standard deviation if there are several.

    >>> spelled([2.0, 2.25, 2.5]), spelled([2.5])
    ('2.2500 ± 0.2500', '2.5000')
    """
    spread = f" ± {stdev(values):.4f}" if len(values) > 1 else ""
    return f"{mean(values):.4f}{spread}"


def difference(
    learners: Mapping[str, Mapping[int, float]], one: str, other: str
) -> Difference | None:
    """Return the paired differences of two learners; None without a seed that both have.

    >>> two = {"a": {1: 2.0, 2: 2.5}, "b": {1: 2.25, 2: 2.25, 3: 2.0}}
    >>> print(difference(two, "a", "b"), difference(two, "a", "c"))
    +0.0000 ± 0.3536 None
    """
    if one == other:
        return None
    first, second = learners.get(one, {}), learners.get(other, {})
    paired = [first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())]
    if not paired:
        return None
    return Difference(mean(paired), stdev(paired) if len(paired) > 1 else None, len(paired))


def level(learners: Mapping[str, Mapping[int, float]], name: str, baseline: str) -> float:
    """Return the bits of a learner as if it had the seeds of the baseline: its mean plus their difference.

    Some seeds are harder than others, so that means over other seeds do not rank learners.

    >>> level({"a": {1: 2.0, 2: 3.0}, "b": {1: 2.25}}, "b", "a")
    2.75
    """
    paired = difference(learners, name, baseline)
    if paired is None:
        return mean(learners[name].values())
    return mean(learners[baseline].values()) + paired.mean


def verdicts(found: Bits, names: Sequence[str]) -> list[str]:
    """Return a table of the pairs of learners that have several seeds: a row for each setting."""
    pairs = {
        (one, other): [difference(learners, one, other) for learners in found.values()]
        for one, other in combinations(names, 2)
    }
    pairs = {
        pair: each for pair, each in pairs.items() if any(d and d.seeds >= SEEDS for d in each)
    }
    if not pairs:
        return [f"No pair of learners has {SEEDS} seeds yet: nothing is decided."]
    rows = [
        f"Pairs with {SEEDS} seeds. One is better if it is in all settings, by more than {SPREADS} spreads.",
        "",
        "| setting | " + " | ".join(f"{one} - {other}" for one, other in pairs) + " |",
        "|---|" + "---|" * len(pairs),
    ]
    for setting, cells in zip(found, zip(*pairs.values(), strict=True), strict=True):
        rows.append(f"| {setting} | " + " | ".join(str(each or "-") for each in cells) + " |")
    better = (decided(one, other, each) for (one, other), each in pairs.items())
    return [*rows, "| better in all | " + " | ".join(better) + " |"]


def decided(one: str, other: str, differences: Sequence[Difference | None]) -> str:
    """Return the learner that is better in all settings, or neither.

    >>> decided("a", "b", [Difference(-0.02, 0.001, 3), Difference(-0.01, 0.001, 3)])
    'a'
    >>> decided("a", "b", [Difference(-0.02, 0.001, 3), Difference(-0.01, 0.02, 3), None])
    'neither'
    """
    known = [each for each in differences if each is not None and each.counts]
    if len(known) < len(differences) or len({each.mean > 0 for each in known}) != 1:
        return "neither"
    return other if known[0].mean > 0 else one


def agreement(found: Bits, n_grams: Bits) -> str:
    """Return how alike the transformer and the n-gram model rank the learners of each setting."""
    rows = ["| setting | learners | rank correlation with the n-gram model |", "|---|---|---|"]
    for setting, learners in found.items():
        names = sorted(learners)
        if len(names) > 2:
            ranked = [
                [level(bits[setting], name, BASELINE) for name in names]
                for bits in (found, n_grams)
            ]
            value = correlation(*map(ranks, ranked))
            rows.append(f"| {setting} | {len(names)} | {value:+.2f} |")
    return "\n".join(rows) if len(rows) > 2 else "Too few learners to compare rankings."


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value.

    >>> ranks([2.5, 1.5, 2.0])
    [2.0, 0.0, 1.0]
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    return [float(order.index(index)) for index in range(len(values))]


# ---- chart


def chart(records: Records) -> alt.FacetChart:
    """Return the chart: a point for each seed, by language and size."""
    found = bits_of(records, "bits_per_byte")
    points = alt.Chart(alt.Data(values=list(chart_points(found))))
    budgets = ["equal text", "equal compute"]
    color = alt.Color("budget:N", title=None, legend=alt.Legend(orient="top")).scale(
        domain=budgets, range=[COLORS["ours"], COLORS["peer"]]
    )
    x = alt.X("difference:Q", title=f"bits per byte, from {BASELINE} (less is better)")
    y = alt.Y("learner:N", title=None, sort=read_definition()["learners"])
    return (
        alt.layer(
            alt.Chart().mark_rule(color=COLORS["baseline"]).encode(x=alt.datum(0)),
            points.mark_point(filled=True, size=60, opacity=0.8).encode(
                x=x, y=y, color=color, yOffset=alt.YOffset("budget:N", sort=budgets)
            ),
            data=points.data,
            width=270,
            height=alt.Step(11),
        )
        .facet(
            row=alt.Row("size:N", title=None, sort="ascending"),
            column=alt.Column("language:N", title=None),
            spacing=16,
        )
        .properties(background="transparent", padding=12)
        .configure(font="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif")
        .configure_axis(labelColor=COLORS["text"], titleColor=COLORS["text"], gridOpacity=0.25)
        .configure_header(labelColor=COLORS["text"], labelFontSize=13)
        .configure_legend(labelColor=COLORS["text"])
        .configure_view(stroke=None)
    )


def chart_points(found: Bits) -> Iterator[dict[str, object]]:
    """Yield the paired differences from the baseline."""
    for setting, learners in found.items():
        baseline = learners.get(BASELINE, {})
        for learner, seeds in learners.items():
            for seed, value in seeds.items():
                if seed in baseline:
                    yield {
                        "language": setting.language.capitalize(),
                        "size": f"{setting.size:,} entries",
                        "budget": str(setting).rpartition(", ")[2],
                        "learner": learner,
                        "difference": value - baseline[seed],
                    }


if __name__ == "__main__":
    main()
