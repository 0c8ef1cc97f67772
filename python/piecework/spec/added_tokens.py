"""Added tokens are matched in the text before the other stages run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AddedToken:
    """A token that is matched as a whole in the text, such as `[MASK]`.

    >>> import piecework as pw
    >>> mask = AddedToken("[MASK]", id=2, lstrip=True)
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}), added_tokens=[mask])
    >>> tok.encode("a [MASK]").ids
    [1, 2]

    `single_word` rejects a match inside a word. `lstrip` and `rstrip` include the whitespace on that side
    in the match. `normalized` matches in the normalized text. `decode` skips a `special` token by default.
    The id -1 makes `Tokenizer.with_added_tokens` choose an id.
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
        return {"id": self.id, **vars(self)}
