"""Inputs of the laws: small corpora with many ties, nested vocabularies and mixed text."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from piecework.spec import BertNormalizer, BertPreTokenizer, Punctuation, WhitespaceSplit, WordPiece
from piecework.train import LEARNERS, Merges, Pruning
from tests.laws.characters import CHARACTERS

Words = list[tuple[str, int]]

# ---- corpora


@st.composite
def word_counts(draw: st.DrawFn) -> Words:
    """Draw words composed of a few shared parts, with many repeats, overlaps and ties."""
    letters = draw(st.sampled_from(["a", "ab", "ab", "abc", "aé北", "abcdefg"]))
    pieces = draw(st.lists(st.text(letters, min_size=1, max_size=5), min_size=1, max_size=6))
    word = st.lists(st.sampled_from(pieces), min_size=1, max_size=5).map("".join)
    words = draw(st.lists(word, min_size=1, max_size=15, unique=True))
    count = draw(st.sampled_from([st.just(1), st.integers(1, 3), st.integers(1, 1000)]))
    return [(word, draw(count)) for word in words]


@st.composite
def train_settings(draw: st.DrawFn, learner: str) -> dict[str, Any]:
    """Draw settings for merges by a score, or for a learner of `LEARNERS` with its defaults.

    Special tokens may equal ordinary tokens.
    """
    optional = st.none() | st.integers(1, 6)
    specials = st.lists(
        st.sampled_from(["[PAD]", "a", "##b", "ab", "##ab"]), unique=True, max_size=3
    )
    ties = st.none() | st.sampled_from(["smallest-strings", "lowest-ids", "first-seen"])
    return {
        "learner": LEARNERS[learner]() if learner in LEARNERS else Merges(learner, draw(ties)),
        "alphabet_order": draw(
            st.sampled_from(["sorted", "first-seen", "given", "word-starts-first"])
        ),
        "alphabet_forms": draw(st.sampled_from(["possible", "possible", "start-and-seen", "seen"])),
        "vocab_size": draw(st.integers(8, 26) | st.integers(1, 60)),
        "min_frequency": draw(st.sampled_from([1, 1, 0, 2, 5])),
        "limit_alphabet": draw(st.none() | optional),
        "initial_alphabet": tuple(draw(st.lists(st.sampled_from("abz"), unique=True, max_size=2))),
        "special_tokens": ("[UNK]", *draw(specials)),
        "continuing_subword_prefix": draw(st.sampled_from(["##", "##", "_", ""])),
        "max_token_length": draw(st.none() | optional),
    }


@st.composite
def pruning_settings(draw: st.DrawFn) -> dict[str, Any]:
    """Draw every setting of the pruning learner."""
    shared = draw(train_settings("top-down"))
    seeds = st.integers(shared["vocab_size"], 8 * shared["vocab_size"])
    learner = Pruning(
        balance=draw(st.sampled_from([0.0, 0.0, 0.5, 2.0])),
        max_use_cost=draw(st.sampled_from([None, None, 0.3, 1.0, 1.5])),
        seed_vocab_size=draw(st.none() | seeds),
        segmentation=draw(st.sampled_from(["greedy", "shortest"])),
    )
    return {**shared, "learner": learner}


# ---- vocabularies


@st.composite
def wordpieces(draw: st.DrawFn, letters: str = "ab#") -> WordPiece:
    """Draw a WordPiece model whose tokens contain each other and may equal the prefix."""
    prefix = draw(st.sampled_from(["##", "##", "#", "a", ""]))
    entry = st.tuples(st.sampled_from(["", prefix]), st.text(letters, min_size=1, max_size=6))
    entries = draw(st.lists(entry.map("".join), max_size=12, unique=True))
    if prefix and draw(st.booleans()):
        entries.append(prefix)
    return _numbered(draw, entries, prefix)


@st.composite
def wordpieces_for(draw: st.DrawFn, words: list[str]) -> WordPiece:
    """Draw a model whose tokens are substrings of the given words."""
    entries = []
    for word in draw(st.lists(st.sampled_from(words), max_size=20)) if words else []:
        start = draw(st.integers(0, len(word) - 1))
        end = draw(st.integers(start + 1, len(word)))
        entries.append(("##" if start else "") + word[start:end])
    return _numbered(draw, entries, "##")


def _numbered(draw: st.DrawFn, entries: list[str], prefix: str) -> WordPiece:
    vocab = {token: number for number, token in enumerate(dict.fromkeys(["[UNK]", *entries]))}
    return WordPiece(
        vocab,
        continuing_subword_prefix=prefix,
        max_input_chars_per_word=draw(st.sampled_from([100, 100, 1, 4])),
        unk=draw(st.sampled_from(["word", "char"])),
        segmentation=draw(st.sampled_from(["greedy", "shortest"])),
    )


# ---- pipelines and text

TIE_UNITS = ["0", "00", "a", "b", "ab", "ba", "aab", "4", "b0", "é"]


def normalizers() -> st.SearchStrategy[BertNormalizer | None]:
    """Draw a normalizer with any of its settings, or none."""
    flag = st.booleans()
    cleaning = st.sampled_from(["tokenizers", "original"])
    return st.none() | st.builds(BertNormalizer, flag, flag, st.none() | flag, flag, cleaning)


def pre_tokenizers() -> st.SearchStrategy[Any]:
    """Draw a pre-tokenizer, or none."""
    return st.sampled_from(
        [BertPreTokenizer(), BertPreTokenizer(), WhitespaceSplit(), Punctuation(), None]
    )


@cache
def mixed_text() -> st.SearchStrategy[str]:
    """Draw text that mixes ASCII, accents, marks, ideographs, controls, emoji and other characters."""
    return st.deferred(_mixed_text)


def _mixed_text() -> st.SearchStrategy[str]:
    agreed_in = CHARACTERS.agreed_in
    kinds = [
        st.sampled_from("abcABC xyz.,!'#[]-0 \t\n"),
        st.sampled_from(agreed_in((0xC0, 0x24F), (0x1E00, 0x1FFF))),
        st.sampled_from(agreed_in((0x300, 0x36F), (0x5D0, 0x6FF), (0x900, 0x9FF))),
        st.sampled_from(agreed_in((0x3040, 0x30FF), (0x4DF0, 0x4E10), (0xAC00, 0xAC20))),
        st.sampled_from(agreed_in((0x0, 0xA0), (0x2000, 0x206F), (0xFE00, 0xFE0F))),
        st.sampled_from(agreed_in((0x1F300, 0x1F5FF), (0x20000, 0x20010), (0x2B810, 0x2B930))),
        st.sampled_from(CHARACTERS.agreed),
    ]
    return st.lists(st.one_of(kinds), max_size=30).map("".join)


def tie_texts() -> st.SearchStrategy[str]:
    """Draw text with many segmentations of the same pieces in different orders."""
    runs = st.builds(
        lambda unit, times: unit * times, st.sampled_from(TIE_UNITS), st.integers(1, 12)
    )
    word = st.lists(runs, min_size=1, max_size=4).map("".join) | st.text(
        "ab0", min_size=1, max_size=20
    )
    return st.lists(word, max_size=5).map(" ".join)
