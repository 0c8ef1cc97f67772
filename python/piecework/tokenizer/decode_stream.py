"""Decode token by token: return the text that each id adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from piecework._internal._core import RawDecodeStream
from piecework._internal.validation import id_list, listed
from piecework.errors import ArgumentError, InputTypeError, InvalidUtf8Error

if TYPE_CHECKING:
    from piecework._internal.types import DecodingErrors, Self
    from piecework.tokenizer import Tokenizer


class _Streams:
    """Decoding streams that can be copied, and pickled with their tokenizer."""

    def __init__(
        self,
        raw: RawDecodeStream,
        tokenizer: Tokenizer,
        errors: Sequence[DecodingErrors] = (),
    ) -> None:
        """Wrap streams; `errors` has what each does with invalid bytes, and is empty for U+FFFD."""
        self._raw = raw
        self._tokenizer = tokenizer
        self._errors = errors

    def _step(self, ids: Sequence[int | None]) -> list[str | None]:
        try:
            return self._raw.step(ids)
        except (TypeError, OverflowError):
            id_list([id for id in listed(ids, "ids") if id is not None], "ids")
            raise

    def __copy__(self) -> Self:
        from copy import copy  # decoding needs none of it

        return type(self)(self._raw.copy(), self._tokenizer, list(map(copy, self._errors)))

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return _unpickled, (type(self), self._tokenizer, self._raw.state(), self._errors)


def _unpickled(
    cls: type[_Streams],
    tokenizer: Tokenizer,
    state: tuple[Any, ...],
    errors: Sequence[DecodingErrors],
) -> _Streams:
    return cls(tokenizer._core.continue_decode_stream(*state), tokenizer, errors)


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
                raise ArgumentError("id", f"must be an id from 0 to 4294967295, not {id}") from None
            raise InputTypeError("id", f"must be an id, not {type(id).__name__}") from None
        if id is None:  # which `DecodeStreams` accepts
            raise InputTypeError("id", "must be an id, not NoneType; finish() ends the stream")
        return self._errors[0].text_of([id], text) if self._errors else text

    def finish(self) -> str | None:
        """Return the text of incomplete characters, None if there is none, and reset the stream."""
        text = self._raw.finish()[0]
        return self._errors[0].text_of((), text, is_end=True) if self._errors else text

    def feed(self, ids: Iterable[int]) -> Iterator[str]:
        """Yield the texts that ids add, and at the end the text of incomplete characters."""
        for id in ids:
            if (text := self.step(id)) is not None:
                yield text
        if (rest := self.finish()) is not None:
            yield rest


class DecodeStreams(_Streams):
    """Decode several sequences in parallel, one id of each at a time.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> pw.tokenizer.stages.decode_streams(tok, [[], []]).step([1, 2])
    ['a', 'b']
    """

    def step(self, ids: Sequence[int | None]) -> list[str | None]:
        """Add the next id of each sequence, None for a finished one; return the text that each adds.

        Ids that are not in the vocabulary are skipped. Raises `InputTypeError` for another type, and
        `ArgumentError` for another number of ids; the streams are then unchanged. With
        `encoding_errors="strict"`, raises `InvalidUtf8Error` after it has added the ids of all sequences.
        """
        texts = self._step(ids)
        if not self._errors:
            return texts
        added: list[tuple[int, ...]] = [() if id is None else (id,) for id in ids]
        return self._checked(added, texts, is_end=False)

    def finish(self) -> list[str | None]:
        """Return the text of incomplete characters of each sequence, and reset the streams."""
        texts = self._raw.finish()
        return self._checked([()] * len(texts), texts, is_end=True) if self._errors else texts

    def _checked(
        self, ids: list[tuple[int, ...]], texts: list[str | None], *, is_end: bool
    ) -> list[str | None]:
        """Return the text of each sequence without U+FFFD for invalid bytes; raise after the last one."""
        found: list[str | None] = []
        raised: InvalidUtf8Error | None = None
        for row, errors in enumerate(self._errors):
            try:
                place = f"ids[{row}]"
                found.append(errors.text_of(ids[row], texts[row], is_end=is_end, place=place))
            except InvalidUtf8Error as error:
                raised = raised or error
        if raised is not None:
            raise raised
        return found
