"""Find where generated ids drift from the ids of their text, and append generated ids to a prompt.

A text has one canonical sequence of ids, and a model can generate others. The ids are decoded, the text is
encoded again, and both sequences are cut wherever the same bytes end on both sides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import accumulate, chain, groupby, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from piecework import Batch
from piecework._internal.validation import PathLike, check_tokenizer, id_list, listed, path_text
from piecework.chat.assistant_spans import num_equal
from piecework.errors import ArgumentError, IdRangeError, InputTypeError
from piecework.export import read_ids
from piecework.spec import SentencePieceDecoder
from piecework.vocabulary.decoding import token_decoder

if TYPE_CHECKING:
    from piecework import Tokenizer
    from piecework._internal.types import Ids


Cut: TypeAlias = tuple[int, int]

_METASPACE = "▁"


@dataclass(frozen=True)
class DriftSpan:
    """Ids that encoding their text would not give, and the ids that it gives.

    >>> span = DriftSpan(2, (4, 5), ("h", "##ug"), 2, (3,), ("hug",), b" hug")
    >>> span.end, span.text
    (4, ' hug')

    The ids from `start` to `end` become `new_ids` at `new_start`. `data` are the bytes of the ids.
    """

    start: int
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    new_start: int
    new_ids: tuple[int, ...]
    new_tokens: tuple[str, ...]
    data: bytes

    @property
    def end(self) -> int:
        """The position after the last id."""
        return self.start + len(self.ids)

    @property
    def text(self) -> str:
        """The bytes as text; invalid UTF-8 is U+FFFD."""
        return self.data.decode(errors="replace")

    def to_dict(self) -> dict[str, Any]:
        """Return the span as JSON data; `text` and `bytes`, hexadecimal digits, replace `data`."""
        value = asdict(self) | {"end": self.end, "text": self.text, "bytes": self.data.hex()}
        del value["data"]
        return {name: list(one) if isinstance(one, tuple) else one for name, one in value.items()}


@dataclass(frozen=True)
class Drift:
    """The result of `find_drift`: ids, their text, the ids of that text, and where both differ.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "hug": 1, "##s": 2, "h": 3, "##ug": 4}
    >>> tok = pw.Tokenizer(pw.spec.WordPiece(vocab), decoder=pw.spec.WordPieceDecoder())
    >>> print(pw.chat.find_drift(tok, [3, 4, 2]))
    3 ids, 2 when their text is encoded: 1 span differs
    0: h ##ug -> hug

    `spans` are in order and as short as possible. Replacing each by its `new_ids` gives `new_ids`.
    """

    ids: tuple[int, ...]
    text: str
    new_ids: tuple[int, ...]
    spans: tuple[DriftSpan, ...]

    @property
    def is_stable(self) -> bool:
        """Whether the text has the same ids."""
        return not self.spans

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and `is_stable` as JSON data."""
        return {
            "ids": list(self.ids),
            "text": self.text,
            "new_ids": list(self.new_ids),
            "is_stable": self.is_stable,
            "spans": [span.to_dict() for span in self.spans],
        }

    def __str__(self) -> str:
        """Return the numbers of ids, and a line for each span: position, tokens and new tokens."""
        differ = "1 span differs" if len(self.spans) == 1 else f"{len(self.spans)} spans differ"
        first = f"{len(self.ids)} ids, {len(self.new_ids)} when their text is encoded: {differ}"
        lines = (
            f"{one.start}: {' '.join(one.tokens)} -> {' '.join(one.new_tokens)}"
            for one in self.spans
        )
        return "\n".join((first, *lines))


def find_drift(tokenizer: Tokenizer, ids: Ids) -> Drift:
    """Decode ids, encode the text again, and return where the ids differ.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "hug": 1, "##s": 2, "h": 3, "##ug": 4}
    >>> tok = pw.Tokenizer(pw.spec.WordPiece(vocab), decoder=pw.spec.WordPieceDecoder())
    >>> find_drift(tok, [1, 2]).is_stable, find_drift(tok, [3, 4, 2]).new_ids
    (True, (1, 2))

    The text has the special tokens of the ids, and they are recognized in it, as in `encode_segments` with
    permission. None are added, nothing is truncated, padded or cleaned up. Bytes that are not UTF-8, such as
    half a character at the end, become U+FFFD in the text, and so differ.

    Raises `IdRangeError` with the position for an id that is not in the vocabulary.
    """
    return DriftFinder(tokenizer).find(id_list(ids, "ids"), "ids[{}]".format)


