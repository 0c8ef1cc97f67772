"""GGUF files have the ids of the original tokenizer."""

from __future__ import annotations

import base64
import gzip
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import Regex
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split

import piecework as pw
from tests.data import need, read_vocab
from tests.io.gguf.files import (
    CONTROL,
    NORMAL,
    TEXTS,
    UNKNOWN,
    USER_DEFINED,
    bert_keys,
    byte_level,
    byte_level_keys,
    document,
    write,
)

TYPES = {"normal": 1, "unknown": 2, "control": 3, "user_defined": 4, "unused": 5, "byte": 6}
SEPARATOR = "\n__ggml_vocab_test__\n"


def sentencepiece_keys(original: pw.Tokenizer, model: str) -> dict[str, Any]:
    spec = original.spec
    pieces, normalizer = spec.model.pieces, spec.normalizer
    keys = {
        "model": model,
        "tokens": [piece.text for piece in pieces],
        "scores": [piece.score for piece in pieces],
        "token_type": [TYPES[piece.type] for piece in pieces],
        "add_space_prefix": normalizer.add_dummy_prefix,
        "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
    }
    if normalizer.charsmap:
        keys["precompiled_charsmap"] = normalizer.charsmap
    return keys


def original_of(name: str) -> pw.Tokenizer:
    return pw.Tokenizer.from_str(json.dumps(document(name)))


BYTE_LEVEL = {
    "gpt2": "gpt-2",
    "falcon": "falcon",
    "qwen2.5": "qwen2",
    "deepseek-v3": "deepseek-v3",
    "roberta-base": "roberta-bpe",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BYTE_LEVEL))
def test_byte_level_files_have_the_ids_of_the_original(name: str, tmp_path: Path) -> None:
    original = original_of(name)
    keys = byte_level_keys(document(name), BYTE_LEVEL[name])
    if name == "roberta-base":
        ids = {"bos": 0, "eos": 2, "seperator": 2, "cls": 0, "padding": 1, "mask": 50264}
        keys |= {f"{role}_token_id": id for role, id in ids.items()}
        keys |= {"add_bos_token": True, "add_eos_token": True, "add_sep_token": True}
    loaded = pw.Tokenizer.load(write(tmp_path / "model.gguf", keys))
    special = [token["content"] for token in document(name)["added_tokens"]][-12:]
    texts = [
        *TEXTS,
        *texts_of_languages(),
        " a ".join(special),
        "".join(special),
        f"x {special[-1]}  y",
    ]
    for text in texts:
        assert loaded.encode(text).ids == original.encode(text).ids, text
        assert loaded.decode(loaded.encode(text).ids) == original.decode(original.encode(text).ids)
    pair = (TEXTS[1], TEXTS[4])
    assert loaded.encode(*pair).ids == original.encode(*pair).ids
    assert loaded.encode(*pair).type_ids == original.encode(*pair).type_ids
    assert loaded.get_vocab().items() >= original.get_vocab().items()


@pytest.mark.slow
def test_a_tekken_file_has_the_ids_of_the_original(tmp_path: Path) -> None:
    original = pw.Tokenizer.load(need("vocab/mistral/tekken_240911.json.gz"))
    parsing = original.with_parse_special(True)
    keys = byte_level_keys(json.loads(parsing.to_str()), "tekken") | {"bos_token_id": 1}
    loaded = pw.Tokenizer.load(write(tmp_path / "model.gguf", keys))
    for text in (*TEXTS, *texts_of_languages()):
        ids = original.encode(text, add_special_tokens=False).ids
        assert loaded.encode(text).ids == [1, *ids], text
    text = "<s>[INST] Hi [/INST]</s>"
    assert loaded.encode(text, add_special_tokens=False).ids == parsing.encode(text).ids


def drawn_texts(count: int) -> list[str]:
    """Return texts of digits, letters of several scripts, marks and spaces."""
    rng = random.Random(7)
    characters = (
        "0123456789" * 2 + "  \n\r\tabcABCÀé'stLl.,!²½٣①Ⅳ々汉字漢ゟアｱ⼀ไທကខ가ᄀǅΩʰ\u0301\u200d🙂"
    )
    return ["".join(rng.choices(characters, k=rng.randrange(40))) for _ in range(count)]


# Patterns as their owners write them, and as llama.cpp describes the groups of `afmoe`.
PATTERNS = {
    "kimi-k2": [
        r"[\p{Han}]+"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ],
    "afmoe": [
        r"\p{N}{1,2}(?=(?:\p{N}{3})+(?!\p{N}))|\p{N}{3}|\p{N}+",
        "[一-鿿㐀-䶿\uf900-\ufaffぁ-ヿ･-ﾟ⼀-⿟เ-\u0eff\u1000-\u109fꧠ-\ua9ffꩠ-ꩿ가-\ud7afᄀ-ᇿ\u1780-\u17ff\u3040]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
        r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+",
    ],
    "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
}


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_words_of_a_name_equal_those_of_tokenizers(name: str, tmp_path: Path) -> None:
    splits = [Split(Regex(pattern), "isolated") for pattern in PATTERNS[name]]
    theirs = Sequence([*splits, ByteLevel(add_prefix_space=False, use_regex=False)])
    loaded = pw.Tokenizer.load(byte_level(tmp_path, pre=name))
    for text in (*TEXTS, *drawn_texts(2000)):
        words = [word for word, _ in theirs.pre_tokenize_str(text)]
        assert [word for word, _ in loaded.pre_tokenize(text)] == words, text


