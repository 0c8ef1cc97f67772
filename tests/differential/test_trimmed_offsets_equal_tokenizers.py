"""Offsets that a post-processor trims are those of `tokenizers`, in the core and in the reference.

Trimming excludes the spaces of a token's own text. An added token that is found in normalized text has
the text there, also where a normalizer inserted its spaces.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.reference.tokenizer import ReferenceTokenizer
from piecework.spec import (
    NFD,
    NFKC,
    NFKD,
    AddedToken,
    BertNormalizer,
    BertPreTokenizer,
    ByteLevel,
    ByteLevelProcessing,
    Lowercase,
    Metaspace,
    Model,
    Prepend,
    Replace,
    RobertaProcessing,
    SequenceNormalizer,
    SequenceProcessing,
    Strip,
    StripAccents,
    TemplateProcessing,
    TokenizerSpec,
    Truncation,
    WhitespaceSplit,
    WordLevel,
    WordPiece,
    portable_json,
)
from tests.differential.peer import their_failures

FLAG = st.booleans()
ENTRIES = ("[UNK]", "<s>", "</s>", "a", "漢", "x", "##x", " ", "Ġ", "▁a", "Ġa")
VOCAB = {entry: id for id, entry in enumerate(ENTRIES)}
CONTENTS = (
    " ",
    "  ",
    "\u3000",
    "漢",
    "x",
    " x",
    "x ",
    "é",
    "▁",
    "Ġ",
    "\u0301",
    "<m>",
    "A",
    "\u00a8",
)
# Normalizers insert spaces: BERT's beside ideographs, compatibility forms for the last two.
UNITS = (*"漢漢axé▁ĠA\n", " ", " ", "  ", "\u3000", "\u00a0", "<m>", "\u0301", "\u00a8", "\ufdfa")

bert_normalizers = st.builds(BertNormalizer, FLAG, st.just(True), st.none() | FLAG, FLAG)
inserting_normalizers: st.SearchStrategy[Any] = st.sampled_from(
    [
        NFD(),
        NFKC(),
        NFKD(),
        Lowercase(),
        StripAccents(),
        Strip(),
        Strip(left=False),
        Prepend(" "),
        Prepend("▁"),
        Replace("a", " x x "),
        Replace(" ", "▁"),
        Replace("▁", " "),
        Replace("x", "  "),
    ]
)
one_normalizer: st.SearchStrategy[Any] = bert_normalizers | inserting_normalizers
normalizers = (
    st.none()
    | one_normalizer
    | st.lists(one_normalizer, min_size=2, max_size=3).map(tuple).map(SequenceNormalizer)
)
pre_tokenizers = st.sampled_from(
    [None, WhitespaceSplit(), BertPreTokenizer(), Metaspace(), ByteLevel(), ByteLevel(False)]
)
trimming = st.builds(
    RobertaProcessing, st.just(("</s>", 2)), st.just(("<s>", 1)), FLAG, FLAG
) | st.builds(ByteLevelProcessing, FLAG, FLAG)
template = TemplateProcessing(
    single=("<s>:0", "$A:0"),
    pair=("$A:0", "</s>:0", "$B:1"),
    special_tokens={"<s>": (1,), "</s>": (2,)},
)
sequences = st.one_of(
    st.tuples(trimming),
    st.tuples(trimming, trimming),
    st.tuples(trimming, st.just(template)),
    st.tuples(st.just(template), trimming),
)
post_processors = trimming | sequences.map(SequenceProcessing)
texts = st.lists(st.sampled_from(UNITS), max_size=8).map("".join)


@st.composite
def added_tokens(draw: st.DrawFn) -> tuple[AddedToken, ...]:
    contents = draw(st.lists(st.sampled_from(CONTENTS), min_size=1, max_size=4, unique=True))
    fresh = iter(range(len(VOCAB), len(VOCAB) + len(contents)))
    return tuple(
        AddedToken(
            content,
            VOCAB[content] if content in VOCAB else next(fresh),
            single_word=draw(st.integers(0, 4)) == 0,
            lstrip=draw(FLAG),
            rstrip=draw(FLAG),
            normalized=draw(st.integers(0, 3)) > 0,
            special=draw(FLAG),
        )
        for content in contents
    )


@st.composite
def specs(draw: st.DrawFn) -> TokenizerSpec:
    post_processor = draw(post_processors)
    truncation = None
    if not isinstance(
        post_processor, SequenceProcessing
    ):  # there, it reserves other numbers of tokens
        truncation = draw(st.none() | st.builds(Truncation, st.integers(6, 9), st.integers(0, 2)))
    models: list[Model] = [WordLevel(VOCAB), WordPiece(VOCAB)]
    spec = TokenizerSpec(
        draw(st.sampled_from(models)),
        normalizer=draw(normalizers),
        pre_tokenizer=draw(pre_tokenizers),
        post_processor=post_processor,
        added_tokens=draw(added_tokens()),
        truncation=truncation,
    )
    forms = ReferenceTokenizer(spec).normalized_forms.values()
    # Of two tokens with one form, either is found there; an empty form is never found here.
    assume(len(set(forms)) == len(forms) and "" not in forms)
    return spec


def of_ideograph(content: str, prefix: bool = False, **flags: Any) -> TokenizerSpec:
    """Return BERT's stages before a processor that trims, with one added token in normalized text."""
    id = VOCAB.get(content, len(VOCAB))
    roberta = RobertaProcessing(("</s>", 2), ("<s>", 1), add_prefix_space=prefix)
    return TokenizerSpec(
        WordPiece(VOCAB),
        normalizer=BertNormalizer(),
        pre_tokenizer=BertPreTokenizer(),
        post_processor=SequenceProcessing((roberta,)),
        added_tokens=(AddedToken(content, id, normalized=True, **flags),),
    )


