"""`BertNormalizer(cleaning="original")` against the published rules, and against the copy in transformers."""

from __future__ import annotations

import itertools
import random
import sys
import unicodedata
from collections.abc import Iterator

import pytest

import piecework as pw
from piecework.spec import BertNormalizer, BertPreTokenizer, WordLevel

basic = pytest.importorskip("transformers.models.bert.tokenization_bert_legacy")

IDEOGRAPHS = (
    *(
        (0x4E00, 0x9FFF),
        (0x3400, 0x4DBF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
    ),
    *((0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)
# The tables here are those of tokenizers: categories of Unicode 8, so newer characters are left out.
CODE_POINTS = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if not 0xD800 <= code < 0xE000 and unicodedata.ucd_3_2_0.category(chr(code)) != "Cn"
]
GREEK = "ΣσςΑΒαβ'.·\u0301\u0345\u00ad\u0000ʼ 1aA北İ-_"


def published_words(text: str, lowercase: bool) -> list[str]:
    """Return the words by the rules of the published code."""
    words = []
    for token in "".join(_spaced(_cleaned(text))).split():
        if lowercase:
            decomposed = unicodedata.normalize("NFD", token.lower())
            token = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
        for is_mark, part in itertools.groupby(token, _is_punctuation):
            word = "".join(part)
            words += word if is_mark else [word]
    return words


def _cleaned(text: str) -> Iterator[str]:
    for c in text:
        if c in "\t\n\r":
            yield " "
        elif c not in "\0\ufffd" and unicodedata.category(c) not in ("Cc", "Cf"):
            yield " " if unicodedata.category(c) == "Zs" else c


def _spaced(characters: Iterator[str]) -> Iterator[str]:
    for c in characters:
        yield f" {c} " if any(low <= ord(c) <= high for low, high in IDEOGRAPHS) else c


def _is_punctuation(c: str) -> bool:
    if c.isascii():
        return c.isprintable() and not c.isalnum() and c != " "
    return unicodedata.category(c).startswith("P")


def original(lowercase: bool) -> pw.Tokenizer:
    normalizer = BertNormalizer(lowercase=lowercase, cleaning="original")
    return pw.Tokenizer(
        WordLevel({"[UNK]": 0}), normalizer=normalizer, pre_tokenizer=BertPreTokenizer()
    )


def words(tok: pw.Tokenizer, text: str) -> list[str]:
    return [word for word, _ in tok.pre_tokenize(text)]


def random_texts(count: int) -> Iterator[str]:
    rng = random.Random(11)
    for _ in range(count):
        letters = rng.choice((GREEK, rng.choices(CODE_POINTS, k=20)))
        yield "".join(rng.choices(letters, k=rng.randrange(30)))


def changed_since(c: str) -> bool:
    """Whether the category of a character has changed since the oldest tables."""
    if c == "\u0295":  # a letter without case since Unicode 17
        return True
    return unicodedata.category(c) != unicodedata.ucd_3_2_0.category(c)


@pytest.mark.slow
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_code_point_gives_the_words_of_the_published_code(lowercase: bool) -> None:
    tok = original(lowercase)
    for c in CODE_POINTS:
        text = f"Α{c}ΣX {c}Σ Α{c}Σ"
        if words(tok, text) != published_words(text, lowercase):
            assert changed_since(c), f"U+{ord(c):04X}"


@pytest.mark.parametrize("lowercase", [True, False])
def test_random_texts_give_the_words_of_the_published_code(lowercase: bool) -> None:
    tok = original(lowercase)
    for text in random_texts(20_000):
        if not any(map(changed_since, text)):
            assert words(tok, text) == published_words(text, lowercase), text


def test_texts_that_transformers_cleans_alike_give_the_words_of_its_copy() -> None:
    # That copy also drops private-use and unassigned characters, and composes before it lowercases.
    tok, theirs = original(True), basic.BasicTokenizer()
    compared = 0
    for text in random_texts(20_000):
        is_alike = not any(
            unicodedata.category(c) in ("Co", "Cn") or changed_since(c) for c in text
        )
        if is_alike and unicodedata.is_normalized("NFC", text):
            compared += 1
            assert words(tok, text) == theirs.tokenize(text), text
    assert compared > 5_000
