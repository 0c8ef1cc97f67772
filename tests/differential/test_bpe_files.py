"""Vocabularies with merges, CLIP's list, tekken and Whisper's ranks encode as their owners' libraries do."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from pathlib import Path

import pytest
import tiktoken
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

import piecework as pw
from tests import data
from tests.differential import peer
from tests.differential.ranks import read_ranks
from tests.routes import rows_by_every_route


def vocab_dir(name: str) -> Path:
    return data.need(f"vocab/{name}")


@cache
def texts() -> tuple[str, ...]:
    points = peer.code_points(0, 17)
    return (*peer.sample_documents(60), *("a{}b {}".replace("{}", c) for c in points))


def tokenizer_json(name: str) -> tokenizers.Tokenizer:
    raw = (vocab_dir(name) / "tokenizer.json.gz").read_bytes()
    return tokenizers.Tokenizer.from_str(gzip.decompress(raw).decode())


def ids(ours: pw.Tokenizer, parse_special: bool) -> list[list[int]]:
    return rows_by_every_route(ours, texts(), add_special_tokens=False, parse_special=parse_special)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "vocab", "merges"),
    [
        ("gpt2", "encoder.json", "vocab.bpe"),
        ("roberta-base", "vocab.json", "merges.txt"),
        ("clip", "clip_encoder.json", "clip_vocab.bpe"),
    ],
)
def test_vocabulary_with_merges_is_the_tokenizer_json(name: str, vocab: str, merges: str) -> None:
    folder = vocab_dir(name)
    theirs = tokenizer_json(name)
    special = [token.content for token in theirs.get_added_tokens_decoder().values()]
    ours = pw.Tokenizer.load(folder / vocab, merges=folder / merges, special_tokens=special)
    expected = theirs.encode_batch_fast(list(texts()), add_special_tokens=False)
    assert ids(ours, parse_special=True) == [encoding.ids for encoding in expected]


@pytest.mark.slow
def test_gpt_is_what_its_converter_makes() -> None:
    folder = vocab_dir("openai-gpt")
    vocab, merges = models.BPE.read_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
    theirs = tokenizers.Tokenizer(
        models.BPE(vocab, merges, unk_token="<unk>", end_of_word_suffix="</w>")
    )
    theirs.normalizer = normalizers.BertNormalizer(lowercase=True)
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    theirs.decoder = decoders.BPEDecoder(suffix="</w>")
    ours = pw.Tokenizer.load(folder)
    expected = [encoding.ids for encoding in theirs.encode_batch_fast(list(texts()))]
    assert ids(ours, parse_special=False) == expected
    decoded = theirs.decode_batch(expected[:300], skip_special_tokens=False)
    assert ours.decode_batch(expected[:300], skip_special_tokens=False) == decoded


def test_clip_list_makes_the_published_vocabulary() -> None:
    ours = pw.Tokenizer.load(vocab_dir("clip") / "bpe_simple_vocab_16e6.txt.gz")
    theirs = tokenizer_json("clip")
    assert ours.get_vocab() == theirs.get_vocab()
    sample = list(texts())[::5]
    expected = [encoding.ids for encoding in theirs.encode_batch_fast(sample)]
    assert rows_by_every_route(ours, sample) == expected


@pytest.mark.slow
def test_tekken_is_what_mistral_makes_of_it() -> None:
    path = vocab_dir("mistral") / "tekken_240911.json.gz"
    document = json.loads(gzip.decompress(path.read_bytes()))
    special = document["config"]["default_num_special_tokens"]
    size = document["config"]["default_vocab_size"]
    listed = document["vocab"][: size - special]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in listed}
    pattern = document["config"]["pattern"]
    theirs = tiktoken.Encoding("t", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    ours = pw.Tokenizer.load(path)
    assert ours.get_vocab_size() == size
    for text, mine in zip(texts(), ids(ours, parse_special=False), strict=True):
        assert mine == [id + special for id in theirs.encode_ordinary(text)], text
    assert ours.encode("<s>[INST]").ids == ours.encode("<s>[INST]", parse_special=False).ids
    assert ours.encode("<s>[INST]", parse_special=True).ids == [1, 3]


@pytest.mark.slow
def test_ranks_of_whisper_are_its_tokenizer_json() -> None:
    path = vocab_dir("whisper") / "multilingual.tiktoken"
    theirs = tokenizer_json("whisper-tiny")
    special = {token: id for token, id in theirs.get_vocab().items() if id > 50256}
    ours = pw.Tokenizer.load(path, pattern="gpt2", special_tokens=special)
    expected = theirs.encode_batch_fast(list(texts()), add_special_tokens=False)
    assert ids(ours, parse_special=True) == [encoding.ids for encoding in expected]
    assert len(read_ranks(path)) == ours.get_vocab_size(with_added_tokens=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["qwen2.5", "deepseek-v3", "falcon", "whisper-tiny", "gpt2"])
def test_models_in_tokenizer_json_with_random_cuts(name: str) -> None:
    theirs = tokenizer_json(name)
    ours = pw.Tokenizer.from_str(theirs.to_str())
    sample = [text[at % 7 : len(text) - at % 5] for at, text in enumerate(texts())]
    expected = theirs.encode_batch_fast(sample, add_special_tokens=False)
    found = rows_by_every_route(ours, sample, add_special_tokens=False)
    assert found == [encoding.ids for encoding in expected]
