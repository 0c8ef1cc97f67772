"""Wrong and hostile `.model` files: typed errors that name the place, or work that stays near-linear."""

from __future__ import annotations

import contextlib
import functools
import io
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import sentencepiece

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
def test_nul_is_an_ordinary_character(kind: int, tmp_path: Path) -> None:
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


def test_many_nested_pieces_are_encoded(tmp_path: Path) -> None:
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
def test_a_text_whose_segmentation_paths_never_meet_is_encoded(
    pieces: list[str], tmp_path: Path
) -> None:
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


# ---- fields in another order


def split_fields(raw: bytes) -> list[tuple[int, bytes]]:
    """Return the number and the bytes of every field of a message, the key included."""
    fields, at = [], 0
    while at < len(raw):
        start = at
        key, at = read_varint(raw, at)
        if key & 7 == 0:
            _, at = read_varint(raw, at)
        elif key & 7 == 2:
            size, at = read_varint(raw, at)
            at += size
        else:
            at += {1: 8, 5: 4}[key & 7]
        fields.append((key >> 3, raw[start:at]))
    return fields


def read_varint(raw: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (raw[at] & 0x7F) << shift
        shift += 7
        at += 1
        if raw[at - 1] < 0x80:
            return number, at


def contents(raw: bytes) -> bytes:
    """Return what a field that holds bytes holds."""
    _, at = read_varint(raw, 0)
    _, at = read_varint(raw, at)
    return raw[at:]


def joined(fields: list[tuple[int, bytes]]) -> bytes:
    return b"".join(raw for _, raw in fields)


def settings_first(raw: bytes) -> bytes:
    return joined(sorted(split_fields(raw), key=lambda field: field[0] == 1))


def normalizer_first(raw: bytes) -> bytes:
    return joined(sorted(split_fields(raw), key=lambda field: -field[0]))


def fields_of_messages_reversed(raw: bytes) -> bytes:
    """Scores before texts; a setting that is there twice keeps its order, as the last one counts."""
    turned = []
    for number, whole in split_fields(raw):
        inner = sorted(split_fields(contents(whole)), key=lambda field: -field[0])
        turned.append((number, field(number, joined(inner))))
    return joined(turned)


def settings_in_parts(raw: bytes) -> bytes:
    """Every setting is a message of its own, before and between the pieces; a wrong one comes first."""
    pieces = [whole for number, whole in split_fields(raw) if number == 1]
    parts = [
        field(number, inner)
        for number, whole in split_fields(raw)
        if number != 1
        for _, inner in split_fields(contents(whole))
    ]
    wrong = field(2, b"\x18\x04")
    half = len(parts) // 2
    return b"".join([wrong, *parts[:half], *pieces[:2], *parts[half:], *pieces[2:]])


def unknown_field_first(raw: bytes) -> bytes:
    return varint(1000 << 3) + b"\x07" + field(1001, b"others") + raw


@pytest.mark.parametrize("name", ["Unigram", "BPE", "bytes"])
@pytest.mark.parametrize(
    "reorder",
    [
        settings_first,
        normalizer_first,
        fields_of_messages_reversed,
        settings_in_parts,
        unknown_field_first,
    ],
)
def test_fields_may_come_in_any_order(
    reorder: Callable[[bytes], bytes], name: str, tmp_path: Path
) -> None:
    raw = trained(name)
    turned = reorder(raw)
    assert turned != raw
    theirs = sentencepiece.SentencePieceProcessor(model_proto=turned)
    ours = load(turned, tmp_path)
    whole = load(raw, tmp_path)
    assert ours.get_vocab() == whole.get_vocab()
    for text in ("the cat sat", "  two  spaces ", "4000 žluťoučký", ""):
        assert list(ours.encode(text).ids) == theirs.encode(text), text
        assert ours.decode(theirs.encode(text)) == theirs.decode(theirs.encode(text)), text
    ours.save(tmp_path / "again.model")
    again = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "again.model"))
    assert again.encode("the cat sat") == theirs.encode("the cat sat")


@functools.cache
def trained(name: str) -> bytes:
    texts = ["the cat sat on the mat", "a dog ate 400 hats", "the rat and the cat"] * 20
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=out,
        vocab_size=300 if name == "bytes" else 40,
        model_type="unigram" if name == "Unigram" else "bpe",
        byte_fallback=name == "bytes",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return out.getvalue()


@pytest.mark.parametrize("turn", [settings_first, normalizer_first])
def test_a_model_that_is_cut_off_is_named_in_any_order(
    turn: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match="cut off"):
        load(turn(trained("BPE"))[:-3], tmp_path)


def test_a_vocabulary_of_words_is_not_a_model(tmp_path: Path) -> None:
    for start in ("\x12\x04", "\x1a\x02ab", '"\x02\x08\x01', "*", '"'):
        path = tmp_path / "vocab.txt"
        path.write_text(f"{start}\n[UNK]\nhug\n")
        assert "hug" in pw.Tokenizer.load(path).get_vocab()


def test_a_very_long_piece_is_refused(tmp_path: Path) -> None:
    long = "x" * (1 << 20) + "y"
    for kind in (NORMAL, DEFINED):
        with pytest.raises(FormatError, match=r"pieces\[3\]: found a token of 1048577 bytes"):
            load(model([*START, (long, 0.0, kind)]), tmp_path)
