"""Texts that streams give, id by id, are together what `decode` gives for all ids."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.reference.decoders import decode

TEXTS = [
    "the house in the garden, the garden of the house",
    "naïve café, 漢字かな, 🤗 and 👩‍🚀",
] * 3
KINDS = ("wordpiece", "byte-bpe", "unigram")


@cache
def tokenizer(kind: str) -> pw.Tokenizer:
    """A small tokenizer; the two last spell what they do not know by its bytes."""
    if kind == "unigram":
        trainer = pw.SentencePieceTrainer(
            vocab_size=330, byte_fallback=True, hard_vocab_limit=False
        )
        return pw.Tokenizer.train_from_iterator(TEXTS, trainer)
    return pw.Tokenizer.train_from_iterator(TEXTS, model=kind, vocab_size=300)


def ids_of(kind: str, text: str) -> list[int]:
    return tokenizer(kind).encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(max_size=30))
def test_fed_ids_give_the_text_of_all(kind: str, text: str) -> None:
    tok, ids = tokenizer(kind), ids_of(kind, text)
    assert "".join(tok.decode_stream().feed(ids)) == tok.decode(ids)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_ids_in_any_order_give_the_text_of_all(kind: str, data: st.DataObject) -> None:
    tok = tokenizer(kind)
    ids = data.draw(st.lists(st.integers(0, tok.get_vocab_size() - 1), max_size=12))
    assert "".join(tok.decode_stream().feed(ids)) == tok.decode(ids)


@pytest.mark.parametrize("kind", ["byte-bpe", "unigram"])
def test_no_step_gives_half_a_character(kind: str) -> None:
    tok, text = tokenizer(kind), "the 👩🏽‍🚀 of 𝔘nicode ẞ"
    stream = tok.decode_stream()
    ids = ids_of(kind, text)
    given_texts = [stream.step(id) for id in ids]
    assert None in given_texts
    assert not any("\N{REPLACEMENT CHARACTER}" in one for one in given_texts if one)
    assert stream.finish() is None
    assert "".join(one for one in given_texts if one) == tok.decode(ids)


def test_invalid_bytes_do_not_change_the_next_character() -> None:
    tok = tokenizer("unigram")
    ids = [tok.get_vocab()[f"<0x{byte:02X}>"] for byte in b"\x80\x80\xe1\x80\x80"]
    assert "".join(tok.decode_stream().feed(ids)) == tok.decode(ids) == "\ufffd\ufffd\u1000"


def test_a_control_piece_between_the_bytes_of_a_character_makes_them_invalid() -> None:
    tok = tokenizer("unigram")
    lead, rest = (tok.get_vocab()[f"<0x{byte:02X}>"] for byte in b"\xc2\x80")
    ids = [rest, 0, lead, 1, rest]
    assert tok.decode(ids) == "\ufffd \u2047 \ufffd\ufffd"
    stream = tok.decode_stream(encoding_errors="ignore")
    assert "".join(stream.feed(ids)) == tok.decode(ids, encoding_errors="ignore") == " \u2047 "
    with pytest.raises(pw.errors.InvalidUtf8Error, match="with a token between them"):
        tok.decode([lead, 1, rest], encoding_errors="strict")


def error_of(decode: Callable[[], str]) -> str | type[Exception]:
    """Return the decoded text, or `InvalidUtf8Error`."""
    try:
        return decode()
    except pw.errors.InvalidUtf8Error:
        return pw.errors.InvalidUtf8Error


@pytest.mark.parametrize("kind", ["byte-bpe", "unigram"])
@given(data=st.data())
def test_streams_handle_invalid_bytes_as_decode_does(kind: str, data: st.DataObject) -> None:
    tok = tokenizer(kind)
    ids = data.draw(st.lists(st.integers(0, tok.get_vocab_size() - 1), max_size=8))
    ignoring = tok.decode_stream(encoding_errors="ignore")
    assert "".join(ignoring.feed(ids)) == tok.decode(ids, encoding_errors="ignore")
    strict = tok.decode_stream(encoding_errors="strict")
    assert error_of(lambda: "".join(strict.feed(ids))) == error_of(
        lambda: tok.decode(ids, encoding_errors="strict")
    )


def test_a_stream_that_ignores_invalid_bytes_is_copied_pickled_and_continues_a_prompt() -> None:
    tok = tokenizer("byte-bpe")
    smile = ids_of("byte-bpe", "ß")
    lead, rest = smile
    stream = tok.decode_stream([*smile, lead], encoding_errors="ignore")
    for one in (copy.copy(stream), pickle.loads(pickle.dumps(stream)), stream):
        assert list(one.feed([rest, lead, lead, rest, lead])) == ["ß", "ß"]
    with pytest.raises(pw.errors.ArgumentError, match="encoding_errors"):
        tok.decode_stream(encoding_errors="lenient")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_streams_side_by_side_are_streams_alone(kind: str) -> None:
    tok = tokenizer(kind)
    rows = [ids_of(kind, text) for text in ("the garden", "", "漢字 café and 🤗", "house")]
    streams = pw.tokenizer.stages.decode_streams(tok, [[] for _ in rows])
    found: list[list[str]] = [[] for _ in rows]
    for at in range(max(map(len, rows))):
        steps = streams.step([row[at] if at < len(row) else None for row in rows])
        for texts, step in zip(found, steps, strict=True):
            texts.extend([step] if step is not None else [])
    for texts, rest in zip(found, streams.finish(), strict=True):
        texts.extend([rest] if rest is not None else [])
    assert ["".join(texts) for texts in found] == [tok.decode(row) for row in rows]


@given(data=st.data())
def test_streams_side_by_side_handle_invalid_bytes_as_streams_alone(data: st.DataObject) -> None:
    tok = tokenizer("byte-bpe")
    id = st.integers(0, tok.get_vocab_size() - 1)
    row = st.lists(id, max_size=6)
    prefills = data.draw(st.lists(row, min_size=1, max_size=3))
    rows = [data.draw(row) for _ in prefills]
    streams = pw.tokenizer.stages.decode_streams(tok, prefills, encoding_errors="ignore")
    alone = [tok.decode_stream(prefill, encoding_errors="ignore") for prefill in prefills]
    for at in range(max(map(len, rows))):
        restored = pickle.loads(pickle.dumps(streams))
        copy.copy(streams).step(data.draw(st.lists(id, min_size=len(rows), max_size=len(rows))))
        streams = data.draw(st.sampled_from([streams, restored]))
        ids = [row[at] if at < len(row) else None for row in rows]
        expected = [
            None if id is None else one.step(id) for one, id in zip(alone, ids, strict=True)
        ]
        assert streams.step(ids) == expected
    assert streams.finish() == [one.finish() for one in alone]


def test_strict_streams_side_by_side_name_the_sequence_and_go_on() -> None:
    tok = tokenizer("byte-bpe")
    lead, rest = ids_of("byte-bpe", "ß")
    streams = pw.tokenizer.stages.decode_streams(tok, [[], [], []], encoding_errors="strict")
    assert streams.step([lead, lead, lead]) == [None, None, None]
    assert streams.step([rest, lead, None]) == ["ß", None, None]
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r"ids\[1\]"):
        streams.step([lead, rest, rest])
    assert streams.step([rest, lead, lead]) == ["ß", None, None]
    assert streams.step([None, None, rest]) == [None, None, "ß"]
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r"ids\[1\]"):
        streams.finish()
    assert streams.finish() == [None, None, None]
    with pytest.raises(pw.errors.ArgumentError, match="encoding_errors"):
        pw.tokenizer.stages.decode_streams(tok, [[]], encoding_errors="lenient")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_continues_after_given_ids(kind: str) -> None:
    tok = tokenizer(kind)
    ids = ids_of(kind, "the house in the garden")
    for cut in range(len(ids) + 1):
        rest = "".join(tok.decode_stream(ids[:cut]).feed(ids[cut:]))
        assert tok.decode(ids[:cut]) + rest == tok.decode(ids)


def test_a_finished_stream_starts_again() -> None:
    tok = tokenizer("byte-bpe")
    half, *_ = ids_of("byte-bpe", "𝔘")
    stream = tok.decode_stream()
    assert stream.step(half) is None
    assert stream.finish() == "\N{REPLACEMENT CHARACTER}"
    assert "".join(stream.feed(ids_of("byte-bpe", "the"))) == "the"


def test_inputs_of_a_wrong_type_are_rejected() -> None:
    tok = tokenizer("wordpiece")
    with pytest.raises(pw.errors.InputTypeError, match="prefill: must be .*, not int"):
        tok.decode_stream(2)
    with pytest.raises(pw.errors.InputTypeError, match="prefills: must be .*, not int"):
        pw.tokenizer.stages.decode_streams(tok, 2)
    with pytest.raises(pw.errors.InputTypeError, match=r"prefills\[1\]: must be .*, not str"):
        pw.tokenizer.stages.decode_streams(tok, [[1], "a"])


@pytest.mark.parametrize(
    ("id", "error", "message"),
    [
        (-1, pw.errors.ArgumentError, "must be an id from 0 to 4294967295, not -1"),
        (1 << 32, pw.errors.ArgumentError, "must be an id from 0 to 4294967295, not 4294967296"),
        ("a", pw.errors.InputTypeError, "must be an id, not str"),
        (1.5, pw.errors.InputTypeError, "must be an id, not float"),
    ],
)
def test_ids_that_do_not_exist_change_no_stream(
    id: Any, error: type[Exception], message: str
) -> None:
    tok = tokenizer("byte-bpe")
    ids = ids_of("byte-bpe", "the 🤗 garden")
    stream, both = tok.decode_stream(), pw.tokenizer.stages.decode_streams(tok, [[], []])
    text = ""
    for known in ids:
        with pytest.raises(error, match=f"^id: {message}"):
            stream.step(id)
        with pytest.raises(error, match=rf"^ids(\[1\])?: {message}"):
            both.step([known, id])
        text += stream.step(known) or ""
    assert text == "the 🤗 garden"
    assert both.finish() == [None, None]
    with pytest.raises(pw.errors.InputTypeError, match="ids"):
        both.step(7)  # type: ignore[arg-type]
    with pytest.raises(
        pw.errors.InputTypeError,
        match=r"id: must be an id, not NoneType; finish\(\) ends the stream",
    ):
        stream.step(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_all_decoders_skip_unknown_ids(kind: str) -> None:
    """Models with padded embeddings have more rows than the tokenizer has ids."""
    tok = tokenizer(kind)
    ids, unknown = ids_of(kind, "the garden"), (1 << 20, (1 << 32) - 1)
    padded = [id for known in ids for id in (*unknown, known)] + [*unknown]
    assert tok.decode(padded) == tok.decode(ids)
    assert tok.decode_batch([padded]) == [tok.decode(ids)]
    assert "".join(tok.decode_stream().feed(padded)) == "".join(tok.decode_stream().feed(ids))
    assert tok.decode_stream(padded[:3]).step(ids[1]) == tok.decode_stream(ids[:1]).step(ids[1])
    stream, both = tok.decode_stream(), pw.tokenizer.stages.decode_streams(tok, [[], []])
    for known in ids:
        assert stream.step(1 << 20) is None
        assert both.step([1 << 20, known]) == [None, stream.step(known)]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_copies_and_pickles_continue_where_the_stream_is(kind: str, data: st.DataObject) -> None:
    tok = tokenizer(kind)
    last = tok.get_vocab_size() - 1
    before = data.draw(st.lists(st.integers(0, last), max_size=90))
    prefill = data.draw(st.lists(st.integers(0, last), max_size=40))
    skip = data.draw(st.booleans())
    stream = tok.decode_stream(prefill, skip_special_tokens=skip)
    for id in before:
        stream.step(id)
    others = [copy.copy(stream), copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))]
    after = data.draw(st.lists(st.integers(0, last), max_size=12))
    assert list(others[0].feed(after)) == list(others[2].feed(after))
    assert list(stream.feed(after)) == list(others[1].feed(after))
    assert list(others[0].feed(after)) == list(
        tok.decode_stream(skip_special_tokens=skip).feed(after)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_several_streams_can_be_copied_and_pickled(kind: str) -> None:
    tok = tokenizer(kind)
    rows = [ids_of(kind, text) for text in ("the garden 👩‍🚀", "漢字 café and 🤗")]
    for cut in range(min(map(len, rows))):
        streams = pw.tokenizer.stages.decode_streams(tok, [row[:cut] for row in rows])
        same = [streams, copy.copy(streams), pickle.loads(pickle.dumps(streams))]
        found = [
            [each.step([row[at] for row in rows]) for at in range(cut, min(map(len, rows)))]
            for each in same
        ]
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    "state",
    [
        ([1], "ab", [2], 0, 0),
        ([1], "ab", [], 3, 0),
        ([1], "é", [], 1, 0),
        ([1, 2], "", [1, 1], 0, 0),
        ([1], "", [], 0, 2),
        ([1] * 1000, "", [], 0, 0),
    ],
)
def test_invalid_states_are_rejected(state: Any) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="a state that no stream has"):
        tokenizer("byte-bpe")._core.continue_decode_stream([state], False, None, [""])


# ---- clean-up of whole texts


@cache
def cleaning() -> pw.Tokenizer:
    """Return a tokenizer whose decoder cleans up as transformers does."""
    replacements = (
        *((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't")),
        *((" 'm", "'m"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")),
    )
    steps = [pw.spec.ReplaceDecoder(old, new) for old, new in replacements]
    words = pw.spec.WordPieceDecoder(cleanup=False)
    return pw.Tokenizer(
        pw.spec.WordLevel({"[UNK]": 0, "don": 1, "'": 2, "t": 3, ".": 4, "n": 5}),
        decoder=pw.spec.SequenceDecoder((words, pw.spec.Fuse(), *steps)),
    )


def test_a_stream_holds_back_what_clean_up_can_change() -> None:
    tok = cleaning()
    stream = tok.decode_stream()
    assert [stream.step(id) for id in (1, 2)] == ["don", None]
    again = pickle.loads(pickle.dumps(stream))
    assert [again.step(id) for id in (3, 4)] == ["'t", "."]
    assert tok.decode([1, 2, 3, 4]) == "don't."
    assert stream.finish() == " '"
    assert tok.decode([1, 2]) == "don '"


def test_clean_up_can_be_left_out() -> None:
    tok = cleaning()
    assert tok.decode([1, 2, 3, 4], clean_up=False) == "don ' t ."
    stream = tok.decode_stream(clean_up=False)
    assert [stream.step(id) for id in (1, 2, 3, 4)] == ["don", " '", " t", " ."]


@given(st.lists(st.integers(1, 5), max_size=12))
def test_streams_of_cleaned_text_give_the_text_of_all_ids(ids: list[int]) -> None:
    tok = cleaning()
    stream = tok.decode_stream()
    parts = [*map(stream.step, ids), stream.finish()]
    assert "".join(filter(None, parts)) == tok.decode(ids)
    assert tok.decode_batch([ids, ids]) == [tok.decode(ids)] * 2
    assert tok.decode(ids) == decode([tok.id_to_token(id) or "" for id in ids], tok.spec.decoder)
    bare = [decode([tok.id_to_token(id) or "" for id in ids], tok.spec.decoder, clean_up=False)]
    assert bare == tok.decode_batch([ids], clean_up=False)
