"""The entries of a vocabulary as the bytes they stand for, whatever marks their model writes.

`##`, `</w>`, `▁`, printable bytes (GPT-2) and `<0x0A>` are ways of writing; here they are undone, so
that vocabularies of all families can be looked at alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from piecework.analysis.readable_tokens import bytes_of, is_byte_level
from piecework.sampling import Sampling
from piecework.spec import (
    BPE,
    ByteFallback,
    Char,
    Decoder,
    MetaspaceDecoder,
    Model,
    ReplaceDecoder,
    SentencePiece,
    SentencePieceDecoder,
    SequenceDecoder,
    TokenizerSpec,
    Unigram,
    WordLevel,
    WordPiece,
)
from piecework.tokenizer import Tokenizer

PLAINLY: dict[str, Any] = {
    "add_special_tokens": False,
    "parse_special": False,
    "sampling": Sampling(nbest_size=1),  # also where a model has dropout of its own
}
"""How texts are encoded to be measured: as plain text, the same each time."""

_BYTE_ENTRY = re.compile(r"<0x([0-9A-F]{2})>")
_FAMILIES: dict[type[Model], str] = {
    WordPiece: "WordPiece",
    BPE: "BPE",
    Unigram: "Unigram",
    WordLevel: "word",
    Char: "character",
    SentencePiece: "SentencePiece",
}


@dataclass(frozen=True)
class Entry:
    """One token: `data` is what it stands for, a space at the start of a word included.

    `is_inside` tells those that are marked as inside words, `is_byte` those that stand for one byte
    because they were made to. `is_added` are found whole in the text before the model sees it.
    """

    id: int
    token: str
    data: bytes
    is_inside: bool = False
    is_byte: bool = False
    is_added: bool = False

    @property
    def text(self) -> str | None:
        """The text, None for bytes that are no text alone."""
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None

    @property
    def chars(self) -> int:
        """Length in characters without the space that marks a word; stray bytes count as one each."""
        text = self.data.decode(errors="replace")
        is_marked = len(text) > 1 and (text.startswith(" ") or text.endswith(" "))
        return len(text) - is_marked


def family(spec: TokenizerSpec) -> str:
    """Return the family of a tokenizer, as people call it.

    >>> import piecework as pw
    >>> family(pw.TokenizerSpec(model=pw.spec.WordPiece({"[UNK]": 0})))
    'WordPiece'
    """
    name = _FAMILIES[type(spec.model)]
    return f"byte-level {name}" if is_byte_level(spec) else name


def vocabulary_entries(tokenizer: Tokenizer) -> list[Entry]:
    """Return every token of a tokenizer, in id order.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> [(entry.data, entry.is_inside) for entry in vocabulary_entries(tok)]
    [(b'[UNK]', False), (b'hug', False), (b's', True)]
    """
    spec = tokenizer.spec
    added = {token.content for token in spec.added_tokens}
    read = _reader(spec)
    vocab = tokenizer.get_vocab()
    return [
        Entry(id, token, token.encode(), is_added=True) if token in added else read(id, token)
        for token, id in sorted(vocab.items(), key=lambda item: item[1])
    ]


def continuation_prefix(model: Model) -> str:
    """Return what marks tokens inside words; empty for models that mark nothing there."""
    return getattr(model, "continuing_subword_prefix", None) or ""


def _reader(spec: TokenizerSpec) -> Callable[[int, str], Entry]:
    """Return the function that undoes the marks of one tokenizer."""
    prefix = continuation_prefix(spec.model)
    suffix = getattr(spec.model, "end_of_word_suffix", None) or ""
    mark = _space_mark(spec.decoder)
    has_byte_entries = _has_byte_entries(spec)
    byte_level = is_byte_level(spec)

    def read(id: int, token: str) -> Entry:
        if has_byte_entries and (match := _BYTE_ENTRY.fullmatch(token)):
            return Entry(id, token, bytes.fromhex(match[1]), is_byte=True)
        # "##" alone is a token of two characters, not an empty one inside a word.
        is_inside = bool(prefix) and token.startswith(prefix) and token != prefix
        text = token[len(prefix) :] if is_inside else token
        is_end = bool(suffix) and text.endswith(suffix) and text != suffix
        text = text.removesuffix(suffix) if is_end else text
        data = bytes_of(text) if byte_level else None
        if data is None:
            data = (text.replace(mark, " ") if mark else text).encode()
        end = b" " if is_end else b""
        return Entry(id, token, data + end, is_inside, is_byte=byte_level and len(data) == 1)

    return read


def _space_mark(decoder: Decoder | None) -> str | None:
    """Return the character that is written for a space."""
    for part in _parts(decoder):
        if isinstance(part, MetaspaceDecoder):
            return part.replacement
        if isinstance(part, SentencePieceDecoder):
            return "▁"
        if isinstance(part, ReplaceDecoder) and part.content == " " and type(part.pattern) is str:
            return part.pattern
    return None


def _has_byte_entries(spec: TokenizerSpec) -> bool:
    falls_back = getattr(spec.model, "byte_fallback", False)
    return falls_back or any(isinstance(part, ByteFallback) for part in _parts(spec.decoder))


def _parts(decoder: Decoder | None) -> Iterator[Decoder]:
    if isinstance(decoder, SequenceDecoder):
        for part in decoder.decoders:
            yield from _parts(part)
    elif decoder is not None:
        yield decoder