def test_gemma_files_have_the_ids_of_tokenizers(tmp_path: Path) -> None:
    """The vocabulary of Mistral 7B with Gemma's stages: the published one is not in the test data."""
    stages = document("mistral-7b-v0.1") | {"pre_tokenizer": None, "post_processor": None}
    stages |= {
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
    }
    theirs = tokenizers.Tokenizer.from_str(json.dumps(stages))
    keys = byte_level_keys(stages, "gemma4") | {"unknown_token_id": 0}
    files = (
        write(tmp_path / "gemma4.gguf", {**keys, "model": "gemma4", "pre": "default"}),
        write(tmp_path / "granite.gguf", {**keys, "pre": "granite-embed-multi-311m"}),
        write(tmp_path / "sarvam.gguf", {**keys, "pre": "sarvam-moe"}),
    )
    for path in files:
        loaded = pw.Tokenizer.load(path)
        for text in (*TEXTS, *drawn_texts(500), "<s>a </s> b", "x" * 3000 + "\n\n\n"):
            encoding = theirs.encode(text, add_special_tokens=False)
            assert loaded.encode(text).ids == encoding.ids, text
            assert loaded.decode(encoding.ids) == theirs.decode(encoding.ids), text
    keys |= {"model": "gemma4", "bos_token_id": 1, "add_bos_token": True}
    assert pw.Tokenizer.load(write(files[0], keys)).encode("a").tokens == ["<s>", "a"]


SENTENCEPIECE = {
    "mistral/tokenizer.model.v1": "llama",
    "mistral/mistral_instruct_tokenizer_240323.model.v3": "llama",
    "transformers-fixtures/test_sentencepiece_with_bytefallback.model": "llama",
    "transformers-fixtures/test_sentencepiece_bpe.model": "llama",
    "t5/spiece.model": "t5",
    "maxtext-default/tokenizer.model": "t5",
    "transformers-fixtures/test_sentencepiece.model": "t5",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SENTENCEPIECE))
def test_sentencepiece_files_have_the_ids_of_the_original(name: str, tmp_path: Path) -> None:
    original = pw.Tokenizer.load(need(f"vocab/{name}"))
    kind = "llama" if original.spec.model.kind == "bpe" else "t5"
    path = write(tmp_path / "model.gguf", sentencepiece_keys(original, kind))
    loaded = pw.Tokenizer.load(path)
    for text in (*TEXTS, *texts_of_languages()):
        ids = original.encode(text).ids
        assert loaded.encode(text, add_special_tokens=False).ids == ids, text
        # Decoding skips the unknown token, which is special here.
        assert loaded.unk_token_id in ids or loaded.decode(ids) == original.decode(ids)
    assert loaded.get_vocab() == original.get_vocab()


@pytest.mark.slow
def test_llama_files_have_the_ids_of_the_fast_tokenizer(tmp_path: Path) -> None:
    original = original_of("mistral-7b-v0.1")
    model = pw.Tokenizer.load(need("vocab/mistral/tokenizer.model.v1"))
    loaded = pw.Tokenizer.load(write(tmp_path / "model.gguf", sentencepiece_keys(model, "llama")))
    special = ("<s>a</s>", "x <s> y", "<unk></s> <s>", "<s>\n  z</s>\n")
    for text in (*TEXTS, *special):
        assert loaded.encode(text).ids == original.encode(text).ids, text
        assert loaded.encode(text, "b <s>").ids == original.encode(text, "b <s>").ids
        assert loaded.encode(text, "b").type_ids == original.encode(text, "b").type_ids


@pytest.mark.slow
def test_t5_files_have_the_ids_of_the_fast_tokenizer(tmp_path: Path) -> None:
    original = original_of("t5-small")
    model = pw.Tokenizer.load(need("vocab/t5/spiece.model"))
    keys = sentencepiece_keys(model, "t5")
    sentinels = [f"<extra_id_{number}>" for number in reversed(range(100))]
    keys["tokens"] += sentinels
    keys["scores"] += [-1000.0] * 100
    keys["token_type"] += [USER_DEFINED] * 100
    loaded = pw.Tokenizer.load(write(tmp_path / "model.gguf", keys))
    special = ("Thank you <extra_id_0> me to<extra_id_1>week", "<extra_id_99></s> a", "<pad>")
    for text in (*TEXTS[:2], *TEXTS[4:5], *special):
        assert loaded.encode(text).ids == original.encode(text).ids, text
        assert loaded.encode(text, "b").ids == original.encode(text, "b").ids
        assert loaded.encode(text, "b").type_ids == original.encode(text, "b").type_ids


