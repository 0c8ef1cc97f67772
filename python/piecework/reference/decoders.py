"""Decoders: tokens in, text out.

Each decoder turns a list of tokens into another list; the last list is joined. Source:
`spec/decoders.py`, and `tokenizers` 0.23 for the order of the clean-up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from piecework.reference import sentencepiece_stages
from piecework.reference.patterns import decode_bytes, matches
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
# The steps that clean up a whole text as transformers does, without the replacement of "do not".
TEXT_CLEAN_UP = (
    Fuse(),
    *(ReplaceDecoder(old, new) for old, new in CLEAN_UP if old != " do not"),
)
# `tokenizers` accepts a sign in place of the first digit, as Rust's integers do.
BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")


def decode(tokens: Sequence[str], spec: Decoder | None, *, clean_up: bool | None = None) -> str:
    """Turn tokens into text; without a decoder, join them by spaces.

    `clean_up` overrides the setting of the decoder unless it is None.

    >>> decode(["a", "▁b", "<0xC3>", "<0xA9>"], SequenceDecoder((ByteFallback(), MetaspaceDecoder())))
    'a bé'
    """
    if spec is None:
        return " ".join(tokens)
    return "".join(decode_tokens(list(tokens), spec, clean_up))


def decode_tokens(tokens: list[str], spec: Decoder, clean_up: bool | None = None) -> list[str]:
    """Apply one decoder.

    >>> decode_tokens(["hug</w>", "s"], BPEDecoder())
    ['hug ', 's']
    """
    if isinstance(spec, SequenceDecoder):
        steps = tuple(spec.decoders)
        if clean_up is False and steps[-len(TEXT_CLEAN_UP) :] == TEXT_CLEAN_UP:
            steps = steps[: -len(TEXT_CLEAN_UP)]
        for one in steps:
            tokens = decode_tokens(tokens, one, clean_up)
        return tokens
    if isinstance(spec, WordPieceDecoder):
        return wordpiece(tokens, spec.prefix, spec.cleanup if clean_up is None else clean_up)
    if isinstance(spec, CTC):
        return ctc(tokens, spec, spec.cleanup if clean_up is None else clean_up)
    if isinstance(spec, ByteLevelDecoder):
        return [decode_bytes(tokens)]
    if isinstance(spec, ByteFallback):
        return byte_fallback(tokens)
    if isinstance(spec, Fuse):
        return ["".join(tokens)]
    if isinstance(spec, ReplaceDecoder):
        return [replace(token, spec.pattern, spec.content) for token in tokens]
    if isinstance(spec, StripDecoder):
        return [strip(token, spec) for token in tokens]
    if isinstance(spec, SentencePieceDecoder):
        return [sentencepiece_stages.decode(tokens, spec)]
    return with_spaces(tokens, spec)


def with_spaces(tokens: list[str], spec: BPEDecoder | MetaspaceDecoder) -> list[str]:
    """Turn the word markers of tokens into spaces.

    >>> with_spaces(["▁a", "▁b"], MetaspaceDecoder())
    ['a', ' b']

    The last token loses its end-of-word suffix, the first token its metaspaces.
    """
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
    """Join continuations to the token before, separate the others by spaces, clean up each token.

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
    """Remove the spaces before punctuation and English contractions.

    >>> tidy("do not , it 's")
    "do not, it's"
    """
    for before, after in CLEAN_UP:
        text = text.replace(before, after)
    return text


def ctc(tokens: list[str], spec: CTC, clean_up: bool) -> list[str]:
    """Drop repeated tokens and padding; with clean-up, word delimiters become spaces.

    >>> ctc(["h", "h", "<pad>", "h", "|", "|"], CTC(), True)
    ['h', 'h', ' ']
    """
    once = [token.replace(spec.pad_token, "") for token, _ in groupby(tokens)]
    if clean_up:
        once = [tidy(token).replace(spec.word_delimiter_token, " ") for token in once]
    return [token for token in once if token]


# ---- bytes


def byte_fallback(tokens: list[str]) -> list[str]:
    """Read runs of byte tokens as UTF-8; each byte of an invalid run becomes U+FFFD.

    >>> byte_fallback(["<0xE4>", "<0xBD>", "<0xA0>", "a", "<0xE4>", "<0xBD>"])
    ['你', 'a', '�', '�']
    """
    decoded: list[str] = []
    for is_byte, run in groupby(tokens, key=lambda token: bool(BYTE_TOKEN.fullmatch(token))):
        neighbours = list(run)
        decoded += from_byte_tokens(neighbours) if is_byte else neighbours
    return decoded


def from_byte_tokens(tokens: list[str]) -> list[str]:
    """Read a run of byte tokens as UTF-8.

    >>> from_byte_tokens(["<0xC3>", "<0xA9>"]), from_byte_tokens(["<0xC3>"])
    (['é'], ['�'])
    """
    raw = bytes(int(token[3:-1], 16) for token in tokens)
    try:
        return [raw.decode()]
    except UnicodeDecodeError:
        return ["\ufffd"] * len(raw)


# ---- one token at a time


def replace(token: str, pattern: Pattern, content: str) -> str:
    """Replace every match in a token; an empty token stays empty.

    >>> replace("a▁b", "▁", " ")
    'a b'
    """
    if not token:
        return token
    new, done = "", 0
    for start, end in matches(pattern, token):
        new += token[done:start] + content
        done = end
    return new + token[done:]


def strip(token: str, spec: StripDecoder) -> str:
    """Remove a character from the ends of a token, up to `start` and `stop` times.

    >>> strip("  a ", StripDecoder(" ", start=1, stop=1))
    ' a'
    """
    for _ in range(spec.start):
        token = token.removeprefix(spec.content)
    for _ in range(spec.stop):
        token = token.removesuffix(spec.content)
    return token
