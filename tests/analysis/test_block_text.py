"""Blocks as text keep every character, in columns, at any width."""

from __future__ import annotations

import click
import pytest
from rich.cells import cell_len

from piecework.analysis import explain_training, training_example
from piecework.analysis.blocks import Block, Grid, Heading, Paragraph, Tokens
from piecework.analysis.displayed import as_text

WORDS = ["日本語", "😀", "👩\u200d👧", "שלום", "é", "e\u0301", "hug\x1b[31m", "[bold]"]


def test_columns_of_any_script_are_aligned() -> None:
    grid = Grid(("word", "count"), tuple((word, "1") for word in WORDS), numbers=("count",))
    lines = as_text([grid]).splitlines()
    assert {cell_len(line) for line in lines} == {cell_len(lines[0])}
    assert [line.split()[0] for line in lines[1:]] == [
        *("日本語", "😀", "👩\\u200d👧", "שלום", "é", "e\u0301", "hug\\x1b[31m", "[bold]")
    ]


@pytest.mark.parametrize("width", [35, 80, 120, None])
def test_narrow_columns_wrap_and_keep_every_word(width: int | None) -> None:
    tokens = [f"##{at}日本" for at in range(60)]
    rows = (("a b", "1,000", Tokens.of(tokens)), ("x", "2", "y" * 50))
    shown = as_text([Grid(("pair", "count", "symbols"), rows, ("count",))], width)
    assert "".join([*tokens, "x2", "y" * 50]) in "".join(shown.split())
    lines = shown.splitlines()
    assert (len(lines) == 3) == (width is None)
    assert max(map(cell_len, lines)) <= (width or 10_000)


@pytest.mark.parametrize("width", [60, 100, 200, None])
def test_a_table_of_many_tokenizers_continues_below_itself(width: int | None) -> None:
    names = tuple(f"tokenizer-{at}.json" for at in range(9))
    rows = tuple((f"measure {row}", *map(str, range(9))) for row in range(3))
    shown = as_text([Grid(("", *names), rows, names, marked=(1,))], width)
    assert max(map(cell_len, shown.splitlines())) <= min(width or 100, 100)
    cells = [line.split()[-1] for line in shown.splitlines() if "measure 2" in line]
    assert cells[-1] == "8"
    assert shown.count(">  measure 1") == shown.count("measure 1") == len(cells) > 1


def test_marked_rows_titles_and_omitted_rows() -> None:
    grid = Grid(("token",), (("hu",), ("hug",)), marked=(1,), omitted=1_000, title="merges")
    empty = Grid(("token",), (), title="pairs")
    assert as_text([grid, empty]).splitlines() == [
        *(
            "",
            "merges",
            "   token",
            "   hu",
            ">  hug",
            "  ... and 1,000 more",
            "",
            "pairs",
            "  none",
        )
    ]


def test_only_a_terminal_with_colors_gets_escape_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    grid = Grid(("token",), ((Tokens.of(["h", "ug"]),),))
    blocks: list[Block] = [Heading("splits"), Paragraph("a"), grid]
    assert "\x1b" not in as_text(blocks)
    assert "\x1b[30;106mh\x1b[0m \x1b[30;103mug\x1b[0m" in as_text(blocks, colors="256")


@pytest.mark.parametrize("width", [30, 60, 100])
def test_colors_change_nothing_else(width: int) -> None:
    example = training_example("course")
    trace = explain_training(example.counts, example.trainer, steps="all", top=20)
    colored = click.unstyle(as_text(trace.blocks(), width, colors="standard"))
    plain = as_text(trace.blocks(), width)
    assert [line.rstrip() for line in colored.splitlines()] == plain.splitlines()
