"""Encode the lines of files into a batch in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from piecework._internal.validation import PathLike, check_tokenizer
from piecework.batch import Batch
from piecework.corpus.reader import read_corpus
from piecework.corpus.rows import Document, Utf8Errors
from piecework.corpus.skipped import OnError
from piecework.corpus.texts import joined, without_blank
from piecework.export.file_arguments import path_list
from piecework.tokenizer import Tokenizer


def encode_lines(
    tokenizer: Tokenizer,
    sources: PathLike | Sequence[PathLike],
    *,
    keep_empty: bool = False,
    add_special_tokens: bool = True,
    parse_special: bool | Collection[str] | None = None,
    offsets: bool = False,
    field: str | None = None,
    document: Document = "line",
    encoding_errors: Utf8Errors = "replace",
    on_error: OnError = "fail",
    num_threads: int | None = None,
) -> Batch:
    """Encode each line of files as one text; the result is in memory, as that of `Tokenizer.encode_batch`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> path = Path(tempfile.mkdtemp()) / "in.txt"
    >>> _ = path.write_text("ab\\n\\nb\\n")
    >>> batch = pw.export.encode_lines(tok, path)
    >>> batch.to_lists()
    [[1, 2], [2]]

    `sources` are files, directories, patterns and URLs as for `encode_files`, of lines or records; `field`,
    `document`, `encoding_errors` and `on_error` are those of `encode_files`, the other arguments those of
    `encode_batch`. Empty and blank lines are dropped unless `keep_empty`. All text is in memory while it is
    encoded, and is faster to encode than a list of strings; `encode_files` and `encode_corpus` take
    constant memory.

    Raises `FileError`, `CorpusError` for binary input, and `InvalidUtf8Error` with
    `encoding_errors="strict"`.
    """
    check_tokenizer(tokenizer)
    files = path_list(sources, "sources")
    corpus = read_corpus(
        files,
        field=field,
        document=document,
        encoding_errors=encoding_errors,
        on_error=on_error,
        whole_lines=True,
    )
    parts = [rows.texts for rows in corpus]
    texts = joined(parts) if parts else []
    return tokenizer.encode_batch(
        cast("Sequence[str]", texts if keep_empty else without_blank(texts)),
        add_special_tokens=add_special_tokens,
        parse_special=parse_special,
        offsets=offsets,
        num_threads=num_threads,
    )
