"""`Encoding` is one compiled class: its documentation, slices, HTML and the fields made from known ids."""

from __future__ import annotations

import ast
import copy
import doctest
import inspect
import pickle
import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import ArgumentError, InputTypeError
from tests.tokenizer.test_batch_spans import KINDS, texts

COLUMNS = (
    *("ids", "tokens", "offsets", "word_ids", "sequence_ids", "type_ids"),
    *("special_tokens_mask", "attention_mask", "overflowing"),
)
STUB = Path(pw.__file__).parent / "_internal" / "_core.pyi"


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    return KINDS["bert"]()


def full_encoding(tok: pw.Tokenizer, text: str, add_special_tokens: bool) -> pw.Encoding:
    """Encode with every field in one pass."""
    return tok._core.encode(
        text,
        None,
        add_special_tokens=add_special_tokens,
        is_pretokenized=False,
        parse_special=None,
        sampling=None,
    )


# ---- fields from known ids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("add_special_tokens", [True, False])
def test_fields_made_from_known_ids_equal_those_of_one_pass(
    kind: str, add_special_tokens: bool
) -> None:
    tok = KINDS[kind]()
    for text in [*texts(31), *texts(32, 300), "<unk> [UNK] <0x41> ▁ ##s", "q" * 300]:
        encoding = tok.encode(text, add_special_tokens=add_special_tokens)
        expected = full_encoding(tok, text, add_special_tokens)
        for column in COLUMNS:
            assert getattr(encoding, column) == getattr(expected, column), (text, column)


def test_changed_ids_do_not_change_the_other_fields(tok: pw.Tokenizer) -> None:
    expected = tok.encode("hug hugs pug").tokens
    encoding = tok.encode("hug hugs pug")
    encoding.ids[1:3] = [7, 7, 7]
    assert encoding.tokens == expected
    encoding = tok.encode("hug hugs pug")
    encoding.ids[0] = "no id"  # type: ignore[call-overload]
    assert encoding.tokens == expected


def test_each_list_is_made_once(tok: pw.Tokenizer) -> None:
    encodings = (
        tok.encode("hug hugs"),
        tok.encode("hug", "pug"),
        tok.encode_batch(["hug"], offsets=True, overflow=True)[0],
        copy.copy(tok.encode("hug")),
    )
    for encoding in encodings:
        for column in COLUMNS:
            assert getattr(encoding, column) is getattr(encoding, column)


# ---- slices


def test_a_slice_has_the_columns_of_its_tokens(tok: pw.Tokenizer) -> None:
    encoding = tok.encode("hug hugs é🤗 pug", "pug hug")
    for cut in (slice(1, 3), slice(None), slice(-2, None), slice(None, None, 2), slice(5, 5)):
        part = encoding[cut]
        assert isinstance(part, pw.Encoding)
        for column in COLUMNS[:-1]:
            assert getattr(part, column) == getattr(encoding, column)[cut]
        for column in ("byte_offsets", "utf16_offsets", "pieces"):
            assert getattr(part, column) == getattr(encoding, column)[cut]
        assert pickle.loads(pickle.dumps(part)).pieces == part.pieces
        assert (part.texts, part.n_sequences, part.overflowing) == (encoding.texts, 2, [])
        assert pickle.loads(pickle.dumps(part)) == part
    assert encoding[:] == encoding
    assert encoding[1:2].char_to_token(0) == 0


def test_pieces_show_the_normalized_text_of_unknown_tokens(tok: pw.Tokenizer) -> None:
    encoding = tok.encode("hugs 日É🤗 x", "é hug 漢")
    unknown = [at for at, id in enumerate(encoding.ids) if id == tok.unk_token_id]
    assert unknown
    for at, (piece, token) in enumerate(zip(encoding.pieces, encoding.tokens, strict=True)):
        if at not in unknown:
            assert piece == token
            continue
        start, end = encoding.offsets[at]
        text = encoding.texts[encoding.sequence_ids[at]]
        assert piece == tok.normalize(text[start:end]).strip()
    words = tok.encode(["hug", "日", "hugs", "漢É"], is_pretokenized=True)
    shown = [piece for piece, word in zip(words.pieces, words.word_ids, strict=True) if word == 1]
    assert shown == ["日"]
    assert tok.encode("hug[UNK]").pieces == tok.encode("hug[UNK]").tokens
    with pytest.raises(ArgumentError, match=r"encode\(text\)\.pieces"):
        _ = tok.encode_batch(["日"])[0].pieces


