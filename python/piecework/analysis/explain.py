"""Explain how a tokenizer encodes one text: the result of every stage, and the merges of each word."""

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
    """A pre-token as the model receives it, with its span in characters of the text.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.BPE({"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}, (("u", "g"), ("h", "ug")))
    ... )
    >>> [word] = pw.analysis.explain(tok, "hug").words
    >>> word.span, word.symbols, [step.token for step in word.merges]
    ((0, 3), ('h', 'u', 'g'), ['ug', 'hug'])

    For BPE, `symbols` are the initial symbols and `merges` the merges applied to them, in order. `merges`
    is None for a word of more than 500 symbols. Both are empty for other models.
    """

    word: str
    span: Span
    symbols: tuple[str, ...] = ()
    merges: tuple[MergeStep, ...] | None = ()


@dataclass(frozen=True)
class ExplainedToken:
    """A token with its span in characters of the text.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Unigram((("<unk>", 0.0), ("a", -1.5))))
    >>> pw.analysis.explain(tok, "a").tokens
    (ExplainedToken(id=1, token='a', span=(0, 1), text='a', word=0, score=-1.5),)

    `text` is the token decoded from byte-level characters. `word` is the index of its word, None outside
    words. `score` is its log probability in a Unigram model. It is None for unknown, added and byte
    tokens, and for other models.
    """

    id: int
    token: str
    span: Span
    text: str
    word: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class Explanation:
    """The result of each stage, in the order in which the stages run.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.BPE({"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}, (("u", "g"), ("h", "ug")))
    ... )
    >>> found = pw.analysis.explain(tok, "hug")
    >>> found.normalized, [token.token for token in found.tokens]
    ('hug', ['hug'])

    `added_tokens` are the spans of added tokens in the text, without those of the post-processor.
    """

    text: str
    added_tokens: tuple[Span, ...]
    normalized: str
    words: tuple[ExplainedWord, ...]
    tokens: tuple[ExplainedToken, ...]


def explain(tokenizer: Tokenizer, text: str) -> Explanation:
    """Explain every stage of encoding a text.

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
    """Return the spans of added tokens in the text, without tokens that the post-processor adds."""
    contents = {token.content for token in tokenizer.spec.added_tokens}
    spans = []
    for token, span in zip(encoding.tokens, encoding.offsets, strict=True):
        if token in contents and text[slice(*span)].strip() == token:
            spans.append(span)
    return spans


def _split_at_added_tokens(text: str, added: Sequence[Span]) -> Iterator[tuple[int, str, bool]]:
    """Split a text at its added tokens; yield (start, part, whether the part is an added token)."""
    end = 0
    for start, stop in added:
        yield end, text[end:start], False
        yield start, text[start:stop], True
        end = stop
    yield end, text[end:], False


def _normalized(tokenizer: Tokenizer, text: str, added: Sequence[Span]) -> str:
    parts = _split_at_added_tokens(text, added)
    return "".join(part if is_added else tokenizer.normalize(part) for _, part, is_added in parts)


def _words(tokenizer: Tokenizer, text: str, added: Sequence[Span]) -> Iterator[ExplainedWord]:
    model = tokenizer.spec.model
    merges = MergeTable(model) if isinstance(model, BPE) else None
    for offset, part, is_added in _split_at_added_tokens(text, added):
        if is_added:
            yield ExplainedWord(part, (offset, offset + len(part)))
            continue
        for word, (start, end) in tokenizer.pre_tokenize(part):
            yield _explained_word(merges, word, (offset + start, offset + end))


def _explained_word(merges: MergeTable | None, word: str, span: Span) -> ExplainedWord:
    if merges is None:
        return ExplainedWord(word, span)
    symbols = merges.symbols(word)
    steps = merges.steps(symbols)
    return ExplainedWord(word, span, tuple(symbols), None if steps is None else tuple(steps))


def _tokens(
    tokenizer: Tokenizer, encoding: Encoding, added: Sequence[Span]
) -> Iterator[ExplainedToken]:
    spec = tokenizer.spec
    byte_level = is_byte_level(spec)
    names = {token.content for token in spec.added_tokens}
    scores = _scores(spec.model) if isinstance(spec.model, Unigram) else {}
    fields = (encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids)
    for id, token, span, word in zip(*fields, strict=True):
        text = text_of_bytes(token) if byte_level and token not in names else token
        score = None if word is None or span in added else scores.get(token)
        yield ExplainedToken(id, token, span, text, word, score)


def _scores(model: Unigram) -> dict[str, float]:
    return {
        piece: score
        for piece, score in model.pieces
        if piece != model.unk_token and not (model.byte_fallback and _BYTE_PIECE.fullmatch(piece))
    }
