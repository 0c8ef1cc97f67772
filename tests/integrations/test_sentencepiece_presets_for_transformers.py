"""A saved SentencePiece preset has the ids that transformers gives to the `.model` of the same tokenizer."""

from __future__ import annotations

import json
import os
import random
import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import piecework as pw
from piecework.errors import PortabilityWarning
from piecework.vocabulary.components import SAMPLE_TEXTS
from tests import data
from tests.differential import peer

os.environ.setdefault("HF_HUB_OFFLINE", "1")
transformers = pytest.importorskip("transformers")

CLASSES = {"t5": "T5Tokenizer", "albert": "AlbertTokenizer", "xlnet": "XLNetTokenizer"}
PARTS = [
    *(
        "</s>",
        "<s>",
        "<unk>",
        "[CLS]",
        "[MASK]",
        "<mask>",
        "<eop>",
        "▁",
        "▁the",
        "the",
        "a",
        "3.5",
        "(x)",
    ),
    *(
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "\x0b",
        "\x85",
        "\u00a0",
        "\u3000",
        "\u200b",
        "\ufeff",
        "\x00",
    ),
    *("é", "e\u0301", "\u0301", "①\u0301", "ｶﾞ", "Ａ", "ﬁ", "İ", "Σ", "ς", "漢", "한국", "🤗"),
    *("``", "''", "'", '"', ".", ",", "--", "–", "£"),
]


@cache
def trained(preset: str) -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(
        [*SAMPLE_TEXTS, "the hugging of pugs, 1999 and 3.50 " * 8] * 4,
        preset=preset,
        vocab_size=800,
        hard_vocab_limit=False,
    )


@cache
def texts() -> list[str]:
    rng = random.Random(7)
    mixed = ["".join(rng.choices(PARTS, k=rng.randrange(1, 12))) for _ in range(3000)]
    codes = [
        "".join(
            chr(rng.choice((rng.randrange(1, 0xD800), rng.randrange(32, 127)))) for _ in range(12)
        )
        for _ in range(2000)
    ]
    return [*SAMPLE_TEXTS, *mixed, *codes, "", " "]


def real_texts() -> list[str]:
    book, naughty = (
        data.need(f"corpora/{name}.txt").read_text("utf-8").splitlines()
        for name in ("botchan", "blns")
    )
    sentences = [s for document in peer.sample_documents(20) for s in document.split(". ")]
    return [*book, *naughty, *sentences]


def quietly_saved(tok: pw.Tokenizer, path: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PortabilityWarning)
        tok.save(path)


def of_transformers(tok: pw.Tokenizer, preset: str, folder: Path) -> Any:
    """Return what transformers makes of the `.model`."""
    folder.mkdir()
    tok.save(folder / "spiece.model")
    config = {"tokenizer_class": CLASSES[preset]}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return transformers.AutoTokenizer.from_pretrained(str(folder))


def assert_saved_as_transformers_saves(preset: str, rows: list[str], folder: Path) -> None:
    tok = trained(preset)
    theirs = of_transformers(tok, preset, folder / "model")
    quietly_saved(tok, f"{folder}/saved/")
    quietly_saved(tok, f"{folder}/tokenizer.json")
    opened = transformers.AutoTokenizer.from_pretrained(f"{folder}/saved")
    file = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
    again = pw.Tokenizer.load(folder / "tokenizer.json")
    expected = theirs(rows)["input_ids"]
    assert opened(rows)["input_ids"] == expected
    assert [encoding.ids for encoding in file.encode_batch(rows)] == expected
    assert again.encode_batch(rows).to_lists() == expected
    assert [opened.decode(ids) for ids in expected] == [theirs.decode(ids) for ids in expected]
    assert opened(*rows[:2])["input_ids"] == theirs(*rows[:2])["input_ids"]


@pytest.mark.parametrize("preset", CLASSES)
def test_saved_presets_have_the_ids_of_transformers(preset: str, tmp_path: Path) -> None:
    assert_saved_as_transformers_saves(preset, texts(), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("preset", CLASSES)
def test_saved_presets_have_the_ids_of_transformers_on_corpora(preset: str, tmp_path: Path) -> None:
    assert_saved_as_transformers_saves(preset, real_texts(), tmp_path)


@pytest.mark.parametrize("preset", [*CLASSES, "llama"])
def test_the_warning_counts_sample_texts_with_other_ids(preset: str, tmp_path: Path) -> None:
    tok, path = trained(preset), tmp_path / "tokenizer.json"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tok.save(path)
    file = tokenizers.Tokenizer.from_file(str(path))
    here = tok.encode_batch(list(SAMPLE_TEXTS)).to_lists()
    there = [encoding.ids for encoding in file.encode_batch(SAMPLE_TEXTS)]
    differing = [text for text, a, b in zip(SAMPLE_TEXTS, here, there, strict=True) if a != b]
    if preset == "llama":  # an exact equivalent exists
        assert not caught
        assert not differing
        return
    (warning,) = caught
    assert warning.category is PortabilityWarning
    share = re.search(r": (\d+|none) of (\d+) sample texts", str(warning.message))
    assert share is not None
    assert share.groups() == (str(len(differing) or "none"), str(len(SAMPLE_TEXTS)))
    example = re.search(r"such as '(.*)' with", str(warning.message))
    assert bool(example) == bool(differing)
    if example:
        assert file.encode(example[1]).ids != tok.encode(example[1]).ids


@pytest.mark.parametrize("preset", CLASSES)
def test_components_of_presets_become_their_model_again(preset: str) -> None:
    tok = trained(preset)
    again = pw.vocabulary.as_sentencepiece(pw.vocabulary.as_components(tok.spec))
    assert again.normalizer == tok.spec.normalizer
    assert again.model.vocab == tok.spec.model.vocab
