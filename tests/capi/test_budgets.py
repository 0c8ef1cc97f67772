"""Growing texts, chunks and selected messages in C and in Python are equal."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_size_t, c_uint32, c_void_p, sizeof
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import ArgumentError
from tests.capi.library import SHARED
from tests.chat.test_chunks import LEVELS, MARKS, MODELS, TEXT, tokenizer
from tests.chat.test_recent_turns import CHARACTERS, WILD

FAILED = c_size_t(-1).value


class EncodeOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("parsed_tokens", c_void_p),
        ("parsed_token_count", c_size_t),
        *((name, c_uint32) for name in ("add_special_tokens", "parse_special", "invalid_utf8")),
        *((name, c_uint32) for name in ("offset_unit", "offsets", "overflow", "num_threads")),
        ("cancel", c_void_p),
    ]


class ChunkOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("max_tokens", c_size_t),
        ("overlap", c_size_t),
        ("unit", c_uint32),
    ]


class Chunk(ctypes.Structure):
    _fields_ = [("start", c_size_t), ("end", c_size_t), ("num_tokens", c_size_t)]


class Message(ctypes.Structure):
    _fields_ = [("num_tokens", c_size_t), ("call", c_size_t), ("role", c_uint32)]


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(SHARED))
    pointers = {
        "piecework_load_bytes": [c_char_p, c_size_t, c_void_p, c_void_p],
        "piecework_growing_text_new": [c_void_p, c_void_p, c_void_p],
        "piecework_growing_text_ids": [c_void_p, c_void_p],
    }
    for name, arguments in pointers.items():
        getattr(library, name).argtypes, getattr(library, name).restype = arguments, c_void_p
    library.piecework_growing_text_ids.restype = POINTER(c_uint32)
    library.piecework_growing_text_append.argtypes = [c_void_p, c_char_p, c_size_t, c_void_p]
    library.piecework_growing_text_append.restype = ctypes.c_bool
    library.piecework_growing_text_free.argtypes = [c_void_p]
    texts = [c_void_p, c_char_p, c_size_t, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p]
    library.piecework_chunk_text.argtypes = texts
    library.piecework_fit_messages.argtypes = [
        c_void_p,
        c_size_t,
        c_size_t,
        c_void_p,
        c_size_t,
        c_void_p,
    ]
    for name in ("growing_text_num_stable", "chunk_text", "fit_messages"):
        getattr(library, f"piecework_{name}").restype = c_size_t
    library.piecework_growing_text_num_stable.argtypes = [c_void_p]
    return library


@pytest.fixture(scope="module")
def loaded(library: ctypes.CDLL, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The tokenizers of the tests of Python, as C loads them."""

    def load(model: str) -> int:
        path = tmp_path_factory.mktemp("models") / "tokenizer.piecework"
        tokenizer(model).save(path)
        content = path.read_bytes()
        found = library.piecework_load_bytes(content, len(content), None, None)
        assert found
        return int(found)

    return {model: load(model) for model in MODELS}


ANY_TEXT = st.one_of(TEXT, MARKS, st.tuples(MARKS, TEXT).map("".join))


@given(st.sampled_from(MODELS), ANY_TEXT, st.lists(st.integers(0, 99), max_size=6))
@settings(max_examples=500)
def test_a_growing_text_has_the_ids_of_python(
    library: ctypes.CDLL, loaded: dict[str, int], model: str, text: str, ends: list[int]
) -> None:
    growing = library.piecework_growing_text_new(loaded[model], None, None)
    tok, count, done, stable = tokenizer(model), c_size_t(), 0, list[int]()
    for end in [*sorted(min(end, len(text)) for end in ends), len(text)]:
        part = text[done:end].encode()
        assert library.piecework_growing_text_append(growing, part, len(part), None)
        ids = library.piecework_growing_text_ids(growing, byref(count))[: count.value]
        assert ids == tok.encode(text[:end], add_special_tokens=False).ids
        assert ids[: len(stable)] == stable
        done, stable = end, ids[: library.piecework_growing_text_num_stable(growing)]
    library.piecework_growing_text_free(growing)


UNITS = ["sentence", "paragraph", "word", "character"]
ENCODINGS, WIDTHS = ("utf-8", "utf-32-le", "utf-16-le"), (1, 4, 2)


@given(
    st.sampled_from(MODELS),
    ANY_TEXT,
    st.integers(0, 30),
    st.integers(0, 9),
    st.sampled_from(LEVELS),
    st.booleans(),
)
@settings(max_examples=500)
def test_chunks_are_those_of_python(
    library: ctypes.CDLL,
    loaded: dict[str, int],
    model: str,
    text: str,
    max_tokens: int,
    overlap: int,
    at: Any,
    framed: bool,
) -> None:
    data, chunks = text.encode(), (Chunk * 500)()
    chunking = ChunkOptions(sizeof(ChunkOptions), max_tokens, overlap, UNITS.index(at))

    def found(unit: int) -> list[tuple[int, int, int]] | None:
        options = EncodeOptions(sizeof(EncodeOptions), offset_unit=unit)
        options.add_special_tokens = 1 if framed else 2
        count = library.piecework_chunk_text(
            loaded[model], data, len(data), byref(chunking), byref(options), chunks, 500, None
        )
        if count == FAILED:
            return None
        return [(chunk.start, chunk.end, chunk.num_tokens) for chunk in chunks[:count]]

    try:
        expected = pw.chat.chunk_text(
            tokenizer(model), text, max_tokens, overlap=overlap, at=at, add_special_tokens=framed
        )
    except ArgumentError:
        assert found(0) is None
        return
    for unit, encoding in enumerate(ENCODINGS):
        places = [len(text[:at].encode(encoding)) // WIDTHS[unit] for at in range(len(text) + 1)]
        assert found(unit) == [(places[it.start], places[it.end], it.num_tokens) for it in expected]


ROLES = {"user": 0, "assistant": 1, "tool": 2, "system": 3, "developer": 3}


def calls(messages: list[dict[str, Any]]) -> Iterator[int]:
    """Yield 1 and the index of the call that each message answers, 0 if it names none."""
    called: dict[str, int] = {}
    for at, message in enumerate(messages):
        yield called.get(message.get("tool_call_id", ""), 0)
        called.update((call["id"], at + 1) for call in message.get("tool_calls", ()))


@given(WILD, st.integers(0, 14))
@settings(max_examples=1000)
def test_messages_are_those_of_python(
    library: ctypes.CDLL, messages: list[dict[str, Any]], budget: int
) -> None:
    rows = [
        Message(1, call, ROLES[message["role"]])
        for message, call in zip(messages, calls(messages), strict=True)
    ]
    kept = (c_size_t * len(rows))()
    count = library.piecework_fit_messages(
        (Message * len(rows))(*rows), len(rows), budget, kept, len(rows), None
    )
    try:
        expected = pw.chat.fit_messages(CHARACTERS, messages, budget)
    except ArgumentError:
        assert count == FAILED
        return
    found = [messages[at] for at in kept[:count]]
    assert len(found) == len(expected)
    assert all(one is other for one, other in zip(found, expected, strict=True))


def test_the_structures_are_those_of_the_header() -> None:
    from tests.capi.test_header import fields_of_c

    fields = dict(fields_of_c())
    for structure, name in (
        (EncodeOptions, "encode_options"),
        (ChunkOptions, "chunk_options"),
        (Chunk, "chunk"),
        (Message, "message"),
    ):
        assert [field[0] for field in structure._fields_] == [
            field for _, field in fields[f"piecework_{name}"]
        ]
