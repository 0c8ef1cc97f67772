"""GGUF files, written by the `gguf` package: ids, special tokens, roles and bad input."""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import struct
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

import piecework as pw
from piecework.cli.app import run
from piecework.errors import ArgumentError, FormatError, PieceworkError, VocabularyError
from piecework.io.format_detection import file_format
from piecework.io.gguf_pipelines import GGUF_PIPELINES
from tests.data import need, read_vocab

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
TYPES = {"normal": 1, "unknown": 2, "control": 3, "user_defined": 4, "unused": 5, "byte": 6}
SEPARATOR = "\n__ggml_vocab_test__\n"

TEXTS = (
    "",
    "Hello, world! It's 3 o'clock; you've 1234567 reasons.",
    "  leading and   inner \t whitespace \n\n\n\r\n and trailing   ",
    "a\u00a0b\u3000c\u2003d \u200b zero\u200dwidth",
    "Привет, мир! Ελληνικά ΚΑΙ ελληνικά; עברית العربية",
    "नमस्ते दुनिया ภาษาไทย កាន់តែពិសេស Tiếng Việt",
    "我想在apple工作1314151天～ 日本語のテキスト、カタカナ。한국어 문장",
    "🚀 😶‍🌫️ ✅ 🦙🦙 👩‍👩‍👧‍👦 🇨🇿",
    "e\u0301 cafe\u0301 n\u0303 ﬁ ² ½ Å Å ①",
    "def f(x):\n    return {'a': x[0], \"b\": [1_000, 2.5e-3]}\n\t# TODO\n",
    "------======= ''''''```````\"\"\"\"......!!!!!!?????? I'll 'RE We'Ve a'lL",
    "ÀÉÎÕÜ àéîõü ß Œ œ ſ İ ı",
    "x" * 300 + " " * 40 + "y",
)


# ---- write files


