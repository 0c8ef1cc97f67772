"""Vocabulary entries decoded to bytes, so that all model families can be compared.

Decoding removes the notation of the model: `##`, `</w>`, `▁`, byte-level characters and `<0x0A>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from piecework import Sampling, Tokenizer
from piecework.analysis.readable import bytes_of, is_byte_level
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
    TokenizerSpec,
    Unigram,
    WordLevel,
    WordPiece,
)
from piecework.spec.sequences import single_stages

PLAIN_TEXT: dict[str, Any] = {
    "add_special_tokens": False,
    "parse_special": False,
    "sampling": Sampling(nbest_size=1),  # no dropout, even if the model has it
}
"""Options that encode a text as plain text, without sampling."""

RESERVED_NAME = re.compile(r"[<\[]\|?/?[^\W\d][\w.-]*\|?[>\]]")
"""Names that are no text, such as `[unused12]`, `</s>` and `<|endoftext|>`."""

# A line end after a character that is no whitespace, or the last line end and what follows it.
_FUSED_LINE_END = re.compile(r"\S[\n\r]|[\n\r][^\n\r]+\Z")
_BYTE_ENTRY = re.compile(r"<0x([0-9A-F]{2})>")
_FAMILIES: dict[type[Model], str] = {
    WordPiece: "WordPiece",
    BPE: "BPE",
    Unigram: "Unigram",
    WordLevel: "word",
    Char: "character",
}
_SENTENCEPIECE_KINDS = {"unigram": "Unigram", "bpe": "BPE", "word": "word", "char": "character"}


@dataclass(frozen=True)
class Entry:
    """One token and its bytes, `data`; these include the space of a word marker.

    `is_inside`: the token has a continuation prefix. `is_byte`: the token represents a single byte.
    `is_added`: the token is an added token, matched before the model runs.
    """

    id: int
    token: str
    data: bytes
    is_inside: bool = False
    is_byte: bool = False
    is_added: bool = False

    @property
    def text(self) -> str | None:
        """The bytes as text, None if they are not valid UTF-8."""
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None

    @property
    def chars(self) -> int:
        """Length in characters, without the space of a word marker; each invalid byte counts as one."""
        text = self.data.decode(errors="replace")
        has_marker = len(text) > 1 and (text.startswith(" ") or text.endswith(" "))
        return len(text) - has_marker


def family(spec: TokenizerSpec) -> str:
    """Return the common name of the model family.

    >>> import piecework as pw
    >>> family(pw.TokenizerSpec(model=pw.spec.WordPiece({"[UNK]": 0})))
    'WordPiece'
    >>> unknown = pw.spec.ScoredPiece("<unk>", 0, "unknown")
    >>> family(pw.TokenizerSpec(model=pw.spec.SentencePiece((unknown,), kind="bpe")))
    'SentencePiece BPE'
    """
    if isinstance(spec.model, SentencePiece):
        return f"SentencePiece {_SENTENCEPIECE_KINDS[spec.model.kind]}"
    name = _FAMILIES[type(spec.model)]
    return f"byte-level {name}" if is_byte_level(spec) else name


def vocabulary_entries(tokenizer: Tokenizer) -> list[Entry]:
    """Return every token of a tokenizer, in order of ids.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> [(entry.data, entry.is_inside) for entry in vocabulary_entries(tok)]
    [(b'[UNK]', False), (b'hug', False), (b's', True)]
    """
    spec = tokenizer.spec
    added = {token.content for token in spec.added_tokens}
    read = _entry_decoder(spec)
    vocab = tokenizer.get_vocab()
    return [
        Entry(id, token, token.encode(), is_added=True) if token in added else read(id, token)
        for token, id in sorted(vocab.items(), key=lambda item: item[1])
    ]


def fused_line_ends(spec: TokenizerSpec, entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that join a line end to symbols or letters before it, or to anything after it.

    Whitespace before a line end is not counted, nor are added tokens.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "\\n  ": 1, ";\\n": 2, "\\n\\n": 3, "  \\n": 4}
    >>> tok = pw.Tokenizer(pw.spec.WordLevel(vocab, unk_token="[UNK]"))
    >>> [entry.id for entry in fused_line_ends(tok.spec, vocabulary_entries(tok))]
    [1, 2]
    """
    end = b" " if getattr(spec.model, "end_of_word_suffix", None) else b""
    return [
        entry
        for entry in entries
        if not entry.is_added
        and _FUSED_LINE_END.search(entry.data.removesuffix(end).decode(errors="replace"))
    ]


def _entry_decoder(spec: TokenizerSpec) -> Callable[[int, str], Entry]:
    """Return a function that decodes one token of this tokenizer to an entry."""
    prefix = getattr(spec.model, "continuing_subword_prefix", None) or ""
    suffix = getattr(spec.model, "end_of_word_suffix", None) or ""
    marker = space_marker(spec.decoder)
    has_byte_entries = _has_byte_entries(spec)
    byte_level = is_byte_level(spec)

    def read(id: int, token: str) -> Entry:
        if has_byte_entries and (match := _BYTE_ENTRY.fullmatch(token)):
            return Entry(id, token, bytes.fromhex(match[1]), is_byte=True)
        # The token "##" consists of two characters; it is not an empty continuation.
        is_inside = bool(prefix) and token.startswith(prefix) and token != prefix
        text = token[len(prefix) :] if is_inside else token
        is_end = bool(suffix) and text.endswith(suffix) and text != suffix
        text = text.removesuffix(suffix) if is_end else text
        data = bytes_of(text) if byte_level else None
        if data is None:
            data = (text.replace(marker, " ") if marker else text).encode()
        end = b" " if is_end else b""
        return Entry(id, token, data + end, is_inside, is_byte=byte_level and len(data) == 1)

    return read


def space_marker(decoder: Decoder | None) -> str | None:
    """Return the character that replaces a space in tokens, None if there is none."""
    for part in single_stages(decoder):
        if isinstance(part, MetaspaceDecoder):
            return part.replacement
        if isinstance(part, SentencePieceDecoder):
            return "▁"
        if isinstance(part, ReplaceDecoder) and part.content == " " and type(part.pattern) is str:
            return part.pattern
    return None


def _has_byte_entries(spec: TokenizerSpec) -> bool:
    falls_back = getattr(spec.model, "byte_fallback", False)
    return falls_back or any(isinstance(part, ByteFallback) for part in single_stages(spec.decoder))
