"""Find the alphabet of a model, and the entries that must not be removed."""

from __future__ import annotations

from typing import TypeAlias

from piecework.errors import ArgumentError
from piecework.spec import BPE, Char, Model, TokenizerSpec, WordLevel, WordPiece
from piecework.spec.renumbering import ids_outside_model

ResizableModel: TypeAlias = BPE | WordPiece | WordLevel | Char

BYTE_TOKENS = frozenset(f"<0x{byte:02X}>" for byte in range(256))


def resizable_model(model: Model) -> ResizableModel:
    """Return the model; raises `ArgumentError` if its entries cannot be removed."""
    if not isinstance(model, BPE | WordPiece | WordLevel | Char):
        raise ArgumentError("model", type(model).__name__, "BPE, WordPiece, WordLevel or Char")
    return model


def all_ids(spec: TokenizerSpec) -> set[int]:
    """Return the ids of all entries and added tokens."""
    return {*spec.model.vocab.values(), *(token.id for token in spec.added_tokens)}


def required_entries(spec: TokenizerSpec) -> set[str]:
    """Return the unknown token and the entries that added tokens, post-processor or padding use."""
    ids, unk_token = ids_outside_model(spec), spec.model.unk_token
    return {token for token, id in spec.model.vocab.items() if id in ids or token == unk_token}


def alphabet(model: ResizableModel) -> set[str]:
    """Return the characters of a model, with and without prefix and suffix, and its byte tokens.

    Empty for `Char` and `WordLevel` models, whose entries can all be removed.
    """
    if isinstance(model, WordPiece):
        prefix, suffix = model.continuing_subword_prefix, ""
    elif isinstance(model, BPE):
        prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    else:
        return set()
    found = {token for token in model.vocab if _is_character(token, prefix, suffix)}
    if isinstance(model, BPE) and model.byte_fallback:
        found.update(BYTE_TOKENS & model.vocab.keys())
    return found


def _is_character(token: str, prefix: str, suffix: str) -> bool:
    inner, ended = token.removeprefix(prefix), token.removesuffix(suffix)
    return 1 in (len(token), len(inner), len(ended), len(inner.removesuffix(suffix)))
