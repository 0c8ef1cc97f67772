"""Unigram segmentations with equal scores are those of `tokenizers` and of `sentencepiece`, by every call.

Published vocabularies are compared, and vocabularies of 8,000 pieces that each library trains on English with
numbers. Texts are those of `tests/tie_texts.py`. The ids must not depend on what was encoded before, on the
call or on the kernel level. PIECEWORK_FULL=1 takes 60,000 texts for each vocabulary.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import piecework as pw
from tests import components, data
from tests.differential import peer
from tests.differential.test_sentencepiece import MODELS, assert_same_fields, both
from tests.routes import Rows, assert_rows, rows_by_every_route
from tests.tie_texts import tie_texts

sentencepiece = pytest.importorskip("sentencepiece")

FULL = bool(os.environ.get("PIECEWORK_FULL"))
COUNT = 60_000 if FULL else 6_000
VOCAB_SIZE = 8_000

METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
PRE_TOKENIZERS = {
    "whitespace, then marks": {
        "type": "Sequence",
        "pretokenizers": [{"type": "WhitespaceSplit"}, METASPACE],
    },
    "marks": METASPACE,
    "whole text with marks": {**METASPACE, "split": False},
    "whitespace": {"type": "WhitespaceSplit"},
    "whole text": None,
}


# ---- vocabularies


def published() -> dict[str, Path]:
    """Return every published `tokenizer.json` of a Unigram model, by name."""
    folder = data.data_dir()
    files = sorted((folder / "vocab").glob("*/tokenizer.json.gz")) if folder else []
    return {file.parent.name: file for file in files if is_unigram(file)}


def is_unigram(path: Path) -> bool:
    """Whether the vocabulary is a list, as only Unigram has it: older files do not name the type."""
    return re.search(rb'"vocab":\s*\[', gzip.decompress(path.read_bytes())) is not None


PUBLISHED = published()


@pytest.fixture(scope="module")
def lines(english_corpus: Path) -> list[str]:
    """English paragraphs, each followed by numbers."""
    draw = random.Random(1)

    def number() -> str:
        return str(draw.randrange(10 ** draw.randint(1, 7)))

    paragraphs = english_corpus.read_text().splitlines()[::4]
    return [f"{line[:2000]} {number()} {number()}" for line in paragraphs]


@pytest.fixture(scope="module")
def trained_there(lines: list[str]) -> dict[str, Any]:
    """A `tokenizer.json` that `tokenizers` trains."""
    theirs = tokenizers.Tokenizer(tokenizers.models.Unigram())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=VOCAB_SIZE, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    theirs.train_from_iterator(lines[::2], trainer)
    return dict(json.loads(theirs.to_str()))


@pytest.fixture(scope="module")
def trained_here(lines: list[str]) -> dict[str, Any]:
    """A `tokenizer.json` that is trained here."""
    tok = pw.Tokenizer.train_from_iterator(lines, model="unigram", vocab_size=VOCAB_SIZE)
    return dict(json.loads(tok.to_str()))


@pytest.fixture(scope="module")
def trained_model(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `.model` that `sentencepiece` trains."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=VOCAB_SIZE,
        max_sentence_length=10_000,
        minloglevel=2,
        num_threads=1,
    )
    path = tmp_path_factory.mktemp("model") / "trained.model"
    path.write_bytes(model.getvalue())
    return path


# ---- one answer, whatever the call


def uncached(tok: pw.Tokenizer) -> pw.Tokenizer:
    """Return a tokenizer of the same specification that has encoded nothing."""
    return pw.Tokenizer.from_spec(tok.spec)


def assert_one_answer(tok: pw.Tokenizer, texts: Sequence[str]) -> Rows:
    """Compare the ids of each text by every call, before and after words are cached; return the ids."""
    cold = uncached(tok)
    rows = [cold.encode(text).ids for text in texts]
    assert_rows((cold.encode(text).ids for text in texts), rows, texts, "a second `encode`")
    assert_rows(cold.encode_batch(texts).to_lists(), rows, texts, "`encode_batch` after `encode`")
    batched = uncached(tok)
    assert_rows(rows_by_every_route(batched, texts), rows, texts, "`encode_batch` first")
    assert_rows((batched.encode(text).ids for text in texts), rows, texts, "`encode` after a batch")
    small = tok.with_word_cache_budget(1 << 16)
    backwards = small.encode_batch(texts[::-1], num_threads=1).to_lists()[::-1]
    assert_rows(backwards, rows, texts, "a small cache, in the reverse order")
    for text, row in zip(texts, rows, strict=True):
        assert tok.count(text) == len(row), text
    return rows


def assert_pairs_and_lists(
    ours: pw.Tokenizer, theirs: tokenizers.Tokenizer, texts: Sequence[str]
) -> None:
    """Compare pairs of texts, and texts given as lists of words."""
    pairs = list(zip(texts, texts[::-1], strict=True))
    expected = [row.ids for row in theirs.encode_batch_fast(pairs)]
    assert ours.encode_batch(texts, texts[::-1]).to_lists() == expected
    assert [ours.encode(*pair).ids for pair in pairs] == expected
    words = [text.split() for text in texts]
    expected = [row.ids for row in theirs.encode_batch_fast(words, is_pretokenized=True)]
    assert ours.encode_batch(words, is_pretokenized=True).to_lists() == expected


def assert_as_tokenizers(document: dict[str, Any], seed: int) -> None:
    text = json.dumps({**document, "truncation": None, "padding": None}, ensure_ascii=False)
    ours, theirs = pw.Tokenizer.from_str(text), tokenizers.Tokenizer.from_str(text)
    texts = tie_texts(COUNT, seed)
    rows = ours.encode_batch(texts).to_lists()
    expected = [row.ids for row in theirs.encode_batch_fast(texts)]
    assert_rows(rows, expected, texts, "`encode_batch`")
    some = slice(0, COUNT // 4)
    assert_one_answer(ours, texts[some])
    peer.assert_same_fields(ours, theirs, texts[: COUNT // 20])
    assert_pairs_and_lists(ours, theirs, texts[: COUNT // 20])


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED, reason="no published vocabularies here: see tests/data.py")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_vocabularies_break_ties_as_tokenizers_does(name: str) -> None:
    document = json.loads(gzip.decompress(PUBLISHED[name].read_bytes()))
    assert_as_tokenizers(document, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PRE_TOKENIZERS)
def test_a_vocabulary_of_tokenizers_breaks_ties_as_tokenizers_does(
    kind: str, trained_there: dict[str, Any]
) -> None:
    assert_as_tokenizers({**trained_there, "pre_tokenizer": PRE_TOKENIZERS[kind]}, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PRE_TOKENIZERS)
def test_a_vocabulary_trained_here_breaks_ties_as_tokenizers_does(
    kind: str, trained_here: dict[str, Any]
) -> None:
    stages = {"normalizer": None, "pre_tokenizer": PRE_TOKENIZERS[kind]}
    assert_as_tokenizers({**trained_here, **stages}, seed=3)


def test_a_tokenizer_trained_here_breaks_ties_as_tokenizers_does(
    trained_here: dict[str, Any],
) -> None:
    assert_as_tokenizers(trained_here, seed=3)


def test_scores_are_read_as_tokenizers_reads_them() -> None:
    """Their reader is one unit in the last place off for one score in eight, which decides other ties."""
    draw = random.Random(7)
    scores = [[f"p{at}", -draw.random() * 10 ** draw.randint(-3, 2)] for at in range(20_000)]
    vocab = [["<unk>", 0.0], *scores]
    text = json.dumps(components.document(model={"type": "Unigram", "unk_id": 0, "vocab": vocab}))
    read = json.loads(tokenizers.Tokenizer.from_str(text).to_str())["model"]["vocab"]
    assert read != vocab
    ours = pw.Tokenizer.from_str(text)
    assert json.loads(ours.to_str())["model"]["vocab"] == read
    assert pw.Tokenizer.from_str(ours.to_str()) == ours


# ---- `.model` files


@cache
def unigram_models() -> list[Path]:
    """Return every published `.model` of the Unigram kind."""
    kinds = {path: getattr(pw.Tokenizer.load(path).spec.model, "kind", "") for path in MODELS}
    return [path for path, kind in kinds.items() if kind == "unigram"]


def assert_as_sentencepiece(path: Path, seed: int) -> None:
    ours, theirs = both(path)
    texts = tie_texts(COUNT, seed)
    rows = ours.encode_batch(texts).to_lists()
    assert_rows(rows, theirs.encode(texts), texts, "`encode_batch`")
    assert_one_answer(ours, texts[: COUNT // 4])
    for text in texts[: COUNT // 20]:
        assert_same_fields(ours, theirs, text)
    # Sums begin with the text, so a long text rounds otherwise than a short one.
    joined = [" ".join(texts[at : at + 500]) for at in range(0, COUNT // 4, 500)]
    assert_rows(ours.encode_batch(joined).to_lists(), theirs.encode(joined), joined, "long texts")


@pytest.mark.slow
@pytest.mark.skipif(not MODELS, reason="no published models here: see tests/data.py")
def test_published_models_break_ties_as_sentencepiece_does() -> None:
    assert unigram_models()
    for path in unigram_models():
        assert_as_sentencepiece(path, seed=4)


def test_a_trained_model_breaks_ties_as_sentencepiece_does(trained_model: Path) -> None:
    assert_as_sentencepiece(trained_model, seed=5)


# ---- levels


def test_ties_fall_alike_at_every_level(
    level: str, trained_there: dict[str, Any], trained_model: Path
) -> None:
    for kind in ("whitespace, then marks", "marks"):
        document = {**trained_there, "pre_tokenizer": PRE_TOKENIZERS[kind]}
        text = json.dumps(document, ensure_ascii=False)
        theirs = tokenizers.Tokenizer.from_str(text)
        texts = tie_texts(COUNT // 6, seed=6)
        peer.assert_same_ids(pw.Tokenizer.from_str(text), theirs, texts)
    ours, sp = both(trained_model)
    assert rows_by_every_route(ours, texts) == sp.encode(texts)
