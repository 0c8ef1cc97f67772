"""Read which pieces a restricted vocabulary keeps: a collection, counts, or a file of counts."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from piecework._core import read_sentencepiece_vocab
from piecework._internal.validation import PathLike, listed, path_text
from piecework.io.read_file import file_bytes


def kept_pieces(
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
