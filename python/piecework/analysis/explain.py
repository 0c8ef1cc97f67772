"""Every stage of one text as data: what was found, normalized, split, merged and looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from piecework.analysis.merge_steps import MergeStep, MergeTable
from piecework.analysis.readable_tokens import is_byte_level, text_of_bytes
from piecework.encoding import Encoding
from piecework.spec import BPE, Unigram
from piecework.tokenizer import Tokenizer

Span: TypeAlias = tuple[int, int]

_BYTE_PIECE = re.compile(r"<0x[0-9A-F]{2}>")


@dataclass(frozen=True)
class ExplainedWord:
    """A word as the model gets it, with its character span in the text.

    For BPE, `symbols` is what the word begins as and `merges` are the steps from there; `merges` is
    None for a word of more than 500 symbols, and both are empty for other models.
    """

    word: str
    span: Span
    symbols: tuple[str, ...] = ()
    merges: tuple[MergeStep, ...] | None = ()


@dataclass(frozen=True)
class ExplainedToken:
    """A token with its character span; `text` reads byte-level tokens as text.

    `word` is the number of its word, None outside words. `score` is its log probability in a Unigram
    model, None for what was not chosen by it: unknown and added tokens, bytes, other models.
    """

    id: int
    token: str
    span: Span
    text: str
    word: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class Explanation:
    """The stages in the order of the data.

    `added_tokens` are those found in the text itself.
    """

    text: str
    added_tokens: tuple[Span, ...]
    normalized: str
    words: tuple[ExplainedWord, ...]
    tokens: tuple[ExplainedToken, ...]


def explain(tokenizer: Tokenizer, text: str) -> Explanation:
    """Show every stage of encoding a text.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.BPE({"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}, (("u", "g"), ("h", "ug")))
    ... )
    >>> [word] = pw.analysis.explain(tok, "hug").words
    >>> [(step.rank, step.left, step.right) for step in word.merges]
    [(0, 'u', 'g'), (1, 'h', 'ug')]
    """
    encoding = tokenizer.encode(text)
    added = _added_token_spans(tokenizer, encoding, text)
    return Explanation(
        text=text,
        added_tokens=tuple(added),
        normalized=_normalized(tokenizer, text, added),
        words=tuple(_words(tokenizer, text, added)),
        tokens=tuple(_tokens(tokenizer, encoding, added)),
    )


def _added_token_spans(tokenizer: Tokenizer, encoding: Encoding, text: str) -> list[Span]:
    """Return where added tokens stand in the text itself, not those the template put around it."""
    contents = {token.content for token in tokenizer.spec.added_tokens}
    spans = []
    for token, span in zip(encoding.tokens, encoding.offsets, strict=True):
        if token in contents and text[slice(*span)].strip() == token:
            spans.append(span)
    return spans


def _parts(text: str, added: Sequence[Span]) -> Iterator[tuple[int, str, bool]]:
    """Cut a text at its added tokens: start, part, whether it is one of them."""
    end = 0
    for start, stop in added:
        yield end, text[end:start], False
        yield start, text[start:stop], True
        end = stop
    yield end, text[end:], False


def _normalized(tokenizer: Tokenizer, text: str, added: Sequence[Span]) -> str:
    return "".join(
        part if is_added else tokenizer.normalize(part) for _, part, is_added in _parts(text, added)
    )


def _words(tokenizer: Tokenizer, text: str, added: Sequence[Span]) -> Iterator[ExplainedWord]:
    model = tokenizer.spec.model
    merges = MergeTable(model) if isinstance(model, BPE) else None
    for offset, part, is_added in _parts(text, added):
        if is_added:
            yield ExplainedWord(part, (offset, offset + len(part)))
            continue
        for word, (start, end) in tokenizer.pre_tokenize(part):
            yield _merged(merges, word, (offset + start, offset + end))


def _merged(merges: MergeTable | None, word: str, span: Span) -> ExplainedWord:
    if merges is None:
        return ExplainedWord(word, span)
    symbols = merges.symbols(word)
    steps = merges.steps(symbols)
    return ExplainedWord(word, span, tuple(symbols), None if steps is None else tuple(steps))


def _tokens(
    tokenizer: Tokenizer, encoding: Encoding, added: Sequence[Span]
) -> Iterator[ExplainedToken]:
    spec = tokenizer.spec
    by_bytes = is_byte_level(spec)
    names = {token.content for token in spec.added_tokens}
    scores = _scores(spec.model) if isinstance(spec.model, Unigram) else {}
    fields = (encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids)
    for id, token, span, word in zip(*fields, strict=True):
        text = text_of_bytes(token) if by_bytes and token not in names else token
        score = None if word is None or span in added else scores.get(token)
        yield ExplainedToken(id, token, span, text, word, score)


def _scores(model: Unigram) -> dict[str, float]:
    return {
        piece: score
        for piece, score in model.pieces
        if piece != model.unk_token and not (model.byte_fallback and _BYTE_PIECE.fullmatch(piece))
    }
