"""Restrict the output of a SentencePiece model to some pieces: a collection, counts, or a file of counts."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from piecework._core import read_sentencepiece_vocab
from piecework._internal.validation import PathLike, listed, path_text
from piecework.io.read_file import file_bytes
from piecework.vocabulary.alphabet import all_ids
from piecework.vocabulary.changed_vocabulary import ChangedVocabulary, changed, same_ids
from piecework.vocabulary.pieces import restrict_pieces

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer


def restrict(
    tokenizer: Tokenizer,
    vocabulary: PathLike | Collection[str] | Mapping[str, float] | None,
    *,
    threshold: float = 1,
) -> ChangedVocabulary:
    """Restrict a SentencePiece tokenizer to these pieces and single characters.

    >>> import piecework as pw
    >>> scored = {"<unk>": 0.0, "▁": -4.0, "h": -4.0, "i": -4.0, "▁hi": -2.0}
    >>> types = {"<unk>": "unknown"}
    >>> model = pw.spec.SentencePiece(
    ...     tuple(
    ...         pw.spec.ScoredPiece(text, score, types.get(text, "normal"))
    ...         for text, score in scored.items()
    ...     )
    ... )
    >>> tok = pw.Tokenizer(model, normalizer=pw.spec.SentencePieceNormalizer())
    >>> tok.encode("hi").tokens, pw.vocabulary.restrict(tok, []).tokenizer.encode("hi").tokens
    (['▁hi'], ['▁', 'h', 'i'])

    `vocabulary` is a collection of pieces, a mapping from piece to count, or a file with a piece, a tab
    and its count in each line. Pieces with a count of at least `threshold` are kept. None restores all
    pieces. Ids do not change. Raises `ArgumentError` for models other than SentencePiece Unigram and
    BPE.
    """
    spec = restrict_pieces(tokenizer.spec, _kept_pieces(vocabulary, threshold))
    return changed(tokenizer, spec, same_ids(all_ids(spec)))


def _kept_pieces(
    vocabulary: PathLike | Collection[str] | Mapping[str, float] | None, threshold: float
) -> Collection[str] | None:
    """Return the pieces to keep; None keeps all.

    `vocabulary` is a collection of pieces, a mapping from piece to count, or a file with a piece, a tab
    and its count in each line. Of counts, pieces with at least `threshold` are kept.
    """
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str | os.PathLike):
        source = path_text(vocabulary)
        counts = read_sentencepiece_vocab(file_bytes(source, "pieces and counts"), source)
        return {piece for piece, count in counts if count >= threshold}
    if isinstance(vocabulary, Mapping):
        return {piece for piece, count in vocabulary.items() if count >= threshold}
    return listed(list(vocabulary), "vocabulary", "str")
