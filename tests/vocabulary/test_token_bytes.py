"""Tokens as bytes, tokenizers from memory, and the search for special tokens."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest

import piecework as pw
from piecework.errors import ArgumentError, FormatError, InputTypeError, SpecialTokenError

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"\xe2\x82": 256, b"in": 257}
SPECIAL = {"<|end|>": 258, "<|start|>": 260}


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    return pw.Tokenizer.from_ranks(RANKS, pattern=r"\w+|\W+", special_tokens=SPECIAL)


# ---- bytes


def test_tokens_of_a_byte_level_model_are_bytes(tok: pw.Tokenizer) -> None:
    assert pw.vocabulary.vocab_bytes(tok) == {id: token for token, id in RANKS.items()}
    assert tok.token_bytes(256) == b"\xe2\x82"
    assert tok.token_bytes(258) == b"<|end|>"


def test_other_tokens_are_utf_8_with_their_prefix() -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "##é": 1}))
    assert tok.token_bytes(1) == "##é".encode()


@pytest.mark.parametrize("id", [259, 261, -1, 2**32, 2**80])
def test_an_id_outside_the_vocabulary_has_no_bytes(tok: pw.Tokenizer, id: int) -> None:
    assert tok.token_bytes(id) is None
    with pytest.raises(ArgumentError, match=r"ids\[1\]"):
        tok.decode_bytes([1, id])


def test_ids_that_are_not_integers_are_named(tok: pw.Tokenizer) -> None:
    with pytest.raises(InputTypeError, match="id: must be int, not str"):
        tok.token_bytes("in")  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match=r"ids\[1\]: must be .*, not str"):
        tok.decode_bytes([1, "in"])  # type: ignore[list-item]


def test_decoded_bytes_concatenate_those_of_the_tokens(tok: pw.Tokenizer) -> None:
    ids = [257, 256, 258, 0xFF]
    assert tok.decode_bytes(ids) == b"in\xe2\x82<|end|>\xff"
    assert tok.decode_bytes(np.array(ids, np.uint32)) == tok.decode_bytes(tuple(ids))


def test_a_pre_token_is_segmented_without_splitting(tok: pw.Tokenizer) -> None:
    assert pw.tokenizer.stages.encode_pre_token(tok, b"in<|end|>") == [257, *b"<|end|>"]
    assert pw.tokenizer.stages.encode_pre_token(tok, b"") == []
    with pytest.raises(InputTypeError, match="data: must be bytes, not str"):
        pw.tokenizer.stages.encode_pre_token(tok, "in")  # type: ignore[arg-type]


# ---- tokenizers from memory


def test_ranks_with_a_gap_give_no_warning_and_refuse_special_tokens() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok = pw.Tokenizer.from_ranks(RANKS, pattern="gpt2", special_tokens=SPECIAL)
    with pytest.raises(SpecialTokenError):
        tok.encode("a<|end|>")


def test_ranks_take_a_pre_tokenizer() -> None:
    pre_tokenizer = pw.spec.ByteLevel(add_prefix_space=False)
    tok = pw.Tokenizer.from_ranks(RANKS, pattern=pre_tokenizer)
    assert tok == pw.Tokenizer.from_ranks(RANKS, pattern="gpt2")
    assert tok.spec.pre_tokenizer == pre_tokenizer


def test_an_invalid_rank_is_named_by_its_position() -> None:
    with pytest.raises(FormatError, match="mine: line 2"):
        pw.Tokenizer.from_ranks({b"a": 0, b"b": -1}, pattern="gpt2", source="mine")


@pytest.mark.parametrize("suffix", [".json", ".txt", ".piecework"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_the_bytes_of_a_file_give_its_tokenizer(
    suffix: str, compress: type[bytes], tmp_path: Path
) -> None:
    path = tmp_path / f"file{suffix}"
    pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})).save(path)
    data = compress(path.read_bytes())
    assert pw.Tokenizer.from_bytes(data) == pw.Tokenizer.load(path)


def test_a_format_can_be_required() -> None:
    with pytest.raises(FormatError, match="^data"):
        pw.Tokenizer.from_bytes(b"[UNK]\nhug\n", format="SentencePiece .model")
    with pytest.raises(ArgumentError, match="format: must be one of tokenizer.json.*, not 'model'"):
        pw.Tokenizer.from_bytes(b"[UNK]\nhug\n", format="model")


def test_data_that_only_load_reads_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.pwc"
    pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})).save(path)
    with pytest.raises(
        FormatError, match="data: is a compiled cache; Tokenizer.load reads it from its path"
    ):
        pw.Tokenizer.from_bytes(path.read_bytes())
    with pytest.raises(ArgumentError, match="merges"):
        pw.Tokenizer.from_bytes(b'{"a": 0}')
    with pytest.raises(InputTypeError, match="data: must be bytes, not str"):
        pw.Tokenizer.from_bytes("[UNK]")  # type: ignore[arg-type]


# ---- special tokens in texts


def test_the_first_special_token_is_found(tok: pw.Tokenizer) -> None:
    texts = ["none", "a<|start|><|end|>"]
    assert pw.chat.find_special_token(tok, texts) == (1, "<|start|>")
    assert pw.chat.find_special_token(tok, texts, {"<|end|>"}) == (1, "<|end|>")
    assert pw.chat.find_special_token(tok, texts, []) is None
    assert pw.chat.find_special_token(tok, texts[:1]) is None


def test_only_special_tokens_can_be_searched_for(tok: pw.Tokenizer) -> None:
    with pytest.raises(ArgumentError, match="tokens: 'in' is not a special token of the tokenizer"):
        pw.chat.find_special_token(tok, ["in"], ["in"])
    with pytest.raises(InputTypeError, match="tokens: must be .*, not str"):
        pw.chat.find_special_token(tok, ["in"], "<|end|>")


def test_offsets_of_normalized_characters_end_with_the_text() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=pw.spec.NFKC())
    assert pw.tokenizer.stages.normalize_with_offsets(tok, "a½") == ("a1⁄2", [0, 1, 1, 1, 2])
    assert pw.tokenizer.stages.normalize_with_offsets(tok, "") == ("", [])
