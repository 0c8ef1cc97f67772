r"""The API of tiktoken over this package: same names, same ids, same kinds of errors.

Rank files are never downloaded. They come from a path, from the directory that PIECEWORK_TIKTOKEN_DIR
names, or from tiktoken's own cache (TIKTOKEN_CACHE_DIR, DATA_GYM_CACHE_DIR or its place among the
temporary files), where they lie under the SHA-1 of their URL.

>>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"in": 256, b"ing": 257}
>>> enc = Encoding("tiny", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<|end|>": 258})
>>> enc.encode("being")
[98, 101, 257]
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from piecework._core import RawBatch, find_special
from piecework._internal.surrogates import join_surrogates
from piecework._internal.validation import PathLike
from piecework.compat.tiktoken.decoding import Decoding
from piecework.compat.tiktoken.models import encoding_name_for_model
from piecework.compat.tiktoken.rank_files import compiled, find_ranks
from piecework.compat.tiktoken.unstable import with_unstable
from piecework.errors import ArgumentError, SpecialTokenError
from piecework.spec import ENCODINGS, NamedEncoding
from piecework.tokenizer import Tokenizer

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

Allowed: TypeAlias = Literal["all"] | AbstractSet[str]
Disallowed: TypeAlias = Literal["all"] | Collection[str]

_LOADED: dict[tuple[str, str], Encoding] = {}


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` knows.

    >>> list_encoding_names()[:3]
    ['gpt2', 'r50k_base', 'p50k_base']
    """
    return list(ENCODINGS)


def get_encoding(encoding_name: str, ranks: PathLike | None = None) -> Encoding:
    """Return the encoding of that name, its ranks read from `ranks` or from where they usually lie.

    Loaded once in a process for each file. Raises `ArgumentError` for an unknown name, `FileError` that
    says which file to put where, and `FormatError` when the file is not the published one.
    """
    if encoding_name not in ENCODINGS:
        raise ArgumentError("encoding_name", repr(encoding_name), f"one of {', '.join(ENCODINGS)}")
    named = ENCODINGS[encoding_name]
    path = find_ranks(named) if ranks is None else os.fspath(ranks)
    key = (encoding_name, path)
    if key not in _LOADED:
        _LOADED[key] = Encoding._of(named, Tokenizer.load(path, encoding=encoding_name))
    return _LOADED[key]


def encoding_for_model(model_name: str, ranks: PathLike | None = None) -> Encoding:
    """Return the encoding that a model of OpenAI uses; raises `UnknownNameError`, a `KeyError`."""
    return get_encoding(encoding_name_for_model(model_name), ranks)


class Encoding(Decoding):
    """Text to tokens and back, with the methods of `tiktoken.Encoding`.

    `pat_str` is read as tiktoken's regex engine reads it where that differs from a `tokenizer.json`: `$` is
    the end of the text, `{1,3}+` gives nothing back; text that it does not match is left out.
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: Mapping[bytes, int],
        special_tokens: Mapping[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        core = compiled(name, pat_str, mergeable_ranks, special_tokens)
        self._set(name, Tokenizer._of(core, "refuse"), dict(special_tokens), explicit_n_vocab)

    @classmethod
    def _of(cls, named: NamedEncoding, tokenizer: Tokenizer) -> Encoding:
        encoding = cls.__new__(cls)
        encoding._set(named.name, tokenizer, dict(named.special_tokens), named.n_vocab)
        return encoding

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.name, self._tokenizer, self._special_tokens)

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text, special tokens in it as text."""
        return self._encoded([text], [], 1).lists()[0]

    def encode(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[int]:
        """Encode a text.

        Special tokens in `allowed_special` are recognised; for those in `disallowed_special` ("all": all
        others) `SpecialTokenError`, a `ValueError`, is raised; the rest is text.
        """
        special = self._checked([text], allowed_special, disallowed_special)
        return self._encoded([text], special, 1).lists()[0]

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> npt.NDArray[np.uint32]:
        """Encode a text into an array, uint32 of shape (tokens,); see `encode`."""
        special = self._checked([text], allowed_special, disallowed_special)
        return self._encoded([text], special, 1).ids

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encode texts in parallel, special tokens in them as text."""
        return self._encoded(text, [], num_threads).lists()

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Encode texts in parallel; see `encode`."""
        special = self._checked(text, allowed_special, disallowed_special)
        return self._encoded(text, special, num_threads).lists()

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Encode a text as the tokens that stay whatever follows, and all ways to go on after them.

        Each way covers the rest of the text, and may go beyond it by part of its last token. The order of
        the ways has no meaning.
        """
        special = self._checked([text], allowed_special, disallowed_special)
        return with_unstable(self, join_surrogates(text), special)

    def _checked(self, texts: Sequence[str], allowed: Allowed, disallowed: Disallowed) -> list[int]:
        """Return the ids of the special tokens to recognise, having sought the disallowed ones."""
        known = self.special_tokens_set
        recognised = known if allowed == "all" else known & set(allowed)
        refused = known - recognised if disallowed == "all" else set(disallowed)
        if refused:
            self._refuse(texts, refused)
        return [self._special_tokens[token] for token in recognised]

    def _refuse(self, texts: Sequence[str], refused: set[str]) -> None:
        """Raise if a text holds one of these; they need not be special tokens of this encoding."""
        ids = [self._special_tokens[token] for token in refused & self.special_tokens_set]
        found = ids and find_special(self._tokenizer._core, list(map(join_surrogates, texts)), ids)
        token = self._tokenizer.id_to_token(found[1]) if found else None
        others = refused - self.special_tokens_set
        token = token or next((t for t in others if any(t in text for text in texts)), None)
        if token is not None:
            place = "disallowed_special"
            found_text = f"text corresponding to disallowed special token {token!r}"
            expected = (
                f"allowed_special={{{token!r}}} to encode it as the special token, or "
                f"disallowed_special=(enc.special_tokens_set - {{{token!r}}}) to encode it as text"
            )
            raise SpecialTokenError(place, found_text, expected)

    def _encoded(self, texts: Sequence[str], special: list[int], num_threads: int) -> RawBatch:
        return self._tokenizer._core.encode_batch(
            list(map(join_surrogates, texts)),
            None,
            add_special_tokens=False,
            is_pretokenized=False,
            parse_special=special,
            sampling=None,
            offsets=False,
            overflow=False,
            num_threads=num_threads,
        )


def _restored(name: str, tokenizer: Tokenizer, special_tokens: dict[str, int]) -> Encoding:
    encoding = Encoding.__new__(Encoding)
    encoding._set(name, tokenizer, special_tokens, None)
    return encoding
