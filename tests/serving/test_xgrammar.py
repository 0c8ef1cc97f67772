"""xgrammar reads the exact bytes of tokens, and permits the tokens that llguidance permits."""

from __future__ import annotations

import llguidance
import numpy as np
import pytest
import xgrammar
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

import piecework as pw
from tests.data import need

VOCABULARIES = [
    "vocab/gpt2/tokenizer.json.gz",
    "vocab/qwen2.5/tokenizer.json.gz",
    "vocab/mistral-7b-v0.1/tokenizer.json.gz",
    "vocab/bert-base-uncased/vocab.txt",
    "vocab/t5/spiece.model",
]
# A string of each language that a pattern describes, and the pattern.
PATTERNS = [
    (b"yes", "yes|no"),
    (b"-12.5e3", r"-?[0-9]+(\.[0-9]+)?(e[0-9]+)?"),
    ("naïve 北京 🤗".encode(), "[a-zï]+ [^ ]+ (🤗|🤖)"),
]


def _vocabulary(tok: pw.Tokenizer) -> list[bytes]:
    """Return the bytes of each id; none for special tokens and for ids without token."""
    data = pw.vocabulary.decoded_bytes(tok)
    return [data.get(id, b"") for id in range(max(tok.get_vocab().values()) + 1)]


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize(("text", "pattern"), PATTERNS)
def test_xgrammar_permits_what_llguidance_permits(name: str, text: bytes, pattern: str) -> None:
    tok = pw.Tokenizer.load(need(name))
    data = _vocabulary(tok)
    stop = min(tok.special_token_ids)
    info = xgrammar.TokenizerInfo(data, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[stop])
    assert info.decoded_vocab == data
    compiled = xgrammar.GrammarCompiler(info).compile_regex(pattern)
    theirs = xgrammar.GrammarMatcher(compiled)
    trie = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_ForLlguidance(tok, data, stop)))
    other = llguidance.LLMatcher(trie, llguidance.LLMatcher.grammar_from_regex(pattern))
    entries = {entry: id for id, entry in enumerate(data) if entry}
    while text:
        permitted = _permitted_by_xgrammar(theirs, len(data))
        expected = _permitted_by_llguidance(other, len(data))
        assert permitted - {stop} == expected - {stop}
        longest = next(
            (end for end in range(len(text), 0, -1) if entries.get(text[:end]) in permitted), 0
        )
        if not longest:  # no byte tokens: a character that the vocabulary does not have
            return
        id = entries[text[:longest]]
        assert theirs.accept_token(id)
        assert other.consume_token(id)
        text = text[longest:]
    assert theirs.accept_token(stop)
    assert theirs.is_terminated()


def _permitted_by_xgrammar(matcher: xgrammar.GrammarMatcher, size: int) -> set[int]:
    mask = xgrammar.allocate_token_bitmask(1, size)
    # False means that every token is permitted.
    assert matcher.fill_next_token_bitmask(mask) is not False
    return _ids_of(mask.numpy(), size)


def _permitted_by_llguidance(matcher: llguidance.LLMatcher, size: int) -> set[int]:
    mask = allocate_token_bitmask(1, size)
    fill_next_token_bitmask(matcher, mask)
    return _ids_of(mask, size)


def _ids_of(mask: np.ndarray, size: int) -> set[int]:
    bits = np.unpackbits(mask[0].view(np.uint8), bitorder="little")[:size]
    return set(np.flatnonzero(bits).tolist())


class _ForLlguidance:
    def __init__(self, tok: pw.Tokenizer, data: list[bytes], stop: int) -> None:
        self._tok = tok
        self.eos_token_id = stop
        self.bos_token_id = None
        self.special_token_ids = sorted(tok.special_token_ids)
        self.tokens = [
            entry or b"\xff" + (tok.id_to_token(id) or f"<{id}>").encode()
            for id, entry in enumerate(data)
        ]

    def __call__(self, text: bytes) -> list[int]:
        return self._tok.encode(text.decode(), add_special_tokens=False, parse_special=False).ids
