"""Decoding token by token: each id in, the text that it adds out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from piecework._core import RawDecodeStream


class DecodeStream:
    """Text of one sequence as its ids arrive; never half a character.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}), decoder=pw.spec.WordPieceDecoder()
    ... )
    >>> list(tok.decode_stream().feed([1, 2, 1]))
    ['hug', 's', ' hug']

    The texts together are what `decode` gives for all ids. Memory is bounded and a step takes
    constant time, however long the sequence grows.
    """

    def __init__(self, raw: RawDecodeStream) -> None:
        self._raw = raw

    def step(self, id: int) -> str | None:
        """Take the next id; return the text it adds, None while a character is unfinished."""
        return self._raw.step([id])[0]

    def finish(self) -> str | None:
        """Return what still waits for the rest of a character, and begin anew."""
        return self._raw.finish()[0]

    def feed(self, ids: Iterable[int]) -> Iterator[str]:
        """Give the texts that ids add, and at the end what still waited."""
        for id in ids:
            if (text := self.step(id)) is not None:
                yield text
        if (rest := self.finish()) is not None:
            yield rest


class DecodeStreams:
    """Several sequences side by side, as a batch of a model grows them."""

    def __init__(self, raw: RawDecodeStream) -> None:
        self._raw = raw

    def step(self, ids: Sequence[int | None]) -> list[str | None]:
        """Take the next id of every sequence, None for one that is over; return what each adds."""
        return self._raw.step(ids)

    def finish(self) -> list[str | None]:
        """Return what still waits in every sequence, and begin anew."""
        return self._raw.finish()
