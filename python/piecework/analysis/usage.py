"""Count how often each token of a vocabulary occurs in a corpus."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from piecework import Tokenizer
from piecework._internal.types import Progress
from piecework.analysis.corpus_counts import CorpusCounts
from piecework.analysis.corpus_texts import Texts, reading


def token_counts(
    tokenizer: Tokenizer,
    texts: Texts,
    *,
    num_threads: int | None = None,
    progress: Progress = None,
) -> npt.NDArray[np.int64]:
    """Encode texts and count each id; returns int64 of shape (highest id + 1,).

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> token_counts(tok, ["abba", "abc"])
    array([1, 3, 3])

    Texts and progress are those of `compare`: `corpus.read_corpus` reads files.
    """
    counts = CorpusCounts(tokenizer)
    with reading("counting", [texts], progress) as rows_of:
        for rows in rows_of(texts):
            counts.add(rows.to_list(), num_threads)
    return counts.id_counts
