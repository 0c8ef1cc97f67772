"""Tensors of accelerated tokenizers equal those of transformers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import TokenizersBackend

import piecework as pw
from piecework.integrations.transformers import BackendTokenizer, accelerate

TEXTS = ["hug hugs", "pug", "", "bun pun hugs bug"]


def both() -> tuple[Any, Any]:
    tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)
    original = BackendTokenizer(tok).to_tokenizers()
    theirs = TokenizersBackend(tokenizer_object=original, pad_token="[PAD]", unk_token="[UNK]")
    return theirs, accelerate(theirs)


@pytest.mark.parametrize(
    "settings",
    [
        {"padding": True},
        {"padding": "max_length", "max_length": 9, "padding_side": "left"},
        {"padding": True, "truncation": True, "max_length": 4, "return_overflowing_tokens": True},
        {"padding": True, "return_offsets_mapping": True, "return_special_tokens_mask": True},
        {"padding": True, "return_length": True},
    ],
)
def test_tensors_equal_those_of_transformers(settings: dict[str, Any]) -> None:
    theirs, ours = both()
    expected = theirs(TEXTS, return_tensors="pt", **settings)
    found = ours(TEXTS, return_tensors="pt", **settings)
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)


def test_rows_of_different_lengths_are_rejected_as_in_transformers() -> None:
    for tokenizer in both():
        with pytest.raises(ValueError, match="padding"):
            tokenizer(TEXTS, return_tensors="pt")


def test_an_accelerated_tokenizer_decodes_tensors() -> None:
    theirs, ours = both()
    ids = ours(TEXTS, padding=True, return_tensors="pt")["input_ids"]
    assert ours.batch_decode(ids) == theirs.batch_decode(ids)
    assert ours.decode(ids[0], skip_special_tokens=True) == "hug hugs"
