"""Decode token by token: each id in, the text that it adds out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from piecework._core import RawDecodeStream


class DecodeStream:
    """Decode the ids of one sequence as they arrive, in complete characters.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}), decoder=pw.spec.WordPieceDecoder()
    ... )
    >>> list(tok.decode_stream().feed([1, 2, 1]))
    ['hug', 's', ' hug']

    The concatenated texts equal `decode` of all ids. Memory is bounded, and a step takes constant time for
    any length of the sequence.
    """

    def __init__(self, raw: RawDecodeStream) -> None:
        self._raw = raw

    def step(self, id: int) -> str | None:
        """Add the next id; return the text that it adds, None while a character is incomplete."""
        return self._raw.step([id])[0]

    def finish(self) -> str | None:
        """Return the text of incomplete characters, None if there is none, and reset the stream."""
        return self._raw.finish()[0]

    def feed(self, ids: Iterable[int]) -> Iterator[str]:
        """Yield the texts that ids add, and at the end the text of incomplete characters."""
        for id in ids:
            if (text := self.step(id)) is not None:
                yield text
        if (rest := self.finish()) is not None:
            yield rest


class DecodeStreams:
    """Decode several sequences in parallel, one id of each at a time.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> tok.decode_streams([[], []]).step([1, 2])
    ['a', 'b']
    """

    def __init__(self, raw: RawDecodeStream) -> None:
        self._raw = raw

    def step(self, ids: Sequence[int | None]) -> list[str | None]:
        """Add the next id of each sequence, None for a finished one; return the text that each adds."""
        return self._raw.step(ids)

    def finish(self) -> list[str | None]:
        """Return the text of incomplete characters of each sequence, and reset the streams."""
        return self._raw.finish()
