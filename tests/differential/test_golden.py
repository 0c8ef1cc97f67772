"""Results that other projects published, reproduced with the vocabularies that are at hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import piecework as pw
from tests import data

SEPARATOR = "\n__ggml_vocab_test__\n"
# The model of each set of cases, by the name of its vocabulary here.
LLAMA_CPP = {
    "bert-bge": "bert-base-uncased",
    "falcon": "falcon",
    "gpt-2": "gpt2",
    "qwen2": "qwen2.5",
}
TRANSFORMERS = {
    "albert/albert-base-v2": "albert-v2",
    "FacebookAI/xlm-roberta-base": "xlm-roberta-base",
    "google-t5/t5-base": "t5-small",
}


def golden(name: str) -> Path:
    folder = data.data_dir()
    if folder is None:
        pytest.skip(
            "no published results here: they are read from ../shared/data or PIECEWORK_DATA"
        )
    return folder / "golden" / name


def tokenizer(name: str) -> pw.Tokenizer:
    path = sorted((golden("..") / "vocab" / name).glob("tokenizer.json*"))[0]
    raw = path.read_bytes()
    loaded = pw.Tokenizer.from_json(
        (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    )
    return loaded.with_padding(None).with_truncation(None)


@pytest.mark.parametrize("case", sorted(LLAMA_CPP))
def test_cases_of_llama_cpp(case: str) -> None:
    folder = golden("llama.cpp")
    texts = (folder / f"ggml-vocab-{case}.gguf.inp").read_text(encoding="utf-8").split(SEPARATOR)
    lines = (folder / f"ggml-vocab-{case}.gguf.out").read_text(encoding="utf-8").split("\n")
    ours = tokenizer(LLAMA_CPP[case])
    cases = [(text, line) for text, line in zip(texts, lines, strict=False)]
    assert len(cases) >= 40
    for text, line in cases:
        ids = ours.encode(text, add_special_tokens=False).ids
        assert ids == [int(id) for id in line.split()], text


@pytest.mark.parametrize("model", sorted(TRANSFORMERS))
def test_integration_encodings_of_transformers(model: str) -> None:
    records = json.loads((golden("transformers") / "integration_encodings.json").read_text("utf-8"))
    record = next(record for record in records if record.get("model_name") == model)
    ours = tokenizer(TRANSFORMERS[model])
    expected = record["expected_encoding"]
    sequences = record["sequences"]
    for text, ids, mask in zip(
        sequences, expected["input_ids"], expected["attention_mask"], strict=True
    ):
        real = [id for id, bit in zip(ids, mask, strict=True) if bit]
        assert ours.encode(text).ids == (real if ours.spec.post_processor else real[1:-1])
