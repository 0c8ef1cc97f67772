"""Token healing over published vocabularies, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

import piecework as pw
from piecework.chat import TokenTrie, heal
from piecework.chat.healing import HealedPrompt
from tests.data import need

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"://": 256, b"http": 257, b"\xff\xff": 258}


@pytest.fixture(scope="module")
def ranks() -> pw.Tokenizer:
    return pw.Tokenizer.from_ranks(RANKS, pattern="gpt2", special_tokens={"<end>": 300})


def test_the_last_id_is_given_back_if_a_longer_token_begins_with_it(ranks: pw.Tokenizer) -> None:
    assert heal(ranks, "http:") == HealedPrompt([257], b":")
    assert heal(ranks, [*b"go", *b"htt"]) == HealedPrompt([*b"go"], b"htt")
    assert heal(ranks, "http://") == HealedPrompt([257, 256], b"")


def test_special_tokens_are_kept(ranks: pw.Tokenizer) -> None:
    assert heal(ranks, [*b":", 300]) == HealedPrompt([*b":", 300], b"")
    assert heal(ranks, [*b":", 300, *b":"]) == HealedPrompt([*b":", 300], b":")


def test_unknown_tokens_are_kept() -> None:
    vocab = {"[UNK]": 0, "a": 1, "[UNK]s": 2, "ab": 3}
    model = pw.spec.WordPiece(vocab)
    tok = pw.Tokenizer(model, decoder=pw.spec.Fuse())
    assert heal(tok, [1, 0]) == HealedPrompt([1, 0], b"")
    assert heal(tok, [0, 1]) == HealedPrompt([0], b"a")
    assert 0 not in TokenTrie(tok).starting_with(b"")


def test_bytes_of_all_ones_have_an_end(ranks: pw.Tokenizer) -> None:
    trie = TokenTrie(ranks)
    assert trie.starting_with(b"\xff") == [255, 258]
    assert trie.starting_with(b"\xff\xff") == [258]
    assert trie.heal([255]) == HealedPrompt([], b"\xff")
    assert len(trie.starting_with(b"")) == len(RANKS)


def test_a_prompt_is_encoded_without_truncation_and_added_tokens(ranks: pw.Tokenizer) -> None:
    single, pair = ("<end>:0", "$A:0"), ("<end>:0", "$A:0", "$B:1")
    template = pw.spec.TemplateProcessing(single, pair, {"<end>": (300,)})
    tok = ranks.with_post_processor(template).with_truncation(2)
    assert heal(tok, "http:").ids == [257]
    assert heal(tok, "http:", add_special_tokens=True).ids == [300, 257]


@pytest.mark.parametrize(
    ("name", "options", "prompt", "kept", "prefix"),
    [
        ("tiktoken/cl100k_base.tiktoken", {"encoding_name": "cl100k_base"}, "see http:", "see http", b":"),
        ("tiktoken/cl100k_base.tiktoken", {"encoding_name": "cl100k_base"}, "Hello ", "Hello", b" "),
        ("bert-base-uncased/tokenizer.json", {}, "in paris we wal", "in paris we", b" wal"),
        ("t5/spiece.model", {}, "Hello wor", "Hello", b" wor"),
    ],
)  # fmt: skip
def test_prompts_of_published_vocabularies(
    name: str, options: dict[str, str], prompt: str, kept: str, prefix: bytes
) -> None:
    tok = pw.Tokenizer.load(need(f"vocab/{name}"), **options)
    trie = TokenTrie(tok)
    healed = heal(tok, prompt, trie=trie)
    assert (tok.decode(healed.ids), healed.prefix) == (kept, prefix)
    data = pw.vocabulary.decoded_bytes(tok)
    assert set(trie.starting_with(prefix)) == {
        id for id, token in data.items() if token.startswith(prefix)
    }


@pytest.mark.parametrize(
    ("prompt", "error", "message"),
    [
        ([257, 999], pw.errors.IdRangeError, r"^ids\[1\]: is 999, which is not in the vocabulary$"),
        ([257, -1], pw.errors.ArgumentError, r"ids\[1\]: must be an id from 0"),
        (b"http", pw.errors.InputTypeError, "prompt: must be a text or ids, not bytes"),
        (None, pw.errors.InputTypeError, "ids: must be a sequence of ids, not NoneType"),
    ],
)
def test_bad_prompts_raise_typed_errors(
    ranks: pw.Tokenizer, prompt: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        heal(ranks, prompt)


def test_an_id_that_does_not_fit_is_refused(ranks: pw.Tokenizer) -> None:
    trie = TokenTrie(ranks)
    for id in (ord("x"), 300, 999):
        with pytest.raises(pw.errors.ArgumentError, match="has the bytes .*, which b':' does not"):
            trie.advance(b":", id)
    assert trie.advance(b"", 300) == b""


def test_decoders_that_look_at_neighbours_are_refused() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 1, "a": 0}), decoder=pw.spec.CTC())
    with pytest.raises(pw.errors.ArgumentError, match="CTC depends on the neighbours"):
        heal(tok, "a")
