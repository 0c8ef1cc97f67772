"""The reference runs published models, and gives the ids, offsets and texts of the core."""

from __future__ import annotations

import pytest

import piecework as pw
from piecework.reference.tokenizer import ReferenceTokenizer
from tests.data import need

MODELS = [
    "vocab/bert-base-uncased/vocab.txt",
    "vocab/openai-gpt",
    "vocab/gpt2/tokenizer.json.gz",
    "vocab/roberta-base/tokenizer.json.gz",
    "vocab/clip/tokenizer.json.gz",
    "vocab/qwen2.5/tokenizer.json.gz",
    "vocab/t5-small/tokenizer.json.gz",
    "vocab/albert-v2/tokenizer.json.gz",
    "vocab/xlnet/spiece.model",
    "vocab/mistral/tokenizer.model.v1",
]
TEXT = "Don't you love 🤗 Transformers? We sure do. 東京 naïve\n\n  x = 12345; <s> <|endoftext|> [MASK]"


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_published_model_encodes_and_decodes_as_in_the_core(name: str) -> None:
    core = pw.Tokenizer.load(need(name))
    reference = ReferenceTokenizer(core.spec)
    expected, found = core.encode(TEXT, "A pair."), reference.encode(TEXT, "A pair.")
    assert found.ids == expected.ids
    assert found.offsets == expected.offsets
    assert found.type_ids == expected.type_ids
    assert reference.decode(found.ids) == core.decode(expected.ids)
