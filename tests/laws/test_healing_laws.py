"""Healed prompts are those of the definition, and their bytes can be generated again."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.generation import TokenTrie
from piecework.reference import healing as reference

BYTES = [bytes([byte]) for byte in range(256)]
WORDS = st.lists(st.text("abé\xff", min_size=2, max_size=5).map(str.encode), max_size=12)


@st.composite
def vocabularies(draw: st.DrawFn) -> tuple[pw.Tokenizer, dict[int, bytes]]:
    """Draw a byte-level tokenizer of few tokens with common beginnings, and the bytes of its tokens."""
    tokens = list(dict.fromkeys([*BYTES, *draw(WORDS)]))
    special = {"<end>": len(tokens)}
    tok = pw.Tokenizer.from_ranks(
        {token: rank for rank, token in enumerate(tokens)}, pattern="gpt2", special_tokens=special
    )
    return tok, dict(enumerate(tokens))


@given(vocabularies(), st.data())
@settings(max_examples=500)
def test_a_healed_prompt_equals_that_of_the_definition(
    vocabulary: tuple[pw.Tokenizer, dict[int, bytes]], data: Any
) -> None:
    tok, token_bytes = vocabulary
    common = [*b"ab\xc3\xa9\xbf", *range(256, len(token_bytes) + 1)]
    ids = data.draw(st.lists(st.sampled_from(common), max_size=6))
    beginning = data.draw(st.sampled_from(list(token_bytes.values())[255:]))
    ids += beginning[: data.draw(st.integers(0, len(beginning)))]
    healed = TokenTrie(tok).heal(ids)
    assert (healed.ids, healed.prefix) == reference.heal(ids, token_bytes)
    dropped = ids[len(healed.ids) :]
    assert healed.ids + dropped == ids
    assert healed.prefix == b"".join(map(token_bytes.__getitem__, dropped))


@given(vocabularies(), st.data())
@settings(max_examples=300)
def test_allowed_ids_are_those_that_fit_and_lead_to_the_prefix(
    vocabulary: tuple[pw.Tokenizer, dict[int, bytes]], data: Any
) -> None:
    tok, token_bytes = vocabulary
    trie = TokenTrie(tok)
    prefix = data.draw(st.sampled_from(list(token_bytes.values()))) + data.draw(
        st.binary(max_size=2)
    )
    generated, required = b"", prefix
    while required:
        allowed = trie.allowed_ids(required)
        assert allowed == [
            id
            for id, token in token_bytes.items()
            if token.startswith(required) or required.startswith(token)
        ]
        id = data.draw(st.sampled_from(allowed))
        generated += token_bytes[id]
        required = trie.advance(required, id)
    assert generated.startswith(prefix)
    assert trie.starting_with(prefix) == [
        id
        for token, id in sorted((t, i) for i, t in token_bytes.items())
        if token.startswith(prefix)
    ]
