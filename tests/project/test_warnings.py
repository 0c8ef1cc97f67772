"""Warnings name the line that called the package, through whatever the call goes inside."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import piecework as pw
from piecework.train import NormalizationRules

WORDS = ["hug hugs pug bugs"] * 9
Call = Callable[[Path], object]
KINDS = (
    pw.errors.CorpusWarning,
    pw.errors.FormatWarning,
    pw.errors.PortabilityWarning,
    pw.errors.TrainingWarning,
)


def _bad_utf8(folder: Path) -> Path:
    path = folder / "corpus.txt"
    path.write_bytes(b"hug hugs \xff pug\n" * 9)
    return path


def _broken_json(folder: Path) -> Path:
    path = folder / "corpus.jsonl"
    path.write_text('{"text": "hug pug"}\n{"text": \n')
    return path


def _json_as_text(folder: Path) -> Path:
    path = folder / "corpus.txt"
    path.write_text('{"text": "hug pug"}\n')
    return path


def _list_with_a_blank_line(folder: Path) -> Path:
    path = folder / "vocab.txt"
    path.write_text("[UNK]\nhug\n\npug\n")
    return path


def _truncating(folder: Path) -> Path:
    path = folder / "tokenizer.json"
    pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})).with_truncation(2).save(path)
    return path


def _folder(folder: Path) -> Path:
    config = {"tokenizer_class": "LlamaTokenizer"}
    pw.Tokenizer.train_from_iterator(WORDS, model="byte-bpe", vocab_size=260).save(
        folder / "tokenizer.json"
    )
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def _small() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(WORDS, vocab_size=18)


def _extend(_: Path) -> object:
    return pw.vocabulary.extend(_small(), ["hugs"], 1_000)


def _dropping_line_ends() -> pw.Tokenizer:
    rules = NormalizationRules.named("nmt_nfkc").charsmap
    model = pw.spec.SentencePiece((pw.spec.ScoredPiece("<unk>", 0.0, "unknown"),))
    return pw.Tokenizer(model, normalizer=pw.spec.SentencePieceNormalizer(charsmap=rules))


def _with_role(folder: Path) -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})).with_roles(mask_token="hug")
    tok.save(f"{folder}/saved/")


CALLS: dict[str, Call] = {
    "train": lambda folder: pw.Tokenizer.train(_bad_utf8(folder), vocab_size=16),
    "train with sampled sentences": lambda folder: pw.Tokenizer.train(
        _bad_utf8(folder),
        model="sentencepiece",
        model_type="char",
        vocab_size=11,
        input_sentence_size=5,
    ),
    "count_files": lambda folder: pw.train.count_files(_bad_utf8(folder)),
    "count_files_to": lambda folder: pw.train.count_files_to(
        folder / "counts.tsv", _bad_utf8(folder)
    ),
    "count_files of long words": lambda folder: pw.train.count_files(
        _json_as_text(folder), max_word_length=2
    ),
    "count_texts": lambda _: pw.train.count_texts(WORDS, max_word_length=2),
    "train_from_iterator": lambda _: pw.Tokenizer.train_from_iterator(WORDS, vocab_size=1_000),
    "train BPE": lambda _: pw.Tokenizer.train_from_iterator(WORDS, model="bpe", vocab_size=1_000),
    "train Unigram": lambda _: pw.Tokenizer.train_from_iterator(
        WORDS, model="unigram", vocab_size=1_000
    ),
    "train_new_from_iterator": lambda _: _small().train_new_from_iterator(WORDS, 1_000),
    "extend": _extend,
    "read_corpus with skipped lines": lambda folder: list(
        pw.corpus.read_corpus(_broken_json(folder), on_error="skip")
    ),
    "read_corpus of JSON": lambda folder: list(pw.corpus.read_corpus(_json_as_text(folder))),
    "load": lambda folder: pw.Tokenizer.load(_truncating(folder)),
    "load of a list": lambda folder: pw.Tokenizer.load(_list_with_a_blank_line(folder)),
    "load of a folder": lambda folder: pw.Tokenizer.load(_folder(folder)),
    "from_str": lambda folder: pw.Tokenizer.from_str(_truncating(folder).read_text()),
    "from_bytes": lambda folder: pw.Tokenizer.from_bytes(_truncating(folder).read_bytes()),
    "save a role": _with_role,
    "with_added_tokens": lambda _: _dropping_line_ends().with_added_tokens(["\n"]),
    "encode_corpus": lambda folder: pw.export.encode_corpus(
        _small(), _broken_json(folder), folder / "out", on_error="skip"
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_warning_names_the_caller(call: Call, tmp_path: Path) -> None:
    with pytest.warns(KINDS) as caught:
        call(tmp_path)
    assert {warning.filename for warning in caught} == {__file__}, [str(w.message) for w in caught]


def test_an_added_token_that_the_normalizer_drops_is_warned_of() -> None:
    tok = _dropping_line_ends()
    message = r"the added token '\\n' never matches: the normalizer drops it; pass special=True"
    with pytest.warns(pw.errors.FormatWarning, match=message):
        dropped = tok.with_added_tokens(["\n"])
    assert dropped.token_to_id("\n") not in dropped.encode("a\na").ids
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dropped.with_added_tokens(["<x>"])  # warns of new tokens only
        kept = tok.with_added_tokens(["\n"], special=True)
    assert kept.token_to_id("\n") in kept.encode("a\na").ids
