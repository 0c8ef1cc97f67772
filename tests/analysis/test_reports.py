"""What is made of a comparison: tables, a page that needs nothing else, pictures, the command line."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from rich.cells import cell_len

import piecework as pw
from piecework.analysis import charts, compare, html_report, save_plots
from piecework.analysis.blocks import Paragraph
from piecework.analysis.comparison import Comparison, tables, word_tables
from piecework.analysis.drawing import Element
from piecework.analysis.readable import percent
from piecework.analysis.report import findings

TEXTS = ["hug hugs pug", "pun bun hugs hug zé"]
HOSTILE = '<img src="http://example.org/x">&$a$'

Run = Callable[..., tuple[int, str, str]]


def pieces() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS[:1] * 9, vocab_size=19)


def characters() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, model="char", vocab_size=40)


@pytest.fixture
def found() -> Comparison:
    gold = pw.analysis.Gold.of({"hugs": ["hug", "s"]})
    return compare({"pieces": pieces(), HOSTILE: characters()}, TEXTS, gold=gold)


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str]:
    """Two tokenizers, a corpus and a gold standard, as files."""
    names = ("pieces.json", "characters.json", "corpus.txt", "gold.tsv", "report.html", "plots")
    paths = {name.split(".")[0]: str(tmp_path / name) for name in names}
    pw.Tokenizer.train_from_iterator(TEXTS[:1] * 9, vocab_size=19).save(paths["pieces"])
    pw.Tokenizer.train_from_iterator(TEXTS, model="char", vocab_size=40).save(paths["characters"])
    Path(paths["corpus"]).write_text("\n".join(TEXTS), encoding="utf-8")
    Path(paths["gold"]).write_text("hugs\thug @@s\t100\n")
    return paths


# ---- tables


def test_tables_are_rectangles_with_a_column_for_each_tokenizer(found: Comparison) -> None:
    measures, _, lengths = tables(found)
    for table in (measures, lengths):
        assert table.header == ("", "pieces", HOSTILE)
        assert {len(row) for row in table.rows} == {3}
    rows = {row[0]: row[1:] for row in measures.rows}
    assert rows["family"] == ("WordPiece", "character")
    assert rows["vocabulary"] == tuple(str(one.vocab_size) for one in found.measures)
    assert rows["fertility"] == tuple(f"{one.fertility:.4f}" for one in found.measures)
    assert "boundary F1 %" in rows
    # Entries have up to 9 characters; no token has 5 or more: "9-12" and "13+" would be rows of zeros.
    assert [row[0] for row in lengths.rows] == ["1", "2", "3", "4", "5-6"]


def test_reports_without_gold_have_no_boundary_rows() -> None:
    [one] = [compare({"a": pw.Tokenizer(pw.spec.Char({"[UNK]": 0}))}, ["a"])]
    assert not [row for row in tables(one)[0].rows if "boundary" in row[0]]


def test_named_sources_and_words_have_tables() -> None:
    sources = {"first": TEXTS[:1], HOSTILE: TEXTS[1:]}
    found = compare({"pieces": pieces(), HOSTILE: characters()}, sources)
    titles = [table.title.partition(":")[0] for table in tables(found)]
    assert titles == [
        "measures",
        "sources",
        "sources as translations",
        "agreement",
        "token lengths",
    ]
    by_source, costs, agreement = tables(found)[1:4]
    assert [row[0] for row in by_source.rows] == ["first", HOSTILE]
    assert by_source.rows[0][1:] == ("1.0000 | 4.000 | 100.0", "4.0000 | 1.000 | 0.0")
    assert [row[0] for row in costs.rows] == ["first", HOSTILE, "parity: most / fewest", "Gini"]
    premium = found.token_costs[1].premiums[1]
    assert [row[2] for row in costs.rows[:2]] == ["1.00", f"{premium:.2f}"]
    assert (agreement.header, len(agreement.rows)) == (("", "pieces"), 1)
    [words] = word_tables(found)
    assert words.header == ("", "pieces", HOSTILE)
    assert words.rows[0] == ("hugs (2)", "hugs", "h|u|g|s")


def test_one_tokenizer_has_no_words_that_are_split_differently() -> None:
    found = compare({"pieces": pieces()}, TEXTS)
    assert word_tables(found) == []
    assert [table.title for table in tables(found)][1].startswith("token lengths")


# ---- the findings


def test_findings_say_what_differs_by_how_much_and_where() -> None:
    texts = {"plain": ["hug pug hug"] * 20, "other": ["hugs pugs"]}
    words = pw.Tokenizer.train_from_iterator([texts["other"][0], "hug pug"], model="word")
    found = list(findings(compare({"words": words, "letters": characters()}, texts)))
    assert found == [
        "words needs the fewest tokens: 62, or 1.000 per word; letters needs 269.4 ±5.7 % more.",
        "No case, accents or characters are lost in the texts.",
        "100.0 % of the words of the text are not split alike by all: 4 of 4 distinct words.",
        "The difference is largest in other: letters needs 350.0 % more tokens than words.",
        "Words that occur less than 10 times are 3.2 % of the text and 4.8 % of the additional tokens "
        "of letters.",
    ]


def test_findings_say_which_source_of_a_parallel_text_is_costly() -> None:
    letters = characters()
    compared = compare(
        {"letters": letters}, {"short": ["hug"], "long": ["hugs pugs"], "mid": ["hugs"]}
    )
    assert list(findings(compared))[-1] == (
        "If the sources are translations, long costs 3.00 times the tokens of short with letters "
        "(Gini 0.250)."
    )
    compared = compare({"letters": letters}, {"short": ["hug"], "long": ["hugs", "pug"]})
    assert "translations" not in " ".join(findings(compared))


@pytest.mark.parametrize(("others", "named"), [(3, 4), (4, 3)])
def test_the_first_sentence_names_up_to_four_tokenizers(others: int, named: int) -> None:
    tokenizers = {
        f"t{at}": pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})) for at in range(others)
    }
    words = pw.Tokenizer.train_from_iterator(["aa aaa"], model="word")
    first, *_ = findings(compare({"words": words, **tokenizers}, ["aa aaa"]))
    assert first.count("need") == named


def test_unknown_words_are_charged_and_losses_are_shown_beside_the_rank() -> None:
    texts = {"plain": ["hug pug hug"] * 20, "other": ["hugs pugs"]}
    words = pw.Tokenizer.train_from_iterator(["hug pug"], model="word")
    compared = compare({"words": words, "letters": characters()}, texts)
    assert [one.name for one in compared.ranks] == ["words", "letters"]
    assert list(findings(compared))[:4] == [
        "words needs the fewest tokens: 68, or 1.097 per word; letters needs 236.8 ±57.8 % more.",
        "Unknown words count one token for each byte: with words, 2 unknown tokens of 8 bytes.",
        "What the texts lose: with words, 8 of 188 characters; with letters, nothing.",
        "100.0 % of the words of the text are not split alike by all: 4 of 4 distinct words.",
    ]
    rows = {name: cells for name, *cells in tables(compared)[0].rows}
    assert rows["tokens"] == ["62", "229"]
    assert rows["charged tokens"] == ["68", "229"]
    assert rows["rank"] == ["1", "2"]
    assert rows["characters lost %"] == ["4.255", "0.000"]
    assert "spaces changed %" not in rows  # 0.0 of both


def test_lost_case_and_accents_are_shown_beside_the_rank() -> None:
    vocab = {"[UNK]": 0, **{letter: at for at, letter in enumerate("hugé HUG", 1)}}
    cased = pw.Tokenizer(pw.spec.Char(vocab), decoder=pw.spec.CharDecoder())
    lower = pw.Tokenizer(
        pw.spec.Char(vocab), normalizer=pw.spec.Lowercase(), decoder=pw.spec.CharDecoder()
    )
    compared = compare({"cased": cased, "lower": lower, "again": cased}, ["Hug hug hugé"])
    assert list(findings(compared))[:3] == [
        "All tokenizers need the same number of tokens: 12.",
        "Fewer than 10 texts give no interval: other texts can change the order.",
        "What the texts lose: with cased and again, nothing; with lower, case in 33.3 % of the words.",
    ]
    rows = {name: cells for name, *cells in tables(compared)[0].rows}
    assert rows["words that lose case %"] == ["0.0", "33.3", "0.0"]
    assert rows["rank"] == ["1-3", "1-3", "1-3"]
    value = compared.to_dict()
    assert value["measures"][1]["round_trip"]["case_words"] == 1
    assert value["ranks"][0] == {
        "name": "cased",
        "charged_tokens": 12,
        "best": 1,
        "worst": 3,
        "more": 0.0,
        "interval": None,
    }


def test_one_unknown_token_of_many_is_not_shown_as_none() -> None:
    letters = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}), decoder=pw.spec.CharDecoder())
    compared = compare({"letters": letters}, ["a" * 240_000, "é"])
    rows = {name: cells for name, *cells in tables(compared)[0].rows}
    assert (rows["unknown tokens"], rows["unknown %"]) == (["1"], ["0.0004"])
    assert rows["characters lost %"] == ["0.0004"]


def test_words_are_grouped_by_the_tokenizers_that_agree() -> None:
    letters, pieces_ = characters(), pieces()
    tokenizers = {"a": letters, "outlier": pieces_, "b": letters, "c": letters}
    [table] = word_tables(compare(tokenizers, TEXTS))
    assert table.header == ("", "outlier", "the others")
    assert table.title == (
        "words that are split differently: 6 distinct words, 100.0 % of the text"
    )
    two = word_tables(compare({"a": letters, "outlier": pieces_, "b": letters}, TEXTS))
    assert two[0].header == ("", "outlier", "a, b")


def test_no_outlier_hides_the_words_on_which_others_differ() -> None:
    def tokenizer(*entries: str) -> pw.Tokenizer:
        vocab = {token: at for at, token in enumerate(("[UNK]", *"hugsp", *entries))}
        return pw.Tokenizer(
            pw.spec.WordPiece(vocab | {f"##{c}": 50 + at for at, c in enumerate("hugsp")}),
            pre_tokenizer=pw.spec.WhitespaceSplit(),
        )

    tokenizers = {
        "outlier": tokenizer(),
        "a": tokenizer("hug", "pug"),
        "b": tokenizer("hug", "pu"),
    }
    found = compare(tokenizers, ["hug " * 1000 + "pug"]).word_differences
    assert [(group.alike, [one.word for one in group.most]) for group in found.groups] == [
        (((0,), (1, 2)), ["hug"]),
        (((0,), (1,), (2,)), ["pug"]),
    ]


def test_a_legend_says_which_direction_is_good(found: Comparison) -> None:
    paragraphs = [block.text for block in found.blocks() if isinstance(block, Paragraph)]
    rank, direction, _ = paragraphs[-3:]
    assert rank.startswith("rank: by charged tokens")
    better, less = direction.split("Better is less: ")
    assert all(name in better for name in ("F95", "mean rank", "single-token words", "Rényi"))
    assert less.startswith("tail")
    assert all(line[:60] in str(found) for line in paragraphs)


def test_the_report_names_equal_tokenizers() -> None:
    found = list(findings(compare({"a": characters(), "b": characters()}, TEXTS)))
    assert found[:4] == [
        "All tokenizers need the same number of tokens: 31.",
        "Fewer than 10 texts give no interval: other texts can change the order.",
        "No case, accents or characters are lost in the texts.",
        "All words are split alike.",
    ]


# ---- the charts


def test_every_chart_has_every_tokenizer(found: Comparison) -> None:
    drawn = {one.name: one.drawing for one in charts(found)}
    assert list(drawn) == [
        "measures",
        "splits",
        "frequency",
        "length",
        "token_lengths",
        "entry_lengths",
    ]
    for drawing in drawn.values():
        named = {tip["tokenizer"] for tip in tips_of(drawing)}
        assert named <= {"pieces", HOSTILE}
        assert HOSTILE in named
    assert {tip["tokenizer"] for tip in tips_of(drawn["splits"])} == {"pieces", HOSTILE}


def test_a_chart_has_the_values_of_the_comparison(found: Comparison) -> None:
    drawn = {one.name: list(tips_of(one.drawing)) for one in charts(found)}
    values = [tip["tokens per word"] for tip in drawn["measures"]]
    assert values == [f"{one.charged_tokens / found.words:.4f}" for one in found.measures]
    words = [int(tip["words"]) for tip in drawn["splits"] if tip["tokenizer"] == "pieces"]
    assert sum(words) == found.word_differences.occurrences
    tokens = sum(band.tokens[1] for band in found.word_differences.by_length)
    lengths = [tip for tip in drawn["length"] if tip["tokenizer"] == HOSTILE]
    found_tokens = [
        float(tip["tokens per word"]) * int(tip["words of the text"]) for tip in lengths
    ]
    assert sum(found_tokens) == pytest.approx(tokens, abs=0.01)


def test_bars_are_as_long_as_their_values(found: Comparison) -> None:
    [drawing] = [one.drawing for one in charts(found) if one.name == "measures"]
    widths = [
        float(one.attributes["width"].rstrip("%"))
        for one in elements_of(drawing)
        if one.name == "rect"
    ]
    values = [one.charged_tokens / found.words for one in found.measures]
    assert widths[0] / widths[1] == pytest.approx(values[0] / values[1], abs=0.001)


def test_sources_are_compared_with_the_fewest_tokens_of_each() -> None:
    texts = {"de": ["hug"], "fr": ["hugs", "pug"]}
    found = compare({"pieces": pieces(), "letters": characters()}, texts)
    [chart] = [one for one in charts(found) if one.name == "sources"]
    rows = {(tip["source"], tip["tokenizer"]): tip for tip in tips_of(chart.drawing)}
    for source in found.sources:
        fewest = min(one.tokens for one in source.measures)
        for one in source.measures:
            more = percent(one.tokens / fewest - 1)
            assert rows[source.name, one.name]["more than the fewest"] == more


@pytest.mark.parametrize("hostile", [HOSTILE, "</svg><script>x=1</script>", "__proto__"])
def test_names_are_text_of_a_picture(hostile: str) -> None:
    found = compare({hostile: pieces(), "letters": characters()}, {hostile: TEXTS, "other": TEXTS})
    for one in charts(found):
        root = ElementTree.fromstring(one.to_svg())
        names = {element.tag.rpartition("}")[2] for element in root.iter()}
        shown = {"svg", "g", "style", "rect", "text", "line", "circle", "title"}
        assert names <= shown, one.name


def elements_of(element: Element) -> Iterator[Element]:
    """Yield an element and all inside of it."""
    yield element
    for child in element.children:
        if not isinstance(child, str):
            yield from elements_of(child)


def tips_of(drawing: Element) -> Iterator[dict[str, str]]:
    """Yield the figures of each mark."""
    for one in elements_of(drawing):
        if one.name == "title":
            [text] = one.children
            yield dict(str(line).split(": ", 1) for line in str(text).splitlines())  # type: ignore[misc]


# ---- the page


def test_a_tokenizer_without_tokens_has_a_page() -> None:
    empty = compare({"a": pw.Tokenizer(pw.spec.BPE({"a": 0}, ()))}, ["b"])
    assert empty.measures[0].tokens == 0
    assert tables(empty)[1].title.startswith("token lengths")
    Document.of(html_report(empty))


class Document(HTMLParser):
    """The elements of a page, its scripts, and its text outside of scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.text = ""

    @classmethod
    def of(cls, page: str) -> Document:
        found = cls()
        found.feed(page)
        found.close()
        return found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and not self.scripts[-1][1]:
            self.scripts[-1] = (self.scripts[-1][0], data)
        elif self.tags and self.tags[-1][0] != "style":
            self.text += data


