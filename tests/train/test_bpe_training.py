"""Training byte-pair models: worked examples, arithmetic, pipelines, files, wrong use."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import ArgumentError, TrainingError, TrainingWarning
from piecework.reference import bpe_model
from piecework.reference import bpe_training as reference
from piecework.spec import NFC, BPEDecoder, ByteLevelDecoder, Digits, SequencePreTokenizer
from piecework.spec.encodings import NAMED_PATTERNS, named_pre_tokenizer
from piecework.train import PRESETS, BPETrainer, ByteBPETrainer, Pipeline
from piecework.train.trainers.bpe import BYTE_ALPHABET
from tests.case_files import read_cases

CASES = read_cases("bpe_training.toml")
by_name = {"ids": lambda case: case["name"]}


def counts_of(words: list[list[Any]]) -> pw.Counts:
    return pw.Counts([word for word, _ in words], [count for _, count in words])


def trainer_of(case: dict[str, Any]) -> BPETrainer:
    settings = {"special_tokens": (), **case["settings"]}
    unknown = "<unk>" if "<unk>" in settings["special_tokens"] else None
    return BPETrainer(**settings, unk_token=unknown)


# ---- worked examples


@pytest.mark.parametrize("case", CASES["case"], **by_name)
def test_learning_gives_these_merges_and_entries(case: dict[str, Any]) -> None:
    learned = trainer_of(case).learn_vocabulary(counts_of(case["words"]))
    assert list(learned.entries) == case["vocab"]
    assert [[m.left, m.right, m.pair_count] for m in learned.merges] == case["merges"]


@pytest.mark.parametrize("case", CASES["case"], **by_name)
def test_the_reference_gives_the_same(case: dict[str, Any]) -> None:
    how = reference.Settings(**case["settings"])
    learned = reference.learn([(word, count) for word, count in case["words"]], how)
    assert learned.vocab == case["vocab"]
    merges = zip(learned.merges, learned.pair_counts, strict=True)
    assert [[*pair, count] for pair, count in merges] == case["merges"]


@pytest.mark.parametrize("case", [case for case in CASES["case"] if "encodings" in case], **by_name)
def test_words_are_split_by_the_learned_merges(case: dict[str, Any]) -> None:
    model = trainer_of(case).learn(counts_of(case["words"]))
    tokenizer = pw.Tokenizer.from_spec(pw.TokenizerSpec(model))
    for word, pieces in case["encodings"]:
        assert tokenizer.encode(word).tokens == pieces


@pytest.mark.parametrize("case", CASES["replay"], **by_name)
def test_merges_are_replayed_in_order(case: dict[str, Any]) -> None:
    how = reference.Settings(continuing_subword_prefix=case["prefix"])
    merges = [(left, right) for left, right in case["merges"]]
    merged = [reference.merged(pair, how) for pair in merges]
    for word, pieces in case["pieces"]:
        entries = dict.fromkeys([*reference.split(word, set(word), how), *merged])
        vocab = {entry: id for id, entry in enumerate(entries)}
        model = pw.spec.BPE(vocab, tuple(merges), continuing_subword_prefix=case["prefix"])
        assert [piece.token for piece in bpe_model.encode_word(word, model)] == pieces


@pytest.mark.parametrize("case", CASES["size"], **by_name)
def test_a_vocabulary_is_special_tokens_alphabet_and_merges(case: dict[str, Any]) -> None:
    assert case["special_tokens"] + case["alphabet"] + case["merges"] == case["vocab_size"]
    merges, alphabet = 40, case["alphabet"]
    letters = [chr(0x4E00 + number) for number in range(alphabet)]
    words = {first + second: 2 for first, second in pairwise(letters[:41])}
    counts = pw.Counts(list(words), list(words.values()))
    special_tokens = tuple(f"<{number}>" for number in range(case["special_tokens"]))
    trainer = BPETrainer(
        vocab_size=len(special_tokens) + alphabet + merges,
        initial_alphabet=tuple(letters),
        special_tokens=special_tokens,
        unk_token=None,
    )
    assert len(trainer.learn(counts).merges) == merges


# ---- byte level


def test_the_byte_alphabet_is_complete_and_sorted() -> None:
    model = ByteBPETrainer(vocab_size=257).learn(pw.count_texts(["a"], preset="gpt2"))
    assert list(model.vocab) == ["<|endoftext|>", *BYTE_ALPHABET]
    assert len(set(BYTE_ALPHABET)) == 256
    assert list(BYTE_ALPHABET) == sorted(BYTE_ALPHABET)


@pytest.mark.parametrize("preset", ["gpt2", "cl100k", "o200k", "llama3", "qwen2"])
def test_a_byte_level_preset_has_no_unknown_token_and_decodes(preset: str) -> None:
    tokenizer = pw.Tokenizer.train_from_iterator(
        ["to be, or not to be 1234\n\n"] * 3, model="byte-bpe", preset=preset, vocab_size=265
    )
    text = "To bé 12345,\n\n日本  x\t"
    assert tokenizer.spec.model.unk_token is None
    assert isinstance(tokenizer.spec.decoder, ByteLevelDecoder)
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_presets_cut_numbers_as_their_models_do() -> None:
    def numbers(preset: str) -> list[str]:
        return [word for word, _ in pw.count_texts(["12345"], preset=preset)]

    assert numbers("gpt2") == ["12345"]
    assert numbers("cl100k") == numbers("o200k") == numbers("llama3") == ["123", "45"]
    assert numbers("qwen2") == ["1", "2", "3", "4", "5"]
    assert isinstance(PRESETS["qwen2"].pipeline.normalizer, NFC)


@pytest.mark.parametrize("name", NAMED_PATTERNS)
def test_every_named_pattern_compiles_and_loses_nothing(name: str) -> None:
    pipeline = Pipeline(None, named_pre_tokenizer(name))
    text = "It's 12345 o'clock, M. DuPont;\n\n  日本語 déjà\tvu 🙂 "
    counts = pw.count_texts([text], preset=pipeline)
    assert sum(len(word) * count for word, count in counts) == len(text.encode())


def test_an_unknown_pattern_lists_the_known_ones() -> None:
    with pytest.raises(ArgumentError, match="gpt2, r50k"):
        named_pre_tokenizer("gpt9")


@pytest.mark.parametrize("preset", ["gpt2", "cl100k", "o200k"])
@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_is_counted_by_lines_with_their_ends(
    preset: str, num_threads: int, end: str, tmp_path: Path
) -> None:
    text = "One.\n\nTwo lines\n  indented;\n/path\n\nÜber\nZ\n\n\n" * 30_000  # two blocks
    text = text.replace("\n", end)
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    from_file = pw.count_files(path, preset=preset, num_threads=num_threads)
    assert from_file == pw.count_texts(text.splitlines(keepends=True), preset=preset)
    assert any("Ċ" in word for word in from_file.words)


def test_digits_are_a_matter_of_the_pre_tokenizer() -> None:
    byte_level = PRESETS["gpt2"].pipeline.pre_tokenizer
    assert byte_level is not None
    digits = SequencePreTokenizer((Digits(individual_digits=True), byte_level))
    counts = pw.count_texts(["in 1999 or 1998"], preset=Pipeline(None, digits))
    assert max(len(word) for word in counts.words if word[0].isdigit()) == 1


def test_byte_models_need_a_byte_level_pipeline() -> None:
    with pytest.raises(
        ArgumentError,
        match="preset: 'whitespace' does not support model 'byte-bpe'; use one of gpt2, cl100k, o200k,",
    ):
        pw.Tokenizer.train_from_iterator(["a"], model="byte-bpe", preset="whitespace")


# ---- learning again


def relearned(tokenizer: pw.Tokenizer, size: int) -> pw.Tokenizer:
    return tokenizer.train_new_from_iterator(["low lower lowest"] * 3, size)


def test_a_byte_level_tokenizer_learns_again_with_its_alphabet() -> None:
    old = pw.Tokenizer.train_from_iterator(
        ["hug"] * 2, model="byte-bpe", vocab_size=259, special_tokens=("<a>", "<b>")
    )
    new = relearned(old, 260)
    assert list(new.get_vocab())[:2] == ["<a>", "<b>"]
    assert len(new.spec.model.merges) == 2
    assert new.spec.pre_tokenizer == old.spec.pre_tokenizer
    assert new.decode(new.encode("ß").ids) == "ß"


def test_marks_and_unknown_token_are_kept() -> None:
    old = pw.Tokenizer.train_from_iterator(
        ["hug"] * 2, model="bpe", vocab_size=9, end_of_word_suffix="</w>"
    )
    assert old.spec.decoder == BPEDecoder(suffix="</w>")
    new = relearned(old, 20)
    assert new.spec.model.end_of_word_suffix == "</w>"
    assert new.spec.model.unk_token == "<unk>"
    assert new.encode("lower x").tokens == ["lower</w>", "<unk>"]
    assert new.decode(new.encode("low lower").ids) == "low lower"


def test_settings_that_the_tokenizer_determines_are_rejected() -> None:
    old = pw.Tokenizer.train_from_iterator(["hug"] * 2, model="byte-bpe", vocab_size=259)
    with pytest.raises(ArgumentError, match="initial_alphabet"):
        old.train_new_from_iterator(["a"], 300, initial_alphabet="abc")


# ---- wrong use


def test_stopping_early_gives_a_warning() -> None:
    with pytest.warns(TrainingWarning, match="no pair occurs 2 times any more"):
        BPETrainer(vocab_size=100).learn(pw.count_texts(["a b"], preset="whitespace"))


def test_a_vocabulary_too_small_for_its_alphabet_is_refused() -> None:
    with pytest.raises(TrainingError, match="at least 257"):
        ByteBPETrainer(vocab_size=200).learn(pw.count_texts(["a"], preset="gpt2"))


def test_progress_is_called_and_can_stop_the_learner() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BPETrainer(vocab_size=3).learn(pw.count_texts(["a b"], preset="whitespace"), stop)


def test_the_learned_tokenizer_survives_saving(tmp_path: Path) -> None:
    tokenizer = pw.Tokenizer.train_from_iterator(["hug hugs"] * 3, model="byte-bpe", vocab_size=262)
    tokenizer.save(tmp_path / "tokenizer.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pw.Tokenizer.load(tmp_path / "tokenizer.json").spec == tokenizer.spec
