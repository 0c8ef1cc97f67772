"""Formats that cannot store a tokenizer are refused before the corpus is read; the error names others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import piecework as pw
from piecework.io.saving import TOKENIZER_FORMATS, check_format
from piecework.train.plan import Plan

Run = Callable[..., tuple[int, str, str]]

TEXTS = ["low lower lowest", "new newer newest"]
NO_CORPUS = "no-such-corpus.txt"  # reading it would be the error


def trained(model: str) -> pw.Tokenizer:
    size = {"byte-bpe": 270, "byte-unigram": 270, "unigram": 12}.get(model, 30)
    return pw.Tokenizer.train_from_iterator(TEXTS * 3, model=model, vocab_size=size)


@pytest.mark.parametrize(
    ("options", "name", "message"),
    [
        (
            ["--model", "byte-bpe"],
            "z.txt",
            "a vocab.txt stores no merges; write .json, .tiktoken or .piecework, or a folder, or train "
            "with --model wordpiece",
        ),
        (["--model", "bpe"], "z.txt", "stores no merges; write .json or .piecework, or a folder"),
        (["--model", "unigram"], "z.txt", "a vocab.txt stores no scores; write .json or .piecework"),
        (["--model-type", "bpe"], "z.txt", "a vocab.txt stores no scores; write .json, .model or .piecework"),
        (["--model", "char"], "z.txt", "a vocab.txt is read as WordPiece; write .json"),
        (["--model", "unigram"], "z.model", "train with piecework train-sentencepiece --model-type unigram"),
        (["--model", "bpe"], "z.model", "or train with piecework train-sentencepiece --model-type bpe"),
        (["--model", "word"], "z.vocab", "or train with piecework train-sentencepiece --model-type word"),
        ([], "z.tiktoken", "byte-level BPE only; write .json, .txt or .piecework, or a folder, or train "),
        (["--model", "bpe"], "z.tiktoken", "or train with --model byte-bpe"),
        ([], "z.vocab", "SentencePiece files store SentencePiece models only"),
        (["--model-type", "word"], "z.json", "write .model or .piecework"),
        (["--model-type", "word"], "z/", "write .model or .piecework"),
        (["--model-type", "word"], "-", "write .model or .piecework"),
        (["--model", "bpe", "--vocab-size", "20,30"], "z-{size}.txt", "stores no merges"),
        (["--model", "bpe", "--vocab-size", "20,30"], "z.txt", "stores no merges"),
    ],
)  # fmt: skip
def test_train_refuses_a_format_before_it_reads_the_corpus(
    cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    options: list[str], name: str, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    verb = "train-sentencepiece" if "--model-type" in options else "train"
    code, _, errors = cli(verb, NO_CORPUS, *options, "-o", name)
    assert code == 2
    assert message in errors
    assert errors.startswith(f"piecework: error: --output {name.split('.')[0].split('-{')[0]}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "model", ["wordpiece", "bpe", "byte-bpe", "unigram", "byte-unigram", "word", "char"]
)
def test_the_smallest_tokenizer_fits_the_formats_of_the_trained_one(model: str) -> None:
    smallest = pw.Tokenizer.from_spec(Plan.of(model=model).smallest_spec())
    learned = trained(model)
    assert refused(smallest) == refused(learned)
    assert type(smallest.spec.decoder) is type(learned.spec.decoder)
    assert smallest.spec.pre_tokenizer == learned.spec.pre_tokenizer


def refused(tokenizer: pw.Tokenizer) -> set[str]:
    found = set()
    for suffix in TOKENIZER_FORMATS:
        try:
            check_format(tokenizer, f"x{suffix}")
        except pw.PieceworkError:
            found.add(suffix)
    return found


@pytest.mark.parametrize(
    ("settings", "suffixes"),
    [
        ({"model_type": "bpe", "normalization_rule_name": "identity"}, {".txt", ".tiktoken"}),
        ({"model_type": "word"}, {".json", ".txt", ".tiktoken"}),
        ({"model_type": "char", "pad_id": 40, "normalization_rule_name": "identity"}, {".txt", ".tiktoken"}),
    ],
)  # fmt: skip
def test_the_smallest_sentencepiece_model_can_be_saved_as_one(
    settings: dict[str, object], suffixes: set[str]
) -> None:
    plan = Plan.of(model="sentencepiece", **settings)
    assert refused(pw.Tokenizer.from_spec(plan.smallest_spec())) == suffixes


@pytest.mark.parametrize("preset", list(pw.train.SENTENCEPIECE_PRESETS))
def test_the_smallest_model_of_a_preset_can_be_saved_as_a_model(preset: str) -> None:
    spec = Plan.of(preset=preset).smallest_spec()
    check_format(pw.Tokenizer.from_spec(spec), "x.model")


@pytest.mark.parametrize(
    ("model", "lacks"),
    [("bpe", "no merges"), ("byte-bpe", "no merges"), ("unigram", "no scores")],
)
def test_a_vocab_txt_without_merges_or_scores_is_not_saved(
    tmp_path: Path, model: str, lacks: str
) -> None:
    path = tmp_path / "x.txt"
    with pytest.raises(
        pw.errors.VocabularyError, match=rf"x\.txt: a vocab\.txt stores {lacks}; write"
    ):
        trained(model).save(path)
    assert not path.exists()


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_convert_refuses_a_vocab_txt_under_its_own_name(
    cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, force: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    trained("bpe").save("bpe.json")
    code, _, errors = cli("convert", "bpe.json", "x.txt", *force)
    assert code == 2
    assert errors.startswith("piecework: error: x.txt: a vocab.txt stores no merges; write .json")
    assert not Path("x.txt").exists()


def test_convert_names_what_a_target_lacks(
    cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    trained("wordpiece").save("wordpiece.json")
    trained("word").save("word.json")
    pw.Tokenizer.train_from_iterator(TEXTS * 3, preset="llama", vocab_size=275).save("spm.model")
    for arguments, message in (
        (["spm.model", "x.vocab"], "x.vocab: a .vocab lists pieces and scores, and is not a tokenizer"),
        (["wordpiece.json", "x.model"], "x.model: model: must be a Unigram model, not WordPiece"),
        (["wordpiece.json", "x.txt", "--unigram", NO_CORPUS], "x.txt: a vocab.txt stores no scores"),
        (["wordpiece.json", "x.model", "--unigram", NO_CORPUS], (
            "x.model: normalizer: must be Precompiled, then the removal of extra "
            "spaces, not BertNormalizer"
        )),
        (["word.json", "x.json", "--unigram", NO_CORPUS], "--unigram: converts a WordPiece tokenizer, not"),
    ):  # fmt: skip
        code, _, errors = cli("convert", *arguments)
        assert code == 2
        assert message in errors
        assert "/tmp" not in errors


def test_extend_refuses_a_vocab_txt_before_it_reads_the_corpus(
    cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    trained("byte-bpe").save("old.json")
    code, _, errors = cli("extend", "old.json", NO_CORPUS, "-n", "5", "-o", "new.txt")
    assert code == 2
    assert "new.txt: a vocab.txt stores no merges; write .json" in errors


def test_a_tokenizer_that_its_format_cannot_store_after_all_is_kept(
    cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("digits.txt").write_text("12 123 1234 12 13\n" * 9)
    to_str = pw.Tokenizer.to_str

    def refused(tokenizer: pw.Tokenizer, **options: bool) -> str:
        if "2" in tokenizer.get_vocab():
            raise pw.errors.PortabilityError("pieces", "a piece that others would match in text")
        return to_str(tokenizer, **options)

    monkeypatch.setattr(pw.Tokenizer, "to_str", refused)
    options = ["--normalization-rule-name", "identity", "--vocab-size", "12"]
    code, _, errors = cli("train-sentencepiece", "digits.txt", *options, "-o", "z.json")
    assert code == 2
    assert "saved as z.piecework instead, which `piecework convert` reads" in errors
    assert "would match in text" in errors
    assert pw.Tokenizer.load("z.piecework").get_vocab_size() == 12
    assert not Path("z.json").exists()
