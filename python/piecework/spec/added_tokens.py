"""Added tokens: entries that are found in the text before any other stage sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AddedToken:
    """A token matched whole in the raw text, such as `[MASK]`.

    `single_word` refuses a match inside a word; `lstrip` and `rstrip` swallow the whitespace on that
    side; `normalized` matches in normalized text. A `special` token is skipped by `decode`. The id -1
    stands for one that `Tokenizer.with_added_tokens` is to give.
    """

    content: str
    id: int = -1
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    special: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {
            "id": self.id,
            "content": self.content,
            "single_word": self.single_word,
            "lstrip": self.lstrip,
            "rstrip": self.rstrip,
            "normalized": self.normalized,
            "special": self.special,
        }
