"""Explain how a tokenizer encodes one text: the result of every stage, and the segmentation of each word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from piecework import Tokenizer
from piecework._internal.validation import check_tokenizer
from piecework.analysis.explanation import ExplainedToken, ExplainedWord, Explanation, Span
from piecework.analysis.merge_steps import MergeTable, ScoredMerges
from piecework.analysis.readable_tokens import is_byte_level, text_of_bytes
from piecework.analysis.unigram_lattice import ScoredPieces
from piecework.analysis.word_search import search_word
from piecework.encoding import Encoding
from piecework.spec import BPE, Model, SentencePiece, Unigram, WordPiece

MAX_CHARS = 100_000
"""The words of a text are explained up to this number of characters."""

_NOWHERE = (0, 0)
_WORDS_KEPT = 4096
_BYTE_PIECE = re.compile(r"<0x[0-9A-F]{2}>")


def explain(tokenizer: Tokenizer, text: str) -> Explanation:
    """Explain every stage of encoding a text.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.BPE({"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}, (("u", "g"), ("h", "ug")))
    ... )
    >>> [word] = pw.analysis.explain(tok, "hug").words
    >>> [(step.rank, step.left, step.right) for step in word.merges]
    [(0, 'u', 'g'), (1, 'h', 'ug')]

    The first 100,000 characters of words have their segmentation step by step. Calls with the tokenizer of
    the call before use its tables again.
    """
    check_tokenizer(tokenizer)
    return _explainer_of(tokenizer).explain(text)


class Explainer:
    """Explains texts with one tokenizer; builds the tables of its model once.

    >>> import piecework as pw
    >>> explainer = Explainer(pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})))
    >>> [len(explainer.explain(text).tokens) for text in ("hug", "hugs")]
    [1, 2]
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        spec = tokenizer.spec
        self._contents = {token.content for token in spec.added_tokens}
        self._is_byte_level = is_byte_level(spec)
        self._word = _word_explainer(spec.model)
        self._scores = _scores(spec.model)

    def explain(self, text: str) -> Explanation:
        """Explain every stage of encoding a text."""
        tokenizer = self._tokenizer
        encoding = tokenizer.encode(text)
        added = self._added_token_spans(encoding, text)
        return Explanation(
            text=text,
            added_tokens=tuple(added),
            normalized=_normalized(tokenizer, text, added),
            words=tuple(self._words(text, added)),
            tokens=tuple(self._tokens(encoding, added)),
            is_byte_level=self._is_byte_level,
        )

    def _added_token_spans(self, encoding: Encoding, text: str) -> list[Span]:
        """Return the spans of added tokens in the text, without tokens that the post-processor adds."""
        spans = []
        for token, span in zip(encoding.tokens, encoding.offsets, strict=True):
            if token in self._contents and text[slice(*span)].strip() == token:
                spans.append(span)
        return spans

    def _words(self, text: str, added: Sequence[Span]) -> Iterator[ExplainedWord]:
        used = 0
        for offset, part, is_added in _split_at_added_tokens(text, added):
            if is_added:
                yield ExplainedWord(part, (offset, offset + len(part)))
                continue
            for word, (start, end) in self._tokenizer.pre_tokenize(part):
                used += len(word)
                span = (offset + start, offset + end)
                found = self._word(word) if used <= MAX_CHARS else ExplainedWord(word, span)
                yield replace(found, span=span)

    def _tokens(self, encoding: Encoding, added: Sequence[Span]) -> Iterator[ExplainedToken]:
        fields = (encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids)
        for id, token, span, word in zip(*fields, strict=True):
            is_spelled = self._is_byte_level and token not in self._contents
            text = text_of_bytes(token) if is_spelled else token
            score = None if word is None or span in added else self._scores.get(token)
            yield ExplainedToken(id, token, span, text, word, score)


@lru_cache(1)
def _explainer_of(tokenizer: Tokenizer) -> Explainer:
    return Explainer(tokenizer)


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


def _word_explainer(model: Model) -> Callable[[str], ExplainedWord]:
    """Return the function that explains a word; tables of the model are built once, words are kept."""
    kept = lru_cache(_WORDS_KEPT)
    if isinstance(model, WordPiece):
        return kept(lambda word: ExplainedWord(word, _NOWHERE, search=search_word(word, model)))
    if isinstance(model, Unigram) or (isinstance(model, SentencePiece) and model.kind == "unigram"):
        scored = ScoredPieces(model)
        return kept(lambda word: ExplainedWord(word, _NOWHERE, lattice=scored.lattice(word)))
    if isinstance(model, BPE):
        return kept(partial(_merged_by, MergeTable(model)))
    if isinstance(model, SentencePiece) and model.kind == "bpe":
        return kept(partial(_merged_by, ScoredMerges(model)))
    return lambda word: ExplainedWord(word, _NOWHERE)


def _merged_by(table: MergeTable | ScoredMerges, word: str) -> ExplainedWord:
    symbols = table.symbols(word)
    if isinstance(table, ScoredMerges):
        steps, note = table.steps(word), None
    else:
        steps, note = table.steps(symbols), table.note(word)
    merges = None if steps is None else tuple(steps)
    return ExplainedWord(word, _NOWHERE, tuple(symbols), merges, note=note)


def _scores(model: Model) -> Mapping[str, float]:
    """Return the scores of the pieces that text can have, without unknown and byte pieces."""
    if isinstance(model, SentencePiece) and model.kind in ("unigram", "bpe"):
        return {piece.text: piece.score for piece in model.pieces if piece.type == "normal"}
    if not isinstance(model, Unigram):
        return {}
    return {
        piece: score
        for piece, score in model.pieces
        if piece != model.unk_token and not (model.byte_fallback and _BYTE_PIECE.fullmatch(piece))
    }
