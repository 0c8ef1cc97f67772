"""Write and read one line of text for each row: ids, tokens, or a JSON object with offsets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np

from piecework._internal._core import RawBatch
from piecework.corpus.text_stream import TextStream, line_lists
from piecework.errors import CorpusError, IdRangeError
from piecework.export.encoded_lines import EncodedLines, RowLayout, Write
from piecework.io.atomic_files import atomic_stream
from piecework.tokenizer import Tokenizer
from piecework.tokenizer.batch import Batch
from piecework.tokenizer.encoding import Encoding

RowTexts: TypeAlias = Callable[[EncodedLines], Iterable[str]]
"""Returns the text of the rows of a batch, each with its line end, in parts of bounded size."""

# Longer rows are written in parts, because an id as a Python object takes 40 bytes, as JSON 300.
_LONG_ROW = 1 << 20
_TOKENS_AT_ONCE = 1 << 16

_COLUMNS = ("ids", "tokens", "offsets")


# ---- writing


@contextmanager
def write_text(
    texts_of: Callable[[Tokenizer], RowTexts], path: str, tokenizer: Tokenizer, layout: RowLayout
) -> Iterator[Write]:
    """Write a line for each row, with the text that the function of `texts_of` returns."""
    row_texts = texts_of(tokenizer)
    with atomic_stream(path) as stream:

        def write(lines: EncodedLines) -> None:
            for text in row_texts(lines):
                stream.write(text.encode())
            stream.flush()

        yield write


def id_texts(tokenizer: Tokenizer) -> RowTexts:
    """Return a function that joins the ids of each row with spaces."""
    return partial(_joined_names, _Names())


def token_texts(tokenizer: Tokenizer) -> RowTexts:
    """Return a function that joins the tokens of each row with spaces, and escapes their line ends."""
    padding = tokenizer._stages().padding
    names = _Names({padding.pad_id: padding.pad_token} if padding else {})
    names.update((id, _in_one_line(token)) for token, id in tokenizer.get_vocab().items())
    return partial(_joined_names, names)


def _in_one_line(token: str) -> str:
    """Return a token with escaped line ends: Gemma, for example, has tokens of several."""
    return token.replace("\n", "\\n").replace("\r", "\\r")


def json_texts(tokenizer: Tokenizer) -> RowTexts:
    """Return a function that makes a JSON object of each row: label, ids, tokens, character offsets."""
    return lambda lines: chain.from_iterable(
        _json_parts(lines.batch, row, label) for row, label in enumerate(lines.labels)
    )


class _Names(dict[int, str]):
    """The text of each id; an id without a token is written as a number."""

    def __missing__(self, id: int) -> str:
        name = self[id] = str(id)
        return name


def _joined_names(names: _Names, lines: EncodedLines) -> Iterator[str]:
    if lines.batch.lengths.max(initial=0) > _LONG_ROW:
        yield from _joined_parts(names, lines)
        return
    # One lookup for each token and one slice for each row: 3 times as fast as a list of ids for each row.
    written = [names[id] for id in lines.batch.ids.tolist()]
    offsets = lines.batch.row_offsets.tolist()
    yield "".join([f"{' '.join(written[start:end])}\n" for start, end in pairwise(offsets)])


def _joined_parts(names: _Names, lines: EncodedLines) -> Iterator[str]:
    ids = lines.batch.ids
    for start, end in pairwise(lines.batch.row_offsets.tolist()):
        for first in range(start, end, _TOKENS_AT_ONCE):
            part = ids[first : min(first + _TOKENS_AT_ONCE, end)].tolist()
            yield (" " if first > start else "") + " ".join([names[id] for id in part])
        yield "\n"


def _json_parts(batch: Batch, row: int, label: dict[str, Any]) -> Iterator[str]:
    start, end = batch.row_offsets[row : row + 2].tolist()
    if end - start <= _LONG_ROW:
        encoding = batch[row]
        columns = {name: getattr(encoding, name) for name in _COLUMNS}
        yield f"{_json_text({**label, **columns})}\n"
        return
    yield _json_text(label).removesuffix("}")
    for name in _COLUMNS:
        yield f', "{name}": ['
        for first in range(start, end, _TOKENS_AT_ONCE):
            part = slice(first, min(first + _TOKENS_AT_ONCE, end))
            values = getattr(_tokens_of(batch, part), name)
            yield (", " if first > start else "") + json.dumps(values, ensure_ascii=False)[1:-1]
        yield "]"
    yield "}\n"


def _tokens_of(batch: Batch, tokens: slice) -> Encoding:
    """Return some tokens of a row; lists of the whole row would be made to slice an `Encoding`."""
    part = RawBatch.of_arrays(
        batch.ids[tokens],
        np.array([0, tokens.stop - tokens.start]),
        offsets=batch.offsets[tokens].reshape(-1),
        word_ids=batch.word_ids[tokens],
        sequence_ids=batch.sequence_ids[tokens],
    )
    return Batch(part, batch._token_of, batch._filling)[0]


def _json_text(record: dict[str, Any]) -> str:
    text = json.dumps(record, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # the `id` of an input object can contain a lone surrogate
        return json.dumps(record)
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
            raise IdRangeError(
                place,
                f"must be ids from 0 to {id_limit - 1} between spaces, not "
                f"{word[:40].decode(errors='replace')!r}",
            )
        ids.append(int(word))
    return ids


def _json_row(line: bytes, place: str, id_limit: int) -> list[int]:
    expected = f'an object with "ids", a list of ids from 0 to {id_limit - 1}'
    try:
        ids = json.loads(line)["ids"]
    except KeyError as error:
        raise CorpusError(place, f"has no field 'ids'; expected {expected}") from error
    except (ValueError, RecursionError) as error:
        raise CorpusError(
            place, f"found broken JSON ({str(error).replace('line 1 ', '')}), expected {expected}"
        ) from error
    if not isinstance(ids, list):
        raise CorpusError(
            f"{place} field 'ids'", f"found {type(ids).__name__}, expected {expected}"
        )
    for id in ids:
        if type(id) is not int or not 0 <= id < id_limit:
            problem = f"must contain ids from 0 to {id_limit - 1}, not {repr(id)[:40]}"
            raise IdRangeError(f"{place} field 'ids'", problem)
    return ids