def find_drift_batch(tokenizer: Tokenizer, batch: Batch | Iterable[Ids]) -> Iterator[Drift]:
    """Yield the drift of each row of a `Batch`, or of each list of ids.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),), fuse_unk=False))
    >>> tok = tok.with_decoder(pw.spec.Fuse())
    >>> [drift.is_stable for drift in find_drift_batch(tok, [[2], [0, 1], []])]
    [True, False, True]

    The rows are read one by one. The errors of `find_drift` name the row too.
    """
    finder = DriftFinder(tokenizer)
    rows: Any = batch.to_lists() if isinstance(batch, Batch) else batch
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        problem = f"must be a Batch, or rows of ids, not {type(batch).__name__}"
        raise InputTypeError("batch", problem)
    for number, row in enumerate(rows):
        place = f"batch[{number}]"
        yield finder.find(id_list(row, place), f"{place}[{{}}]".format)


def find_drift_files(tokenizer: Tokenizer, paths: PathLike | Sequence[PathLike]) -> Iterator[Drift]:
    """Yield the drift of each row of ids in files, in every format that `export.read_ids` reads.

    >>> import pathlib, tempfile
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ids.txt"
    >>> _ = path.write_text("2\\n0 1\\n")
    >>> [drift.is_stable for drift in find_drift_files(tok.with_decoder(pw.spec.Fuse()), path)]
    [True, False]

    Raises `IdRangeError` with file, row and position for an id that is not in the vocabulary, and the errors
    of `export.read_ids`.
    """
    finder = DriftFinder(tokenizer)
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else listed(paths, "paths"):
        rows = chain.from_iterable(read_ids(path))
        name = "<stdin>" if path == "-" else path_text(path)
        for number, row in enumerate(rows, 1):
            yield finder.find(row, partial(_place_in_file, name, number))


def _place_in_file(name: str, row: int, position: int) -> str:
    return f"{name} row {row}, position {position}"


class DriftFinder:
    """Find drift in rows; the bytes of a token are computed when it first occurs."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        check_tokenizer(tokenizer)
        spec = tokenizer.spec
        if spec.truncation is not None or spec.padding is not None:
            tokenizer = tokenizer.without_truncation().without_padding()
        self._tokenizer = tokenizer
        self._is_sentencepiece = isinstance(spec.decoder, SentencePieceDecoder)
        self._special = tokenizer.special_token_ids if self._is_sentencepiece else frozenset()
        self._bytes = _TokenBytes(tokenizer)
        self._known: set[int] = set()

    def find(self, ids: list[int], place: Callable[[int], str]) -> Drift:
        """Return the drift of one row; `place` names the position of an id in errors."""
        self._check(ids, place)
        text = self._text(ids)
        new_ids = self._tokenizer.encode_segments([(text, True)]).ids
        spans = () if ids == new_ids else tuple(self._spans(ids, new_ids))
        return Drift(tuple(ids), text, tuple(new_ids), spans)

    def _check(self, ids: list[int], place: Callable[[int], str]) -> None:
        """Raise `IdRangeError` for the first id that is not in the vocabulary; look up each id once."""
        new = set(ids) - self._known
        unknown = {id for id in new if self._tokenizer.id_to_token(id) is None}
        for position, id in enumerate(ids if unknown else ()):
            if id in unknown:
                raise IdRangeError(place(position), f"is {id}, which is not in the vocabulary")
        self._known |= new

    def _text(self, ids: list[int]) -> str:
        """Return the text with special tokens; SentencePiece's decoder leaves them out."""
        if not self._is_sentencepiece:
            return self._tokenizer.decode(ids, skip_special_tokens=False, clean_up=False)
        return "".join(self._parts(ids))

    def _parts(self, ids: list[int]) -> Iterator[str]:
        """Yield special tokens, and the texts between them with the spaces that they begin with."""
        for number, (are_special, run) in enumerate(groupby(ids, self._special.__contains__)):
            some = list(run)
            if are_special:
                yield from map(self._token, some)
                continue
            begins_with_space = number > 0 and self._token(some[0]).startswith(_METASPACE)
            yield " " * begins_with_space + self._tokenizer.decode(some)

    def _spans(self, ids: Sequence[int], new_ids: Sequence[int]) -> Iterator[DriftSpan]:
        for start, end, new_start, new_end in differing_spans(ids, new_ids, self._bytes):
            old, new = tuple(ids[start:end]), tuple(new_ids[new_start:new_end])
            yield DriftSpan(
                start,
                old,
                tuple(map(self._token, old)),
                new_start,
                new,
                tuple(map(self._token, new)),
                b"".join(map(self._bytes.__getitem__, old)),
            )

    def _token(self, id: int) -> str:
        return str(self._tokenizer.id_to_token(id))