@pytest.mark.slow
def test_a_unigram_file_of_xlm_roberta_has_the_ids_of_the_original(tmp_path: Path) -> None:
    original = original_of("xlm-roberta-base")
    vocab = document("xlm-roberta-base")["model"]["vocab"]
    normalizer = document("xlm-roberta-base")["normalizer"]
    [charsmap] = [
        stage["precompiled_charsmap"]
        for stage in normalizer.get("normalizers", [normalizer])
        if stage["type"] == "Precompiled"
    ]
    keys = {
        "model": "t5",
        "tokens": [token for token, _ in vocab],
        "scores": [score for _, score in vocab],
        "token_type": [CONTROL, CONTROL, CONTROL, UNKNOWN] + [NORMAL] * (len(vocab) - 4),
        "precompiled_charsmap": base64.b64decode(charsmap),
        "add_space_prefix": True,
        "remove_extra_whitespaces": True,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "seperator_token_id": 2,
        "unknown_token_id": 3,
        "add_bos_token": True,
        "add_sep_token": True,
    }
    loaded = pw.Tokenizer.load(write(tmp_path / "model.gguf", keys))
    compared = 0
    for text in (*TEXTS, *texts_of_languages()):
        # The original normalizes by graphemes: other text where a rule matches a part of one.
        normalized = loaded.normalize(text).replace("▁", " ").split()
        if normalized == original.normalize(text).split():
            assert loaded.encode(text).ids == [0, *original.encode(text).ids, 2], text
            compared += 1
    assert compared > 60
    assert loaded.encode("a", "b").ids == [0, 10, 2, 2, 876, 2]


BERT = ("bert-base-uncased", "bert-base-cased", "bert-base-chinese")


@pytest.mark.slow
@pytest.mark.parametrize("name", BERT)
def test_bert_files_have_the_ids_of_the_original(name: str, tmp_path: Path) -> None:
    path = need(f"vocab/{name}/vocab.txt")
    original = pw.Tokenizer.load(path)
    vocabulary = list(read_vocab(path))
    loaded = pw.Tokenizer.load(write(tmp_path / "model.gguf", bert_keys(vocabulary)))
    for text in (*TEXTS, *texts_of_languages(), "[CLS] a [MASK]b [unused1] [SEP]"):
        assert loaded.encode(text).ids == original.encode(text).ids, text
        assert loaded.encode(text, "b").ids == original.encode(text, "b").ids
    assert loaded.encode("a", "b").type_ids == original.encode("a", "b").type_ids
    # A vocab.txt cannot contain the whitespace of two Chinese entries.
    blank = {"", "##"}
    entries = {item for item in original.get_vocab().items() if item[0] not in blank}
    assert loaded.get_vocab().items() >= entries
    assert loaded.special_tokens_map == original.special_tokens_map


@cache
def texts_of_languages() -> tuple[str, ...]:
    """Return texts in many languages: the Universal Declaration of Human Rights, or what packages carry."""
    declarations = need("corpora") / "udhr-all-languages.tsv.gz"
    if declarations.exists():
        lines = gzip.decompress(declarations.read_bytes()).decode("utf-8").splitlines()[::8]
        return tuple(line.split("\t")[-1][:1500] for line in lines)
    text = need("corpora/languages.txt").read_text(encoding="utf-8")
    return tuple(text[start : start + 1500] for start in range(0, len(text), 20_000))


GOLDEN = {"bert-bge": "all-minilm-l6-v2", "falcon": "falcon", "gpt-2": "gpt2", "qwen2": "qwen2.5"}


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(GOLDEN))
def test_cases_of_llama_cpp_have_their_ids(case: str, tmp_path: Path) -> None:
    folder = need("golden/llama.cpp")
    name = GOLDEN[case]
    if case == "bert-bge":
        vocab = document(name)["model"]["vocab"]
        keys = bert_keys(sorted(vocab, key=vocab.__getitem__))
    else:
        keys = byte_level_keys(document(name), case)
    loaded = pw.Tokenizer.load(write(tmp_path / "model.gguf", keys))
    texts = (folder / f"ggml-vocab-{case}.gguf.inp").read_text(encoding="utf-8").split(SEPARATOR)
    lines = (folder / f"ggml-vocab-{case}.gguf.out").read_text(encoding="utf-8").split("\n")
    assert len(texts) == len(lines) == 47  # the last of both is empty
    for text, line in zip(texts, lines, strict=True):
        ids = loaded.encode(text, add_special_tokens=False).ids
        assert ids == [int(id) for id in line.split()], text
