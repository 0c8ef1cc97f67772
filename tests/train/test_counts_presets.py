"""Counts know the pipeline that made them: training needs no preset again, and errors name the option."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.spec import NFC, CustomPreTokenizer, WhitespaceSplit
from piecework.train import (
    PRESETS,
    BPETrainer,
    Pipeline,
    Preset,
    UnigramTrainer,
    WordPieceTrainer,
    learn_spec,
    learn_specs,
    recorded_pipeline,
)

Run = Callable[..., tuple[int, str, str]]

BERT_PRESETS = [name for name in PRESETS if name.startswith("bert-")]
TEXTS = ["low lower lowest", "new newer newest"] * 5


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    return tmp_path


def counts(preset: str) -> pw.Counts:
    return pw.count_texts(TEXTS, preset=preset)


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
@pytest.mark.parametrize(
    ("preset", "options"),
    [
        ("gpt2", ["--model", "byte-bpe"]),
        ("llama3", ["--model", "byte-bpe"]),
        ("bert-cased", []),
        ("whitespace", ["--model", "bpe"]),
        ("whitespace", ["--model", "wordpiece"]),
        ("sentencepiece", ["--model", "unigram", "--vocab-size", "20"]),
        ("sentencepiece", ["--vocab-size", "20"]),
        ("metaspace", []),
        ("characters", []),
        ("llama", ["--vocab-size", "270"]),
        ("llama", ["--vocab-size", "270", "--model-type", "unigram"]),
    ],
)
def test_a_counts_file_is_trained_with_its_preset(
    cli: Run, folder: Path, preset: str, options: list[str], suffix: str
) -> None:
    assert cli("count", "corpus.txt", "--preset", preset, "-o", f"c.{suffix}")[0] == 0
    verb = "train-sentencepiece" if preset in pw.train.SENTENCEPIECE_PRESETS else "train"
    code, _, errors = cli(verb, f"c.{suffix}", *options, "-o", "without.piecework")
    assert code == 0, errors
    code, _, errors = cli(verb, f"c.{suffix}", *options, "--preset", preset, "-o", "with.piecework")
    assert code == 0, errors
    files = [folder / "without.piecework", folder / "with.piecework"]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_byte_level_counts_without_a_model_give_byte_level_bpe(cli: Run, folder: Path) -> None:
    cli("count", "corpus.txt", "--preset", "gpt2", "-o", "c.tsv")
    assert cli("train", "c.tsv", "-o", "tok.json")[0] == 0
    tok = pw.Tokenizer.load("tok.json")
    assert tok.decode(tok.encode("naïve 日 ~\n").ids) == "naïve 日 ~\n"
    assert tok.spec == pw.Tokenizer.train("corpus.txt", model="byte-bpe").spec


@pytest.mark.parametrize(
    ("preset", "options", "message"),
    [
        (
            "gpt2",
            ["--model", "bpe"],
            "--model, c.tsv: 'bpe' does not support counts of preset 'gpt2', whose words are byte-level; use",
        ),
        (
            "gpt2",
            ["--model", "wordpiece"],
            (
                "--model, c.tsv: 'wordpiece' does not support counts of preset 'gpt2', whose words are "
                "byte-level;"
            ),
        ),
        (
            "bert-cased",
            ["--model", "byte-bpe"],
            "--model, c.tsv: 'byte-bpe' does not support counts of preset 'bert-cased'; use model 'bpe', or",
        ),
        (
            "metaspace",
            ["--model", "wordpiece"],
            (
                "--model, c.tsv: 'wordpiece' does not support counts of preset 'metaspace', whose words it "
                "cannot decode; use model 'bpe' or 'unigram', or counts made with preset 'bert-uncased'"
            ),
        ),
        (
            "bert-cased",
            ["--model", "char"],
            "--model, c.tsv: 'char' does not support counts of preset 'bert-cased', whose words it cannot",
        ),
        (
            "metaspace",
            ["--model", "bpe", "--end-of-word-suffix", "</w>"],
            (
                "--model, c.tsv: 'bpe' does not support counts of preset 'metaspace', whose words it cannot "
                "decode; use counts made with preset 'whitespace'"
            ),
        ),
        (
            "gpt2",
            ["--preset", "whitespace", "--model", "bpe"],
            (
                "--preset, c.tsv: 'whitespace' does not fit counts of preset 'gpt2'; pass no preset, or "
                "counts of"
            ),
        ),
        (
            "bert-cased",
            ["--model-type", "unigram"],
            "counts: have words of preset 'bert-cased'; use counts made with preset 't5', or a model",
        ),
        (
            "t5",
            [],
            "CORPUS: has counts of preset t5; piecework train-sentencepiece learns from them",
        ),
        (
            "t5",
            ["--preset", "bert-cased"],
            (
                "--preset, c.tsv: 'bert-cased' does not fit counts of preset 't5'; pass no preset, or "
                "counts of"
            ),
        ),
    ],
)
def test_a_mismatch_names_the_option(
    cli: Run, folder: Path, preset: str, options: list[str], message: str
) -> None:
    cli("count", "corpus.txt", "--preset", preset, "-o", "c.tsv")
    verb = "train-sentencepiece" if "--model-type" in options else "train"
    code, _, errors = cli(verb, "c.tsv", *options, "-o", "tok.piecework")
    assert code == 2
    assert message in errors
    assert not Path("tok.piecework").exists()


@pytest.mark.parametrize("model", ["unigram", "bpe"])
@pytest.mark.parametrize("preset", [*BERT_PRESETS, "punctuation", "whitespace"])
def test_counts_made_for_wordpiece_train_other_models(preset: str, model: str) -> None:
    counted = counts(preset)
    pipeline = PRESETS[preset].pipeline
    settings: Any = {"model": model, "vocab_size": 18}
    from_counts = pw.Tokenizer.train_from_counts(counted, **settings)
    own = Preset("mine", pipeline)
    assert from_counts == pw.Tokenizer.train_from_iterator(TEXTS, preset=own, **settings)
    trainer = UnigramTrainer(vocab_size=18) if model == "unigram" else BPETrainer(vocab_size=18)
    for spec in (learn_spec(counted, trainer), learn_specs(counted, trainer, [18])[18]):
        assert pw.Tokenizer.from_spec(spec) == from_counts
    assert from_counts.spec.normalizer == pipeline.normalizer
    assert from_counts.decode(from_counts.encode("low new").ids).replace(" ", "") == "lownew"
    with_words = pw.Tokenizer.train_from_counts(counted, model="wordpiece", vocab_size=40).spec
    assert (with_words.normalizer, with_words.pre_tokenizer) == (
        from_counts.spec.normalizer,
        from_counts.spec.pre_tokenizer,
    )


@pytest.mark.parametrize(
    ("model", "hint"),
    [("unigram", ""), ("bpe", "; --end-of-word-suffix '</w>' marks where words end")],
)
def test_the_command_says_how_such_a_model_decodes(
    cli: Run, folder: Path, model: str, hint: str
) -> None:
    cli("count", "corpus.txt", "-o", "c.tsv")
    options = ("--vocab-size", "18", "-o", "tok.json")
    code, _, errors = cli("train", "c.tsv", "--model", model, *options)
    assert code == 0
    assert f"{model} with preset bert-uncased lowercases and removes accents\n" in errors
    words = "words of preset bert-uncased have no spaces"
    assert f"decoding puts a space between all tokens: {words}{hint}\n" in errors
    cli("count", "corpus.txt", "--preset", "metaspace", "-o", "c.tsv")
    assert "decoding puts" not in cli("train", "c.tsv", "--model", model, *options)[2]


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
def test_no_rate_is_printed_for_counts(cli: Run, folder: Path, suffix: str) -> None:
    words = [f"word{number:07}" for number in range(100_000)]
    pw.Counts(words, [2] * len(words), pipeline=PRESETS["whitespace"].pipeline).save(f"c.{suffix}")
    options = ("--model", "word", "--vocab-size", "9")
    assert "MB/s" not in cli("train", f"c.{suffix}", *options, "-o", "tok.json")[2]
    assert "MB/s" not in cli("count", f"c.{suffix}", f"c.{suffix}", "-o", "d.tsv")[2]
    Path("large.txt").write_text("\n".join(words))
    assert "MB/s" in cli("train", "large.txt", *options, "-o", "tok.json")[2]


def test_counts_in_python_are_trained_with_their_preset() -> None:
    byte_level = pw.Tokenizer.train_from_counts(counts("gpt2"), vocab_size=265)
    assert byte_level == pw.Tokenizer.train_from_iterator(TEXTS, model="byte-bpe", vocab_size=265)
    cased = pw.Tokenizer.train_from_counts(counts("bert-cased"), WordPieceTrainer(vocab_size=30))
    assert cased == pw.Tokenizer.train_from_iterator(TEXTS, preset="bert-cased", vocab_size=30)
    spec = learn_spec(counts("whitespace"), BPETrainer(vocab_size=15))
    assert spec == learn_spec(counts("whitespace"), BPETrainer(vocab_size=15), "whitespace")
    assert learn_specs(counts("whitespace"), BPETrainer(), [15])[15] == spec


def test_counts_of_a_pipeline_without_a_preset_keep_it() -> None:
    own = pw.count_texts(TEXTS, preset=Pipeline(NFC(), WhitespaceSplit()))
    spec = pw.Tokenizer.train_from_counts(own, vocab_size=30).spec
    assert (spec.normalizer, spec.pre_tokenizer) == (NFC(), WhitespaceSplit())


def test_the_default_preset_remains_for_counts_that_do_not_know_theirs() -> None:
    words = pw.Counts(["hug", "pug"], [5, 4])
    assert pw.Tokenizer.train_from_counts(words, vocab_size=20).spec == (
        pw.Tokenizer.train_from_counts(words, vocab_size=20, preset="bert-uncased").spec
    )


def test_a_pipeline_without_its_functions_is_a_mismatch(folder: Path) -> None:
    stage = CustomPreTokenizer(str.split, "mine")
    pw.count_texts(TEXTS, preset=Pipeline(None, stage)).save("c.tsv")
    with pytest.raises(
        pw.errors.ArgumentError,
        match=(r"counts: have words of the pipeline CustomPreTokenizer\('mine', missing\); pass"),
    ):
        pw.Tokenizer.train_from_counts(pw.Counts.load("c.tsv"), vocab_size=30)


@pytest.mark.parametrize("name", ["c.tsv", "c.parquet"])
def test_the_recorded_pipeline_is_read_without_the_words(folder: Path, name: str) -> None:
    made = counts("llama3")
    made.save(name)
    assert recorded_pipeline(name) == made.pipeline
    pw.Counts(["hug"], [1]).save(name)
    assert recorded_pipeline(name) is None
    with pytest.raises(pw.errors.FileError):
        recorded_pipeline("missing.tsv")
