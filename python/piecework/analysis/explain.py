"""Explain how a tokenizer encodes one text: the result of every stage, and the segmentation of each word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from piecework.analysis.explanation import ExplainedToken, ExplainedWord, Explanation, Span
from piecework.analysis.merge_steps import MergeTable, ScoredMerges
from piecework.analysis.readable_tokens import is_byte_level, text_of_bytes
from piecework.analysis.unigram_lattice import ScoredPieces
from piecework.analysis.word_search import search_word
from piecework.encoding import Encoding
from piecework.spec import BPE, Model, SentencePiece, Unigram, WordPiece
from piecework.tokenizer import Tokenizer

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
    """
    encoding = tokenizer.encode(text)
    added = _added_token_spans(tokenizer, encoding, text)
    return Explanation(
        text=text,
        added_tokens=tuple(added),
        normalized=_normalized(tokenizer, text, added),
        words=tuple(_words(tokenizer, text, added)),
        tokens=tuple(_tokens(tokenizer, encoding, added)),
        is_byte_level=is_byte_level(tokenizer.spec),
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
    explained = _explainer(tokenizer.spec.model)
    for offset, part, is_added in _split_at_added_tokens(text, added):
        if is_added:
            yield ExplainedWord(part, (offset, offset + len(part)))
            continue
        for word, (start, end) in tokenizer.pre_tokenize(part):
            yield explained(word, (offset + start, offset + end))


def _explainer(model: Model) -> Callable[[str, Span], ExplainedWord]:
    """Return the function that explains a word; tables of the model are built once."""
    if isinstance(model, WordPiece):
        return lambda word, span: ExplainedWord(word, span, search=search_word(word, model))
    if isinstance(model, Unigram) or (isinstance(model, SentencePiece) and model.kind == "unigram"):
        scored = ScoredPieces(model)
        return lambda word, span: ExplainedWord(word, span, lattice=scored.lattice(word))
    if isinstance(model, BPE):
        return _merged_by(MergeTable(model))
    if isinstance(model, SentencePiece) and model.kind == "bpe":
        return _merged_by(ScoredMerges(model))
    return ExplainedWord


def _merged_by(table: MergeTable | ScoredMerges) -> Callable[[str, Span], ExplainedWord]:
    def explained(word: str, span: Span) -> ExplainedWord:
        symbols = table.symbols(word)
        if isinstance(table, ScoredMerges):
            steps, note = table.steps(word), None
        else:
            steps, note = table.steps(symbols), table.note(word)
        merges = None if steps is None else tuple(steps)
        return ExplainedWord(word, span, tuple(symbols), merges, note=note)

    return explained


def _tokens(
    tokenizer: Tokenizer, encoding: Encoding, added: Sequence[Span]
) -> Iterator[ExplainedToken]:
    spec = tokenizer.spec
    byte_level = is_byte_level(spec)
    names = {token.content for token in spec.added_tokens}
    scores = _scores(spec.model)
    fields = (encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids)
    for id, token, span, word in zip(*fields, strict=True):
        text = text_of_bytes(token) if byte_level and token not in names else token
        score = None if word is None or span in added else scores.get(token)
        yield ExplainedToken(id, token, span, text, word, score)


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