class _TokenBytes(dict[int, bytes]):
    """The bytes that each token adds to a text, special tokens included."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._token = tokenizer.id_to_token
        try:
            self._bytes_of = token_decoder(tokenizer.spec)
        except ArgumentError:  # the text of a token depends on its neighbours
            self._bytes_of = str.encode

    def __missing__(self, id: int) -> bytes:
        found = self[id] = self._bytes_of(str(self._token(id)))
        return found


def differing_spans(
    ids: Sequence[int], new_ids: Sequence[int], token_bytes: Mapping[int, bytes]
) -> list[tuple[int, int, int, int]]:
    """Return the spans of both sequences, from one cut to the next, whose ids differ.

    >>> differing_spans([3, 4, 2], [1, 2], {1: b"hug", 2: b"s", 3: b"h", 4: b"ug"})
    [(0, 2, 0, 1)]

    The sequences are cut where tokens end on both sides, and the bytes before are equal or the bytes after
    are. Each span has its start and end in `ids`, then in `new_ids`. Takes n log n time.
    """
    cuts = _cuts(ids, new_ids, token_bytes)
    return [
        (start, end, new_start, new_end)
        for (start, new_start), (end, new_end) in pairwise(cuts)
        if list(ids[start:end]) != list(new_ids[new_start:new_end])
    ]


def _cuts(
    ids: Sequence[int], new_ids: Sequence[int], token_bytes: Mapping[int, bytes]
) -> list[Cut]:
    """Return the cuts in order, from the beginning of both sequences to their ends."""
    data, ends = _ends(ids, token_bytes)
    new_data, new_ends = _ends(new_ids, token_bytes)
    before = num_equal(data, new_data)
    cuts = [(ends[at], new_ends[at]) for at in sorted(ends) if at <= before and at in new_ends]
    if data != new_data:
        start = len(data) - num_equal(data[::-1], new_data[::-1])
        shift = len(new_data) - len(data)
        cuts += [
            (ends[at], new_ends[at + shift])
            for at in sorted(ends)
            if at >= start and at + shift in new_ends
        ]
    inner = [cut for cut in cuts if cut[0] < len(ids) and cut[1] < len(new_ids)]
    return [(0, 0), *_rising(inner), (len(ids), len(new_ids))]


def _ends(ids: Sequence[int], token_bytes: Mapping[int, bytes]) -> tuple[bytes, dict[int, int]]:
    """Return all bytes, and for each position where a token ends the number of ids before it."""
    parts = [token_bytes[id] for id in ids]
    ends = {at: number for number, at in enumerate(accumulate(map(len, parts), initial=0))}
    return b"".join(parts), ends


def _rising(cuts: Iterable[Cut]) -> Iterator[Cut]:
    """Yield the cuts that come after the previous one on both sides."""
    last = (0, 0)
    for cut in cuts:
        if cut[0] > last[0] and cut[1] > last[1]:
            yield cut
            last = cut


@dataclass(frozen=True)
class AppendedIds:
    """The ids of a prompt and of a completion, as the model read and generated them.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))
    >>> both = pw.chat.append_ids(tok.with_decoder(pw.spec.Fuse()), [0], [1, 0])
    >>> both.ids, both.completion_mask, len(both.crossing_spans)
    ([0, 1, 0], [0, 1, 1], 1)

    The first `num_prompt_ids` of the `ids` belong to the prompt. `drift` is what tokenizing the whole text
    again would change.
    """

    ids: list[int]
    num_prompt_ids: int
    drift: Drift

    @property
    def completion_mask(self) -> list[int]:
        """1 for each id of the completion, 0 for each of the prompt."""
        return [0] * self.num_prompt_ids + [1] * (len(self.ids) - self.num_prompt_ids)

    @property
    def crossing_spans(self) -> tuple[DriftSpan, ...]:
        """The spans of the drift that have ids of the prompt and of the completion."""
        spans = self.drift.spans
        return tuple(one for one in spans if one.start < self.num_prompt_ids < one.end)


def append_ids(tokenizer: Tokenizer, prompt_ids: Ids, completion_ids: Ids) -> AppendedIds:
    """Append generated ids to a prompt; also return what tokenizing the whole text again would change.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))
    >>> both = append_ids(tok.with_decoder(pw.spec.Fuse()), [0], [1, 0])
    >>> print(both.drift)
    3 ids, 2 when their text is encoded: 1 span differs
    0: a b -> ab

    The ids are kept as they are: a model is trained on what it has read and generated. For a conversation,
    append the ids of each turn to the previous ones.

    Raises `IdRangeError` with the position for an id that is not in the vocabulary.
    """
    prompt = id_list(prompt_ids, "prompt_ids")
    ids = [*prompt, *id_list(completion_ids, "completion_ids")]

    def place(position: int) -> str:
        if position < len(prompt):
            return f"prompt_ids[{position}]"
        return f"completion_ids[{position - len(prompt)}]"

    return AppendedIds(ids, len(prompt), DriftFinder(tokenizer).find(ids, place))
