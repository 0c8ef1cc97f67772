"""`Encoding`: text to tokens and back, with the methods of `tiktoken.Encoding`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

import piecework as pw
from piecework import Batch, Tokenizer
from piecework._internal.surrogates import join_surrogates
from piecework.errors import (
    ArgumentError,
    InputTypeError,
    SpecialTokenError,
    UnknownNameError,
    VocabularyError,
)
from piecework.spec import ByteLevel, Regex, SequencePreTokenizer, Split

Allowed: TypeAlias = Literal["all"] | AbstractSet[str]
Disallowed: TypeAlias = Literal["all"] | Collection[str]

_SPACES = b" \n\t"
_PATTERN_PART = re.compile(
    r"""(?P<escape>\\.) | (?P<set>\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\])
    | (?P<end>\$) | (?P<interval>\{\d+(?:,\d*)?\}\+) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class Encoding:
    r"""Text to tokens and back, with the methods of `tiktoken.Encoding`.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"in": 256, b"ing": 257}
    >>> enc = Encoding("tiny", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<|end|>": 258})
    >>> enc.encode("being<|end|>", allowed_special="all")
    [98, 101, 257, 258]
    >>> enc.decode([98, 101, 257])
    'being'

    `pat_str` has the syntax of tiktoken's regex engine. There `$` matches at the end of the text only, and
    `{1,3}+` is possessive. Text that the pattern does not match is dropped.
    """

    name: str
    max_token_value: int

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: Mapping[bytes, int],
        special_tokens: Mapping[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        tokenizer = _tokenizer_from_ranks(name, pat_str, mergeable_ranks, special_tokens)
        self._initialize(name, tokenizer, special_tokens, explicit_n_vocab, pat_str)

    @classmethod
    def _from_tokenizer(cls, *fields: Any) -> Encoding:
        """Wrap a compiled tokenizer; `_initialize` takes the same fields."""
        encoding = cls.__new__(cls)
        encoding._initialize(*fields)
        return encoding

    def _initialize(
        self,
        name: str,
        tokenizer: Tokenizer,
        special: Mapping[str, int],
        n_vocab: int | None,
        pattern: str,
    ) -> None:
        self.name = name
        self._tokenizer = tokenizer
        self._ordinary = tokenizer.with_parse_special(False)
        self._special_tokens = dict(special)
        self._pat_str = pattern
        self.max_token_value = max(tokenizer.get_vocab().values())
        size = tokenizer.get_vocab_size(with_added_tokens=False) + len(special)
        if n_vocab and not size == n_vocab == self.max_token_value + 1:
            found = f"{size} tokens with ids up to {self.max_token_value}"
            problem = f"{n_vocab} contradicts the vocabulary, which has {found}"
            raise VocabularyError("explicit_n_vocab", problem)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.name, self._tokenizer, self._special_tokens, None, self._pat_str)
        return Encoding._from_tokenizer, fields

    @property
    def tokenizer(self) -> Tokenizer:
        """The `piecework.Tokenizer` of this encoding."""
        return self._tokenizer

    # ---- text to tokens

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text; special tokens in it are plain text."""
        return self._ordinary.encode(_encodable(text), add_special_tokens=False).ids

    def encode(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[int]:
        """Encode a text.

        Special tokens in `allowed_special` are recognized. A special token in `disallowed_special` ("all":
        every token that is not allowed) raises `SpecialTokenError`, a `ValueError`. Any other special token
        is plain text.
        """
        special = self._checked_special([text], allowed_special, disallowed_special)
        if not special:
            return self.encode_ordinary(text)
        return self._encode([text], special, 1).to_lists()[0]

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> npt.NDArray[np.uint32]:
        """Encode a text to a uint32 array of shape (tokens,); see `encode`."""
        special = self._checked_special([text], allowed_special, disallowed_special)
        return self._encode([text], special, 1).ids

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encode texts in parallel; special tokens in them are plain text."""
        return self._encode(text, frozenset(), num_threads).to_lists()

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Encode texts in parallel; see `encode`."""
        special = self._checked_special(text, allowed_special, disallowed_special)
        return self._encode(text, special, num_threads).to_lists()

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of one token, given as text or bytes; it may be a special token.

        Raises `UnknownNameError`, a `KeyError`, if it is not a token.
        """
        token = _to_bytes(text_or_bytes)
        if token not in self._id_of_bytes:
            message = f"{token!r} is not a token of {self.name}"
            raise UnknownNameError("text_or_bytes", message)
        return self._id_of_bytes[token]

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Encode text or bytes as one pre-token; bytes need not be UTF-8."""
        return pw.tokenizer.stages.encode_pre_token(self._tokenizer, _to_bytes(text_or_bytes))

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Encode a text; special tokens in it are plain text."""
        return self.encode_ordinary(text)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Encode bytes as text; from the first invalid byte on, they are one pre-token.

        The last pre-token of the valid text belongs to it, with the whitespace tokens before.
        """
        try:
            return self.encode_ordinary(text.decode())
        except UnicodeDecodeError as error:
            start = error.start
        encoding = self._ordinary.encode(text[:start].decode(), add_special_tokens=False)
        words, kept = encoding.word_ids, len(encoding.ids)
        while kept and words[kept - 1] == words[-1]:
            kept -= 1
        parts = self.decode_tokens_bytes(encoding.ids)
        if parts and not parts[kept].strip(_SPACES):
            while kept and not parts[kept - 1].strip(_SPACES):
                kept -= 1
        rest = b"".join(parts[kept:]) + text[start:]
        return encoding.ids[:kept] + self._encode_single_piece(rest)

    @cached_property
    def _core_bpe(self) -> CoreBPE:
        """The methods of tiktoken's compiled core."""
        return CoreBPE(self)

    # ---- tokens to text

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Decode tokens to bytes; raises `UnknownNameError`, a `KeyError`, for an unknown token."""
        try:
            return self._tokenizer.decode_bytes(tokens)
        except ArgumentError:
            # This slower lookup raises UnknownNameError for the first unknown token.
            return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Decode tokens to text; `errors` is passed to `bytes.decode` for invalid UTF-8."""
        return self.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one token; raises `UnknownNameError`, a `KeyError`, if it is unknown."""
        found = self._tokenizer.token_bytes(token)
        if found is None:
            raise UnknownNameError("token", f"{token} is not a token of {self.name}")
        return found

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each token."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Decode tokens to text; also return the character index at which each token starts.

        A token that starts inside a character gets the index of that character. Raises
        `UnicodeDecodeError` if the tokens together are not valid UTF-8.
        """
        parts = self.decode_tokens_bytes(tokens)
        offsets, chars = [], 0
        for part in parts:
            starts_inside_char = bool(part) and 0x80 <= part[0] < 0xC0
            offsets.append(max(0, chars - starts_inside_char))
            chars += sum(not 0x80 <= byte < 0xC0 for byte in part)
        return b"".join(parts).decode("utf-8", errors="strict"), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Decode lists of tokens to texts; `num_threads` is accepted for compatibility and ignored."""
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Decode lists of tokens to bytes; `num_threads` is accepted for compatibility and ignored."""
        return [self.decode_bytes(tokens) for tokens in batch]

    # ---- vocabulary

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of every token that is not special, sorted by bytes."""
        return list(self._sorted_bytes)

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Return whether an id stands for a special token."""
        return token in self._special_token_values

    @cached_property
    def _special_token_values(self) -> set[int]:
        """The ids of the special tokens."""
        return set(self._special_tokens.values())

    @property
    def n_vocab(self) -> int:
        """The largest id plus one."""
        return self.max_token_value + 1

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        """The id of every token that is not special, which programs read."""
        return {token: id for id, token in pw.vocabulary.vocab_bytes(self._tokenizer).items()}

    @cached_property
    def _id_of_bytes(self) -> dict[bytes, int]:
        special = {token.encode(): id for token, id in self._special_tokens.items()}
        return special | self._mergeable_ranks

    @cached_property
    def _sorted_bytes(self) -> list[bytes]:
        return sorted(pw.vocabulary.vocab_bytes(self._tokenizer).values())

    # ---- special tokens in text

    def _checked_special(
        self, texts: Sequence[str], allowed: Allowed, disallowed: Disallowed
    ) -> AbstractSet[str]:
        """Return the allowed special tokens; raise if a text has a disallowed one."""
        special = self.special_tokens_set
        recognized = special if allowed == "all" else special & set(allowed)
        refused = special - recognized if disallowed == "all" else set(disallowed)
        if refused:
            self._check_disallowed(texts, refused)
        return recognized

    def _check_disallowed(self, texts: Sequence[str], refused: set[str]) -> None:
        """Raise if a text contains one of `refused`, which may list strings that are not tokens."""
        texts = list(map(_encodable, texts))
        token = self._find_special(texts, refused & self.special_tokens_set)
        others = refused - self.special_tokens_set
        token = token or next((t for t in others if any(t in text for text in texts)), None)
        if token is not None:
            raise_disallowed_special_token(token)

    def _find_special(self, texts: Sequence[str], special: AbstractSet[str]) -> str | None:
        if not special:
            return None
        is_all = special == self.special_tokens_set
        found = pw.chat.find_special_token(self._tokenizer, texts, None if is_all else special)
        return found[1] if found else None

    def _encode(self, texts: Sequence[str], special: AbstractSet[str], num_threads: int) -> Batch:
        is_some = special and special != self.special_tokens_set
        return self._ordinary.encode_batch(
            list(map(_encodable, texts)),
            add_special_tokens=False,
            parse_special=special if is_some else bool(special),
            num_threads=num_threads,
        )


