"""What encoding one text gives: an `Encoding` of Python lists; units are in the names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from piecework._core import EncodedText
from piecework._internal.cached_property import cached_property
from piecework._internal.halves import python_half
from piecework._internal.lazy import hints, typing
from piecework.errors import ArgumentError

_COLUMNS = (
    "ids",
    "tokens",
    "offsets",
    "word_ids",
    "sequence_ids",
    "type_ids",
    "special_tokens_mask",
    "attention_mask",
)
_TEXT_COLUMNS = ("byte_offsets", "utf16_offsets")


@python_half
class Encoding(EncodedText):
    """One encoded text or pair: parallel lists, one item a token.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> e = tok.encode("hugs")
    >>> e.ids, e.tokens, e.offsets
    ([1, 2], ['hug', '##s'], [(0, 3), (3, 4)])

    Encodings are equal if all their lists are, `overflowing` included. They pickle and copy with their
    lists and their text, without the tokenizer. They do not hash, as lists can change. A row of a
    `Batch` has the columns that its batch has; other attributes raise `ArgumentError` and say how to
    get them.
    """

    @classmethod
    def of(
        cls,
        raw: hints.EncodingFields,
        text: str | Sequence[str] | None = None,
        pair: str | Sequence[str] | None = None,
    ) -> Encoding:
        """Wrap the fields that the core or a batch gives; a row of a batch has no text."""
        return cls(raw, text, pair, True, True)

    @cached_property
    def _raw(self) -> hints.EncodingFields:
        return self.every_field()

    @cached_property
    def tokens(self) -> list[str]:
        """Vocabulary entries as strings."""
        return self._raw.tokens

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """Spans (start, end) in characters of the original text; (0, 0) for template tokens."""
        return self._raw.offsets

    @cached_property
    def word_ids(self) -> list[int | None]:
        """Index of the pre-tokenized word each token came from; None for template tokens."""
        return self._raw.word_ids

    @cached_property
    def sequence_ids(self) -> list[int | None]:
        """0 for the first text, 1 for its pair, None for template tokens."""
        return self._raw.sequence_ids

    @cached_property
    def type_ids(self) -> list[int]:
        """Segment ids given by the template."""
        return self._raw.type_ids

    @cached_property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens that the template or the padding added, 0 for tokens of the text."""
        return self._raw.special_tokens_mask

    @cached_property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for everything else."""
        return self._raw.attention_mask

    @cached_property
    def overflowing(self) -> list[Encoding]:
        """The further windows of a truncated text, in order."""
        return [Encoding.of(raw, *self.texts) for raw in self._raw.overflowing]

    # ---- offsets in other units

    @cached_property
    def byte_offsets(self) -> list[tuple[int, int]]:
        """Spans in bytes of the text as UTF-8; (0, 0) for template tokens.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "é": 1, "##t": 2}))
        >>> e = tok.encode("ét")
        >>> e.offsets, e.byte_offsets
        ([(0, 1), (1, 2)], [(0, 2), (2, 3)])
        """
        return self._offsets_by(_utf8_units)

    @cached_property
    def utf16_offsets(self) -> list[tuple[int, int]]:
        """Spans in UTF-16 code units, as JavaScript and Java count; (0, 0) for template tokens.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "🤗": 1, "##s": 2}))
        >>> e = tok.encode("🤗s")
        >>> e.offsets, e.utf16_offsets
        ([(0, 1), (1, 2)], [(0, 2), (2, 3)])
        """
        return self._offsets_by(_utf16_units)

    # ---- from one unit to another

    @cached_property
    def n_sequences(self) -> int:
        """1, or 2 for a pair."""
        row: typing.Any = self._raw if not self.texts else None
        return len(self.texts) if row is None else row.n_sequences

    def token_to_sequence(self, token_index: int) -> int | None:
        """Return 0 or 1 for the text a token came from; None for template tokens and beyond the end."""
        return _item(self.sequence_ids, token_index)

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Return the character span of a token in its text; None for template tokens.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hugs hug").token_to_chars(2)
        (5, 8)
        """
        if self.token_to_sequence(token_index) is None:
            return None
        return self.offsets[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        """Return the index of the word that a token came from; None for template tokens.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hugs hug").token_to_word(2)
        1
        """
        return _item(self.word_ids, token_index)

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the first token that covers a character of a text; None where none does.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> e = tok.encode("hugs hug")
        >>> e.char_to_token(3), e.char_to_token(4)
        (1, None)
        """
        covering = (
            token
            for token, (start, end) in enumerate(self.offsets)
            if start <= char_pos < end and self.sequence_ids[token] == sequence_index
        )
        return next(covering, None)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the index of the word that covers a character of a text; None where none does.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hugs hug").char_to_word(6)
        1
        """
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.word_ids[token]

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the tokens of a word as (first, one after the last); None for a word without any.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hug hugs").word_to_tokens(1)
        (1, 3)
        """
        tokens = [
            token
            for token, word in enumerate(self.word_ids)
            if word == word_index and self.sequence_ids[token] == sequence_index
        ]
        return (tokens[0], tokens[-1] + 1) if tokens else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the characters of a word, from its first token to its last; None for a word without any.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hug hugs").word_to_chars(1)
        (4, 8)
        """
        tokens = self.word_to_tokens(word_index, sequence_index)
        if tokens is None:
            return None
        return self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1]

    def _offsets_by(self, units: Callable[[str], list[int]]) -> list[tuple[int, int]]:
        """Convert the spans by the number of units before each character of the text they count in."""
        if not self.texts:
            raise missing_column(_TEXT_COLUMNS[units is _utf16_units])
        before: dict[tuple[int, int], list[int]] = {}
        converted = []
        for token, (start, end) in enumerate(self.offsets):
            sequence = self.sequence_ids[token]
            if sequence is None:
                converted.append((0, 0))
                continue
            text, word = self.texts[sequence], 0
            if not isinstance(text, str):
                word = self.word_ids[token] or 0
                text = text[word]
            if (sequence, word) not in before:
                before[sequence, word] = units(text)
            counts = before[sequence, word]
            converted.append((counts[start], counts[end]))
        return converted

    # ---- being a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return self is other or (self.ids == other.ids and self._values() == other._values())

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[typing.Any, ...]:
        return _restored, (self.texts, self._values())

    def _values(self) -> dict[str, typing.Any]:
        """Return every list that there is, by its name."""
        values = {name: _value(self, name) for name in (*_COLUMNS, "n_sequences", "overflowing")}
        # A text that was not cut has no windows, whether or not they were asked for.
        values["overflowing"] = values["overflowing"] or []
        return {name: value for name, value in values.items() if value is not None}

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Encoding({len(self)} tokens: {' '.join(self.tokens[:16])}{' ...' if len(self) > 16 else ''})"