@pytest.mark.parametrize("text", ["\ufdfa", "a \ufdfa b", "\ufdfa\ufdfa \ufdfa"])
def test_unknown_pieces_of_one_character_are_shown_in_order(text: str) -> None:
    tok = pw.Tokenizer(
        pw.spec.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"),
        normalizer=pw.spec.NFKC(),
        pre_tokenizer=pw.spec.WhitespaceSplit(),
        added_tokens=[pw.spec.AddedToken("<b>", 2)],
    )
    whole = tok.encode(text).pieces
    assert whole == unicodedata.normalize("NFKC", text).split()
    for kept in range(1, len(whole)):
        right = tok.with_truncation(kept).encode(text)
        left = tok.with_truncation(kept, side="left").encode(text)
        assert (right.pieces, left.pieces) == (whole[:kept], whole[-kept:])
    # Beside an added token, the characters are shown for each.
    assert tok.encode("<b>\ufdfa").pieces == ["<b>", *4 * ["\ufdfa"]]


def test_a_slice_of_a_row_has_the_columns_of_its_batch(tok: pw.Tokenizer) -> None:
    part = tok.encode_batch(["hug hugs"])[0][1:3]
    assert len(part.tokens) == 2
    with pytest.raises(ArgumentError, match="offsets: must be True"):
        _ = part.offsets


def test_an_index_says_what_to_read(tok: pw.Tokenizer) -> None:
    encoding = tok.encode("hug")
    for index in (0, -1, "tokens", None):
        with pytest.raises(InputTypeError, match=r"index.*encoding\.tokens"):
            encoding[index]  # type: ignore[index]
    with pytest.raises(TypeError):
        iter(encoding)  # type: ignore[call-overload]


# ---- HTML


def shown_text(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize("kind", ["gpt2", "cl100k", "bert-cased", "bpe", "unigram"])
def test_html_shows_the_whole_text_once(kind: str) -> None:
    tok = KINDS[kind]()
    for text in ['hugs <b>&amp; "pug"</b>  don\'t', "a 🤗é \n\n x ", "", "   "]:
        encoding = tok.encode(text, add_special_tokens=False)
        if (0, 0) not in encoding.offsets:
            assert shown_text(encoding._repr_html_()) == text


def test_html_escapes_text_and_tokens() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "<": 1, '"': 2, "&": 3}))
    for html in (tok.encode('<"&')._repr_html_(), tok.encode_batch(['<"&'])[0]._repr_html_()):
        assert 'title="1 &lt;">&lt;</span>' in html
        assert 'title="2 &quot;">&quot;</span>' in html
        assert 'title="3 &amp;">&amp;</span>' in html


def test_html_shows_special_tokens_pairs_and_words(tok: pw.Tokenizer) -> None:
    html = tok.encode("hug hugs", "pug")._repr_html_()
    assert shown_text(html) == "[CLS]hug hugs[SEP]pug[SEP]"
    words = tok.encode(["hug", "🤗", "hugs"], is_pretokenized=True)._repr_html_()
    assert shown_text(words) == "[CLS]hug🤗hugs[SEP]"
    padded = tok.with_padding(5).encode("hug")._repr_html_()
    assert shown_text(padded) == "[CLS]hug[SEP][PAD][PAD]"
    backgrounds = re.findall(r"background:([^;\"]+)", html)
    assert backgrounds[0] != backgrounds[1]


def test_html_shows_the_rest_of_a_text_before_its_pair() -> None:
    tok = pw.Tokenizer(
        pw.spec.WordPiece({"[UNK]": 0, "hug": 1}), pre_tokenizer=pw.spec.Whitespace()
    )
    assert shown_text(tok.encode("hug  ", "hug")._repr_html_()) == "hug  hug"


def test_html_is_bounded(tok: pw.Tokenizer) -> None:
    html = tok.encode("hug " * 100_000)._repr_html_()
    assert len(html) < 1_000_000
    assert "more tokens" in html
    batch = tok.encode_batch(["hug"] * 1000)._repr_html_()
    assert len(batch) < 50_000
    assert "more rows" in batch


# ---- documentation


def members() -> Iterator[tuple[str, object]]:
    yield "Encoding", pw.Encoding
    for name, member in sorted(vars(pw.Encoding).items()):
        if not name.startswith("__"):
            yield name, member


@pytest.mark.parametrize(
    ("name", "member"), [pytest.param(*each, id=each[0]) for each in members()]
)
def test_examples_in_its_documentation_run(name: str, member: object) -> None:
    doc = inspect.getdoc(member)
    assert doc
    test = doctest.DocTestParser().get_doctest(doc, {}, name, None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_stub_has_the_same_documentation() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    (stub,) = (node for node in tree.body if getattr(node, "name", "") == "Encoding")
    assert isinstance(stub, ast.ClassDef)
    documented = {
        node.name: ast.get_docstring(node)
        for node in stub.body
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node)
    }
    documented["Encoding"] = ast.get_docstring(stub)
    assert documented == {name: inspect.getdoc(member) for name, member in members()}


def test_signatures_are_readable_at_run_time() -> None:
    assert str(inspect.signature(pw.Encoding.char_to_token)) == (
        "(self, /, char_pos, sequence_index=0)"
    )
    assert pw.Encoding.__module__ == "piecework"
    assert pw.Encoding.__qualname__ == "Encoding"
