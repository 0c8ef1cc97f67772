"""What is made of a comparison: tables, a page that needs nothing else, pictures, the command line."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

import piecework as pw
from piecework.analysis import Comparison, compare, html_report, save_plots
from piecework.analysis.charts import bars, log_lines
from piecework.analysis.text_tables import tables

TEXTS = ["hug hugs pug", "pun bun hugs hug zé"]
HOSTILE = '<img src="http://example.org/x">&$a$'

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def found() -> Comparison:
    pieces = pw.Tokenizer.train_from_iterator(TEXTS[:1] * 9, vocab_size=14)
    characters = pw.Tokenizer.train_from_iterator(TEXTS, model="char", vocab_size=40)
    gold = pw.analysis.Gold.of({"hugs": ["hug", "s"]})
    return compare({"pieces": pieces, HOSTILE: characters}, TEXTS, gold=gold)


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str]:
    """Two tokenizers, a corpus and a gold standard, as files."""
    names = ("pieces.json", "characters.json", "corpus.txt", "gold.tsv", "report.html", "plots")
    paths = {name.split(".")[0]: str(tmp_path / name) for name in names}
    pw.Tokenizer.train_from_iterator(TEXTS[:1] * 9, vocab_size=14).save(paths["pieces"])
    pw.Tokenizer.train_from_iterator(TEXTS, model="char", vocab_size=40).save(paths["characters"])
    Path(paths["corpus"]).write_text("\n".join(TEXTS), encoding="utf-8")
    Path(paths["gold"]).write_text("hugs\thug @@s\t100\n")
    return paths


# ---- tables


def test_tables_are_rectangles_with_a_column_for_each_tokenizer(found: Comparison) -> None:
    measures, lengths, frequencies = tables(found)
    for table in (measures, lengths, frequencies):
        assert table.header == ("", "pieces", HOSTILE)
        assert {len(row) for row in table.rows} == {3}
    rows = {row[0]: row[1:] for row in measures.rows}
    assert rows["family"] == ("WordPiece", "character")
    assert rows["vocabulary"] == tuple(str(one.vocab_size) for one in found.measures)
    assert rows["fertility"] == tuple(f"{one.fertility:.4f}" for one in found.measures)
    assert "boundary F1 %" in rows
    assert [row[0] for row in lengths.rows] == [*map(str, range(1, 16)), "16+"]
    assert frequencies.rows[0][0] == "rank 1"


def test_without_gold_there_are_no_boundary_rows() -> None:
    [one] = [compare({"a": pw.Tokenizer(pw.spec.Char({"[UNK]": 0}))}, ["a"])]
    assert not [row for row in tables(one)[0].rows if "boundary" in row[0]]


def test_a_tokenizer_that_gives_nothing_has_tables_and_pages() -> None:
    empty = compare({"a": pw.Tokenizer(pw.spec.BPE({"a": 0}, ()))}, ["b"])
    assert empty.measures[0].tokens == 0
    assert tables(empty)[2].rows == ()
    ElementTree.fromstring(svg_of(html_report(empty))[-1])


# ---- the page


def svg_of(page: str) -> list[str]:
    return re.findall(r"<svg.*?</svg>", page, re.DOTALL)


def test_the_page_refers_to_nothing_outside(found: Comparison) -> None:
    page = html_report(found)
    assert page.startswith("<!DOCTYPE html>")
    tags = re.findall(r"<(\w+)([^>]*)>", page)
    assert not {name for name, _ in tags} & {"script", "link", "img", "iframe", "object", "image"}
    assert not re.findall(r"\b(?:src|href|url|srcset|xlink)\b", " ".join(rest for _, rest in tags))
    assert not re.findall(r"url\(|@import", page)


def test_names_are_text_on_the_page(found: Comparison) -> None:
    page = html_report(found)
    assert "<img" not in page
    assert "&lt;img src=&quot;http://example.org/x&quot;&gt;&amp;$a$" in page


def test_the_charts_are_well_formed(found: Comparison) -> None:
    drawings = svg_of(html_report(found))
    assert len(drawings) == 4
    for drawing in drawings:
        ElementTree.fromstring(drawing)


def test_bars_are_as_high_as_their_values() -> None:
    drawing = ElementTree.fromstring(bars(["x", "y"], {"a": [1.0, 4.0], "b": [0.0, 2.0]}))
    drawn = [bar for bar in drawing.iter("rect") if bar.find("title") is not None]
    heights = [float(bar.get("height", "")) for bar in drawn]
    assert heights == [0.25 * max(heights), max(heights), 0, 0.5 * max(heights)]


def test_lines_fall_evenly_under_a_power_law() -> None:
    drawing = ElementTree.fromstring(log_lines({"a": [(1, 1), (10, 0.1), (100, 0.01)]}))
    [line] = drawing.iter("polyline")
    points = [tuple(map(float, point.split(","))) for point in line.get("points", "").split()]
    assert points[1] == pytest.approx(
        tuple((first + last) / 2 for first, last in zip(points[0], points[2], strict=True))
    )


# ---- pictures


def test_pictures_are_written(found: Comparison, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = save_plots(found, tmp_path / "new" / "plots")
    assert sorted(path.name for path in written) == [
        "boundaries.png",
        "entry_lengths.png",
        "frequencies.png",
        "measures.png",
        "token_lengths.png",
    ]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_pictures_without_the_extra_say_which(
    found: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(pw.errors.MissingExtraError, match=r"piecework\[plot\]"):
        save_plots(found, tmp_path)


def test_a_directory_that_cannot_be_made_is_named(found: Comparison, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    with pytest.raises(pw.errors.FileError, match="file"):
        save_plots(found, tmp_path / "file")


# ---- the command line


def test_compare_prints_plain_columns_to_a_pipe(cli: Run, paths: dict[str, str]) -> None:
    arguments = (paths["pieces"], paths["characters"], "--corpus", paths["corpus"])
    code, out, err = cli("compare", *arguments, "--gold", paths["gold"])
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == ("2 texts, 8 words, 31 characters, 32 bytes; 1 words of the gold standard")
    assert lines[2:5] == [
        "measures",
        "                       pieces.json  characters.json",
        "family                   WordPiece        character",
    ]
    assert out.isascii() or set(re.sub(r"[ -~\n]", "", out)) == {"é"}  # no boxes, no colours


def test_compare_prints_json(cli: Run, paths: dict[str, str]) -> None:
    code, out, _ = cli("compare", paths["pieces"], "--corpus", paths["corpus"], "--json")
    assert code == 0
    expected = pw.analysis.compare_files(
        {"pieces.json": pw.Tokenizer.load(paths["pieces"])}, paths["corpus"]
    )
    assert json.loads(out) == expected.to_dict()


def test_compare_writes_a_page_and_pictures(cli: Run, paths: dict[str, str]) -> None:
    pytest.importorskip("matplotlib")
    outputs = ("--html", paths["report"], "--plot", paths["plots"])
    code, out, _ = cli("compare", paths["pieces"], "--corpus", paths["corpus"], *outputs)
    assert code == 0
    assert "fertility" in out
    assert "<svg" in Path(paths["report"]).read_text(encoding="utf-8")
    assert len(list(Path(paths["plots"]).iterdir())) == 4


def test_files_of_one_name_are_told_apart_by_their_paths(
    cli: Run, paths: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other" / "pieces.json"
    other.parent.mkdir()
    other.write_bytes(Path(paths["pieces"]).read_bytes())
    both = (paths["pieces"], str(other))
    code, out, _ = cli("compare", *both, "--corpus", paths["corpus"], "--json")
    assert code == 0
    assert tuple(one["name"] for one in json.loads(out)["measures"]) == both


def test_compare_draws_on_a_terminal(
    cli: Run, paths: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "piecework.cli.terminal_tables.sys.stdout.isatty", lambda: True, raising=False
    )
    monkeypatch.setitem(os.environ, "COLUMNS", "120")
    code, out, _ = cli("compare", paths["pieces"], "--corpus", paths["corpus"])
    assert code == 0
    assert "━" in out or "─" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{pieces}"], "Missing option '--corpus'"),
        (
            ["{pieces}", "{pieces}", "--corpus", "{corpus}"],
            "more than once, expected distinct tokenizers",
        ),
        (["{pieces}", "--corpus", "{corpus}x"], "corpus.txtx"),
        (["{pieces}", "--corpus", "{corpus}", "--gold", "{corpus}"], "corpus.txt line 1"),
        (
            ["{pieces}", "--corpus", "{corpus}", "--words", "x"],
            "'--words': 'x' is not a known preset",
        ),
        (["{pieces}", "--corpus", "{corpus}", "--json", "--html", "-"], "html: found -"),
        (["{corpus}", "--corpus", "{corpus}"], "corpus.txt"),
    ],
)
def test_wrong_use_is_one_line(
    cli: Run, paths: dict[str, str], arguments: list[str], message: str
) -> None:
    code, out, err = cli("compare", *(argument.format(**paths) for argument in arguments))
    assert (code, out) == (2, "")
    assert err.startswith("piecework: ")
    assert err.count("\n") == 1
    assert message in err


def test_inspect_prints_every_kind_and_json(cli: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    tokens = {token: id for id, token in enumerate(["a", "1", "Ġ", "Ã", "Ġ1", "a\x1b"])}
    pw.Tokenizer(
        pw.spec.BPE(tokens, (("Ġ", "1"),)),
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
        decoder=pw.spec.ByteLevelDecoder(),
    ).save(path)
    code, out, _ = cli("inspect", path)
    assert code == 0
    for line in (
        "family          byte-level BPE",
        "vocabulary      6 tokens, 0 with a continuation prefix",
        "special tokens  none",
        "byte tokens     4  (a 1 Ġ Ã)",
        "invalid UTF-8   1  (Ã)",
        "numeric tokens  2  (1 Ġ1)",
        r"unreachable     1  (a\x1b)",
        "duplicates      0",
        "token lengths   1:5 2:1",
    ):
        assert line in out.splitlines()
    code, out, _ = cli("inspect", path, "--json")
    assert code == 0
    assert json.loads(out) == pw.analysis.inspect(pw.Tokenizer.load(path)).to_dict()


# ---- notebooks


def test_a_notebook_shows_the_tables_with_escaped_names(found: Comparison) -> None:
    html = found._repr_html_()
    assert "<td>fertility</td>" in html
    assert "<img" not in html
    assert "&lt;img" in html
    assert "<p>2 texts, " in html