def test_the_page_refers_to_nothing_outside(found: Comparison) -> None:
    page = html_report(found)
    assert page.startswith("<!DOCTYPE html>")
    document = Document.of(page)
    names = {name for name, _ in document.tags}
    assert not names & {"link", "img", "iframe", "object", "embed", "base", "form"}
    for _, attributes in document.tags:
        assert not attributes.keys() & {"src", "href", "srcset", "action", "style", "onclick"}
    assert not re.findall(r"url\(|@import", page.partition("</style>")[0])


def test_the_policy_allows_the_scripts_and_the_style_of_the_page_only(found: Comparison) -> None:
    page = html_report(found)
    document = Document.of(page)
    [policy] = [
        str(attributes["content"])
        for tag, attributes in document.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    scripts = [text for attributes, text in document.scripts if attributes["type"] == "module"]
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].split() == list(map(checksum, scripts))
    assert rules["style-src"] == checksum(style)
    assert "unsafe" not in policy


def checksum(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@pytest.mark.parametrize(
    "hostile", [HOSTILE, "</script><script>x=1</script>", "<!--<script>", "\u202ea"]
)
def test_names_and_words_are_text_on_the_page(hostile: str) -> None:
    tokenizers = {hostile: characters(), "pieces": pieces()}
    plain = Document.of(html_report(compare({"a": characters(), "pieces": pieces()}, TEXTS)))
    page = html_report(compare(tokenizers, {hostile: [f"hugs {hostile.replace(' ', '')}"] * 20}))
    document = Document.of(page)
    assert [text for _, text in document.scripts] == [text for _, text in plain.scripts]
    assert "img" not in {tag for tag, _ in document.tags}
    shown = hostile.replace("\u202e", r"\u202e")
    assert shown in document.text
    assert f"tokenizer: {shown}" in document.text


def test_a_page_about_few_words_has_numbers_in_place_of_charts(found: Comparison) -> None:
    page = html_report(found)
    assert "Charts are drawn for 20 words or more; this text has 8." in page
    assert "data-chart=" not in page
    assert 'class="legend' not in page
    assert "tokens per word" in page
    long = html_report(compare({"pieces": pieces()}, TEXTS * 3))
    assert 'data-chart="measures"' in long
    assert "Charts are drawn" not in long


def test_only_the_fewest_tokens_have_the_colour_of_the_best(found: Comparison) -> None:
    page = html_report(found)
    assert re.findall(r'<span class="(comparison[ a-z]*)">(\w+)', page) == (
        [("comparison fewest", "fewest"), ("comparison", "121")]
    )


def test_the_page_shows_the_words_with_the_pieces_of_each_tokenizer(found: Comparison) -> None:
    page = html_report(found)
    [word] = [
        part for part in page.split('<li class="panel"><h4>') if part.startswith("<bdi>hugs<")
    ]
    assert "2 times" in word
    assert re.findall(r'<bdi class="chip \w+">(.*?)</bdi>', word)[:5] == "hugs h u g s".split()


def test_a_page_without_the_extra_says_which(
    found: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(pw.errors.MissingExtraError, match="extra 'report' of piecework"):
        html_report(found)


# ---- pictures


def test_pictures_are_written(found: Comparison, tmp_path: Path) -> None:
    written = save_plots(found, tmp_path / "new" / "plots")
    assert [path.name for path in written] == [f"{one.name}.svg" for one in charts(found)]
    for path in written:
        text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert not re.findall(r"var\(|url\(|@import|href", text)


def test_a_directory_that_cannot_be_made_is_named(found: Comparison, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(pw.errors.FileError, match="file"):
        save_plots(found, tmp_path / "file")


# ---- the command line


def test_compare_prints_plain_columns_to_a_pipe(cli: Run, paths: dict[str, str]) -> None:
    arguments = (paths["pieces"], paths["characters"], "--corpus", paths["corpus"])
    code, out, err = cli("compare", *arguments, "--gold", paths["gold"])
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "  2 texts, 8 words, 31 characters, 32 bytes; 1 word of the gold standard"
    assert lines[lines.index("measures") :][:3] == [
        "measures",
        "                         pieces.json  characters.json",
        "  family                   WordPiece        character",
    ]
    assert set(re.sub(r"[ -~\n]", "", out)) == set("é✗")  # no boxes, no colours


def test_compare_prints_json(cli: Run, paths: dict[str, str]) -> None:
    code, out, _ = cli("compare", paths["pieces"], "--corpus", paths["corpus"], "--json")
    assert code == 0
    expected = pw.analysis.compare(
        {"pieces.json": pw.Tokenizer.load(paths["pieces"])},
        pw.corpus.read_corpus(paths["corpus"]),
    )
    assert json.loads(out) == expected.to_dict()


def test_compare_writes_a_page_and_pictures(cli: Run, paths: dict[str, str]) -> None:
    outputs = ("--html", paths["report"], "--plot", paths["plots"])
    Path(paths["corpus"]).write_text("\n".join(TEXTS * 3), encoding="utf-8")
    code, out, _ = cli("compare", paths["pieces"], "--corpus", paths["corpus"], *outputs)
    assert code == 0
    assert "fertility" in out
    assert 'data-chart="measures"' in Path(paths["report"]).read_text(encoding="utf-8")
    assert len(list(Path(paths["plots"]).iterdir())) == 6


def test_several_corpora_are_sources_named_by_the_user_or_by_their_files(
    cli: Run, paths: dict[str, str], tmp_path: Path
) -> None:
    for name in ("a=b.txt", "c.txt"):
        (tmp_path / name).write_text("hug hugs\n")
    named = ("--corpus", f"de={paths['corpus']}", "--corpus", str(tmp_path / "a=b.txt"))
    again = ("--corpus", f"de={tmp_path / 'c.txt'}")
    code, out, _ = cli("compare", paths["pieces"], *named, *again, "--json")
    assert code == 0
    found = json.loads(out)
    assert [(one["name"], one["texts"]) for one in found["sources"]] == [("de", 3), ("a=b.txt", 1)]
    assert found["texts"] == 4
    code, out, _ = cli("compare", paths["pieces"], *named)
    assert "sources: tokens per word | characters per token" in out


def test_one_corpus_without_a_name_has_no_sources(cli: Run, paths: dict[str, str]) -> None:
    code, out, _ = cli("compare", paths["pieces"], "--corpus", paths["corpus"], "--json")
    assert (code, json.loads(out)["sources"]) == (0, [])
    code, out, _ = cli("compare", paths["pieces"], "--corpus", f"all={paths['corpus']}", "--json")
    assert (code, json.loads(out)["sources"][0]["name"]) == (0, "all")


def test_a_page_without_the_extra_is_refused_before_measuring(
    cli: Run, paths: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    missing = ("--corpus", "no-such-file.txt", "--html", paths["report"])
    code, out, err = cli("compare", paths["pieces"], *missing)
    assert (code, out) == (2, "")
    assert "the extra 'report' of piecework: pip install 'jinja2" in err


def test_files_of_one_name_are_distinguished_by_their_paths(
    cli: Run, paths: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other" / "pieces.json"
    other.parent.mkdir()
    other.write_bytes(Path(paths["pieces"]).read_bytes())
    both = (paths["pieces"], str(other))
    code, out, _ = cli("compare", *both, "--corpus", paths["corpus"], "--json")
    assert code == 0
    assert tuple(one["name"] for one in json.loads(out)["measures"]) == both


@pytest.mark.parametrize("columns", [48, 120])
def test_compare_fits_into_a_terminal(
    cli: Run, paths: dict[str, str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr("piecework.cli.outputs.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setitem(os.environ, "COLUMNS", str(columns))
    code, out, _ = cli("compare", paths["pieces"], paths["characters"], "--corpus", paths["corpus"])
    assert code == 0
    lines = click.unstyle(out).splitlines()
    assert max(map(cell_len, lines)) <= columns
    assert lines[-1].split() == ["zé", "(1)", "zé✗", "z|é"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{pieces}"], "Missing option '--corpus'"),
        (
            ["{pieces}", "{pieces}", "--corpus", "{corpus}"],
            "pieces.json is given more than once",
        ),
        (["{pieces}", "--corpus", "{corpus}x"], "corpus.txtx"),
        (["{pieces}", "--corpus", "de={corpus}x"], "corpus.txtx"),
        (["{pieces}", "--corpus", "{corpus}", "--gold", "{corpus}"], "corpus.txt line 1"),
        (
            ["{pieces}", "--corpus", "{corpus}", "--words", "x"],
            "'--words': 'x' is not a known preset",
        ),
        (
            ["{pieces}", "--corpus", "{corpus}", "--json", "--html", "-"],
            "--html, --json: cannot both write to stdout; give --html a file",
        ),
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
        "fused line ends 0",
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
    assert str(found).startswith("  2 texts, 8 words")
    assert "words that are split differently" in str(found)
