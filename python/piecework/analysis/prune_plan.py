"""Prune a vocabulary by its use in a corpus, and measure the cost beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from piecework import Tokenizer
from piecework._internal.types import Progress
from piecework._internal.validation import check_size, listed
from piecework.analysis.corpus_counts import CorpusCounts
from piecework.analysis.corpus_texts import Texts, reading, texts_to_read_twice
from piecework.errors import ArgumentError
from piecework.vocabulary import prune
from piecework.vocabulary.changed_vocabulary import IdMap, changed
from piecework.vocabulary.pruning import most_used
from piecework.vocabulary.residues import without_residues

_SHOWN = 10  # removed tokens in the text of a plan


class RemovedToken(NamedTuple):
    """A token that a plan removes: its text, its id and how often the corpus uses it.

    >>> RemovedToken("hugs", id=5, uses=1).uses
    1
    """

    token: str
    id: int
    uses: int


@dataclass(frozen=True)
class PrunePlan:
    """A pruned tokenizer, and what pruning costs on a corpus.

    >>> import piecework as pw
    >>> vocab = {token: id for id, token in enumerate("[UNK] h ##u ##g hug hugs ##s".split())}
    >>> tok = pw.Tokenizer(pw.spec.WordPiece(vocab), pre_tokenizer=pw.spec.WhitespaceSplit())
    >>> plan = plan_prune(tok, ["hug hugs", "hug"], min_count=2)
    >>> plan.tokens_before, plan.tokens_after, len(plan.tokenizer)
    (3, 4, 6)
    >>> plan.removed
    (RemovedToken(token='hugs', id=5, uses=1),)

    `tokens_before` and `tokens_after` are the tokens of the corpus, `unknown_before` and `unknown_after` the
    unknown ones among them; `removed` is sorted by use, the most used first. Nothing is written: save
    `tokenizer` to accept the plan.
    """

    tokenizer: Tokenizer = field(repr=False)
    id_map: IdMap
    removed: tuple[RemovedToken, ...] = field(repr=False)
    tokens_before: int
    tokens_after: int
    unknown_before: int
    unknown_after: int

    @property
    def loss(self) -> float:
        """The share of additional tokens, 0.01 for 1 %; negative if there are fewer.

        >>> PrunePlan(None, None, (), 200, 203, 0, 0).loss
        0.015
        """
        return (self.tokens_after - self.tokens_before) / max(self.tokens_before, 1)

    def __str__(self) -> str:
        old = len(self.tokenizer) + len(self.removed)
        tokens = f"{self.tokens_before:,} -> {self.tokens_after:,} ({self.loss:+.2%})"
        lines = [
            f"vocabulary      {old:,} -> {len(self.tokenizer):,}",
            f"corpus tokens   {tokens}",
            f"unknown tokens  {self.unknown_before:,} -> {self.unknown_after:,}",
        ]
        shown = [f"{one.token!r} ({one.uses:,})" for one in self.removed[:_SHOWN]]
        more = [f"{len(self.removed) - _SHOWN:,} more"] if len(self.removed) > _SHOWN else []
        lines += [f"removed (uses)  {', '.join(shown + more)}"] if shown else []
        return "\n".join(lines)


def plan_prune(
    tokenizer: Tokenizer,
    texts: Texts,
    *,
    min_count: int | None = None,
    size: int | None = None,
    keep: Iterable[str | int] = (),
    residues: bool = False,
    keep_alphabet: bool = True,
    num_threads: int | None = None,
    progress: Progress = None,
) -> PrunePlan:
    """Prune a vocabulary by how often texts use its tokens, and measure the cost in tokens.

    >>> import piecework as pw
    >>> vocab = {token: id for id, token in enumerate("[UNK] h ##u ##g hug hugs ##s".split())}
    >>> tok = pw.Tokenizer(pw.spec.WordPiece(vocab), pre_tokenizer=pw.spec.WhitespaceSplit())
    >>> print(plan_prune(tok, ["hug hugs", "hug"], size=6))
    vocabulary      7 -> 6
    corpus tokens   3 -> 4 (+33.33%)
    unknown tokens  0 -> 0
    removed (uses)  'hugs' (1)

    - `min_count`: keep the tokens that occur at least this often, and the tokens of `keep`.
    - `size`: keep this number of tokens, added tokens included; the least used are removed.
    - `residues`: also remove entries of BPE models that occur less than `min_count` times (default: 1) and
      that other entries are merged from, if other merges can make these entries. Text whose merges used a
      residue can have other tokens.

    Pass texts and progress as for `compare`; `corpus.read_corpus` reads files, twice.

    It keeps the tokens that `vocabulary.prune` always keeps. Raises `ArgumentError` for settings that
    contradict each other, and for a size below the number of tokens that are always kept.
    """
    source = texts_to_read_twice(texts)
    chosen = _Settings(
        min_count,
        size,
        tuple(listed(keep, "keep", "tokens or ids")),
        residues,
        keep_alphabet,
    )
    with reading("pruning", [source, source], progress) as rows_of:
        chosen.check()
        before = CorpusCounts(tokenizer)
        for rows in rows_of(source):
            before.add(rows.to_list(), num_threads)
        pruned, id_map = _pruned(tokenizer, before.id_counts, chosen)
        after = CorpusCounts(pruned)
        for rows in rows_of(source):
            after.add(rows.to_list(), num_threads)
    tokens = {id: token for token, id in tokenizer.get_vocab().items()}
    removed = [
        RemovedToken(tokens[id], id, int(before.id_counts[id]))
        for id in id_map.removed.tolist()
        if id in tokens
    ]
    removed.sort(key=lambda one: (-one.uses, one.id))
    return PrunePlan(
        tokenizer=pruned,
        id_map=id_map,
        removed=tuple(removed),
        tokens_before=before.tokens,
        tokens_after=after.tokens,
        unknown_before=before.unknown_tokens,
        unknown_after=after.unknown_tokens,
    )


class _Settings(NamedTuple):
    min_count: int | None
    size: int | None
    keep: tuple[str | int, ...]
    residues: bool
    keep_alphabet: bool

    def check(self) -> None:
        """Raise `ArgumentError` for settings that contradict each other or select nothing."""
        if self.min_count is not None:
            check_size("min_count", self.min_count)
        if self.size is not None:
            check_size("size", self.size)
            if self.min_count is not None and not self.residues:
                raise ArgumentError("size", "cannot be combined", also=["min_count"])
            if not self.keep_alphabet:
                raise ArgumentError("keep_alphabet", "must be True with a size")
        if self.min_count is None and self.size is None and not (self.residues or self.keep):
            message = "pass one of them, or keep or residues: there is nothing to prune by"
            raise ArgumentError("min_count", message, also=["size"])


def _pruned(
    tokenizer: Tokenizer, uses: npt.NDArray[np.int64], chosen: _Settings
) -> tuple[Tokenizer, IdMap]:
    """Return the tokenizer without residues, then without the tokens that are not kept."""
    first: IdMap | None = None
    keep: set[str | int] = _named(tokenizer, chosen.keep)
    if chosen.residues:
        least = 1 if chosen.min_count is None else chosen.min_count
        named = {str(token) for token in keep}
        spec, first = without_residues(tokenizer.spec, uses.tolist(), least - 1, named)
        tokenizer, first = changed(tokenizer, spec, first)
        uses = uses[first.old_ids]
        if chosen.size is None and chosen.min_count is None:
            return tokenizer, first
    if chosen.size is not None:
        keep = set(most_used(tokenizer.spec, uses.tolist(), chosen.size, keep))
    elif chosen.min_count is not None:
        keep |= set(np.flatnonzero(uses >= chosen.min_count).tolist())
    pruned, second = prune(tokenizer, keep, keep_alphabet=chosen.keep_alphabet)
    return pruned, second if first is None else first.then(second)


def _named(tokenizer: Tokenizer, keep: Iterable[str | int]) -> set[str | int]:
    """Return the tokens of `keep`, by name; raise for those that the tokenizer lacks."""
    vocab = tokenizer.get_vocab()
    tokens = {id: token for token, id in vocab.items()}
    found: set[str | int] = set()
    for item in keep:
        token = item if isinstance(item, str) else tokens.get(item)
        if token not in vocab:
            raise ArgumentError("keep", f"{item!r} is not a token or id of the tokenizer")
        found.add(str(token))
    return found
