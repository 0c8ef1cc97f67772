"""Unigram pieces by pruning: of characters, of bytes, of SentencePiece; sizes, tokens, files, errors."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tokenizers

import piecework as pw
from piecework.spec import Unigram
from piecework.train import (
    ByteUnigramTrainer,
    Merges,
    Pruning,
    SentencePieceTrainer,
    UnigramTrainer,
)

Run = Callable[..., tuple[int, str, str]]
WORDS = ["hug"] * 10 + ["pug"] * 5 + ["pun"] * 12 + ["bun"] * 4 + ["hugs"] * 5


@pytest.fixture(scope="module")
def lines(english_corpus: Path) -> list[str]:
    """Lines of English text."""
    return english_corpus.read_text(encoding="utf-8").splitlines()[:3000]


@pytest.fixture(scope="module")
def byte_level(lines: list[str]) -> pw.Tokenizer:
    """A tokenizer of byte strings."""
    trainer = ByteUnigramTrainer(vocab_size=1000, learner=Pruning())
    return pw.Tokenizer.train_from_iterator(lines, trainer)


def tokens_of(tokenizer: pw.Tokenizer, texts: list[str]) -> int:
    return int(tokenizer.encode_batch(texts, add_special_tokens=False).lengths.sum())


@pytest.mark.parametrize("kind", [UnigramTrainer, ByteUnigramTrainer])
@pytest.mark.parametrize("settings", [{}, {"balance": 1.0}, {"segmentation": "shortest"}])
def test_the_size_is_exact(kind: Any, settings: dict[str, Any], lines: list[str]) -> None:
    trainer = kind(vocab_size=600, learner=Pruning(**settings))
    assert pw.Tokenizer.train_from_iterator(lines, trainer).get_vocab_size() == 600


@pytest.mark.parametrize("kind", [UnigramTrainer, ByteUnigramTrainer])
def test_pruning_takes_fewer_tokens_than_likelihood(kind: Any, lines: list[str]) -> None:
    by_likelihood = pw.Tokenizer.train_from_iterator(lines, kind(vocab_size=1000))
    pruned = pw.Tokenizer.train_from_iterator(lines, kind(vocab_size=1000, learner=Pruning()))
    assert tokens_of(pruned, lines) < tokens_of(by_likelihood, lines)


def test_pieces_of_bytes_take_fewer_tokens_than_merges(
    byte_level: pw.Tokenizer, lines: list[str]
) -> None:
    merged = pw.Tokenizer.train_from_iterator(lines, model="byte-bpe", vocab_size=1000)
    assert tokens_of(byte_level, lines) < tokens_of(merged, lines)


def test_every_text_is_known_and_decodes_to_itself(byte_level: pw.Tokenizer) -> None:
    model = byte_level.spec.model
    assert isinstance(model, Unigram)
    assert model.unk_id is None
    draw = random.Random(4)
    texts = ["".join(map(chr, draw.choices(range(1, 0x3000), k=40))) for _ in range(200)]
    for text in ["", "naïve 日\n", "a" * 5000, " " * 300, "\x00\x7f", *texts]:
        assert byte_level.decode(byte_level.encode(text).ids) == text


def test_tokenizers_reads_it_and_gives_the_same_ids(
    byte_level: pw.Tokenizer, lines: list[str], tmp_path: Path
) -> None:
    byte_level.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    draw = random.Random(5)
    alphabet = ["hug", "s", " ", "  ", "é", "日本", "☃", "\n", "1234", "\x00", "=" * 300, "'ll"]
    random_texts = ["".join(draw.choices(alphabet, k=draw.randint(0, 30))) for _ in range(1000)]
    for text in [*lines[:500], *random_texts, "<|endoftext|>a<|endoftext|>"]:
        assert byte_level.encode(text).ids == theirs.encode(text).ids, text


def test_an_unigram_of_characters_has_the_ids_of_tokenizers_too(
    lines: list[str], tmp_path: Path
) -> None:
    trainer = UnigramTrainer(vocab_size=700, learner=Pruning(balance=2.0))
    tokenizer = pw.Tokenizer.train_from_iterator(lines, trainer)
    tokenizer.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in lines[:500]:
        assert tokenizer.encode(text).ids == theirs.encode(text).ids, text


@pytest.mark.parametrize("settings", [{}, {"balance": 2.0}])
def test_a_sentencepiece_model_has_the_ids_of_sentencepiece(
    settings: dict[str, Any], lines: list[str], tmp_path: Path
) -> None:
    trainer = SentencePieceTrainer(vocab_size=700, learner=Pruning(**settings))
    tokenizer = pw.Tokenizer.train_from_iterator(lines, trainer)
    assert tokenizer.get_vocab_size() == 700
    tokenizer.save(tmp_path / "x.model")
    assert pw.Tokenizer.load(tmp_path / "x.model") == tokenizer
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "x.model"))
    draw = random.Random(6)
    alphabet = ["hug", "s", " ", "  ", "é", "日本", "\n", "1234", "the", "ing", "e" * 40, "'ll"]
    random_texts = ["".join(draw.choices(alphabet, k=draw.randint(0, 30))) for _ in range(1000)]
    for text in [*lines, *random_texts]:
        assert tokenizer.encode(text).ids == theirs.encode(text), text


def test_a_sentencepiece_model_by_pruning_takes_fewer_tokens(lines: list[str]) -> None:
    found = [
        tokens_of(pw.Tokenizer.train_from_iterator(lines, trainer), lines)
        for trainer in (
            SentencePieceTrainer(vocab_size=1000, learner=Pruning()),
            SentencePieceTrainer(vocab_size=1000),
            SentencePieceTrainer("bpe", vocab_size=1000),
        )
    ]
    assert found[0] < min(found[1:])


def test_pieces_of_a_sentencepiece_model_equal_those_of_unigram_where_their_settings_are_the_same(
    lines: list[str],
) -> None:
    trainer = SentencePieceTrainer(
        vocab_size=600, learner=Pruning(), split_by_unicode_script=False, split_by_number=False
    )
    counts = pw.count_texts(lines, preset=trainer.pipeline)
    other = UnigramTrainer(vocab_size=600, learner=Pruning())
    expected = [
        (piece, float(np.float32(score))) for piece, score in other.learn_pieces(counts).pieces[3:]
    ]
    assert list(trainer.learn_pieces(counts).pieces) == expected


def test_a_vocabulary_is_the_same_on_every_machine_and_any_number_of_threads() -> None:
    draw = random.Random(3)
    words = {"".join(draw.choices("abcdeé", k=draw.randint(2, 9))) for _ in range(16_000)}
    counts = pw.Counts(sorted(words), [draw.randint(1, 9) for _ in words])
    found = set()
    for num_threads in (1, 2, 3):
        trainer = UnigramTrainer(vocab_size=300, learner=Pruning(balance=0.5))
        pieces = trainer.learn_pieces(counts, num_threads=num_threads).pieces
        scores = np.array([score for _, score in pieces]).tobytes()
        found.add((zlib.crc32("\n".join(piece for piece, _ in pieces).encode()), scores))
    assert len(found) == 1
    assert {names for names, _ in found} == {3479998288}


def test_long_words_are_learned_in_parts() -> None:
    counts = pw.Counts(["ab" * 400, "abab"], [3, 1])
    trainer = UnigramTrainer(vocab_size=6, special_tokens=("<unk>",), learner=Pruning())
    pieces = [piece for piece, _ in trainer.learn_pieces(counts).pieces]
    assert max(map(len, pieces)) > 10


def test_retraining_keeps_all_bytes(byte_level: pw.Tokenizer) -> None:
    new = byte_level.train_new_from_iterator(WORDS, vocab_size=259, learner=Pruning())
    assert new.decode(new.encode("日本 hug").ids) == "日本 hug"
    assert new.spec.pre_tokenizer == byte_level.spec.pre_tokenizer
    assert new.token_to_id("hug") is not None


def test_too_few_substrings_give_a_smaller_vocabulary_with_a_warning() -> None:
    trainer = UnigramTrainer(vocab_size=1000, learner=Pruning())
    with pytest.warns(pw.errors.TrainingWarning, match="no more substrings occur 2 times"):
        tokenizer = pw.Tokenizer.train_from_iterator(WORDS, trainer)
    assert tokenizer.encode("hugs").tokens == ["▁hugs"]


@pytest.mark.parametrize(
    ("trainer", "needed"),
    [
        (
            UnigramTrainer(9, learner=Pruning()),
            "at least 11 (3 reserved entries and an alphabet of 8)",
        ),
        (
            ByteUnigramTrainer(256, learner=Pruning()),
            "at least 257 (1 reserved entry and an alphabet of 256)",
        ),
    ],
)
def test_a_size_below_the_alphabet_is_an_error(trainer: Any, needed: str) -> None:
    with pytest.raises(pw.errors.TrainingError) as caught:
        pw.Tokenizer.train_from_iterator(WORDS, trainer)
    assert needed in str(caught.value)


def test_no_text_is_an_error() -> None:
    with pytest.raises(pw.errors.CorpusError, match="no words"):
        pw.Tokenizer.train_from_iterator([], ByteUnigramTrainer(300, learner=Pruning()))


@pytest.mark.parametrize("kind", [UnigramTrainer, ByteUnigramTrainer])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"learner": Pruning(seed_vocab_size=9000)},
            r"learner: Pruning\(.*\) has the number of seeds; pass seed_vocab_size=9000 beside it",
        ),
        (
            {"learner": Pruning(), "shrinking_factor": 0.5},
            r"shrinking_factor: 0.5 does not apply with Pruning\(",
        ),
        (
            {"learner": Pruning(), "vocab_size": 500, "seed_vocab_size": 499},
            "seed_vocab_size: must be an integer of at least 500.*, not 499",
        ),
        ({"learner": Merges()}, r"learner: must be Pruning\(\) of piecework.train, not Merges"),
        ({"learner": "pruning"}, r"learner: must be Pruning\(\) .*; use Pruning\("),
    ],
)
def test_settings_that_do_not_fit_together_are_errors(
    kind: Any, settings: dict[str, Any], message: str
) -> None:
    for make in (kind, lambda **how: replace(kind(), **how)):
        with pytest.raises(pw.errors.ArgumentError, match=message):
            make(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"learner": Pruning(segmentation="shortest")},
            r"learner: Pruning\(.*: a .model has scores of 32 bits, too few for it; use UnigramTrainer",
        ),
        ({"model_type": "bpe"}, "learner, model_type: needs a model of type 'unigram', not 'bpe'"),
        (
            {"seed_sentencepiece_size": 5000},
            r"seed_sentencepiece_size: 5000 does not apply with Pruning\(.*: pass Pruning\(seed_",
        ),
        (
            {"seed_sentencepieces_file": "seeds.tsv"},
            r"seed_sentencepieces_file: 'seeds.tsv' does not apply with Pruning\(.*own seeds",
        ),
        (
            {"shrinking_factor": 0.5},
            r"shrinking_factor: 0.5 does not apply with Pruning\(",
        ),
        (
            {"learner": Pruning(seed_vocab_size=499), "vocab_size": 500},
            "seed_vocab_size: must be an integer of at least 500.*, not 499",
        ),
        ({"learner": Merges()}, r"learner: must be Pruning\(\) of piecework.train, not Merges"),
        ({"learner": "pruning"}, r"learner: must be Pruning\(\) .*; use Pruning\("),
    ],
)
def test_settings_of_sentencepiece_that_do_not_fit_together_are_errors(
    settings: dict[str, Any], message: str
) -> None:
    for make in (SentencePieceTrainer, lambda **how: replace(SentencePieceTrainer(), **how)):
        with pytest.raises(pw.errors.ArgumentError, match=message):
            make(**{"learner": Pruning(), **settings})


def test_presets_of_characters_and_bytes_are_told_apart() -> None:
    with pytest.raises(pw.errors.ArgumentError, match=r"use model 'byte-unigram' \(ByteUnigram"):
        pw.Tokenizer.train_from_iterator(WORDS, model="unigram", preset="gpt2")
    with pytest.raises(pw.errors.ArgumentError, match="does not support model 'byte-unigram'"):
        pw.Tokenizer.train_from_iterator(WORDS, model="byte-unigram", preset="metaspace")


def test_the_command_trains_with_a_learner(cli: Run, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "tokenizer.json"
    corpus.write_text("\n".join(WORDS))
    common = ["train", str(corpus), "-o", str(out)]
    for options, trainer in (
        (
            ["--model", "unigram", "--learner", "pruning", "--vocab-size", "13"],
            UnigramTrainer(13, learner=Pruning()),
        ),
        (
            [
                "--model",
                "unigram",
                "--balance",
                "2",
                "--vocab-size",
                "13",
                "--seed-vocab-size",
                "20",
            ],
            UnigramTrainer(13, learner=Pruning(balance=2), seed_vocab_size=20),
        ),
        (
            ["--model", "byte-unigram", "--learner", "pruning", "--vocab-size", "262"],
            ByteUnigramTrainer(262, learner=Pruning()),
        ),
    ):
        code, _, err = cli(*common, *options, "--checkpoint", str(tmp_path / "state"))
        assert code == 0, err
        assert pw.Tokenizer.load(out) == pw.Tokenizer.train(corpus, trainer)
    code, _, err = cli(*common, "--model", "unigram", "--balance", "2", "--shrinking-factor", "0.5")
    assert (code, "--shrinking-factor: 0.5 does not apply with" in err) == (2, True), err


def test_the_command_trains_sentencepiece_with_a_learner(cli: Run, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "x.model"
    corpus.write_text("\n".join(WORDS))
    common = ["train-sentencepiece", str(corpus), "-o", str(out), "--vocab-size", "13"]
    for options, learner in (
        (["--learner", "pruning"], Pruning()),
        (["--balance", "2", "--seed-vocab-size", "20"], Pruning(balance=2, seed_vocab_size=20)),
    ):
        code, _, err = cli(*common, *options, "--checkpoint", str(tmp_path / "state"))
        assert code == 0, err
        trainer = SentencePieceTrainer(vocab_size=13, learner=learner)
        assert pw.Tokenizer.load(out) == pw.Tokenizer.train(corpus, trainer)
    code, _, err = cli(*common, "--balance", "2", "--shrinking-factor", "0.5")
    assert (code, "--shrinking-factor: 0.5 does not apply with" in err) == (2, True), err
    code, _, err = cli(*common, "--balance", "2", "--model-type", "bpe")
    assert (code, "--learner" in err) == (2, True), err
