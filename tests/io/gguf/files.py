"""Write GGUF files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from tests.data import need

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


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


def write(path: Path, keys: Mapping[str, Any], tensor_bytes: int = 64) -> Path:
    """Write a file with the keys of a tokenizer, other keys before and after them, and a tensor.

    A name is after `tokenizer.ggml.`, or after `tokenizer.` if it begins with a slash.
    """
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("test")
    writer.add_array("general.tags", ["a", "b"])
    for name, value in keys.items():
        key = f"tokenizer.{name[1:]}" if name.startswith("/") else f"tokenizer.ggml.{name}"
        add(writer, key, value)
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
