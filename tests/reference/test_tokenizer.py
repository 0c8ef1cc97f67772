"""The whole reference tokenizer: padded batches, and a process without the compiled core."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from piecework.errors import ArgumentError, SpecialTokenError, VocabularyError
from piecework.reference.tokenizer import ReferenceTokenizer
from piecework.spec import AddedToken, Char, Padding, TokenizerSpec, Truncation, Unigram, WordLevel
from piecework.spec.portable import portable_json

LETTERS = {"[UNK]": 0, "a": 1, "b": 2}

paddings = st.builds(
    Padding,
    length=st.none() | st.integers(1, 9),
    side=st.sampled_from(["right", "left"]),
    pad_type_id=st.integers(0, 1),
    pad_to_multiple_of=st.none() | st.integers(1, 4),
)


@given(st.lists(st.text("abc", max_size=6), min_size=1, max_size=4), paddings)
def test_a_batch_is_padded_as_tokenizers_pads_it(texts: list[str], padding: Padding) -> None:
    spec = TokenizerSpec(Char(LETTERS), padding=padding)
    published = tokenizers.Tokenizer.from_str(portable_json(spec)).encode_batch(texts)
    encoded = ReferenceTokenizer(spec).encode_batch(texts)
    assert [e.ids for e in encoded] == [e.ids for e in published]
    assert [e.tokens for e in encoded] == [e.tokens for e in published]
    assert [e.attention_mask for e in encoded] == [e.attention_mask for e in published]
    assert [e.type_ids for e in encoded] == [e.type_ids for e in published]


def test_windows_that_do_not_fit_overflow() -> None:
    spec = TokenizerSpec(Char(LETTERS), truncation=Truncation(max_length=2, stride=1))
    encoding = ReferenceTokenizer(spec).encode("abab")
    assert encoding.tokens == ["a", "b"]
    assert [window.tokens for window in encoding.overflowing] == [["b", "a"], ["a", "b"]]


def test_a_strategy_that_leaves_nothing_is_an_error() -> None:
    truncation = Truncation(max_length=2, strategy="only_second")
    tokenizer = ReferenceTokenizer(TokenizerSpec(Char(LETTERS), truncation=truncation))
    with pytest.raises(
        ArgumentError, match="only_second cannot truncate a sequence so short; use longest_first"
    ):
        tokenizer.encode("abab", "a")


def test_special_tokens_in_text_are_text_or_an_error_where_the_specification_says_so() -> None:
    token = AddedToken("ab", 3)
    refusing = TokenizerSpec(Char(LETTERS), added_tokens=(token,), parse_special="refuse")
    with pytest.raises(SpecialTokenError, match="text: contains the special token 'ab'; use"):
        ReferenceTokenizer(refusing).encode("aab")
    as_text = TokenizerSpec(Char(LETTERS), added_tokens=(token,), parse_special=False)
    assert ReferenceTokenizer(as_text).encode("aab").ids == [1, 1, 2]


def test_an_unknown_character_without_an_unknown_token_is_an_error() -> None:
    tokenizer = ReferenceTokenizer(TokenizerSpec(Unigram((("a", -1.0),))))
    with pytest.raises(VocabularyError, match="unk_id"):
        tokenizer.encode("ab")


def test_ids_without_a_token_are_skipped() -> None:
    assert ReferenceTokenizer(TokenizerSpec(WordLevel(LETTERS))).decode([1, 99, 2]) == "a b"


WITHOUT_CORE = """
import sys
sys.modules["piecework._internal._core"] = None  # importing it fails

import importlib, pkgutil
import piecework.reference
for module in pkgutil.iter_modules(piecework.reference.__path__):
    importlib.import_module(f"piecework.reference.{module.name}")

from piecework.reference import bpe, sentencepiece, unigram, wordpiece
from piecework.reference.tokenizer import ReferenceTokenizer
from piecework import spec

words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
text = "hugs bun"

vocab, merges = bpe.train(words, 10)
model = spec.BPE({token: id for id, token in enumerate(["<unk>", *vocab])}, tuple(merges), unk_token="<unk>")
tok = ReferenceTokenizer(spec.TokenizerSpec(model, pre_tokenizer=spec.WhitespaceSplit()))
print(tok.encode(text).tokens, tok.decode(tok.encode(text).ids))

vocab = wordpiece.train(words, 12, ["[UNK]"])
model = spec.WordPiece({token: id for id, token in enumerate(vocab)})
pipeline = spec.TokenizerSpec(
    model, spec.BertNormalizer(), spec.BertPreTokenizer(), decoder=spec.WordPieceDecoder()
)
tok = ReferenceTokenizer(pipeline)
print(tok.encode(text).tokens, tok.decode(tok.encode(text).ids))

pieces = (("<unk>", 0.0), *unigram.train({"▁" + word: count for word, count in words.items()}, 12).items())
metaspace = spec.Metaspace(), None, spec.MetaspaceDecoder()
tok = ReferenceTokenizer(spec.TokenizerSpec(spec.Unigram(pieces, 0), None, *metaspace))
print(tok.encode(text).tokens, tok.decode(tok.encode(text).ids))

for kind in ("unigram", "bpe"):
    model = sentencepiece.train(["hug pug pun bun hugs", "hug hugs pun"] * 3, 15, kind)
    stages = spec.SentencePieceNormalizer(), None, None, spec.SentencePieceDecoder()
    tok = ReferenceTokenizer(spec.TokenizerSpec(model, *stages))
    print(tok.encode(text).tokens, tok.decode(tok.encode(text).ids))

try:
    piecework.Tokenizer
except ImportError as error:
    print(error)
"""


def test_the_reference_trains_encodes_and_decodes_without_the_compiled_core() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", WITHOUT_CORE],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.splitlines() == [
        "['hug', 's', 'b', 'un'] hug s b un",
        "['hugs', 'b', '##u', '##n'] hugs bun",
        "['▁hug', 's', '▁bun'] hugs bun",
        "['▁hugs', '▁bun'] hugs bun",
        "['▁hug', 's', '▁', 'b', 'un'] hugs bun",
        "piecework's extension module is missing: run `make build`",
    ]
