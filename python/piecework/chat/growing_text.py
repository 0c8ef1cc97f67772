"""Encode a text that grows, such as a conversation, without tokenizing its beginning again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from typing import TYPE_CHECKING

import piecework as pw
from piecework import Sampling
from piecework._internal.validation import check_text
from piecework.spec.text_cuts import can_be_cut

if TYPE_CHECKING:
    from piecework import Encoding, Tokenizer


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
    last space of WordPiece, BPE and word-level models with the pre-tokenizers of BERT or byte-level BPE. So
    each append costs the new text and the word before it. With other models, such as SentencePiece's, it
    costs the text since the last added token.

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
        stages = pw.tokenizer.stages.stages_of(tokenizer)
        self._tokenizer = tokenizer.without_truncation().without_padding()
        self._parse_special = parse_special
        self._has_cuts = can_be_cut(stages)
        # Whether these match does not depend on what follows, except on a longer token.
        self._anchors = {
            token.id: token.content
            for token in stages.added_tokens
            if not (token.normalized or token.lstrip or token.rstrip or token.single_word)
        }
        self._longest = max((len(token.content) for token in stages.added_tokens), default=0)
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
        encoding = self._tokenizer.encode(
            rest,
            add_special_tokens=False,
            parse_special=self._parse_special,
            sampling=Sampling(nbest_size=1),
        )
        ids = encoding.ids
        place = max(self._last_anchor(encoding, rest), self._last_cut(encoding, rest))
        start, index = place
        self._stable_ids += ids[:index]
        self._rest, self._rest_ids = rest[start:], ids[index:]

    def _last_anchor(self, encoding: Encoding, text: str) -> tuple[int, int]:
        """Return the start and the index of the last added token that no longer match can replace."""
        offsets = encoding.offsets
        for index in range(len(offsets) - 1, -1, -1):
            content = self._anchors.get(encoding.ids[index])
            if content is None:
                continue
            start, end = offsets[index]
            if start + self._longest <= len(text) and text[start:end] == content:
                return start, index
        return 0, 0

    def _last_cut(self, encoding: Encoding, text: str) -> tuple[int, int]:
        """Return the last place where the text can be cut, and the index of the first token after it."""
        at = text.rfind(" ") if self._has_cuts else -1
        while at > 0 and text[at - 1].isspace():
            at = text.rfind(" ", 0, at)
        if at <= 0:
            return 0, 0
        return at, bisect_left(encoding.offsets, at, key=lambda span: span[0])
