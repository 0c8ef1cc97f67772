"""Count how often each token of a vocabulary occurs in a corpus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from piecework import Tokenizer
from piecework import _support as support
from piecework.analysis.corpus_counts import CorpusCounts
from piecework.corpus import corpus_files, read_corpus


@support.renamed_arguments(errors="encoding_errors")
def token_counts(
    tokenizer: Tokenizer,
    paths: support.PathLike | Sequence[support.PathLike],
    *,
    field: str | None = None,
    encoding_errors: support.Utf8Errors = "replace",
    on_error: support.OnError = "fail",
    num_threads: int | None = None,
    progress: support.Progress = None,
) -> npt.NDArray[np.int64]:
    """Encode files and count each id; returns int64 of shape (highest id + 1,).

    >>> import tempfile
    >>> from pathlib import Path
    >>> import piecework as pw
    >>> path = Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("abba\\nabc\\n")
    >>> token_counts(pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2})), path)
    array([1, 3, 3])

    Texts are encoded as in `compare`. `paths`, `field`, `encoding_errors` and `on_error` are those of
    `count_files`. `progress=True` shows a bar; a function receives the bytes read and the total.

    Raises `FileError` and `InvalidUtf8Error`.
    """
    counts = CorpusCounts(tokenizer)
    files = corpus_files(paths)
    total_bytes = support.corpus_bytes(files)
    with support.progress_bar("counting", progress, in_bytes=True) as update:
        for rows in read_corpus(
            files, field=field, encoding_errors=encoding_errors, on_error=on_error
        ):
            counts.add(rows.to_list(), num_threads)
            support.show_source(update, rows.name)
            update(rows.file_bytes_read, total_bytes)
    return counts.id_counts
