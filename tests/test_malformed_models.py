"""Wrong and hostile `.model` files: typed errors that name the place, or work that stays near-linear."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import FormatError, PieceworkError

Piece = tuple[str | bytes, float, int]

NORMAL, UNKNOWN, CONTROL, DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE = 1, 2
START: list[Piece] = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("a", -1.0, NORMAL)]


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, inner: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(inner)) + inner


def model(
    pieces: list[Piece], kind: int = UNIGRAM, trainer: bytes = b"", rules: bytes = b""
) -> bytes:
    out = bytearray()
    for text, score, type in pieces:
        raw = text.encode() if isinstance(text, str) else text
        out += field(1, field(1, raw) + b"\x15" + struct.pack("<f", score) + b"\x18" + varint(type))
    return bytes(out + field(2, b"\x18" + varint(kind) + trainer) + field(3, rules))


def load(raw: bytes, folder: Path) -> pw.Tokenizer:
    (folder / "m.model").write_bytes(raw)
    return pw.Tokenizer.load(folder / "m.model")


FAULTS: dict[str, tuple[bytes, str]] = {
    "nan": (model([*START, ("b", float("nan"), NORMAL)]), r"pieces\[3\].*score NaN"),
    "infinite": (model([*START, ("b", float("-inf"), NORMAL)]), r"pieces\[3\].*score -inf"),
    "nan of a control": (model([*START, ("</s>", float("nan"), CONTROL)]), r"pieces\[3\].*NaN"),
    "empty": (model([*START, ("", -1.0, NORMAL)]), r"pieces\[3\].*empty"),
    "empty symbol": (model([*START, ("", 0.0, DEFINED)]), r"(?s)empty"),
    "twice": (model([*START, ("a", -2.0, NORMAL)]), r"pieces\[3\].*\"a\" as in \[2\]"),
    "twice by type": (model([*START, ("<s>", -2.0, NORMAL)]), r"pieces\[3\].*\"<s>\" as in \[1\]"),
    "no unknown": (model(START[1:]), "no unknown piece"),
    "two unknown": (model([*START, ("<u>", 0.0, UNKNOWN)]), r"pieces\[3\].*unknown"),
    "no pieces": (model([]), "."),
    "not utf-8": (model([*START, (b"\xff", -1.0, NORMAL)]), r"pieces\[3\].*UTF-8"),
    "type": (model([*START, ("b", -1.0, 9)]), r"pieces\[3\].*type"),
    "kind": (model(START, kind=9), "model_type"),
    "bytes without fallback": (
        model([*START, ("<0x41>", 0.0, BYTE)]),
        r"pieces\[3\].*byte_fallback",
    ),
    "fallback without bytes": (model(START, trainer=b"\x98\x02\x01"), "<0x00>"),
    "longer than the file": (model(START) + b"\x0a\xff\xff\xff\xff\x0f", "cut off"),
    "too long a number": (model(START) + b"\x80" * 11, "."),
    "rules": (model(START, rules=field(2, b"\x00\x01\x00\x00\xff\xff\xff\xff")), "charsmap"),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("kind", [UNIGRAM, BPE])
def test_a_fault_is_named(name: str, kind: int, tmp_path: Path) -> None:
    raw, message = FAULTS[name]
    with pytest.raises(FormatError, match=message) as caught:
        load(raw.replace(b"\x12\x02\x18\x01", b"\x12\x02\x18" + bytes([kind])), tmp_path)
    assert "m.model" in str(caught.value)


@pytest.mark.parametrize("kind", [UNIGRAM, BPE])
def test_nul_is_a_character_as_any_other(kind: int, tmp_path: Path) -> None:
    pieces: list[Piece] = [
        *START,
        ("\0", -2.0, NORMAL),
        ("a\0", -2.5, NORMAL),
        ("b\0b", 0.0, DEFINED),
    ]
    tok = load(model(pieces, kind, rules=b"\x18\x00"), tmp_path)
    assert tok.encode("a\0").tokens == ["a\0"]
    assert tok.encode("\0ab\0b").tokens == ["\0", "a", "b\0b"]
    assert tok.decode(tok.encode("b\0b\0").ids) == "b\0b\0"


@pytest.mark.parametrize("at", range(0, 200, 7))
def test_bytes_that_are_cut_off_or_changed_give_typed_errors(at: int, tmp_path: Path) -> None:
    raw = bytearray(model([*START, ("<x>", 0.0, DEFINED), ("b", -3.0, UNUSED)]))
    at %= len(raw)
    for damaged in (raw[:at], raw[:at] + b"\xff" + raw[at + 1 :], raw[:at] + raw[at + 1 :]):
        with contextlib.suppress(PieceworkError):
            load(bytes(damaged), tmp_path).encode("a<x>b")


@pytest.mark.parametrize("kind", [UNIGRAM, BPE])
def test_an_enormous_symbol_is_found(kind: int, tmp_path: Path) -> None:
    """A user-defined symbol longer than any stretch that is kept, in a text of twelve."""
    long = "a" * 300_000
    tok = load(model([*START, (long, 0.0, DEFINED)], kind, rules=b"\x18\x00"), tmp_path)
    assert tok.count(long * 12 + "aa") == 14


def test_many_pieces_that_begin_alike_cost_what_they_take(tmp_path: Path) -> None:
    """Nested pieces: as many as end at a place are looked at there, by the square root of the file."""
    nested: list[Piece] = [("a" * n, -2.0, NORMAL) for n in range(2, 400)]
    tok = load(model([*START, *nested], rules=b"\x18\x00"), tmp_path)
    assert tok.count("a" * 100_000) == -(-100_000 // 399)


def test_a_hundred_thousand_pieces_are_loaded(tmp_path: Path) -> None:
    pieces: list[Piece] = [(f"{n:x}\u2581{n:x}", -1.0 - n / 1e5, NORMAL) for n in range(100_000)]
    tok = load(model([*START, *pieces], rules=b"\x18\x00"), tmp_path)
    assert tok.encode("beef beef").tokens == ["beef\u2581beef"]


@pytest.mark.parametrize(
    "pieces", [["a", "aaa"], ["a", "aa", "aaaaaaa"], ["a", "ab", "aba", "bab", "b"]]
)
def test_a_text_without_a_place_where_paths_meet(pieces: list[str], tmp_path: Path) -> None:
    scored: list[Piece] = [
        (piece, -2.0 - len(piece) / 8, NORMAL) for piece in pieces if piece != "a"
    ]
    tok = load(model([*START, *scored], rules=b"\x18\x00"), tmp_path)
    text = "ab" * 200_000 if "b" in pieces else "a" * 400_001
    ids = tok.encode_batch([text]).ids
    assert tok.decode(ids) == text
    components = pw.Tokenizer(
        pw.spec.Unigram((("<unk>", 0.0), ("a", -1.0), *((t, s) for t, s, _ in scored)), unk_id=0)  # type: ignore[misc]
    )
    assert components.count(text) == len(ids)
