"""Wrong and damaged GGUF files are errors that name the key and the byte."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.errors import ArgumentError, FormatError, PieceworkError, VocabularyError
from tests.io.gguf.files import SMALL, byte_level, byte_level_keys, document, small, write


def error_of(call: Callable[[], object]) -> PieceworkError:
    with pytest.raises(PieceworkError) as caught:
        call()
    assert isinstance(caught.value, FormatError | VocabularyError), caught.value
    return caught.value


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"model": "rwkv"}, "tokenizer.ggml.model", "found 'rwkv'|found \"rwkv\""),
        ({"model": "plamo2"}, "tokenizer.ggml.model", "one of gpt2, llama, bert, t5, gemma4"),
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
        ({"/chat_template": 1}, "tokenizer.chat_template", "the type uint32, expected a string"),
        ({"/chat_template.": "a"}, "tokenizer.chat_template.", "found '', expected a name"),
        ({"/chat_template.../a": "a"}, "tokenizer.chat_template.../a", "without separators"),
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
        ({"pre": "whitespace"}, "tokenizer.ggml.pre", "or a pattern"),
        ({"pre": "gemma4", "merges": None}, "tokenizer.ggml.merges", "no such key"),
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
        ArgumentError, match="lowercase: True does not apply to the model of a GGUF file"
    ):
        pw.Tokenizer.load(path, lowercase=True)
    with pytest.raises(
        ArgumentError, match="pattern: 'gpt2' does not apply to the model of a GGUF file"
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
