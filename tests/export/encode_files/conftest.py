"""The tokenizers of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

import piecework as pw
from piecework.export import input_lines as lines_module


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    vocab = "[PAD] [UNK] [CLS] [SEP] [MASK] hug ##s ##ging a cafe ! b c".split()
    return pw.Tokenizer(
        pw.spec.WordPiece({token: id for id, token in enumerate(vocab)}),
        normalizer=pw.spec.BertNormalizer(),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
        post_processor=pw.spec.TemplateProcessing.bert(cls_id=2, sep_id=3),
        added_tokens=[pw.spec.AddedToken(token, id) for id, token in enumerate(vocab[:5])],
    )


@pytest.fixture(scope="module")
def trained(english_corpus: Path) -> pw.Tokenizer:
    return pw.Tokenizer.train(english_corpus, vocab_size=2000)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks so small that a few kilobytes are many batches."""
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 256)
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", 64)
