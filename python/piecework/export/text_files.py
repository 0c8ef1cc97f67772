"""Write and read one line of text for each row: ids, tokens, or a JSON object with offsets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

from piecework.corpus.line_blocks import line_lists
from piecework.corpus.text_stream import TextStream
from piecework.encoding import Encoding
from piecework.errors import CorpusError, IdRangeError
from piecework.export.encoded_lines import EncodedLines, Write
from piecework.io.atomic_files import atomic_stream
from piecework.tokenizer import Tokenizer

RowTexts: TypeAlias = Callable[[EncodedLines], Iterable[str]]
"""Returns the text of each row of a batch."""


# ---- writing


@contextmanager
def write_text(path: str, row_texts: RowTexts) -> Iterator[Write]:
    """Write a line for each row, with the text that `row_texts` returns for it."""
    with atomic_stream(path) as stream:

        def write(lines: EncodedLines) -> None:
            stream.write("".join([f"{text}\n" for text in row_texts(lines)]).encode())
            stream.flush()

        yield write


def id_texts(tokenizer: Tokenizer) -> RowTexts:
    """Return a function that joins the ids of each row with spaces."""
    return partial(_joined_names, _Names())


def token_texts(tokenizer: Tokenizer) -> RowTexts:
    """Return a function that joins the tokens of each row with spaces."""
    padding = tokenizer._stages().padding
    names = _Names({padding.pad_id: padding.pad_token} if padding else {})
    names.update((id, token) for token, id in tokenizer.get_vocab().items())
    return partial(_joined_names, names)


def json_texts(tokenizer: Tokenizer) -> RowTexts:
    """Return a function that makes a JSON object of each row: label, ids, tokens, character offsets."""
    return lambda lines: map(_json_text, lines.batch, lines.labels)


class _Names(dict[int, str]):
    """The text of each id; an id without a token is written as a number."""

    def __missing__(self, id: int) -> str:
        name = self[id] = str(id)
        return name


def _joined_names(names: _Names, lines: EncodedLines) -> Iterator[str]:
    # One lookup for each token and one slice for each row: 3 times as fast as a list of ids for each row.
    written = [names[id] for id in lines.batch.ids.tolist()]
    offsets = lines.batch.row_offsets.tolist()
    return (" ".join(written[start:end]) for start, end in pairwise(offsets))


def _json_text(encoding: Encoding, label: dict[str, Any]) -> str:
    columns = {"ids": encoding.ids, "tokens": encoding.tokens, "offsets": encoding.offsets}
    text = json.dumps({**label, **columns}, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # the `id` of an input object can contain a lone surrogate
        return json.dumps({**label, **columns})
    return text


# ---- reading


def read_text(path: str, id_limit: int, bytes_at_once: int) -> Iterator[list[list[int]]]:
    """Yield rows of ids from lines of numbers, or of JSON objects with `ids`.

    Raises `IdRangeError` for an id that is not below `id_limit`, `CorpusError` for other lines.
    """
    with ExitStack() as stack:
        stream = TextStream(path, stack, at_once=True)
        first = 1
        for lines in line_lists(stream, bytes_at_once):
            yield [
                _row(line, f"{stream.name} line {number}", id_limit)
                for number, line in enumerate(lines, start=first)
            ]
            first += len(lines)


def _row(line: bytes, place: str, id_limit: int) -> list[int]:
    if line.lstrip()[:1] == b"{":
        return _json_row(line, place, id_limit)
    ids = []
    for word in line.split():
        if not word.isdigit() or len(word) > 10 or int(word) >= id_limit:
            found = repr(word[:40].decode(errors="replace"))
            raise IdRangeError(place, found, f"ids from 0 to {id_limit - 1} between spaces")
        ids.append(int(word))
    return ids


def _json_row(line: bytes, place: str, id_limit: int) -> list[int]:
    expected = f'an object with "ids", a list of ids from 0 to {id_limit - 1}'
    try:
        ids = json.loads(line)["ids"]
    except KeyError as error:
        raise CorpusError(place, "no field 'ids'", expected) from error
    except (ValueError, RecursionError) as error:
        found = f"broken JSON ({str(error).replace('line 1 ', '')})"
        raise CorpusError(place, found, expected) from error
    if not isinstance(ids, list):
        raise CorpusError(f"{place} field 'ids'", type(ids).__name__, expected)
    for id in ids:
        if type(id) is not int or not 0 <= id < id_limit:
            raise IdRangeError(f"{place} field 'ids'", repr(id)[:40], expected)
    return ids
