"""Decode token by token: each id in, the text that it adds out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from piecework._core import RawDecodeStream
from piecework._internal.lazy import hints, pw
from piecework._internal.validation import id_list, listed
from piecework.errors import ArgumentError, InputTypeError


class _Streams:
    """Decoding streams that can be copied, and pickled with their tokenizer."""

    def __init__(self, raw: RawDecodeStream, tokenizer: pw.Tokenizer) -> None:
        self._raw = raw
        self._tokenizer = tokenizer

    def _step(self, ids: Sequence[int | None]) -> list[str | None]:
        try:
            return self._raw.step(ids)
        except (TypeError, OverflowError):
            id_list([id for id in listed(ids, "ids") if id is not None], "ids")
            raise

    def __copy__(self) -> hints.Self:
        return type(self)(self._raw.copy(), self._tokenizer)

    def __deepcopy__(self, memo: object) -> hints.Self:
        return self.__copy__()

    def __reduce__(self) -> hints.Any:
        return _unpickled, (type(self), self._tokenizer, self._raw.state())


def _unpickled(
    cls: type[_Streams], tokenizer: pw.Tokenizer, state: tuple[hints.Any, ...], *more: hints.Any
) -> _Streams:
    return cls(tokenizer._core.continue_decode_stream(*state), tokenizer, *more)


class DecodeStream(_Streams):
    """Decode the ids of one sequence as they arrive, in complete characters.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}), decoder=pw.spec.WordPieceDecoder()
    ... )
    >>> list(tok.decode_stream().feed([1, 2, 1]))
    ['hug', 's', ' hug']

    The concatenated texts equal `decode` of all ids. Memory is bounded, and a step takes constant time for
    any length of the sequence. A stream can be copied (`copy.copy`), to continue in several ways, and pickled
    with its tokenizer, to continue in another process.
    """

    def __init__(
        self,
        raw: RawDecodeStream,
        tokenizer: pw.Tokenizer,
        errors: hints.DecodingErrors | None = None,
    ) -> None:
        super().__init__(raw, tokenizer)
        self._errors = errors

    def step(self, id: int) -> str | None:
        """Add the next id; return the text that it adds, None while a character is incomplete.

        An id that is not in the vocabulary is skipped, as `decode` does. Raises `InputTypeError` for another
        type, `ArgumentError` for a number that no id can be, and with `encoding_errors="strict"`
        `InvalidUtf8Error`.
        """
        try:
            text = self._raw.step([id])[0]
        except (TypeError, OverflowError):
            if hasattr(id, "__index__"):
                raise ArgumentError("id", str(id), "an id from 0 to 4294967295") from None
            raise InputTypeError("id", type(id).__name__, "an id") from None
        if id is None:  # which `DecodeStreams` accepts
            raise InputTypeError("id", "NoneType", "an id; finish() ends the stream")
        return text if self._errors is None else self._errors.text_of([id], text)

    def finish(self) -> str | None:
        """Return the text of incomplete characters, None if there is none, and reset the stream."""
        text = self._raw.finish()[0]
        return text if self._errors is None else self._errors.text_of((), text, is_end=True)

    def feed(self, ids: Iterable[int]) -> Iterator[str]:
        """Yield the texts that ids add, and at the end the text of incomplete characters."""
        for id in ids:
            if (text := self.step(id)) is not None:
                yield text
        if (rest := self.finish()) is not None:
            yield rest

    def __copy__(self) -> hints.Self:
        from copy import copy  # decoding needs none of it

        return type(self)(self._raw.copy(), self._tokenizer, copy(self._errors))

    def __reduce__(self) -> hints.Any:
        return _unpickled, (type(self), self._tokenizer, self._raw.state(), self._errors)


class DecodeStreams(_Streams):
    """Decode several sequences in parallel, one id of each at a time.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> pw.stages.decode_streams(tok, [[], []]).step([1, 2])
    ['a', 'b']
    """

    def step(self, ids: Sequence[int | None]) -> list[str | None]:
        """Add the next id of each sequence, None for a finished one; return the text that each adds.

        Ids that are not in the vocabulary are skipped. Raises `InputTypeError` for another type, and
        `ArgumentError` for another number of ids; the streams are then unchanged.
        """
        return self._step(ids)

    def finish(self) -> list[str | None]:
        """Return the text of incomplete characters of each sequence, and reset the streams."""
        return self._raw.finish()
