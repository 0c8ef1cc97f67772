"""Segments are encoded as in the reference, and as their text where nothing is guarded."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.reference.tokenizer import ReferenceTokenizer

patiently = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300)

CONTENTS = ["<a>", "b<a>]", "<a>b", "<a", "▁▁", "\n\n", "Ab", "[x]", "bb", "  "]
TEXT = st.text("<a>bBA[x] \n▁é", max_size=12)
SEGMENTS = st.lists(
    st.tuples(TEXT | st.sampled_from(CONTENTS) | st.just("<a>[x]"), st.booleans()), max_size=6
)
BYTES = [bytes([byte]) for byte in range(256)]


@st.composite
def added_tokens(draw: st.DrawFn, first_id: int) -> tuple[pw.spec.AddedToken, ...]:
    """Draw added tokens that contain each other, with every flag."""
    contents = draw(st.lists(st.sampled_from(CONTENTS), unique=True, max_size=5))
    flags = ("special", "normalized", "lstrip", "rstrip", "single_word")
    return tuple(
        pw.spec.AddedToken(content, first_id + at, **{flag: draw(st.booleans()) for flag in flags})
        for at, content in enumerate(contents)
    )


def byte_level(added: tuple[pw.spec.AddedToken, ...]) -> pw.TokenizerSpec:
    ranks = {byte: id for id, byte in enumerate([*BYTES, b"<b", b"\n\n", b"  "])}
    spec = pw.Tokenizer.from_ranks(ranks, pattern="gpt2").spec
    return _with(spec, added, pw.spec.NFC())


def metaspace(added: tuple[pw.spec.AddedToken, ...]) -> pw.TokenizerSpec:
    vocab = {"[UNK]": 0, **{c: i for i, c in enumerate("▁<a>bBAx[]\né", 1)}, "▁a": 20, "ab": 21}
    model = pw.spec.BPE(vocab, (("▁", "a"), ("a", "b")), unk_token="[UNK]")
    pre_tokenizer = pw.spec.Metaspace(prepend_scheme="first")
    return pw.TokenizerSpec(model, None, pre_tokenizer, added_tokens=added)


def lowercased(added: tuple[pw.spec.AddedToken, ...]) -> pw.TokenizerSpec:
    vocab = {"[UNK]": 0, **{c: i for i, c in enumerate("<a>bx[]\né", 1)}, "##a": 20, "##b": 21}
    model = pw.spec.WordPiece(vocab)
    return pw.TokenizerSpec(
        model, pw.spec.BertNormalizer(), pw.spec.BertPreTokenizer(), added_tokens=added
    )


def plain(added: tuple[pw.spec.AddedToken, ...]) -> pw.TokenizerSpec:
    vocab = {"[UNK]": 0, **{c: i for i, c in enumerate("▁<a>bBAx[]\né ", 1)}}
    return pw.TokenizerSpec(pw.spec.Char(vocab), pw.spec.Prepend("▁"), added_tokens=added)


def _with(
    spec: pw.TokenizerSpec, added: tuple[pw.spec.AddedToken, ...], normalizer: Any
) -> pw.TokenizerSpec:
    return pw.TokenizerSpec(
        spec.model, normalizer, spec.pre_tokenizer, spec.post_processor, spec.decoder, added
    )


def test_the_permitted_token_wins_among_equal_normalized_forms() -> None:
    two = pw.spec.AddedToken("\n\n", 300, special=True, normalized=True)
    added = (two, pw.spec.AddedToken("  ", 301, special=False, normalized=True))
    spec = lowercased(added)
    tok, reference = pw.Tokenizer.from_spec(spec), ReferenceTokenizer(spec)
    for is_allowed, ids in ((False, [301]), (True, [300])):
        for text in ("  ", "\n\n"):
            segments = [(text, is_allowed)]
            assert tok.encode_segments(segments).ids == ids
            assert reference.encode_segments(segments, {"\n\n"}).ids == ids


@given(st.sampled_from([byte_level, metaspace, lowercased, plain]), st.data(), SEGMENTS)
@patiently
def test_segments_are_encoded_as_in_the_reference(
    pipeline: Any, data: st.DataObject, segments: list[tuple[str, bool]]
) -> None:
    added = data.draw(added_tokens(300))
    plain_markers = [token.content for token in added if not token.special]
    markers = data.draw(
        st.lists(st.sampled_from(plain_markers), unique=True) if plain_markers else st.just([])
    )
    spec = pipeline(added)
    tok = pw.Tokenizer.from_spec(spec)
    guarded = {token.content for token in added if token.special} | set(markers)
    expected = ReferenceTokenizer(spec).encode_segments(segments, guarded)
    found = tok.encode_segments(segments, markers=markers)
    assert found.ids == expected.ids
    assert found.encoding.offsets == expected.offsets
    assert found.encoding.word_ids == expected.word_ids


@given(st.sampled_from([byte_level, metaspace, lowercased, plain]), st.data(), TEXT)
@patiently
def test_one_segment_with_permission_is_the_encoding_of_its_text(
    pipeline: Any, data: st.DataObject, text: str
) -> None:
    tok = pw.Tokenizer.from_spec(pipeline(data.draw(added_tokens(300))))
    assert tok.encode_segments([(text, True)]).encoding == tok.encode(
        text, add_special_tokens=False
    )


@given(st.sampled_from([byte_level, metaspace, lowercased, plain]), st.data(), SEGMENTS)
@patiently
def test_no_guarded_token_comes_from_text_without_permission(
    pipeline: Any, data: st.DataObject, segments: list[tuple[str, bool]]
) -> None:
    added = data.draw(added_tokens(300))
    assume(added)
    tok = pw.Tokenizer.from_spec(pipeline(added))
    found = tok.encode_segments([(text, False) for text, _ in segments])
    spaces = {token.id for token in added if not token.special and not token.content.strip("▁ \n")}
    assert {id for id in found.ids if id >= 300} <= spaces


@given(st.data(), SEGMENTS)
@patiently
def test_spans_cover_the_characters_of_their_segments(
    data: st.DataObject, segments: list[tuple[str, bool]]
) -> None:
    tok = pw.Tokenizer.from_spec(byte_level(data.draw(added_tokens(300))))
    found = tok.encode_segments(segments)
    text = "".join(part for part, _ in segments)
    assert "".join(text[slice(*span)] for span in found.char_spans) == text
    for (part, _), (start, end), (first, last) in zip(
        segments, found.char_spans, found.token_spans, strict=True
    ):
        assert end - start == len(part)
        spans = found.encoding.offsets[first:last]
        covered = {at for span in spans for at in range(*span)}
        assert set(range(start, end)) <= covered
        assert all(span[0] < end and span[1] > start for span in spans) or not part
