"""One text through several tokenizers: equal characters have equal columns, and all tokens are counted."""

from __future__ import annotations

import gzip
import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import piecework as pw
from piecework.analysis import side_by_side
from piecework.errors import ArgumentError
from tests.data import need

ENTRIES = ["[UNK]", "hug", "##s", "a", "##ging", "日", "##本"]
WORDS = pw.Tokenizer(
    pw.spec.WordPiece({token: id for id, token in enumerate(ENTRIES)}),
    normalizer=pw.spec.BertNormalizer(handle_chinese_chars=False),
    pre_tokenizer=pw.spec.BertPreTokenizer(),
)
CHARACTERS = pw.Tokenizer(
    pw.spec.Char({"[UNK]": 0, **{c: id for id, c in enumerate("hugsin ", 1)}})
)
BYTES = pw.Tokenizer(
    pw.spec.BPE({c: id for id, c in enumerate(pw.spec.byte_alphabet.BYTE_OF_CHARACTER)}, ()),
    pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
    decoder=pw.spec.ByteLevelDecoder(),
)
THREE = {"words": WORDS, "characters": CHARACTERS, "bytes": BYTES}


def test_tokens_are_aligned_by_characters() -> None:
    assert side_by_side(THREE, "hugs a日").aligned() == [
        "text           h u g s ␣ a  日",
        "words       3 |h u g|s| |a  日✗ |",
        "characters  7 |h|u|g|s|␣|a✗|日✗ |",
        "bytes       9 |h|u|g|s|␣|a |日x3|",
    ]


def test_counts_equal_those_of_encoding() -> None:
    found = side_by_side(THREE, "hugs hugging a")
    for side in found.sides:
        encoding = THREE[side.name].encode("hugs hugging a", add_special_tokens=False)
        assert [token.id for token in side.tokens] == encoding.ids
        assert [token.span for token in side.tokens] == encoding.offsets
        assert side.vocab_size == THREE[side.name].get_vocab_size()
        assert side.unknown == encoding.tokens.count("[UNK]")
    words, characters, bytes_ = found.sides
    assert (words.own_spans, characters.own_spans, bytes_.own_spans) == (3, 0, 0)


@settings(max_examples=100)
@given(st.text("hugs in日é", min_size=1, max_size=40), st.integers(40, 120))
def test_the_lines_fit_and_cover_the_text(text: str, width: int) -> None:
    found = side_by_side(THREE, text)
    lines = found.aligned(width)
    assert max(map(cell_len, lines)) <= max(width, 60)
    text_lines = [line for line in lines if line.startswith("text")]
    shown = "".join("".join(line[4:].split()) for line in text_lines)
    assert shown == text.replace(" ", "␣")


def test_long_texts_break_where_all_have_a_boundary() -> None:
    lines = side_by_side(THREE, "hugs " * 30).aligned(60)
    texts = [line for line in lines if line.startswith("text")]
    assert len(texts) > 3
    rows = [line for line in lines if line and line not in texts]
    assert all(line.endswith("|") for line in rows)


def test_published_sentence_as_two_models_see_it() -> None:
    gpt2 = pw.Tokenizer.from_str(
        gzip.decompress(need("vocab/gpt2/tokenizer.json.gz").read_bytes()).decode()
    )
    bert = pw.Tokenizer.load(need("vocab/bert-base-uncased/vocab.txt"))
    found = side_by_side({"bert": bert, "gpt2": gpt2}, "I have a new GPU!")
    assert [len(side.tokens) for side in found.sides] == [7, 6]
    assert [token.token for token in found.sides[0].tokens] == "i have a new gp ##u !".split()
    assert found.aligned()[1:] == [
        "bert  7 |I| |have| |a| |new| |GP|U|!|",
        "gpt2  6 |I|␣ have|␣ a|␣ new|␣ GP U|!|",
    ]


def test_an_empty_text_has_no_lines() -> None:
    found = side_by_side(THREE, "")
    assert found.aligned() == []
    assert "tokenizer" in str(found)


@pytest.mark.parametrize(
    ("tokenizers", "problem"),
    [
        ({}, "must have at least one tokenizer"),
        ([WORDS], "must be a mapping of names to tokenizers, not list"),
    ],
)
def test_tokenizers_must_have_names(tokenizers: object, problem: str) -> None:
    with pytest.raises(ArgumentError, match=f"tokenizers: {problem}"):
        side_by_side(tokenizers, "hug")  # type: ignore[arg-type]


# ---- HTML


class Cells(HTMLParser):
    """Collects the tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


def test_html_has_the_lines_of_the_text() -> None:
    found = side_by_side(THREE, "hugs hugging 日 a " * 9)
    [drawn] = re.findall(r'<pre class="aligned">(.*?)</pre>', found._repr_html_(), re.DOTALL)
    plain = unescape(re.sub("<[^>]*>", "", drawn))
    assert [line.rstrip() for line in plain.splitlines()] == found.aligned()


def test_hostile_text_and_names_are_escaped() -> None:
    name = "<script>alert(1)</script>"
    text = '<img src=x onerror="alert(1)"> </style> \x1b[31m &lt;'
    vocab = {token: id for id, token in enumerate(["[UNK]", "<", "img", "</style>", '"'])}
    found = side_by_side({name: pw.Tokenizer(pw.spec.WordLevel(vocab)), "b": BYTES}, text)
    html = found._repr_html_()
    cells = Cells()
    cells.feed(html)
    assert not {"script", "img"} & set(cells.tags)
    assert html.count("</style>") == 1
    assert "\x1b" not in html + str(found)
    assert json.loads(json.dumps(found.to_dict()))["text"] == text


# ---- the command


def test_the_command_aligns_files(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    from piecework.cli.app import run

    folder = tmp_path_factory.mktemp("side")
    paths = [str(folder / f"{name}.json") for name in ("words", "bytes")]
    for path, tok in zip(paths, (WORDS, BYTES), strict=True):
        tok.save(path)

    def cli(*arguments: str) -> str:
        assert run(["explain", *paths, "hugs é", *arguments]) == 0
        return capsys.readouterr().out

    assert "words.json  3 |h u g|s| |é✗ |\nbytes.json  7 |h|u|g|s|␣|éx2|\n" in cli()
    assert json.loads(cli("--json"))["sides"][1]["name"] == "bytes.json"
    page = folder / "page.html"
    cli("--html", str(page))
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert run(["explain", paths[0], paths[0], "hug"]) == 2
    assert "more than once" in capsys.readouterr().err
