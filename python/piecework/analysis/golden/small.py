"""A tokenizer whose vocabulary has only the entries that some texts can use: its variants compile fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from piecework import Tokenizer
from piecework.spec import (
    BPE,
    AddedToken,
    ByteLevel,
    Char,
    Model,
    SentencePiece,
    TokenizerSpec,
    Unigram,
    WordLevel,
    WordPiece,
)
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE
from piecework.vocabulary.alphabet import BYTE_TOKENS

_INDEXED = 10
_KEPT_ADDED = 32


def small_spec(tokenizer: Tokenizer, texts: Sequence[str]) -> TokenizerSpec:
    """Return the specification with the entries that are part of the texts, numbered anew.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "pug": 1, "hug": 2, "##s": 3}))
    >>> small_spec(tok, ["hugs"]).model.vocab
    {'[UNK]': 0, 'hug': 1, '##s': 2}

    The tokens of ordinary texts are the same. A few added tokens of each kind are kept. Post-processor,
    decoder, truncation and padding are left out, and the prefix space of `ByteLevel`, so that a changed
    pattern can stand before it.
    """
    spec = tokenizer.spec.without_stages(("post_processor", "decoder", "truncation", "padding"))
    added = tuple(samples_of(spec.added_tokens, _KEPT_ADDED))
    spec = replace(spec, parse_special=True, added_tokens=added)
    if isinstance(spec.pre_tokenizer, ByteLevel):
        spec = replace(spec, pre_tokenizer=replace(spec.pre_tokenizer, add_prefix_space=False))
    is_part = _substrings(_forms(tokenizer, texts))
    return _renumbered(spec, _small_model(spec.model, is_part))


def _forms(tokenizer: Tokenizer, texts: Sequence[str]) -> set[str]:
    """Return the texts as the model sees them, split into words and not split."""
    is_byte_level = tokenizer.token_to_id("Ġ") is not None
    forms: set[str] = set()
    for text in texts:
        normalized = f" {tokenizer.normalize(text)} "
        forms.add(_as_bytes(normalized) if is_byte_level else normalized.replace(" ", "▁"))
        forms.update(word for word, _ in tokenizer.pre_tokenize(text))
    return forms


def _as_bytes(text: str) -> str:
    return "".join(map(CHARACTER_OF_BYTE.__getitem__, text.encode()))


def samples_of(tokens: Sequence[AddedToken], number: int = 3) -> list[AddedToken]:
    """Return the first tokens of each set of flags, and the last one."""
    return [
        one for like in by_flags(tokens) for one in (*like[: number - 1], *like[number - 1 :][-1:])
    ]


def by_flags(tokens: Sequence[AddedToken]) -> list[list[AddedToken]]:
    """Return the tokens that have the same flags together."""
    kinds: dict[tuple[Any, ...], list[AddedToken]] = {}
    for token in tokens:
        kinds.setdefault(tuple(vars(token).values())[2:], []).append(token)
    return list(kinds.values())


def _substrings(words: set[str]) -> Callable[[str], bool]:
    """Return a test whether a string is part of one of the words."""
    starts = {
        word[at : at + length]
        for word in words
        for at in range(len(word))
        for length in range(1, _INDEXED + 1)
    }
    joined = "\n".join(sorted(word for word in words if len(word) > _INDEXED))
    return lambda text: text[:_INDEXED] in starts and (len(text) <= _INDEXED or text in joined)


def _small_model(model: Model, is_part: Callable[[str], bool]) -> Model:
    if isinstance(model, WordPiece):
        prefix = model.continuing_subword_prefix

        def is_used(token: str) -> bool:
            return token == model.unk_token or is_part(token.removeprefix(prefix))

        return replace(model, vocab=_filtered(model.vocab, is_used))
    if isinstance(model, WordLevel | Char):
        unknown = model.unk_token
        return replace(model, vocab=_filtered(model.vocab, lambda t: t == unknown or is_part(t)))
    if isinstance(model, BPE):
        return _small_bpe(model, is_part)
    if isinstance(model, Unigram):
        lowest = min((score for _, score in model.pieces), default=0.0)
        kept = [
            (text, score)
            for text, score in model.pieces
            if score == lowest or text == model.unk_token or text in BYTE_TOKENS or is_part(text)
        ]
        unk_id = next((at for at, one in enumerate(kept) if one[0] == model.unk_token), None)
        return replace(model, pieces=tuple(kept), unk_id=unk_id)
    return _small_sentencepiece(model, is_part)


def _small_bpe(model: BPE, is_part: Callable[[str], bool]) -> BPE:
    prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""

    def is_used(token: str) -> bool:
        text = token.removeprefix(prefix).removesuffix(suffix)
        return len(text) <= 1 or token == model.unk_token or token in BYTE_TOKENS or is_part(text)

    vocab = _filtered(model.vocab, is_used)
    merges = tuple(
        (left, right)
        for left, right in model.merges
        if left in vocab and right in vocab and left + right[len(prefix) :] in vocab
    )
    return replace(model, vocab=vocab, merges=merges)


def _small_sentencepiece(model: SentencePiece, is_part: Callable[[str], bool]) -> SentencePiece:
    normal = [one.score for one in model.pieces if one.type == "normal"]
    lowest = model.lowest_score
    if lowest is None and normal:
        lowest = min(normal)
    pieces = tuple(one for one in model.pieces if one.type != "normal" or is_part(one.text))
    return replace(model, pieces=pieces, lowest_score=lowest)


def _filtered(vocab: Any, is_used: Callable[[str], bool]) -> dict[str, int]:
    kept = sorted((id, token) for token, id in vocab.items() if is_used(token))
    return {token: id for id, token in kept}


def _renumbered(spec: TokenizerSpec, model: Model) -> TokenizerSpec:
    """Give the tokens of a model and the added tokens new ids, in the order of the old ones."""
    vocab = model.vocab
    if not isinstance(model, Unigram | SentencePiece):
        model = replace(model, vocab={token: id for id, token in enumerate(vocab)})
        vocab = model.vocab
    others = sorted(
        (token for token in spec.added_tokens if token.content not in vocab), key=lambda t: t.id
    )
    new_ids = {token.content: len(vocab) + at for at, token in enumerate(others)}
    added = tuple(
        replace(token, id=new_ids.get(token.content, vocab.get(token.content, -1)))
        for token in spec.added_tokens
    )
    return replace(spec, model=model, added_tokens=added)
