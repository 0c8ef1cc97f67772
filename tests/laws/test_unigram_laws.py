"""A Unigram model segments words as the reference does: 64-bit sums from the left, the same tie rule."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.reference.lattice import Lattice
from tests.laws.strategies import tie_texts

PIECES = ["0", "00", "000", "4", "▁4", "a", "aa", "aaa", "b", "ab", "ba", "▁a", "▁b0", "0b", "é"]
PRE_TOKENIZERS = [
    pw.spec.SequencePreTokenizer((pw.spec.WhitespaceSplit(), pw.spec.Metaspace())),
    pw.spec.Metaspace(),
    pw.spec.Metaspace(split=False),
]


@st.composite
def models(draw: st.DrawFn) -> pw.spec.Unigram:
    """Draw pieces with probabilities whose logarithms round differently in another order."""
    texts = draw(st.lists(st.sampled_from(PIECES), unique=True, min_size=5))
    counts = draw(st.lists(st.integers(1, 5000), min_size=len(texts), max_size=len(texts)))
    scored = [(text, math.log(n / 5001)) for text, n in zip(texts, counts, strict=True)]
    return pw.spec.Unigram((("<unk>", 0.0), ("▁", -2.719), *scored), unk_id=0)


def expected_tokens(word: str, scores: dict[str, float]) -> list[str]:
    """Return the best segmentation of the reference; adjacent unknown characters are one token."""
    tokens: list[str] = []
    for piece in Lattice(word, scores).best().pieces:
        token = piece if piece in scores else "<unk>"
        if token != "<unk>" or tokens[-1:] != ["<unk>"]:
            tokens.append(token)
    return tokens


@pytest.mark.slow
@settings(max_examples=300)
@given(models(), st.sampled_from(PRE_TOKENIZERS), st.lists(tie_texts(), min_size=8, max_size=20))
def test_every_call_segments_words_with_ties_as_the_reference_does(
    model: pw.spec.Unigram, pre_tokenizer: pw.spec.PreTokenizer, texts: list[str]
) -> None:
    tok = pw.Tokenizer(model, pre_tokenizer=pre_tokenizer)
    assert isinstance(tok.spec.model, pw.spec.Unigram)
    # A score may differ by one unit in the last place from the one given: see docs/reference/conformance.md.
    scores = dict(tok.spec.model.pieces)
    expected = [
        [
            tok.token_to_id(token)
            for word, _ in tok.pre_tokenize(text)
            for token in expected_tokens(word, scores)
        ]
        for text in texts
    ]
    assert [tok.encode(text).ids for text in texts] == expected
    assert tok.encode_batch(texts, num_threads=1).to_lists() == expected
    assert [tok.encode(text).ids for text in texts] == expected
