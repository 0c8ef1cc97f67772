"""Encodings that change in place, as in `tokenizers`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import tokenizers

from piecework import Encoding

# Read from the encoding that is held, of either library.
_READ = (
    *("ids", "tokens", "offsets", "word_ids", "sequence_ids", "type_ids", "special_tokens_mask"),
    *("attention_mask", "n_sequences", "token_to_sequence", "token_to_chars", "token_to_word"),
    *("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"),
)
# Read from an encoding of this library only: they are gone after a change.
_READ_HERE = ("byte_offsets", "utf16_offsets", "texts")
_MASKS = ("ids", "type_ids", "tokens", "special_tokens_mask", "attention_mask")


class BackendEncoding:
    """An `Encoding` with all methods of `tokenizers.Encoding`, even the ones that change it.

    >>> import piecework as pw
    >>> from piecework.integrations.transformers import BackendTokenizer
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> encoding = BackendTokenizer(tok).encode("hugs")
    >>> encoding.pad(4)
    >>> encoding.ids, encoding.attention_mask
    ([1, 2, 0, 0], [1, 1, 0, 0])

    The first change turns it into an encoding of `tokenizers`, which makes this change and all later ones.
    """

    def __init__(self, held: Encoding | tokenizers.Encoding) -> None:
        self._held = held

    @staticmethod
    def merge(
        encodings: Iterable[BackendEncoding | tokenizers.Encoding], growing_offsets: bool = True
    ) -> BackendEncoding:
        """Concatenate encodings; with `growing_offsets`, each one's offsets continue the previous ones."""
        parts = [as_tokenizers_encoding(encoding) for encoding in encodings]
        return BackendEncoding(tokenizers.Encoding.merge(parts, growing_offsets))

    @property
    def overflowing(self) -> list[BackendEncoding]:
        """The further windows of a truncated text, in order."""
        return list(map(BackendEncoding, self._held.overflowing))

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Truncate to `max_length` tokens; the rest becomes `overflowing`."""
        self._changing().truncate(max_length, stride, direction)

    def pad(self, length: int, **settings: Any) -> None:
        """Pad to `length` tokens; with the settings of `tokenizers`, such as `direction`."""
        self._changing().pad(length, **settings)

    def set_sequence_id(self, sequence_id: int) -> None:
        """Set the sequence that all tokens belong to."""
        self._changing().set_sequence_id(sequence_id)

    def _changing(self) -> tokenizers.Encoding:
        self._held = as_tokenizers_encoding(self)
        return self._held

    def __len__(self) -> int:
        return len(self._held)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, BackendEncoding | Encoding | tokenizers.Encoding):
            return _state(self) == _state(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (json.dumps(_state(self)).encode(),)

    def __repr__(self) -> str:
        return f"Encoding(num_tokens={len(self)}, tokens={self._held.tokens!r})"


def _read_only(name: str) -> property:
    return property(
        lambda self: getattr(self._held, name), doc=f"See `tokenizers.Encoding.{name}`."
    )


for _name in (*_READ, *_READ_HERE):
    setattr(BackendEncoding, _name, _read_only(_name))


def as_tokenizers_encoding(
    encoding: BackendEncoding | Encoding | tokenizers.Encoding,
) -> tokenizers.Encoding:
    """Convert an encoding to an object of `tokenizers`, unless it is one already."""
    held = encoding._held if isinstance(encoding, BackendEncoding) else encoding
    if isinstance(held, tokenizers.Encoding):
        return held
    made = tokenizers.Encoding()
    made.__setstate__(json.dumps(_state_here(held)).encode())
    return made


def _restored(state: bytes) -> BackendEncoding:
    made = tokenizers.Encoding()
    made.__setstate__(state)
    return BackendEncoding(made)


def _state(encoding: BackendEncoding | Encoding | tokenizers.Encoding) -> dict[str, Any]:
    """Return the state of an encoding, as `tokenizers` stores it."""
    held = encoding._held if isinstance(encoding, BackendEncoding) else encoding
    if isinstance(held, Encoding):
        return _state_here(held)
    state: dict[str, Any] = json.loads(held.__getstate__())
    return state


def _state_here(encoding: Encoding) -> dict[str, Any]:
    return {
        **{name: getattr(encoding, name) for name in _MASKS},
        "words": encoding.word_ids,
        "offsets": [list(span) for span in encoding.offsets],
        "overflowing": list(map(_state_here, encoding.overflowing)),
        "sequence_ranges": _sequence_ranges(encoding.sequence_ids),
    }


def _sequence_ranges(sequence_ids: list[int | None]) -> dict[str, dict[str, int]]:
    """Return the first token of each sequence, and the one after its last."""
    ranges: dict[str, dict[str, int]] = {}
    for at, sequence in enumerate(sequence_ids):
        if sequence is not None:
            ranges.setdefault(str(sequence), {"start": at})["end"] = at + 1
    return ranges
