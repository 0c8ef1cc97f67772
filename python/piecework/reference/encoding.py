"""The result of encoding: parallel lists, one item per token.

Inside the pipeline a token is one `Token`, and a sequence is a list of windows: first the window that
`encode` returns, then the windows that truncation cut off. At the end the tokens become columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from piecework.reference.aligned import Span


class Piece(NamedTuple):
    """A token that a model made of a word, and the characters `start:end` of the word it covers."""

    token: str
    start: int
    end: int


@dataclass(frozen=True)
class Token:
    """One token; offsets count characters of the original text.

    `sequence_id` is None for the tokens that a template or padding inserted. `text` is the text that an
    added token matched, normalized if the token is, with the whitespace that it includes.
    """

    token: str
    offsets: Span = (0, 0)
    word_id: int | None = None
    sequence_id: int | None = None
    type_id: int = 0
    is_padding: bool = False
    text: str | None = None


Windows: TypeAlias = list[list[Token]]


@dataclass(frozen=True)
class ReferenceEncoding:
    """One encoded text or pair, with the columns of `piecework.Encoding`.

    >>> to_encoding([[Token("hug", (0, 3), 0, 0), Token("[SEP]")]], {"hug": 7, "[SEP]": 1})
    ReferenceEncoding(ids=[7, 1], tokens=['hug', '[SEP]'])
    """

    ids: list[int]
    tokens: list[str]
    offsets: list[Span] = field(repr=False)
    word_ids: list[int | None] = field(repr=False)
    type_ids: list[int] = field(repr=False)
    sequence_ids: list[int | None] = field(repr=False)
    special_tokens_mask: list[int] = field(repr=False)
    attention_mask: list[int] = field(repr=False)
    overflowing: list[ReferenceEncoding] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.ids)


def to_encoding(windows: Windows, vocab: Mapping[str, int], pad_id: int = 0) -> ReferenceEncoding:
    """Turn windows into columns; the first window becomes the encoding, the others overflow.

    Padding has the id `pad_id`, the other tokens have their ids in `vocab`.

    >>> encoding = to_encoding([[Token("a")], [Token("b")]], {"a": 0, "b": 1})
    >>> encoding.ids, [window.ids for window in encoding.overflowing]
    ([0], [[1]])
    """
    first, *others = (_columns(window, vocab, pad_id) for window in windows)
    return replace(first, overflowing=others)


def _columns(window: Sequence[Token], vocab: Mapping[str, int], pad_id: int) -> ReferenceEncoding:
    ids = [pad_id if token.is_padding else vocab[token.token] for token in window]
    return ReferenceEncoding(
        ids=ids,
        tokens=[token.token for token in window],
        offsets=[token.offsets for token in window],
        word_ids=[token.word_id for token in window],
        type_ids=[token.type_id for token in window],
        sequence_ids=[token.sequence_id for token in window],
        special_tokens_mask=[int(token.sequence_id is None) for token in window],
        attention_mask=[int(not token.is_padding) for token in window],
    )
