"""Results that other projects published, reproduced with the vocabularies that are at hand."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from tests import data

SEPARATOR = "\n__ggml_vocab_test__\n"
# The model of each set of cases, by the name of its vocabulary here.
LLAMA_CPP = {
    "bert-bge": "all-minilm-l6-v2",
    "falcon": "falcon",
    "gpt-2": "gpt2",
    "qwen2": "qwen2.5",
}


def golden(name: str) -> Path:
    return data.need(f"golden/{name}")


def tokenizer(name: str) -> pw.Tokenizer:
    path = sorted(data.need(f"vocab/{name}").glob("tokenizer.json*"))[0]
    raw = path.read_bytes()
    loaded = pw.Tokenizer.from_str(
        (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    )
    return loaded.without_padding().without_truncation()


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(LLAMA_CPP))
def test_cases_of_llama_cpp_have_their_ids(case: str) -> None:
    folder = golden("llama.cpp")
    texts = (folder / f"ggml-vocab-{case}.gguf.inp").read_text(encoding="utf-8").split(SEPARATOR)
    lines = (folder / f"ggml-vocab-{case}.gguf.out").read_text(encoding="utf-8").split("\n")
    ours = tokenizer(LLAMA_CPP[case])
    assert len(texts) == len(lines) == 47  # the last of both is empty
    for text, line in zip(texts, lines, strict=True):
        ids = ours.encode(text, add_special_tokens=False).ids
        assert ids == [int(id) for id in line.split()], text


def test_every_set_of_llama_cpp_is_run() -> None:
    sets = {path.name.split(".")[0] for path in golden("llama.cpp").iterdir()}
    assert sets == {f"ggml-vocab-{case}" for case in LLAMA_CPP}


# ---- transformers


def framed(ours: pw.Tokenizer, before: dict[str, int], after: dict[str, int]) -> pw.Tokenizer:
    """Put special tokens, given with their ids, before and after a text."""
    single = (*(f"{name}:0" for name in before), "$A:0", *(f"{name}:0" for name in after))
    ids = {name: (id,) for name, id in (before | after).items()}
    template = pw.spec.TemplateProcessing(single, ("$A:0", "$B:0"), ids)
    return pw.Tokenizer.from_spec(dataclasses.replace(ours.spec, post_processor=template))


@cache
def xlm_roberta() -> pw.Tokenizer:
    """Read the file at hand, which declares no special tokens, and add those that the model has."""
    ours = tokenizer("xlm-roberta-base").with_added_tokens([pw.spec.AddedToken("<unk>")])
    return framed(ours, {"<s>": 0}, {"</s>": 2})


def mbart_50() -> pw.Tokenizer:
    """Frame by the code of English, a place after the vocabulary that is shared with XLM-R."""
    ours = tokenizer("xlm-roberta-base")
    code = ours.id_to_token(250004)  # the file at hand has a stopgap there
    assert code is not None
    return framed(ours, {code: 250004}, {"</s>": 2})


def whisper_english() -> pw.Tokenizer:
    """Put together from the vocabulary and merges that GPT-2 was published with."""
    folder = data.need("vocab/gpt2")
    header, *lines = (folder / "vocab.bpe").read_text(encoding="utf-8").splitlines()
    assert header == "#version: 0.2"
    left_and_right = (line.split(" ") for line in lines)
    model = pw.spec.BPE(
        json.loads((folder / "encoder.json").read_text(encoding="utf-8")),
        tuple((left, right) for left, right in left_and_right),
    )
    start = {"<|startoftranscript|>": 50257, "<|notimestamps|>": 50362}
    spec = pw.spec.TokenizerSpec(
        model,
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
        added_tokens=tuple(pw.spec.AddedToken(token, id) for token, id in start.items()),
    )
    return framed(pw.Tokenizer.from_spec(spec), start, {"<|endoftext|>": 50256})


def xlnet() -> pw.Tokenizer:
    """Frame as XLNet does: special tokens behind the text, the last of a type of its own."""
    ours = pw.Tokenizer.load(data.need("vocab/xlnet/spiece.model"))
    single = ("$A:0", "<sep>:0", "<cls>:2")
    template = pw.spec.TemplateProcessing(single, ("$A:0", "$B:0"), {"<sep>": (4,), "<cls>": (3,)})
    return pw.Tokenizer.from_spec(dataclasses.replace(ours.spec, post_processor=template))


# Every record whose vocabulary is at hand, by the name of its model, or of its test where it has none.
TRANSFORMERS: dict[str, Callable[[], pw.Tokenizer]] = {
    "albert/albert-base-v2": lambda: tokenizer("albert-v2"),
    "facebook/mbart-large-50": mbart_50,
    "Qwen/Qwen-tokenizer": lambda: tokenizer("qwen2.5"),
    "google-t5/t5-base": lambda: tokenizer("t5-small"),
    "openai/whisper-tiny.en": whisper_english,
    "xlm_roberta easy_symbols": xlm_roberta,
    "xlm_roberta hard_symbols": xlm_roberta,
    "FacebookAI/xlm-roberta-base": xlm_roberta,
    "xlnet/xlnet-base-cased": xlnet,
}
# What the other records wait for.
MISSING = {
    **dict.fromkeys(
        [
            "moussaKam/mbarthez",
            "bert_generation easy_symbols",
            "bert_generation hard_symbols",
            "google/bert_for_seq_generation_L-24_bbc_encoder",
            "big_bird easy_symbols",
            "big_bird hard_symbols",
            "google/bigbird-roberta-base",
            "almanach/camembert-base",
            "hf-internal-testing/llama-code-tokenizer",
            "microsoft/deberta-v2-xlarge",
            "google/fnet-base",
            "google/gemma-2b",
            "AI-Sweden-Models/gpt-sw3-126m",
            "hf-internal-testing/llama-tokenizer",
            "facebook/m2m100_418M",
            "Helsinki-NLP/opus-mt-en-de",
            "google/bigbird-pegasus-large-arxiv",
            "reformer easy_symbols",
            "reformer hard_symbols",
            "google/reformer-crime-and-punishment",
            "facebook/s2t-small-mustc-en-de-st",
            "microsoft/speecht5_asr",
            "xglm easy_symbols",
            "xglm hard_symbols",
            "facebook/xglm-564M",
        ],
        "its SentencePiece model",
    ),
    "susnato/clvp_dev": "its vocabulary and merges",
}


def records() -> dict[str, dict[str, Any]]:
    path = golden("transformers") / "integration_encodings.json"
    return {name_of(record): record for record in json.loads(path.read_text(encoding="utf-8"))}


def name_of(record: dict[str, Any]) -> str:
    if "model_name" in record:
        return str(record["model_name"])
    symbols = record["test"].removeprefix("test_tokenization_base_")
    return f"{Path(record['file']).parent.name} {symbols}"


def rows(record: dict[str, Any]) -> Iterator[tuple[str, list[int], list[int]]]:
    """Give every text of a record with its ids and type ids, padding left out."""
    if "text" in record:
        yield record["text"], record["expected"], []
        return
    encoding = record["expected_encoding"]
    types = encoding.get("token_type_ids", [[]] * len(record["sequences"]))
    for row, text in enumerate(record["sequences"]):
        mask = encoding["attention_mask"][row]
        kept = [list(compress(values, mask)) for values in (encoding["input_ids"][row], types[row])]
        yield text, kept[0], kept[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TRANSFORMERS))
def test_integration_tests_of_transformers_have_their_ids(name: str) -> None:
    record, ours = records()[name], TRANSFORMERS[name]()
    for text, ids, type_ids in rows(record):
        encoding = ours.encode(text)
        assert encoding.ids == ids, text
        assert encoding.type_ids == (type_ids or encoding.type_ids), text


def test_every_record_of_transformers_is_run_or_waits_for_something() -> None:
    found = json.loads((golden("transformers") / "integration_encodings.json").read_text("utf-8"))
    assert len(found) == len(records()) == 35
    assert set(records()) == {*TRANSFORMERS, *MISSING}
    assert not set(TRANSFORMERS) & set(MISSING)
