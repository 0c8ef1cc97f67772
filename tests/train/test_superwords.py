"""Superwords in use: errors, saved files, retraining, and the command line."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers

import piecework as pw
from piecework.errors import ArgumentError, TrainingError, TrainingWarning
from piecework.train import BPETrainer, ByteBPETrainer
from piecework.train.trainer import by_characters, traits_of
from tests.differential import peer
from tests.processes import run_command

NAME = "o200k-superwords"
TEXTS = [
    "It was the best of times, it was the worst of times.",
    "One of the dogs is in the house; two of the cats don't care. In the end, 12 of the 30 went.",
    "Byl to jeden z nejlepších časů. Byl to jeden z nejhorších časů.",
] * 8


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, model="byte-bpe", vocab_size=360, transition=335)


def test_entries_cross_spaces(tok: pw.Tokenizer) -> None:
    assert tok.encode("one of the dogs").tokens == ["o", "ne", "ĠofĠthe", "Ġdogs"]
    assert tok.spec.pre_tokenizer == pw.train.PRESETS[NAME].pipeline.pre_tokenizer


def test_without_a_transition_nothing_crosses_spaces() -> None:
    tok = pw.Tokenizer.train_from_iterator(TEXTS, preset="o200k", vocab_size=400)
    assert not any("Ġ" in token[1:] and token.strip("Ġ") for token in tok.get_vocab())


@pytest.mark.parametrize("preset", ["o200k", "gpt2", "bert-uncased"])
def test_counts_of_words_are_refused_with_what_to_count(preset: str) -> None:
    counts = pw.count_texts(TEXTS, preset=preset)
    trainer = ByteBPETrainer(400, transition=340)
    expected = rf"counts: have words of preset '{preset}'; .* count again with preset '{NAME}'"
    with pytest.raises(ArgumentError, match=expected):
        pw.Tokenizer.train_from_counts(counts, trainer)
    with pytest.raises(ArgumentError, match=expected):
        trainer.learn(counts)


def test_counts_without_a_pipeline_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"counts: have words of the pipeline unknown"):
        ByteBPETrainer(400, transition=340).learn(pw.Counts(["ofĠthe"], [3]))


def test_sequences_have_a_default_transition() -> None:
    named = pw.Tokenizer.train_from_iterator(TEXTS, preset=NAME, vocab_size=330)
    given = pw.Tokenizer.train_from_iterator(TEXTS, preset=NAME, vocab_size=330, transition=312)
    assert named.get_vocab() == given.get_vocab()
    counts = pw.count_texts(TEXTS, preset=NAME)
    assert pw.Tokenizer.train_from_counts(counts, vocab_size=330).to_str() == named.to_str()


def test_sequences_and_a_transition_need_each_other() -> None:
    with pytest.raises(ArgumentError, match=rf"preset: '{NAME}' .* or transition="):
        pw.Tokenizer.train_from_iterator(TEXTS, ByteBPETrainer(400), preset=NAME)
    with pytest.raises(ArgumentError, match=r"preset: 'o200k' does not support"):
        pw.Tokenizer.train_from_iterator(
            TEXTS, model="byte-bpe", preset="o200k", vocab_size=400, transition=340
        )


@pytest.mark.parametrize("transition", [400, 500])
def test_a_transition_is_below_the_size(transition: int) -> None:
    with pytest.raises(ArgumentError, match="transition: must be less than 400, the vocab_size"):
        ByteBPETrainer(400, transition=transition)


def test_a_transition_that_the_words_do_not_reach_is_named() -> None:
    with pytest.raises(TrainingError, match=r"^transition: must be at most \d+, the entries that"):
        pw.Tokenizer.train_from_iterator(
            TEXTS[:1], model="byte-bpe", vocab_size=900, transition=800
        )


def test_a_share_that_the_words_do_not_reach_is_followed_by_entries_that_cross_spaces() -> None:
    for settings in ({"transition": 0.9}, {"preset": NAME}):
        with pytest.warns(TrainingWarning, match="stopped early"):
            tok = pw.Tokenizer.train_from_iterator(
                TEXTS, model="byte-bpe", vocab_size=900, **settings
            )
        assert "ĠofĠthe" in tok.get_vocab()


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5, float("nan")])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(
        ArgumentError, match="transition: must be an integer of at least 1, or a share"
    ):
        ByteBPETrainer(400, transition=share)


def test_each_size_has_its_own_share() -> None:
    counts = pw.count_texts(TEXTS, preset=NAME)
    trainer = ByteBPETrainer(360, transition=0.75)
    assert not traits_of(trainer).learns_together
    models = trainer._learn_models(counts, [300, 360])
    assert models[300] == replace(trainer, vocab_size=300).learn(counts)
    assert "ĠtheĠ" in models[300].vocab


def test_a_transition_below_the_alphabet_is_an_error() -> None:
    with pytest.raises(TrainingError, match="transition: must be at least 257"):
        pw.Tokenizer.train_from_iterator(TEXTS, model="byte-bpe", vocab_size=400, transition=99)


def test_marked_words_have_no_superwords() -> None:
    with pytest.raises(ArgumentError, match="transition: cannot be combined with a prefix"):
        BPETrainer(400, transition=300, end_of_word_suffix="</w>")


def test_parity_has_no_superwords() -> None:
    with pytest.raises(ArgumentError, match="transition, parity: cannot be combined"):
        ByteBPETrainer(400, transition=300, parity=True)


def test_training_with_superwords_is_not_traced() -> None:
    counts = pw.count_texts(TEXTS, preset=NAME)
    with pytest.raises(ArgumentError, match="transition: cannot be traced"):
        pw.analysis.explain_training(counts, ByteBPETrainer(400, transition=335))


def test_words_that_are_not_bytes_are_named() -> None:
    sequences = pw.Counts._of_columns(["a b"], [3], None, pw.train.PRESETS[NAME].pipeline)
    with pytest.raises(ArgumentError, match=r"^words\[0\]: must be words of .* not \"a b\""):
        ByteBPETrainer(400, transition=300).learn(sequences)


def test_the_saved_file_has_the_same_ids_in_tokenizers(tok: pw.Tokenizer, tmp_path: Path) -> None:
    tok.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    again = pw.Tokenizer.load(tmp_path / "tokenizer.json")
    for text in drawn_texts(2_000):
        ids = theirs.encode(text).ids
        assert tok.encode(text).ids == ids, text
        assert again.encode(text).ids == ids


@pytest.mark.slow
def test_every_code_point_and_many_texts_have_the_same_ids_in_tokenizers(tok: pw.Tokenizer) -> None:
    """Of the code points far from assigned ones, only an eighth unless everything is asked for."""
    theirs = tokenizers.Tokenizer.from_str(tok.to_str())
    points = peer.code_points(0, 1)
    lines = [f"of the{c} the of{c}{c} of {c} the {c}of the" for c in points]
    for texts in (lines, drawn_texts(100_000 if peer.FULL else 20_000)):
        expected = theirs.encode_batch(texts)
        for text, found, theirs_ids in zip(texts, tok.encode_batch(texts), expected, strict=True):
            assert list(found.ids) == theirs_ids.ids, text


def drawn_texts(number: int) -> list[str]:
    draw = random.Random(7)
    parts = [word for text in TEXTS[:3] for word in text.split(" ")]
    parts += ["é", "e\u0301", "漢字", "\u0915\u093f", "12", "!!\u0301", "'s", "\n", " ", "\u00a0"]
    return [
        "".join(draw.choice(parts) + draw.choice([" ", " ", " ", "", "  "]) for _ in range(12))
        for _ in range(number)
    ]


def test_entries_may_stay_within_punctuation() -> None:
    settings = {"model": "byte-bpe", "vocab_size": 400, "transition": 340, "min_frequency": 1}
    crossing, within = (
        pw.Tokenizer.train_from_iterator(TEXTS, **settings, cross_punctuation=cross)
        for cross in (True, False)
    )
    assert any("Ġ" in token[1:] and "," in token for token in crossing.get_vocab())
    assert not any("," in token and len(token) > 1 for token in within.get_vocab())
    assert "ĠofĠthe" in within.get_vocab()


def test_retraining_keeps_the_share_of_superwords(tok: pw.Tokenizer) -> None:
    assert tok.train_new_from_iterator(TEXTS, 360).to_str() == tok.to_str()
    smaller = tok.train_new_from_iterator(TEXTS, 330)
    given = pw.Tokenizer.train_from_iterator(TEXTS, preset=NAME, vocab_size=330, transition=312)
    assert smaller.get_vocab() == given.get_vocab()
    other = tok.train_new_from_iterator(TEXTS, 360, transition=300)
    assert len(set(other.get_vocab()) - set(tok.get_vocab())) > 5


def test_a_trainer_says_what_it_learns() -> None:
    trainer = ByteBPETrainer(400, transition=340, max_words=2)
    assert by_characters(trainer).transition == 340
    assert not by_characters(replace(trainer, cross_punctuation=False)).cross_punctuation
    assert trainer._sized(340).transition is None
    assert trainer._sized(341).transition == 340
    assert replace(trainer, transition=None)._presets[0] == "gpt2"


def test_the_command_line_learns_from_counts_and_from_text(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(TEXTS), encoding="utf-8")
    made = []
    counts = tmp_path / "counts.tsv"
    run_command("count", corpus, "--preset", NAME, "-o", counts)
    for given in (corpus, counts):
        out = tmp_path / f"{given.stem}.json"
        more = ["--model", "byte-bpe", "--vocab-size", "400", "--transition", "340"]
        run_command("train", given, *more, "--max-words", "2", "-o", out)
        made.append(pw.Tokenizer.load(out))
    assert made[0].get_vocab() == made[1].get_vocab()
    assert "ĠofĠthe" in made[0].get_vocab()
