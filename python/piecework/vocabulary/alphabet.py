"""Find the alphabet of a model, and the entries that must not be removed."""

from __future__ import annotations

from piecework.spec import BPE, Model, SentencePiece, TokenizerSpec, Unigram, WordPiece
from piecework.spec.renumbering import ids_outside_model

BYTE_TOKENS = frozenset(f"<0x{byte:02X}>" for byte in range(256))

# Pieces that text does not produce by their score, or not at all.
FIXED_TYPES = ("control", "unknown", "user_defined", "byte")


def all_ids(spec: TokenizerSpec) -> set[int]:
    """Return the ids of all entries and added tokens."""
    return {*spec.model.vocab.values(), *(token.id for token in spec.added_tokens)}


def required_entries(spec: TokenizerSpec) -> set[str]:
    """Return the entries that must not be removed.

    These are the unknown token and the entries that added tokens, post-processor or padding use. A Unigram
    model also keeps the bytes and the entry with the lowest score, from which the score of unknown
    characters follows, and a SentencePiece model its control, user-defined and byte pieces.
    """
    ids, model = ids_outside_model(spec), spec.model
    unk_token = model.unk_token
    found = {token for token, id in model.vocab.items() if id in ids or token == unk_token}
    if isinstance(model, SentencePiece):
        found.update(piece.text for piece in model.pieces if piece.type in FIXED_TYPES)
    if isinstance(model, Unigram) and model.byte_fallback:
        found.update(BYTE_TOKENS & model.vocab.keys())
    if isinstance(model, Unigram) or (isinstance(model, SentencePiece) and model.kind == "unigram"):
        scores = entry_scores(model)
        if scores:
            found.add(min(scores, key=scores.__getitem__))
    return found


def entry_scores(model: Unigram | SentencePiece) -> dict[str, float]:
    """Return the scores of the entries that text can produce, in the order of ids.

    Those of a Unigram model include special tokens, because its lowest score does.
    """
    if isinstance(model, Unigram):
        return dict(model.pieces)
    return {piece.text: piece.score for piece in model.pieces if piece.type == "normal"}


def alphabet(model: Model) -> set[str]:
    """Return the characters of a model, with and without prefix and suffix, and its byte tokens.

    Empty for models of whole words or of characters, whose entries can all be removed.
    """
    prefix, suffix = "", ""
    if isinstance(model, WordPiece):
        prefix = model.continuing_subword_prefix
    elif isinstance(model, BPE):
        prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    elif not isinstance(model, Unigram) and not _is_segmenting(model):
        return set()
    found = {token for token in model.vocab if _is_character(token, prefix, suffix)}
    if isinstance(model, BPE) and model.byte_fallback:
        found.update(BYTE_TOKENS & model.vocab.keys())
    return found


def _is_segmenting(model: Model) -> bool:
    """Return whether a model is a SentencePiece model of kind "unigram" or "bpe"."""
    return isinstance(model, SentencePiece) and model.kind in ("unigram", "bpe")


def _is_character(token: str, prefix: str, suffix: str) -> bool:
    inner, ended = token.removeprefix(prefix), token.removesuffix(suffix)
    return 1 in (len(token), len(inner), len(ended), len(inner.removesuffix(suffix)))
