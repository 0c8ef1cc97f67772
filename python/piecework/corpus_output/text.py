"""One line of text for each line encoded: ids, tokens, or JSON with offsets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from piecework.encoding import Batch, Encoding
from piecework.files import whole_stream
from piecework.tokenizer import Tokenizer

Write: TypeAlias = Callable[[Batch], None]
Rows: TypeAlias = Callable[[Batch], Iterable[str]]


@contextmanager
def write_lines(path: str, rows: Rows) -> Iterator[Write]:
    """Write what `rows` makes of each batch, a line each."""
    with whole_stream(path) as stream:

        def write(batch: Batch) -> None:
            stream.writelines(f"{row}\n".encode() for row in rows(batch))
            stream.flush()

        yield write


def id_rows(tokenizer: Tokenizer) -> Rows:
    """Make rows of ids with blanks between."""
    return lambda batch: (" ".join(map(str, row)) for row in batch.to_lists())


def token_rows(tokenizer: Tokenizer) -> Rows:
    """Make rows of tokens with blanks between."""
    names = {id: token for token, id in tokenizer.get_vocab().items()}
    return lambda batch: (" ".join(names[id] for id in row) for row in batch.to_lists())


def json_rows(tokenizer: Tokenizer) -> Rows:
    """Make rows that are JSON objects with ids, tokens and character offsets."""
    return lambda batch: map(_json_row, batch)


def _json_row(encoding: Encoding) -> str:
    row = {"ids": encoding.ids, "tokens": encoding.tokens, "offsets": encoding.offsets}
    return json.dumps(row, ensure_ascii=False)
