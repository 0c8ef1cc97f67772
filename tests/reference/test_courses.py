"""The short algorithms agree with the complete ones, and give the figures of the published courses."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.reference import (
    bpe,
    bpe_model,
    sentencepiece,
    unigram,
    unigram_training,
    wordpiece,
    wordpiece_model,
    wordpiece_training,
    words,
)
from piecework.reference.lattice import Lattice
from piecework.spec import BPE, WordPiece

corpora = st.dictionaries(
    st.text("abc", min_size=1, max_size=6), st.integers(1, 9), min_size=1, max_size=8
)
unseen = st.text("abcd", min_size=1, max_size=8)

FOUR_SENTENCES = [
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
]
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def corpus_counts() -> Counter[str]:
    return Counter(word for text in FOUR_SENTENCES for word, _ in words.words_and_punctuation(text))


# ---- BPE


@given(corpora, st.integers(3, 20))
def test_bpe_merges_a_most_frequent_pair_at_every_step(
    counts: dict[str, int], vocab_size: int
) -> None:
    vocab, merges = bpe.train(counts, vocab_size)
    splits = {word: list(word) for word in counts}
    for pair in merges:
        pair_counts = bpe.count_pairs(splits, counts)
        assert pair_counts[pair] == max(pair_counts.values())
        splits = {word: bpe.merge(symbols, pair) for word, symbols in splits.items()}
    assert len(vocab) <= max(vocab_size, len({c for word in counts for c in word}))
    # Encoding a word of the corpus replays its merges.
    assert {word: bpe.encode(word, merges) for word in counts} == splits


@given(corpora, st.integers(3, 20), unseen)
def test_bpe_encodes_as_the_complete_model_does(
    counts: dict[str, int], vocab_size: int, word: str
) -> None:
    vocab, merges = bpe.train(counts, vocab_size)
    model = BPE(
        {token: id for id, token in enumerate(["<unk>", *vocab])}, tuple(merges), unk_token="<unk>"
    )
    pieces = bpe_model.encode_word(word, model)
    assert bpe.encode(word, merges, vocab=vocab) == [piece.token for piece in pieces]


# ---- WordPiece


@given(corpora, st.integers(6, 20))
def test_wordpiece_learns_as_the_complete_learner_does(
    counts: dict[str, int], vocab_size: int
) -> None:
    alphabet = {symbol for word in counts for symbol in wordpiece.initial_symbols(word)}
    vocab_size = max(vocab_size, len(alphabet))
    how = wordpiece_training.MergeSettings(
        vocab_size, score="pmi", min_frequency=1, special_tokens=(), alphabet_forms="seen"
    )
    learned = wordpiece_training.learn(list(counts.items()), how).vocab
    assert wordpiece.train(counts, vocab_size) == learned


@given(corpora, st.integers(6, 20), unseen)
def test_wordpiece_encodes_as_the_complete_model_does(
    counts: dict[str, int], vocab_size: int, word: str
) -> None:
    vocab = wordpiece.train(counts, vocab_size, ["[UNK]"])
    pieces = wordpiece_model.encode_word(word, WordPiece({t: id for id, t in enumerate(vocab)}))
    assert wordpiece.encode(word, vocab) == [piece.token for piece in pieces]


def test_wordpiece_gives_the_scores_and_the_vocabulary_of_the_course() -> None:
    counts = corpus_counts()
    splits = {word: wordpiece.initial_symbols(word) for word in counts}
    scores = wordpiece.pair_scores(splits, counts)
    first_six = [float(score) for score in list(scores.values())[:6]]
    assert first_six == pytest.approx([0.125, 0.03409, 0.02727, 0.1, 0.03571, 0.0119], rel=1e-3)
    vocab = wordpiece.train(counts, 70, SPECIAL_TOKENS)
    assert len(vocab) == 70
    assert vocab[45:48] == ["ab", "##fu", "Fa"]
    assert vocab[-4:] == ["##thms", "##za", "##zat", "##ut"]


def test_wordpiece_encodes_the_sentences_of_the_course() -> None:
    vocab = wordpiece.train(corpus_counts(), 70, SPECIAL_TOKENS)
    text = "This is the Hugging Face course!"
    tokens = [
        t for word, _ in words.words_and_punctuation(text) for t in wordpiece.encode(word, vocab)
    ]
    assert tokens == (
        "Th ##i ##s is th ##e Hugg ##i ##n ##g Fac ##e c ##o ##u ##r ##s ##e [UNK]".split()
    )


def test_rare_parts_score_higher_than_frequent_ones() -> None:
    # The counts of "qu" and "th" in the book section: parts of 100 and 5,000, of 8,000 and 6,000.
    qu, th = Fraction(95, 100 * 5000), Fraction(4000, 8000 * 6000)
    assert (round(float(qu), 5), round(float(th), 6)) == (0.00019, 0.000083)
    assert wordpiece_training.pmi(95, 100, 5000) == qu > wordpiece_training.pmi(4000, 8000, 6000)


# ---- Unigram and SentencePiece


@given(corpora, unseen)
def test_unigram_finds_a_best_segmentation(counts: dict[str, int], word: str) -> None:
    scores = unigram.train(counts, vocab_size=8)
    pieces = unigram.encode(word, scores)
    assert unigram.decode(pieces) == word
    unknown = min(scores.values()) - 10
    score = sum(scores.get(piece, unknown) for piece in pieces)
    assert score == pytest.approx(Lattice(word, scores).best().score)


@given(corpora, st.integers(1, 12))
def test_unigram_keeps_every_character_and_no_more_pieces_than_asked(
    counts: dict[str, int], vocab_size: int
) -> None:
    characters = {c for word in counts for c in word}
    scores = unigram.train(counts, vocab_size)
    assert characters <= scores.keys()
    assert len(scores) <= max(vocab_size, len(characters))
    assert math.fsum(map(math.exp, scores.values())) == pytest.approx(1.0)


@given(corpora)
def test_every_step_of_expectation_maximization_raises_the_likelihood(
    counts: dict[str, int],
) -> None:
    scores, steps = unigram.seeds(counts, 16), []
    for _ in range(4):
        steps.append(unigram_training.log_likelihood(list(counts.items()), scores))
        scores = unigram.maximized(unigram.expected_counts(counts, scores))
    assert all(after >= before - 1e-9 * abs(before) for before, after in pairwise(steps))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_sentencepiece_gives_every_text_back(kind: str) -> None:
    model = sentencepiece.train(FOUR_SENTENCES * 2, vocab_size=60, kind=kind)  # type: ignore[arg-type]
    assert len(model.pieces) == 60
    for text in FOUR_SENTENCES:
        assert sentencepiece.decode(sentencepiece.encode(text, model)) == text
