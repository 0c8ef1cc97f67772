"""Superwords: sequences of words, what is learned from them, and what the learned tokenizer gives."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import TrainingError
from piecework.reference import bpe_model
from piecework.reference import superwords as reference
from piecework.reference.bpe_training import Settings
from piecework.spec import named_pre_tokenizer
from piecework.train import PRESETS, ByteBPETrainer
from piecework.train.trainers.bpe import BYTE_ALPHABET
from tests.component_engines import CORE, REFERENCE
from tests.laws.counting import compared, compares_some
from tests.laws.test_resumed_learning_laws import interrupted_after

NAME = "o200k-superwords"
MARKS = "\u0301\u0903"
PARTS = ["of", "the", "a", "B", "bA", "é", "'s", " ", " ", " ", " ", "  ", ",", ".", "!!", "-", "/"]
RARE = ["1", "234", "\n", "\t", "\r\n", "漢", "\u3000", *MARKS]
texts = st.lists(st.sampled_from([*PARTS, *PARTS, *RARE]), max_size=30).map("".join)
corpora = st.lists(
    texts
    | st.sampled_from(["of the cat of the dog", "in the end, of the", "It's 12 o'clock  of the"])
    | st.lists(st.sampled_from(["a", "of", "the", "b,"]), max_size=12).map(" ".join),
    min_size=1,
    max_size=6,
)
SETTINGS = st.fixed_dictionaries(
    {
        "vocab_size": st.integers(257, 330),
        "min_frequency": st.integers(0, 3),
        "max_token_length": st.none() | st.integers(1, 8),
        "ties": st.sampled_from(["lowest-ids", "greatest-strings", "first-seen"]),
    }
)


def columns(counts: pw.Counts) -> tuple[list[str], list[int], list[int] | None]:
    first = counts.first
    return counts.words, counts.counts.tolist(), None if first is None else first.tolist()


def words_of(sequence: str) -> list[str]:
    """Split a sequence in the byte-level alphabet by the pattern of single words."""
    text = bytes(pw.spec.byte_alphabet.BYTE_OF_CHARACTER[c] for c in sequence).decode()
    return [word for word, _ in CORE.pieces(named_pre_tokenizer("o200k"), text)]


@given(text=texts)
def test_core_equals_the_reference(text: str) -> None:
    stage = named_pre_tokenizer(NAME)
    assert CORE.pieces(stage, text) == REFERENCE.pieces(stage, text)


@given(text=texts)
def test_sequences_are_words_with_one_space_between_them(text: str) -> None:
    words = [span for _, span in CORE.pieces(named_pre_tokenizer("o200k"), text)]
    sequences = [span for _, span in CORE.pieces(named_pre_tokenizer(NAME), text)]
    ends = {end for _, end in sequences}
    joined = {end for _, end in words} - ends
    assert ends <= {end for _, end in words}
    for end in joined:
        assert re.match(rf"[^\w\s]? [\w{MARKS}]", text[end : end + 3])
    assert not any(re.search(r"\d", text[a:b]) and " " in text[a + 1 : b] for a, b in sequences)


@given(corpus=corpora)
def test_the_words_of_sequences_equal_those_of_the_text(corpus: list[str]) -> None:
    sequences = pw.count_texts(corpus, preset=NAME)
    words = PRESETS["o200k"].pipeline
    split = pw.Counts._of(sequences._raw.split(words.to_json()), words)
    assert columns(split) == columns(pw.count_texts(corpus, preset="o200k"))


@compares_some
@given(
    corpus=corpora,
    how=SETTINGS,
    transition=st.integers(256, 275) | st.sampled_from([0.05, 0.3, 0.75, 0.999]),
    max_words=st.sampled_from([None, 1, 2, 3]),
)
@settings(max_examples=150)
def test_the_core_learns_what_the_reference_learns(
    corpus: list[str], how: dict[str, Any], transition: float, max_words: int | None
) -> None:
    counts = pw.count_texts(corpus, preset=NAME)
    is_exact, size = isinstance(transition, int), how["vocab_size"]
    transition = min(transition, size - 1)
    if not len(counts):
        return
    own = Settings(**how, initial_alphabet=BYTE_ALPHABET)
    trainer = ByteBPETrainer(**how, special_tokens=(), transition=transition, max_words=max_words)
    first = int(transition) if is_exact else size - round((1 - transition) * (size - 256))
    try:
        expected = reference.learn(list(counts), words_of, own, first, max_words, is_exact=is_exact)
    except TrainingError:
        with pytest.raises(TrainingError, match="transition"):
            trainer.learn_vocabulary(counts)
        return
    learned = trainer.learn_vocabulary(counts)
    assert [(merge.left, merge.right) for merge in learned.merges] == expected.merges
    assert [merge.pair_count for merge in learned.merges] == expected.pair_counts
    assert list(learned.entries) == expected.vocab
    compared()


@given(corpus=corpora, max_words=st.none() | st.integers(1, 3))
@settings(max_examples=100)
def test_entries_span_at_most_the_words_of_the_setting(
    corpus: list[str], max_words: int | None
) -> None:
    tok = trained(corpus, max_words=max_words)
    for merge in tok.spec.model.merges[2:]:
        entry = "".join(merge)
        assert max_words is None or reference.number_of_words(entry) <= max_words
        if reference.number_of_words(entry) > 1:
            assert not re.search(r"[0-9]|[.,!/-]{2}", entry)


@given(corpus=corpora, texts=st.lists(texts, max_size=4))
@settings(max_examples=100)
def test_the_ids_of_a_text_equal_those_of_the_learned_merges(
    corpus: list[str], texts: list[str]
) -> None:
    tok = trained(corpus)
    model = tok.spec.model
    for text in (*corpus, *texts):
        words = CORE.pieces(named_pre_tokenizer(NAME), text)
        expected = [p.token for word, _ in words for p in bpe_model.encode_word(word, model)]
        assert tok.encode(text).tokens == expected
        assert tok.decode(tok.encode(text).ids) == text


@given(corpus=corpora, data=st.data())
@settings(max_examples=60)
def test_a_run_interrupted_at_any_merge_continues_to_the_same_result(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[str], data: st.DataObject
) -> None:
    counts = pw.count_texts(["of the of the", *corpus], preset=NAME)
    transition = data.draw(st.sampled_from([258, 0.2, 0.9]))
    trainer = ByteBPETrainer(270, min_frequency=1, special_tokens=(), transition=transition)
    expected = trainer.learn_vocabulary(counts)
    folder = tmp_path_factory.mktemp("checkpoint")
    merges = data.draw(st.integers(0, len(expected.merges)))
    interrupted_after(merges, folder, counts, trainer.by_characters(), expected)
    assert trainer.learn_vocabulary(counts, checkpoint=folder) == expected
    assert not list(folder.iterdir()), "a finished run leaves no checkpoint"


@given(corpus=corpora)
@settings(max_examples=40)
def test_each_size_equals_a_run_of_its_own(corpus: list[str]) -> None:
    counts = pw.count_texts(["of the of the", *corpus], preset=NAME)
    trainer = ByteBPETrainer(266, min_frequency=1, special_tokens=(), transition=260)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sizes = list(range(256, 267))
        together = trainer.learn_models(counts, sizes)
        for size in sizes:
            if size > 260:
                assert together[size] == trainer.sized(size).learn(counts)
        words = pw.count_texts(["of the of the", *corpus], preset="o200k")
        plain = ByteBPETrainer(260, min_frequency=1, special_tokens=())
        assert together[260] == plain.learn(words)


@given(corpus=corpora, parts=st.integers(1, 5))
@settings(max_examples=40)
def test_shards_give_the_tokenizer_of_the_whole(corpus: list[str], parts: int) -> None:
    texts = ["of the of the", *corpus]
    shards = [pw.count_texts(texts[at::parts], preset=NAME) for at in range(parts)]
    trainer = ByteBPETrainer(266, min_frequency=1, transition=260)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = pw.Tokenizer.train_from_counts(pw.count_texts(texts, preset=NAME), trainer)
        assert pw.Tokenizer.train_from_counts(sum(shards), trainer).to_str() == whole.to_str()


def trained(corpus: list[str], **how: Any) -> pw.Tokenizer:
    """Train with two entries of single words and all pairs of sequences."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = ByteBPETrainer(320, min_frequency=1, special_tokens=(), transition=258, **how)
        return pw.Tokenizer.train_from_iterator(["of the of the", *corpus], trainer)


def test_a_budget_in_memory_and_threads_do_not_change_the_counts(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("".join(f"line {n} of the {n % 7} book of the words\n" for n in range(3000)))
    expected = pw.count_files(path, preset=NAME)
    for num_threads in (1, 3):
        counts = pw.count_files(path, preset=NAME, memory="128MB", num_threads=num_threads)
        assert columns(counts) == columns(expected)
