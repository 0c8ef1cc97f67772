"""`tokenize` returns the tokens of a text: those that transformers and the published examples show."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import InputTypeError
from tests.data import need
from tests.short_vocabularies import read_short

WORDS = (
    "Don't you love 🤗 Transformers? We sure do. naïve Ünïcödé 東京 привет \u1681 é 3.14 unaffable [SEP] </s>"
    " <|endoftext|> \t x  y"
).split(" ")


@cache
def json_of(name: str) -> str:
    folder = need(f"vocab/{name}")
    path = next(folder.glob("tokenizer.json*"), None)
    return pw.Tokenizer.load(folder / "vocab.txt").to_str() if path is None else read_short(path)


def bert(**stages: object) -> pw.Tokenizer:
    corpus = ["hug hugs pug pun bun"] * 5
    return pw.Tokenizer.train_from_iterator(corpus, vocab_size=24).with_padding(9)


@pytest.mark.parametrize("name", ["bert-base-uncased", "gpt2", "t5-small", "xlm-roberta-base"])
def test_tokens_equal_those_of_transformers(name: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    path = tmp_path / "tokenizer.json"
    path.write_text(json_of(name), "utf-8")
    theirs = transformers.TokenizersBackend(tokenizer_file=str(path))
    ours = pw.Tokenizer.from_str(json_of(name))
    rng = random.Random(name)
    for _ in range(300):
        text = " ".join(rng.choices(WORDS, k=rng.randrange(9)))
        assert ours.tokenize(text) == theirs.tokenize(text), text


def test_published_examples_have_their_tokens() -> None:
    tok = pw.Tokenizer.load(need("vocab/bert-base-uncased") / "vocab.txt")
    assert tok.tokenize("I have a new GPU!") == ["i", "have", "a", "new", "gp", "##u", "!"]
    xlnet = pw.Tokenizer.load(need("vocab/xlnet/spiece.model"))
    printed = "▁Don ' t ▁you ▁love ▁ 🤗 ▁ Transform ers ? ▁We ▁sure ▁do ."
    assert xlnet.tokenize("Don't you love 🤗 Transformers? We sure do.") == printed.split(" ")


def test_no_token_is_of_the_template_or_of_padding() -> None:
    tok = bert()
    assert tok.encode("hugs").tokens[:3] == ["[CLS]", "hugs", "[SEP]"]
    assert tok.tokenize("hugs pun") == ["hugs", "pun"]
    assert tok.with_padding(9, side="left").tokenize("hugs") == ["hugs"]
    assert tok.tokenize("") == []


def test_a_truncated_text_has_the_tokens_that_are_left() -> None:
    tok = bert().with_truncation(4)
    assert tok.tokenize("hug hug hug hug hug") == ["hug"] * 4
    assert len(tok.tokenize("hug " * 9)) == tok.count("hug " * 9, add_special_tokens=False)


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
def test_unknown_pieces_are_shown_as_text_and_unknown_words_as_the_token(kind: str) -> None:
    settings = {"model_type": kind, "vocab_size": 13, "hard_vocab_limit": False}
    tok = pw.Tokenizer.train_from_iterator(["hug hugs bug"] * 9, model="sentencepiece", **settings)
    assert "🤗" in tok.tokenize("hug 🤗")[-1]
    assert "<unk>" in tok.encode("hug 🤗").tokens
    assert bert().tokenize("hug 🤗") == ["hug", "[UNK]"]


def test_special_tokens_in_the_text_follow_the_tokenizer() -> None:
    tok = bert()
    assert tok.tokenize("hug [SEP]") == ["hug", "[SEP]"]
    assert "[SEP]" not in tok.with_parse_special(False).tokenize("hug [SEP]")


def test_other_input_is_refused() -> None:
    with pytest.raises(InputTypeError, match="text: must be str, not list"):
        bert().tokenize(["hug", "hugs"])  # type: ignore[arg-type]
