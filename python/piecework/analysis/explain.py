"""Explain how a tokenizer encodes one text: the result of every stage, and the segmentation of each word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TypeAlias

from piecework import Tokenizer
from piecework._internal.step_selection import Selection
from piecework._internal.validation import check_tokenizer
from piecework.analysis.blocks import Block, Grid, Heading, Paragraph, Tokens
from piecework.analysis.displayed import LINES, Displayed
from piecework.analysis.readable import is_byte_level, show_whitespace, text_of_bytes
from piecework.analysis.word_steps import (
    MergeStep,
    MergeTable,
    ScoredMerges,
    ScoredPieces,
    WordLattice,
    WordSearch,
    search_word,
)
from piecework.spec import BPE, Model, SentencePiece, Unigram, WordPiece
from piecework.tokenizer.encoding import Encoding

Span: TypeAlias = tuple[int, int]


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

    - For BPE, `symbols` are the initial symbols and `merges` the merges applied to them, in order. `merges`
      is None for a word of more than 500 symbols. Both are empty for other models.
    - `search` is the segmentation by WordPiece, `lattice` that by Unigram; None for other models and for
      words of more than 500 characters.
    - `note` says that a word is an entry and taken whole, without the merges that build it; None otherwise.
    """

    word: str
    span: Span
    symbols: tuple[str, ...] = ()
    merges: tuple[MergeStep, ...] | None = ()
    search: WordSearch | None = None
    lattice: WordLattice | None = None
    note: str | None = None

    def blocks(self, lines: int, steps: Selection, shown: Callable[[str], str]) -> Iterator[Block]:
        """Yield the segmentation of the word; `shown` makes tokens readable."""
        if self.search is not None:
            yield from _search_blocks(self.word, self.search, lines)
        if self.lattice is not None:
            yield from _lattice_blocks(self.word, self.lattice, lines)
        if self.merges is None:
            yield Heading(f"merges of a word of {len(self.symbols):,} symbols")
            yield Paragraph("not shown for more than 500 symbols")
        elif len(self.symbols) > 1 or self.note:
            yield Heading(f"merges of {shown(self.word)} ({len(self.merges):,})")
            if self.note:
                yield Paragraph(self.note)
            yield self._merge_grid(lines, steps, shown)

    def _merge_grid(self, lines: int, steps: Selection, shown: Callable[[str], str]) -> Grid:
        rows = [("", "", Tokens.of(map(shown, self.symbols)))]
        left, merges = list(self.symbols), self.merges or ()
        for number, step in enumerate(merges, 1):
            left = step.apply_to(left)
            if number in steps and len(rows) <= lines:
                merge = f"{shown(step.left)} {shown(step.right)} -> {shown(step.token)}"
                rows.append((f"{step.rank:,}", merge, Tokens.of(map(shown, left))))
        omitted = len(merges) + 1 - len(rows)
        return Grid(("rank", "merge", "symbols"), tuple(rows), ("rank",), omitted=omitted)


