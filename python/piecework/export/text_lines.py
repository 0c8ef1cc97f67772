"""One line of text for each line encoded: ids, tokens, or JSON with offsets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from piecework.batch import Batch
from piecework.encoding import Encoding
from piecework.io.atomic_files import whole_stream
from piecework.tokenizer import Tokenizer


class EncodedLines(NamedTuple):
    """A batch of encoded lines; `labels` has one for each row, or none for formats without labels."""

    batch: Batch
    labels: Sequence[dict[str, Any]] = ()


Write: TypeAlias = Callable[[EncodedLines], None]
Rows: TypeAlias = Callable[[EncodedLines], Iterable[str]]


@contextmanager
def write_lines(path: str, rows: Rows) -> Iterator[Write]:
    """Write what `rows` makes of each batch, a line each."""
    with whole_stream(path) as stream:

        def write(lines: EncodedLines) -> None:
            stream.write("".join([f"{row}\n" for row in rows(lines)]).encode())
            stream.flush()

        yield write


def id_rows(tokenizer: Tokenizer) -> Rows:
    """Make rows of ids with blanks between."""
    return partial(_named_rows, _Names())


def token_rows(tokenizer: Tokenizer) -> Rows:
    """Make rows of tokens with blanks between."""
    padding = tokenizer.spec.padding
    names = _Names({padding.pad_id: padding.pad_token} if padding else {})
    names.update((id, token) for token, id in tokenizer.get_vocab().items())
    return partial(_named_rows, names)


def json_rows(tokenizer: Tokenizer) -> Rows:
    """Make rows that are JSON objects: the label of the line, ids, tokens and character offsets."""
    return lambda lines: map(_json_row, lines.batch, lines.labels)


class _Names(dict[int, str]):
    """How each id is written; one without a name of its own is written as a number."""

    def __missing__(self, id: int) -> str:
        name = self[id] = str(id)
        return name


def _named_rows(names: _Names, lines: EncodedLines) -> Iterator[str]:
    # One look-up a token and one slice a row: three times as fast as a list of ids for each row.
    written = [names[id] for id in lines.batch.ids.tolist()]
    offsets = lines.batch.row_offsets.tolist()
    return (" ".join(written[start:end]) for start, end in pairwise(offsets))


def _json_row(encoding: Encoding, label: dict[str, Any]) -> str:
    columns = {"ids": encoding.ids, "tokens": encoding.tokens, "offsets": encoding.offsets}
    row = json.dumps({**label, **columns}, ensure_ascii=False)
    try:
        row.encode()
    except UnicodeEncodeError:  # an `id` with a lone surrogate, which only an escape can hold
        return json.dumps({**label, **columns})
    return row
