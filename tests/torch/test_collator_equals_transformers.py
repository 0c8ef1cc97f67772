"""The collator gives the tensors of the collators of transformers, and its models take them."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    DataCollatorForSeq2Seq,
    DataCollatorForTokenClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
)

import piecework as pw
from piecework.integrations.torch import Collator, Masking

TEXTS = ["hug hugs pug pun bun hugging", "hug", "a pug and a bun", ""]


@cache
def tokenizer() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS * 9, vocab_size=40)


@pytest.fixture
def theirs(tmp_path: Path) -> Any:
    tokenizer().save(tmp_path / "tokenizer.json")
    roles = {name: f"[{name.upper()}]" for name in ("unk", "pad", "cls", "sep", "mask")}
    return PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path / "tokenizer.json"),
        **{f"{role}_token": token for role, token in roles.items()},
    )


def features(seed: int, *, pairs: bool) -> list[dict[str, Any]]:
    """Return rows of random texts, as a dataset has them."""
    rng = random.Random(seed)
    texts = [" ".join(rng.choices(TEXTS, k=rng.randint(0, 4))) for _ in range(7)]
    batch = tokenizer().encode_batch(texts, texts[::-1] if pairs else None)
    rows = [{"input_ids": row.ids, "attention_mask": row.attention_mask} for row in batch]
    for row, encoding in zip(rows, batch, strict=True):
        row |= {"token_type_ids": encoding.type_ids} if pairs else {}
    return rows


def assert_equal(ours: dict[str, Any], theirs: Any) -> None:
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert tensor.dtype == theirs[name].dtype, name
        assert tensor.tolist() == theirs[name].tolist(), name


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("multiple", [None, 8])
def test_padded_batches_equal_transformers(
    theirs: Any, pairs: bool, side: Any, multiple: int | None
) -> None:
    theirs.padding_side = side
    collate = DataCollatorWithPadding(theirs, pad_to_multiple_of=multiple)
    ours = Collator(tokenizer(), side=side, pad_to_multiple_of=multiple)
    for seed in range(9):
        rows = [row | {"label": n % 3} for n, row in enumerate(features(seed, pairs=pairs))]
        assert_equal(ours([dict(row) for row in rows]), collate(rows))


@pytest.mark.parametrize("side", ["right", "left"])
def test_token_labels_equal_transformers(theirs: Any, side: Any) -> None:
    theirs.padding_side = side
    collate = DataCollatorForTokenClassification(theirs)
    for seed in range(9):
        rows = [row | {"labels": row["input_ids"]} for row in features(seed, pairs=False)]
        assert_equal(Collator(tokenizer(), side=side)([dict(row) for row in rows]), collate(rows))


def test_labels_of_target_sequences_equal_transformers(theirs: Any) -> None:
    collate = DataCollatorForSeq2Seq(theirs)
    for seed in range(9):
        rows = features(seed, pairs=False)
        targets = features(seed + 100, pairs=False)
        rows = [
            row | {"labels": target["input_ids"]} for row, target in zip(rows, targets, strict=True)
        ]
        assert_equal(Collator(tokenizer())([dict(row) for row in rows]), collate(rows))


def test_models_accept_the_tensors() -> None:
    torch.manual_seed(0)
    tok = tokenizer()
    config = BertConfig(
        vocab_size=len(tok),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    model = BertForMaskedLM(config).eval()
    batch = tok.encode_batch(TEXTS, TEXTS)
    expected = model(**batch.to_dict(return_tensors="pt")).logits
    narrow = model(**batch.to_dict(return_tensors="pt", dtype=torch.int32)).logits
    assert torch.equal(narrow, expected)
    assert torch.equal(model(**Collator(tok)(list(batch))).logits, expected)
    loss = model(**Collator(tok, masking=Masking(0.5))(TEXTS)).loss
    assert torch.isfinite(loss)
