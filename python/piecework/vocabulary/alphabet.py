"""Which entries of a model are its alphabet, and which nothing may remove."""

from __future__ import annotations

from typing import TypeAlias

from piecework.errors import ArgumentError
from piecework.spec import BPE, Char, Model, TokenizerSpec, WordLevel, WordPiece
from piecework.spec.renumbering import ids_outside_model

Changeable: TypeAlias = BPE | WordPiece | WordLevel | Char

BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))


def changeable(model: Model) -> Changeable:
    """Return the model if entries can be taken from it."""
    if not isinstance(model, BPE | WordPiece | WordLevel | Char):
        raise ArgumentError("model", type(model).__name__, "BPE, WordPiece, WordLevel or Char")
    return model


def all_ids(spec: TokenizerSpec) -> set[int]:
    """Return the ids of all entries and added tokens."""
    return {*spec.model.vocab.values(), *(token.id for token in spec.added_tokens)}


def anchored(spec: TokenizerSpec) -> set[str]:
    """Return the entries that something else than the model needs, and the unknown token."""
    ids, unk_token = ids_outside_model(spec), spec.model.unk_token
    return {
        token for token, number in spec.model.vocab.items() if number in ids or token == unk_token
    }


def alphabet(model: Changeable) -> set[str]:
    """Return the entries that segmentation begins with: characters in all their forms, and bytes.

    Those of a `Char` or `WordLevel` model are its whole vocabulary and do not count.
    """
    if isinstance(model, WordPiece):
        prefix, suffix = model.continuing_subword_prefix, ""
    elif isinstance(model, BPE):
        prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    else:
        return set()
    found = {token for token in model.vocab if _is_character(token, prefix, suffix)}
    if isinstance(model, BPE) and model.byte_fallback:
        found.update(BYTES & model.vocab.keys())
    return found


def _is_character(token: str, prefix: str, suffix: str) -> bool:
    inner, ended = token.removeprefix(prefix), token.removesuffix(suffix)
    return 1 in (len(token), len(inner), len(ended), len(inner.removesuffix(suffix)))