def write(path: Path, keys: Mapping[str, Any], tensor_bytes: int = 64) -> Path:
    """Write a file with the keys of a tokenizer, other keys before and after them, and a tensor."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("test")
    writer.add_array("general.tags", ["a", "b"])
    for name, value in keys.items():
        add(writer, f"tokenizer.ggml.{name}", value)
    writer.add_chat_template("{{ messages }}")
    writer.add_float32("llama.rope.freq_base", 1e4)
    writer.add_tensor("output", np.ones(tensor_bytes, dtype=np.int8))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def add(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def byte_level_keys(document: Mapping[str, Any], pre: str) -> dict[str, Any]:
    """Return the keys of a byte-level tokenizer.json, as the converter of llama.cpp writes them."""
    model = document["model"]
    added = {token["id"]: token for token in document["added_tokens"]}
    by_id = {id: token for token, id in model["vocab"].items()}
    by_id |= {id: token["content"] for id, token in added.items()}
    tokens, types = [], []
    for id in range(max(by_id) + 1):
        tokens.append(by_id.get(id, f"[PAD{id}]"))
        kind = UNUSED if id not in by_id else NORMAL
        if id in added:
            kind = CONTROL if added[id]["special"] else USER_DEFINED
        types.append(kind)
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    return {"model": "gpt2", "pre": pre, "tokens": tokens, "token_type": types, "merges": merges}


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


def bert_keys(vocabulary: Sequence[str]) -> dict[str, Any]:
    special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}

    def marked(token: str) -> str:
        if token in special:
            return token
        return token[2:] if token.startswith("##") else f"▁{token}"

    return {
        "model": "bert",
        "tokens": [marked(token) for token in vocabulary],
        "token_type": [CONTROL if token in special else NORMAL for token in vocabulary],
    } | {
        f"{name}_token_id": vocabulary.index(token)
        for name, token in (
            ("unknown", "[UNK]"),
            ("seperator", "[SEP]"),
            ("padding", "[PAD]"),
            ("cls", "[CLS]"),
            ("mask", "[MASK]"),
        )
        if token in vocabulary
    }


@cache
def document(name: str) -> Any:
    path = sorted(need(f"vocab/{name}").glob("tokenizer.json*"))[0]
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def original_of(name: str) -> pw.Tokenizer:
    return pw.Tokenizer.from_str(json.dumps(document(name)))


SMALL = {
    "model": "llama",
    "tokens": ["<unk>", "<s>", "</s>", "▁", "a", "b", "▁a", "ab", "▁ab", "<x>"],
    "scores": [0.0, 0.0, 0.0, -9.0, -8.0, -7.0, -1.0, -2.0, -3.0, 0.0],
    "token_type": [UNKNOWN, CONTROL, CONTROL] + [NORMAL] * 6 + [USER_DEFINED],
}


def small(path: Path, **changes: Any) -> Path:
    """Write a small file; None removes a key."""
    keys = {key: value for key, value in (SMALL | changes).items() if value is not None}
    return write(path / "small.gguf", keys)


def byte_level(path: Path, **changes: Any) -> Path:
    """Write a small byte-level file."""
    alphabet = alphabet_of_bytes()
    tokens = [*alphabet, "in", "ing", "<|end|>", "<|pad|>"]
    types = [NORMAL] * (len(alphabet) + 2) + [CONTROL, USER_DEFINED]
    keys: dict[str, Any] = {
        "model": "gpt2",
        "pre": "gpt-2",
        "tokens": tokens,
        "token_type": types,
        "merges": ["i n", "in g"],
    }
    keys = {key: value for key, value in (keys | changes).items() if value is not None}
    return write(path / "bytes.gguf", keys)


def alphabet_of_bytes() -> list[str]:
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    characters = {byte: chr(byte) for byte in printable}
    characters |= {byte: chr(256 + at) for at, byte in enumerate(others)}
    return [characters[byte] for byte in range(256)]


# ---- the ids of the original


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
    parsing = original.with_special_in_text("parse")
    keys = byte_level_keys(json.loads(parsing.to_str()), "tekken") | {"bos_token_id": 1}
    loaded = pw.Tokenizer.load(write(tmp_path / "model.gguf", keys))
    for text in (*TEXTS, *texts_of_languages()):
        ids = original.encode(text, add_special_tokens=False).ids
        assert loaded.encode(text).ids == [1, *ids], text
    text = "<s>[INST] Hi [/INST]</s>"
    assert loaded.encode(text, add_special_tokens=False).ids == parsing.encode(text).ids


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
def test_cases_of_llama_cpp(case: str, tmp_path: Path) -> None:
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


# ---- names of pre-tokenizers


@pytest.mark.parametrize("name", sorted(GGUF_PIPELINES))
def test_every_name_of_a_pre_tokenizer_can_be_used(name: str, tmp_path: Path) -> None:
    loaded = pw.Tokenizer.load(byte_level(tmp_path, pre=name, bos_token_id=258))
    text = "".join(TEXTS).replace("e\u0301", "é").replace("Å", "Å").replace("n\u0303", "ñ")
    encoded = loaded.encode(text, add_special_tokens=False)
    assert loaded.decode(encoded.ids) == loaded.normalize(text)


# ---- special tokens and roles


def test_special_tokens_are_added_as_the_model_does(tmp_path: Path) -> None:
    assert pw.Tokenizer.load(small(tmp_path)).encode("a ab").tokens == ["<s>", "▁a", "▁ab"]
    path = small(tmp_path, add_bos_token=False, add_eos_token=True)
    assert pw.Tokenizer.load(path).encode("a", "b").tokens == ["▁a", "</s>", "▁", "b", "</s>"]
    plain = pw.Tokenizer.load(byte_level(tmp_path))
    assert plain.encode("ing").tokens == ["ing"]
    path = byte_level(tmp_path, eos_token_id=258, add_eos_token=True)
    assert pw.Tokenizer.load(path).encode("ing").tokens == ["ing", "<|end|>"]
    llama3 = pw.Tokenizer.load(byte_level(tmp_path, pre="llama-bpe", bos_token_id=258))
    assert llama3.encode("ing", "in").tokens == ["<|end|>", "ing", "<|end|>", "in"]


def test_special_tokens_in_text_are_recognized(tmp_path: Path) -> None:
    loaded = pw.Tokenizer.load(small(tmp_path))
    assert loaded.encode("a</s>ab<x>b").tokens == ["<s>", "▁a", "</s>", "▁ab", "<x>", "▁", "b"]
    ids = loaded.encode("a</s>ab<x>").ids
    assert loaded.decode(ids) == "a ab<x>"
    assert loaded.decode(ids, skip_special_tokens=False) == "<s> a</s> ab<x>"
    loaded = pw.Tokenizer.load(byte_level(tmp_path))
    assert loaded.encode("in<|end|>ing<|pad|>").tokens == ["in", "<|end|>", "ing", "<|pad|>"]


def test_roles_are_those_of_the_file(tmp_path: Path) -> None:
    path = small(tmp_path, padding_token_id=2, mask_token_id=9)
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<x>"}')
    expected = {
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "</s>",
        "mask_token": "<x>",
    }
    assert pw.Tokenizer.load(path).special_tokens_map == expected
    assert pw.Tokenizer.from_bytes(path.read_bytes()).special_tokens_map == expected
    for _ in range(2):
        cached = pw.Tokenizer.load(path, compiled_cache=True)
        assert cached.special_tokens_map == expected
    assert pickle.loads(pickle.dumps(cached)).special_tokens_map == expected
    loaded = pw.Tokenizer.load(byte_level(tmp_path, eos_token_id=258))
    assert loaded.special_tokens_map == {"eos_token": "<|end|>"}


def test_types_are_inferred_where_a_file_has_none(tmp_path: Path) -> None:
    path = small(tmp_path, token_type=None)
    assert pw.Tokenizer.load(path).encode("ab</s>").tokens == ["<s>", "▁ab", "</s>"]
    path = byte_level(tmp_path, token_type=None, eos_token_id=258)
    assert pw.Tokenizer.load(path).encode("in<|end|>").tokens == ["in", "<|end|>"]


def test_letter_case_of_bert(tmp_path: Path) -> None:
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hug", "##s", "É", "Hug"]
    keys = bert_keys(vocabulary)
    cased = pw.Tokenizer.load(write(tmp_path / "cased.gguf", keys))
    assert cased.encode("Hugs hugs É").tokens == ["[CLS]", "Hug", "##s", "hug", "##s", "É", "[SEP]"]
    path = write(tmp_path / "stated.gguf", keys | {"normalizer.lowercase": True})
    assert pw.Tokenizer.load(path).encode("Hugs").tokens == ["[CLS]", "hug", "##s", "[SEP]"]
    assert pw.Tokenizer.load(path, lowercase=False).encode("Hug").tokens[1] == "Hug"


# ---- how a file is read


def test_the_format_is_found_by_content(tmp_path: Path) -> None:
    path = small(tmp_path)
    loaded = pw.Tokenizer.load(path)
    assert file_format(path) == "GGUF"
    assert pw.Tokenizer.from_bytes(path.read_bytes()) == loaded
    assert pw.Tokenizer.from_bytes(path.read_bytes(), format="GGUF") == loaded
    compressed = tmp_path / "small.bin"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    assert pw.Tokenizer.load(compressed) == loaded
    assert pw.Tokenizer.load(compressed).eos_token == "</s>"


def test_a_vocabulary_that_begins_with_the_name_is_no_gguf(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("GGUF\n[UNK]\n")
    assert pw.Tokenizer.load(path).token_to_id("GGUF") == 0


def test_version_2_is_read(tmp_path: Path) -> None:
    path = small(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:4] + struct.pack("<I", 2) + data[8:])
    assert pw.Tokenizer.load(path).encode("ab").tokens == ["<s>", "▁ab"]


def test_tensors_are_not_read(tmp_path: Path) -> None:
    size = 1 << 28
    path = small(tmp_path)
    with path.open("r+b") as file:
        file.truncate(size)
    tracemalloc.start()
    loaded = pw.Tokenizer.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert loaded.encode("ab").tokens == ["<s>", "▁ab"]
    assert peak < size // 64


def test_a_compiled_cache_follows_the_tokenizer_and_not_the_tensors(tmp_path: Path) -> None:
    path = small(tmp_path)
    pw.Tokenizer.load(path, compiled_cache=True)
    written = (tmp_path / "small.gguf.pwc").read_bytes()
    with path.open("ab") as file:
        file.write(b"more")
    pw.Tokenizer.load(path, compiled_cache=True)
    assert (tmp_path / "small.gguf.pwc").read_bytes() == written
    small(tmp_path, add_bos_token=False)
    assert pw.Tokenizer.load(path, compiled_cache=True).encode("ab").tokens == ["▁ab"]


def test_loaded_tokenizers_can_be_saved(tmp_path: Path) -> None:
    for path in (small(tmp_path), byte_level(tmp_path)):
        loaded = pw.Tokenizer.load(path)
        loaded.save(tmp_path / "saved.piecework")
        again = pw.Tokenizer.load(tmp_path / "saved.piecework")
        assert again.encode("ab <s>ing").ids == loaded.encode("ab <s>ing").ids


def test_commands_read_gguf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("ab a\n")
    assert run(["encode", str(small(tmp_path)), str(text)]) == 0
    assert capsys.readouterr().out.split() == ["1", "8", "6"]


# ---- bad input


def error_of(call: Callable[[], object]) -> PieceworkError:
    with pytest.raises(PieceworkError) as caught:
        call()
    assert isinstance(caught.value, FormatError | VocabularyError), caught.value
    return caught.value


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"model": "rwkv"}, "tokenizer.ggml.model", "found 'rwkv'|found \"rwkv\""),
        ({"model": "plamo2"}, "tokenizer.ggml.model", "one of gpt2, llama, bert, t5"),
        ({"model": None}, "tokenizer.ggml.model", "is a GGUF file without a tokenizer"),
        ({"model": 3}, "tokenizer.ggml.model", "the type uint32, expected a string"),
        ({"tokens": None}, "tokenizer.ggml.tokens", "no such key"),
        (
            {"tokens": [1, 2, 3]},
            "tokenizer.ggml.tokens",
            "array of int32, expected an array of str",
        ),
        ({"tokens": "a"}, "tokenizer.ggml.tokens", "the type string"),
        ({"scores": None}, "tokenizer.ggml.scores", "no such key"),
        (
            {"scores": [1] * 10},
            "tokenizer.ggml.scores",
            "array of int32, expected an array of float",
        ),
        ({"scores": [0.0] * 9}, "tokenizer.ggml.scores", "9 items, expected 10"),
        ({"scores": [0.0] * 9 + [float("nan")]}, "tokenizer.ggml.scores[9]", "found NaN"),
        ({"token_type": [1] * 11}, "tokenizer.ggml.token_type", "11 items, expected 10"),
        ({"token_type": [1] * 9 + [7]}, "tokenizer.ggml.token_type[9]", "found 7"),
        ({"token_type": [1] * 9 + [-1]}, "tokenizer.ggml.token_type[9]", "found -1"),
        ({"token_type": [1.0] * 10}, "tokenizer.ggml.token_type", "array of float32"),
        ({"token_type": [2, 2] + [1] * 8}, "model.pieces[1]", "unknown"),
        ({"token_type": [1] * 10}, "tokenizer.ggml.unknown_token_id", "no such key"),
        ({"token_type": [2] + [1] * 9}, "tokenizer.ggml.bos_token_id", "no such key"),
        ({"bos_token_id": 10}, "tokenizer.ggml.bos_token_id", "found 10"),
        ({"eos_token_id": 2**32 - 1}, "tokenizer.ggml.eos_token_id", "below 10"),
        ({"eos_token_id": "a"}, "tokenizer.ggml.eos_token_id", "expected an integer"),
        ({"add_bos_token": 1}, "tokenizer.ggml.add_bos_token", "expected a bool"),
        ({"tokens": [*SMALL["tokens"][:9], "ab"]}, "tokenizer.ggml.tokens[9]", "which [7] is too"),
        ({"precompiled_charsmap": b"abc"}, "normalizer", "charsmap"),
        ({"precompiled_charsmap": "abc"}, "tokenizer.ggml.precompiled_charsmap", "the type string"),
    ],
)
def test_wrong_values_are_named(
    changes: dict[str, Any], place: str, message: str, tmp_path: Path
) -> None:
    path = small(tmp_path, **changes)
    error = error_of(lambda: pw.Tokenizer.load(path))
    assert place in str(error)
    assert any(part in str(error) for part in message.split("|")), error
    assert str(path) in str(error)
    error_of(lambda: pw.Tokenizer.from_bytes(path.read_bytes()))


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"pre": "zebra"}, "tokenizer.ggml.pre", "found 'zebra', expected one of a.x-4.0"),
        ({"pre": None}, "tokenizer.ggml.pre", "no such key"),
        ({"pre": "kimi-k2"}, "tokenizer.ggml.pre", "pass pattern= to load"),
        ({"merges": None}, "tokenizer.ggml.merges", "no such key"),
        ({"merges": ["i n", "ing"]}, "tokenizer.ggml.merges[1]", 'found "ing"'),
        ({"merges": ["i n", "i g"]}, "model.merges[1]", "ig"),
        ({"pre": "llama-bpe"}, "tokenizer.ggml.bos_token_id", "which the tokenizer adds"),
        ({"add_sep_token": True}, "tokenizer.ggml.seperator_token_id", "no such key"),
    ],
)
def test_wrong_byte_level_files_are_named(
    changes: dict[str, Any], place: str, message: str, tmp_path: Path
) -> None:
    path = byte_level(tmp_path, **changes)
    error = error_of(lambda: pw.Tokenizer.load(path))
    assert place in str(error)
    assert message in str(error)


def test_a_pattern_replaces_an_unknown_pre_tokenizer(tmp_path: Path) -> None:
    path = byte_level(tmp_path, pre="zebra")
    assert pw.Tokenizer.load(path, pattern="gpt2").encode("ing ing").tokens == ["ing", "Ġ", "ing"]
    with pytest.raises(
        ArgumentError, match="lowercase=True does not apply to the model of a GGUF file"
    ):
        pw.Tokenizer.load(path, lowercase=True)
    with pytest.raises(
        ArgumentError, match="pattern='gpt2' does not apply to the model of a GGUF file"
    ):
        pw.Tokenizer.load(small(tmp_path), pattern="gpt2")


def replaced_version(number: int, order: str) -> Callable[[bytes], bytes]:
    return lambda data: data[:4] + struct.pack(f"{order}I", number) + data[8:]


def with_number(position: int, number: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:position] + struct.pack("<Q", number) + data[position + 8 :]


def key_of(data: bytes, key: str) -> int:
    """Return the offset after a key, where the type of its value begins."""
    name = f"tokenizer.ggml.{key}".encode()
    return data.index(struct.pack("<Q", len(name)) + name) + 8 + len(name)


def with_number_after(key: str, offset: int, number: int) -> Callable[[bytes], bytes]:
    return lambda data: with_number(key_of(data, key) + offset, number)(data)


def with_key_twice(data: bytes) -> bytes:
    return data.replace(b"tokenizer.ggml.scores", b"tokenizer.ggml.tokens")


def with_bytes_that_are_no_text(data: bytes) -> bytes:
    return data.replace("▁ab".encode(), b"\xe2\x96a\xffb")


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "version 1": (replaced_version(1, "<"), "version (byte 4): found version 1"),
    "version 4": (replaced_version(4, "<"), "version (byte 4): found version 4"),
    "big-endian": (replaced_version(3, ">"), "found a big-endian file"),
    "key count": (with_number(16, 2**63), "metadata_kv_count (byte 24): found 92233720368547"),
    "key length": (
        with_number(24, 2**62),
        "key 0 (byte 24): found a string of 4611686018427387904",
    ),
    "token count": (with_number_after("tokens", 8, 2**61), "tokenizer.ggml.tokens (byte"),
    "token count too": (with_number_after("tokens", 8, 2**16), "tokenizer.ggml.tokens"),
    "token length": (with_number_after("tokens", 16, 2**40), "tokenizer.ggml.tokens (byte"),
    "score count": (with_number_after("scores", 8, 2**62), "tokenizer.ggml.scores (byte"),
    "string length": (with_number_after("model", 4, 2**64 - 1), "tokenizer.ggml.model (byte"),
    "a key twice": (with_key_twice, "tokenizer.ggml.tokens (byte"),
    "no text": (with_bytes_that_are_no_text, "tokenizer.ggml.tokens[8] (byte"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_sections_are_refused_with_key_and_byte(kind: str, tmp_path: Path) -> None:
    damage, message = DAMAGE[kind]
    path = small(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    tracemalloc.start()
    error = error_of(lambda: pw.Tokenizer.load(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert message in str(error)
    assert peak < 1 << 24
    error_of(lambda: pw.Tokenizer.from_bytes(path.read_bytes()))


def test_deeply_nested_arrays_are_refused(tmp_path: Path) -> None:
    nested = b"".join(struct.pack("<IQ", 9, 1) for _ in range(100_000))
    key = b"nested"
    head = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key + struct.pack("<I", 9)
    data = head + nested
    assert "arrays inside each other" in str(error_of(lambda: pw.Tokenizer.from_bytes(data)))
    data = head + struct.pack("<IQ", 13, 1) + nested
    assert "found the type 13" in str(error_of(lambda: pw.Tokenizer.from_bytes(data)))


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = small(tmp_path)
    data = path.read_bytes()
    section = data.index(b"llama.rope.freq_base") + len("llama.rope.freq_base") + 8
    for length in range(4, section):
        error_of(lambda length=length: pw.Tokenizer.from_bytes(data[:length]))
    assert pw.Tokenizer.from_bytes(data[:section]) == pw.Tokenizer.load(path)


@pytest.mark.slow
def test_a_real_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    keys = byte_level_keys(document("gpt2"), "gpt-2")
    path = write(tmp_path / "model.gguf", keys)
    data = path.read_bytes()
    cut = tmp_path / "cut.gguf"
    end = data.index(b"llama.rope.freq_base")
    for length in range(1000, end, 1000):
        cut.write_bytes(data[:length])
        assert "before the end" in str(error_of(lambda: pw.Tokenizer.load(cut)))


def test_changed_bytes_never_panic(tmp_path: Path) -> None:
    data = small(tmp_path).read_bytes()
    rng = np.random.default_rng(5)
    end = data.index(b"llama.rope.freq_base")
    for _ in range(3000):
        changed = bytearray(data)
        for at in rng.integers(0, end, size=2):
            changed[at] = rng.integers(0, 256)
        # A panic is an InternalError, which is not suppressed.
        with suppress(ArgumentError, FormatError, VocabularyError):
            pw.Tokenizer.from_bytes(bytes(changed), format="GGUF").encode("ab </s> c")
