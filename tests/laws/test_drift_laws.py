"""The drift of ids is that of the reference, is complete, and is as short as it can be."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.generation.drift import differing_spans
from piecework.reference import drift as reference
from tests.laws.test_segment_laws import added_tokens, byte_level, lowercased, metaspace, plain

patiently = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300)

WORDS = st.text("ab", min_size=1, max_size=3).map(str.encode)


@st.composite
def sequences(draw: st.DrawFn, words: Any = WORDS) -> tuple[list[int], list[int], dict[int, bytes]]:
    """Draw a small vocabulary, and two sequences of its ids, often with the same bytes."""
    token_bytes = dict(enumerate(draw(st.lists(words, min_size=1, max_size=5))))
    ids = st.lists(st.sampled_from(list(token_bytes)), max_size=6)
    old, new = draw(ids), draw(ids)
    shared = draw(ids)
    return [*shared, *old], [*shared, *new], token_bytes


@given(sequences())
@settings(max_examples=1_000)
def test_the_spans_equal_those_of_the_reference(
    drawn: tuple[list[int], list[int], dict[int, bytes]],
) -> None:
    assert differing_spans(*drawn) == reference.differing_spans(*drawn)


@given(sequences(st.text("ab", max_size=2).map(str.encode)))
@settings(max_examples=1_000)
def test_replacing_the_spans_gives_the_new_ids(
    drawn: tuple[list[int], list[int], dict[int, bytes]],
) -> None:
    ids, new_ids, token_bytes = drawn
    replaced = list(ids)
    for start, end, new_start, new_end in reversed(differing_spans(ids, new_ids, token_bytes)):
        assert ids[start:end] != new_ids[new_start:new_end]
        replaced[start:end] = new_ids[new_start:new_end]
    assert replaced == new_ids


@given(st.sampled_from([byte_level, metaspace, lowercased, plain]), st.data())
@patiently
def test_the_drift_of_any_ids_leads_to_the_ids_of_their_text(
    pipeline: Any, data: st.DataObject
) -> None:
    tok = pw.Tokenizer.from_spec(pipeline(data.draw(added_tokens(300))))
    known = sorted(tok.get_vocab().values())
    ids = data.draw(st.lists(st.sampled_from(known), max_size=12))
    drift = pw.generation.find_drift(tok, ids)
    text = tok.decode(ids, skip_special_tokens=False, clean_up=False)
    assert drift.text == text
    assert list(drift.new_ids) == tok.encode_segments([(text, True)]).ids
    assert drift.is_stable == (list(drift.new_ids) == ids)
    replaced = list(ids)
    for span in reversed(drift.spans):
        assert replaced[span.start : span.end] == list(span.ids)
        replaced[span.start : span.end] = span.new_ids
    assert replaced == list(drift.new_ids)


@given(st.text("<a>bBA[x] \n▁é", max_size=12))
@patiently
def test_ids_of_a_text_are_stable_in_byte_level_models(text: str) -> None:
    tok = pw.Tokenizer.from_spec(byte_level(())).with_normalizer(None)
    assert pw.generation.find_drift(tok, tok.encode(text, add_special_tokens=False).ids).is_stable