class _Columns:
    """The lists of an encoding that was unpickled or copied."""

    def __init__(self, values: Mapping[str, typing.Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> typing.Any:
        raise missing_column(name)


def missing_column(name: str) -> ArgumentError:
    """Return the error for a column that a batch did not keep."""
    if name == "overflowing":
        expected = "encode_batch(..., overflow=True), which makes a row of each window"
        return ArgumentError("overflow", "False", f"{expected}, to read {name}")
    if name in _TEXT_COLUMNS:
        found = "a row of a batch, which keeps no text"
        return ArgumentError("texts", found, f"encode(text).{name}")
    return ArgumentError("offsets", "False", f"encode_batch(..., offsets=True), which keeps {name}")


def _value(encoding: Encoding, name: str) -> typing.Any:
    try:
        return getattr(encoding, name)
    except ArgumentError:
        return None


def _restored(texts: Sequence[typing.Any], values: dict[str, typing.Any]) -> Encoding:
    encoding = Encoding.of(_Columns(values), *texts)
    encoding.__dict__.update(values)
    return encoding


def _item(values: list[int | None], index: int) -> int | None:
    return values[index] if 0 <= index < len(values) else None


def _utf8_units(text: str) -> list[int]:
    """Return the UTF-8 bytes before each character, and at the end."""
    return list(accumulate((_utf8_size(ord(c)) for c in text), initial=0))


def _utf16_units(text: str) -> list[int]:
    """Return the UTF-16 code units before each character, and at the end."""
    return list(accumulate((1 + (ord(c) > 0xFFFF) for c in text), initial=0))


def _utf8_size(code: int) -> int:
    return 1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF)
