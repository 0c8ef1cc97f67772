"""Encode a text that grows, such as a conversation, without tokenizing its beginning again."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from piecework._internal.validation import check_text, check_tokenizer

if TYPE_CHECKING:
    from piecework import Tokenizer


class GrowingText:
    """The ids of a text that grows at its end.

    >>> import piecework as pw
    >>> end = pw.spec.AddedToken("<end>", 3)
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}), added_tokens=[end])
    >>> text = pw.chat.GrowingText(tok, "ab<end>")
    >>> text.append("ba")
    >>> text.ids, text.num_stable
    ([1, 2, 3, 2, 1], 2)

    `ids` always equal `encode(text, add_special_tokens=False).ids`. The beginning is not tokenized again,
    because nothing that follows can change its ids: text before the last added token, and text before the
    last space for the models of `tokenizer.json` whose pre-tokenizer splits at spaces, which are most
    WordPiece and BPE models, and for BPE with `▁`. So each append costs the new text and the word before it.
    With other models, such as SentencePiece's Unigram, it costs the text since the last added token.

    `parse_special` means the same as for `Tokenizer.encode`. Truncation and padding do not apply.

    `num_stable` is the number of ids at the beginning that no appended text can change, for caches of a
    model. Not safe for several threads.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        text: str = "",
        *,
        parse_special: bool | Collection[str] | None = None,
    ) -> None:
        check_tokenizer(tokenizer)
        self._tokenizer = tokenizer.without_truncation().without_padding()
        self._parse_special = parse_special
        self._stable_ids: list[int] = []
        self._rest = ""
        self._rest_ids: list[int] = []
        self.append(text)

    @property
    def ids(self) -> list[int]:
        """The ids of the whole text."""
        return [*self._stable_ids, *self._rest_ids]

    @property
    def num_stable(self) -> int:
        """The number of ids that cannot change."""
        return len(self._stable_ids)

    def append(self, text: str) -> None:
        """Append text. Raises `InputTypeError` unless it is a string."""
        check_text("text", text)
        rest = self._rest + text
        parsed = self._tokenizer._recognized(self._parse_special, [rest])
        stable, self._rest_ids, start = self._tokenizer._core.growing_ids(rest, parsed)
        self._stable_ids += stable
        self._rest = rest[start:]