@dataclass(frozen=True)
class ExplainedToken:
    """A token with its span in characters of the text.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Unigram((("<unk>", 0.0), ("a", -1.5))))
    >>> pw.analysis.explain(tok, "a").tokens
    (ExplainedToken(id=1, token='a', span=(0, 1), text='a', word=0, score=-1.5),)

    `text` is the token decoded from byte-level characters. `word` is the index of its word, None outside
    words. `score` is its log probability in a Unigram model, or its score in a SentencePiece model. It is
    None for unknown, added and byte tokens, and for other models.
    """

    id: int
    token: str
    span: Span
    text: str
    word: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class Explanation(Displayed):
    """The result of each stage, in the order in which the stages run.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.BPE({"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}, (("u", "g"), ("h", "ug")))
    ... )
    >>> found = pw.analysis.explain(tok, "hug")
    >>> found.normalized, [token.token for token in found.tokens]
    ('hug', ['hug'])

    `added_tokens` are the spans of added tokens in the text, without tokens of the post-processor.
    `is_byte_level` says whether tokens are written in the byte-level alphabet. `str` returns the explanation
    as text, and `to_dict` as JSON data.
    """

    text: str
    added_tokens: tuple[Span, ...]
    normalized: str
    words: tuple[ExplainedWord, ...]
    tokens: tuple[ExplainedToken, ...]
    is_byte_level: bool = False

    def blocks(self, lines: int = LINES, steps: Selection | None = None) -> Iterator[Block]:
        """Yield what the explanation shows, at most `lines` lines of each list.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
        >>> print(str(pw.analysis.explain(tok, "hugs")).split("search of hugs")[1])
        <BLANKLINE>
          at  match  prefixes tried, longest first
           0  hug    hugs hug
           3  ##s    ##s
          tokens: hug ##s
        tokens (2)
          id  token  span  text
           1  hug     0:3  hug
           2  ##s     3:4  s
        <BLANKLINE>
        """
        shown = _show_byte_level if self.is_byte_level else show_whitespace
        yield Heading("text")
        yield Paragraph(repr(self.text))
        if self.added_tokens:
            yield Heading("special tokens")
            rows = tuple((self.text[a:b], f"{a}:{b}") for a, b in self.added_tokens)
            yield _limited(Grid(("token", "span"), rows, ("span",)), lines)
        yield Heading("normalized")
        yield Paragraph(repr(self.normalized))
        yield Heading(f"words ({len(self.words):,})")
        words = tuple((show_whitespace(one.word), _span(one.span)) for one in self.words)
        yield _limited(Grid(("word", "span"), words, ("span",)), lines)
        for word in self.words[:lines]:
            yield from word.blocks(lines, steps or Selection.of("all"), shown)
        if len(self.words) > lines:
            yield Paragraph(f"... and {len(self.words) - lines:,} more words")
        yield Heading(f"tokens ({len(self.tokens):,})")
        yield _limited(self._token_grid(), lines)

    def _token_grid(self) -> Grid:
        scored = any(token.score is not None for token in self.tokens)
        rows: list[tuple[str, ...]] = []
        for one in self.tokens:
            start, end = one.span
            score = "" if one.score is None else f"{one.score:.4f}"
            row = (f"{one.id}", show_whitespace(one.token), _span(one.span))
            text = show_whitespace(self.text[start:end])
            rows.append((*row, score, text) if scored else (*row, text))
        header = ("id", "token", "span", *(("score",) if scored else ()), "text")
        return Grid(header, tuple(rows), ("id", "span", "score"))


# ---- blocks of one word


def _search_blocks(word: str, search: WordSearch, lines: int) -> Iterator[Block]:
    yield Heading(f"search of {word}")
    if search.positions:
        rows = tuple(
            (f"{found.start}", found.match or "none", " ".join(found.tried))
            for found in search.positions
        )
        header = ("at", "match", "prefixes tried, longest first")
        yield _limited(Grid(header, rows, ("at",)), lines)
    because = f", because {search.unknown_because}" if search.unknown_because else ""
    yield Paragraph(f"tokens: {' '.join(search.tokens)}{because}")
    if search.shortest is not None and search.shortest != search.greedy:
        longest = "none" if search.greedy is None else " ".join(search.greedy)
        yield Paragraph(f"longest match: {longest}; fewest tokens: {' '.join(search.shortest)}")


def _lattice_blocks(word: str, lattice: WordLattice, lines: int) -> Iterator[Block]:
    yield Heading(f"lattice of {word}")
    rows = tuple(
        (
            f"{edge.start}:{edge.end}",
            edge.piece,
            f"{edge.score:.4f}{'' if edge.is_known else ' unknown'}",
        )
        for edge in lattice.edges
    )
    best = tuple(at for at, edge in enumerate(lattice.edges) if edge.is_best)
    yield _limited(Grid(("span", "piece", "score"), rows, (), best), lines)
    yield Heading(f"best segmentations of {word}")
    ranked = tuple((" ".join(pieces), f"{score:.4f}") for pieces, score in lattice.segmentations)
    yield Grid(("pieces", "score"), ranked, ("score",), (0,))


def _limited(grid: Grid, lines: int) -> Grid:
    """Return the first rows of a table."""
    kept = grid.rows[:lines]
    marked = tuple(at for at in grid.marked if at < lines)
    return Grid(grid.header, kept, grid.numbers, marked, len(grid.rows) - len(kept))


def _span(span: Span) -> str:
    return f"{span[0]}:{span[1]}"


def _show_byte_level(token: str) -> str:
    return show_whitespace(text_of_bytes(token))


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
    """Explain texts with one tokenizer; build the tables of its model once.

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
    note = table.note(word) if isinstance(table, MergeTable) else None
    symbols, merges = tuple(table.symbols(word)), table.steps(word)
    return ExplainedWord(word, _NOWHERE, symbols, merges, note=note)


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
