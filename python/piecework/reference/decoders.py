"""Decoders: tokens in, text out. Each makes of a list of tokens another list; the last is joined.

Source: the descriptions in `spec/decoders.py`, and `tokenizers` 0.23 for the order of the clean-up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from piecework.reference import sentencepiece
from piecework.reference.patterns import matches
from piecework.spec import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    Decoder,
    Fuse,
    MetaspaceDecoder,
    Pattern,
    ReplaceDecoder,
    SentencePieceDecoder,
    SequenceDecoder,
    StripDecoder,
    WordPieceDecoder,
)
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER

CLEAN_UP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)
# `tokenizers` lets a sign stand for the first digit, as Rust's integers do.
BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")


def decode(tokens: Sequence[str], spec: Decoder | None, *, clean_up: bool | None = None) -> str:
    """Turn tokens into text; without a decoder they are joined by spaces.

    `clean_up=None` follows the decoder's own setting.

    >>> decode(["a", "▁b", "<0xC3>", "<0xA9>"], SequenceDecoder((ByteFallback(), MetaspaceDecoder())))
    'a bé'
    """
    if spec is None:
        return " ".join(tokens)
    return "".join(decode_tokens(list(tokens), spec, clean_up))


def decode_tokens(tokens: list[str], spec: Decoder, clean_up: bool | None = None) -> list[str]:
    """Make the next list of tokens."""
    if isinstance(spec, SequenceDecoder):
        for one in spec.decoders:
            tokens = decode_tokens(tokens, one, clean_up)
        return tokens
    if isinstance(spec, WordPieceDecoder):
        return wordpiece(tokens, spec.prefix, spec.cleanup if clean_up is None else clean_up)
    if isinstance(spec, CTC):
        return ctc(tokens, spec, spec.cleanup if clean_up is None else clean_up)
    if isinstance(spec, ByteLevelDecoder):
        return [b"".join(map(bytes_of, tokens)).decode(errors="replace")]
    if isinstance(spec, ByteFallback):
        return byte_fallback(tokens)
    if isinstance(spec, Fuse):
        return ["".join(tokens)]
    if isinstance(spec, ReplaceDecoder):
        return [replace(token, spec.pattern, spec.content) for token in tokens]
    if isinstance(spec, StripDecoder):
        return [strip(token, spec) for token in tokens]
    if isinstance(spec, SentencePieceDecoder):
        return [sentencepiece.decode(tokens, spec)]
    return undo_marks(tokens, spec)


def undo_marks(tokens: list[str], spec: BPEDecoder | MetaspaceDecoder) -> list[str]:
    """Turn marks into spaces, but those of the last word's end or of the first one's beginning."""
    if isinstance(spec, BPEDecoder):
        last = len(tokens) - 1
        return [
            token.replace(spec.suffix, " " if at < last else "") for at, token in enumerate(tokens)
        ]
    first = "" if spec.prepend_scheme != "never" else " "
    return [
        token.replace(spec.replacement, " " if at > 0 else first) for at, token in enumerate(tokens)
    ]


# ---- words


def wordpiece(tokens: list[str], prefix: str, clean_up: bool) -> list[str]:
    """Put a space before tokens, none before continuations; tidy each token by itself.

    >>> "".join(wordpiece(["hug", "##s", ",", "do", "not", "!"], "##", True))
    'hugs, do not!'
    """
    parts = []
    for index, token in enumerate(tokens):
        if index > 0:
            token = token[len(prefix) :] if token.startswith(prefix) else f" {token}"
        parts.append(tidy(token) if clean_up else token)
    return parts


def tidy(text: str) -> str:
    """Take back the spaces that stand before punctuation and English clitics."""
    for before, after in CLEAN_UP:
        text = text.replace(before, after)
    return text


def ctc(tokens: list[str], spec: CTC, clean_up: bool) -> list[str]:
    """Take repeated tokens once and drop blanks; with clean-up, delimiters become spaces.

    >>> ctc(["h", "h", "<pad>", "h", "|", "|"], CTC(), True)
    ['h', 'h', ' ']
    """
    once = [token.replace(spec.pad_token, "") for token, _ in groupby(tokens)]
    if clean_up:
        once = [tidy(token).replace(spec.word_delimiter_token, " ") for token in once]
    return [token for token in once if token]


# ---- bytes


def bytes_of(token: str) -> bytes:
    """Return the bytes that printable characters stand for; other tokens stand for themselves.

    >>> bytes_of("Ã©").decode(), bytes_of("Ã©☃").decode()
    ('é', 'Ã©☃')
    """
    if all(character in BYTE_OF_CHARACTER for character in token):
        return bytes(BYTE_OF_CHARACTER[character] for character in token)
    return token.encode()


def byte_fallback(tokens: list[str]) -> list[str]:
    """Join neighbouring byte tokens; those that are no UTF-8 become U+FFFD, one each.

    >>> byte_fallback(["<0xE4>", "<0xBD>", "<0xA0>", "a", "<0xE4>", "<0xBD>"])
    ['你', 'a', '�', '�']
    """
    decoded: list[str] = []
    for is_byte, run in groupby(tokens, key=lambda token: bool(BYTE_TOKEN.fullmatch(token))):
        neighbours = list(run)
        decoded += from_byte_tokens(neighbours) if is_byte else neighbours
    return decoded


def from_byte_tokens(tokens: list[str]) -> list[str]:
    """Read tokens such as `<0x0A>` as one text."""
    raw = bytes(int(token[3:-1], 16) for token in tokens)
    try:
        return [raw.decode()]
    except UnicodeDecodeError:
        return ["\ufffd"] * len(raw)


# ---- one token at a time


def replace(token: str, pattern: Pattern, content: str) -> str:
    """Replace every match in a token; an empty token stays empty."""
    if not token:
        return token
    new, done = "", 0
    for start, end in matches(pattern, token):
        new += token[done:start] + content
        done = end
    return new + token[done:]


def strip(token: str, spec: StripDecoder) -> str:
    """Remove a character at the ends of a token, so many times at most."""
    for _ in range(spec.start):
        token = token.removeprefix(spec.content)
    for _ in range(spec.stop):
        token = token.removesuffix(spec.content)
    return token