def both(spec: TokenizerSpec) -> tuple[pw.Tokenizer, tokenizers.Tokenizer]:
    return pw.Tokenizer.from_spec(spec), tokenizers.Tokenizer.from_str(portable_json(spec))


def columns(encoding: Any) -> tuple[Any, ...]:
    return encoding.ids, encoding.offsets, encoding.word_ids


@settings(max_examples=500)
@given(specs(), texts)
@example(of_ideograph(" "), "漢")
@example(of_ideograph(" "), "a漢x漢漢 漢")
@example(of_ideograph("漢"), "a漢 漢")
@example(of_ideograph("漢", lstrip=True, rstrip=True), " 漢漢  a漢")
@example(of_ideograph("x", lstrip=True, rstrip=True), "漢x漢 x")
def test_trimmed_offsets_of_a_text_are_equal(spec: TokenizerSpec, text: str) -> None:
    ours, theirs = both(spec)
    with their_failures():
        found = theirs.encode(text)
    expected = [columns(window) for window in (found, *found.overflowing)]
    encoding = ours.encode(text)
    assert [columns(window) for window in (encoding, *encoding.overflowing)] == expected
    [row] = ours.encode_batch([text], offsets=True)
    assert (row.ids, row.offsets) == (found.ids, found.offsets)
    reference = ReferenceTokenizer(spec).encode(text)
    assert [columns(window) for window in (reference, *reference.overflowing)] == expected


@settings(max_examples=150)
@given(specs(), texts, texts)
@example(of_ideograph(" "), "漢", "a漢")
def test_trimmed_offsets_of_a_pair_are_equal(spec: TokenizerSpec, text: str, pair: str) -> None:
    assume(spec.truncation is None)  # windows of pairs are nested there
    ours, theirs = both(spec)
    with their_failures():
        expected = columns(theirs.encode(text, pair))
    assert columns(ours.encode(text, pair)) == expected
    assert columns(ReferenceTokenizer(spec).encode(text, pair)) == expected
    rows = ours.encode_batch([(text, pair)], offsets=True)
    assert rows[0].offsets == expected[1]


@settings(max_examples=150)
@given(specs(), st.lists(texts, min_size=1, max_size=4))
@example(of_ideograph(" "), ["漢", "a漢"])
@example(of_ideograph("漢", lstrip=True), ["漢 漢", "漢"])
def test_trimmed_offsets_of_words_are_equal(spec: TokenizerSpec, words: list[str]) -> None:
    """The tokens of a word that the caller passes have one word id, and can have one offset."""
    ours, theirs = both(spec)
    with their_failures():
        expected = columns(theirs.encode(words, is_pretokenized=True))
    assert columns(ours.encode(words, is_pretokenized=True)) == expected


@pytest.mark.parametrize("strips", [True, False])
@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("content", [" ", "漢", "x"])
def test_trimmed_offsets_of_every_short_text_are_equal(
    content: str, prefix: bool, strips: bool
) -> None:
    spec = of_ideograph(content, prefix, lstrip=strips, rstrip=strips)
    ours, theirs = both(spec)
    units = [("", *"漢 xa")] * 4
    texts = list(dict.fromkeys(map("".join, itertools.product(*units))))
    for text, expected in zip(texts, theirs.encode_batch(texts), strict=True):
        assert ours.encode(text).offsets == expected.offsets, text
        assert ReferenceTokenizer(spec).encode(text).offsets == expected.offsets, text