class CoreBPE:
    """An encoding with the methods of tiktoken's compiled core; none refuses special tokens in text."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    def __getattr__(self, name: str) -> Any:
        """Return a method that the encoding has under the same name: `decode_bytes` and others."""
        return getattr(self.__dict__["_encoding"], name)

    def encode(self, text: str, allowed_special: AbstractSet[str]) -> list[int]:
        """Encode a text and the special tokens in it that are allowed."""
        return self._encoding.encode(text, allowed_special=allowed_special, disallowed_special=())

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: AbstractSet[str]) -> bytes:
        """Encode a text to the bytes of a uint32 array; see `encode`."""
        return np.array(self.encode(text, allowed_special), np.uint32).tobytes()

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Encode bytes as one pre-token."""
        return self._encoding._encode_single_piece(piece)


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise `SpecialTokenError` for a special token in a text, with the two ways to allow it."""
    expected = (
        f"allowed_special={{{token!r}}} to encode it as the special token, or "
        f"disallowed_special=(enc.special_tokens_set - {{{token!r}}}) to encode it as text"
    )
    message = f"the text contains the disallowed special token {token!r}; pass {expected}"
    raise SpecialTokenError("disallowed_special", message)


def _encodable(text: str) -> str:
    """Return a text with its surrogates joined or replaced."""
    if not isinstance(text, str):
        raise InputTypeError("text", f"must be str, not {type(text).__name__}")
    return join_surrogates(text)


def _to_bytes(text_or_bytes: str | bytes) -> bytes:
    return text_or_bytes.encode() if isinstance(text_or_bytes, str) else bytes(text_or_bytes)


def _tokenizer_from_ranks(
    name: str, pattern: str, ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]
) -> Tokenizer:
    """Compile an encoding from its ranks; text that the pattern does not match is dropped."""
    split = Split(Regex(_tokenizer_json_pattern(pattern)), "removed", invert=True)
    to_bytes = ByteLevel(add_prefix_space=False, use_regex=False)
    return Tokenizer.from_ranks(
        ranks,
        pattern=SequencePreTokenizer((split, to_bytes)),
        special_tokens=special_tokens,
        source=name,
    )


def _tokenizer_json_pattern(pattern: str) -> str:
    """Translate a pattern from tiktoken's regex syntax to the syntax of a `tokenizer.json`.

    In a `tokenizer.json`, `$` matches at the end of each line, and `{1,3}+` repeats a repetition. In
    tiktoken, `{1,3}+` is possessive: it does not backtrack. A plain interval matches the same text only
    at the end of an alternative, where nothing follows that could make it backtrack. Anywhere else a
    possessive interval raises `ArgumentError`.
    """
    parts = list(_PATTERN_PART.finditer(pattern))
    translated = []
    for at, part in enumerate(parts):
        text = part[0]
        if part.lastgroup == "end":
            text = r"\z"
        elif part.lastgroup == "interval":
            if at + 1 < len(parts) and parts[at + 1][0] != "|":
                expected = "possessive intervals such as {1,3}+ only at the end of an alternative"
                problem = f"{pattern!r} is not supported: it may have {expected}"
                raise ArgumentError("pat_str", problem)
            text = text[:-1]
        translated.append(text)
    return "".join(translated)
