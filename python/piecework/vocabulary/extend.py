"""Learn further entries from counts, after the existing ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

from piecework._core import Core, LearnedEntries, continue_training
from piecework.errors import ArgumentError, CorpusError, TrainingWarning
from piecework.spec import BPE, Char, TokenizerSpec, WordPiece
from piecework.train import Counts, pipeline_of
from piecework.vocabulary.alphabet import BYTE_TOKENS, all_ids, required_entries
from piecework.vocabulary.id_map import IdMap, IdShift

_TIES = {"likelihood": "smallest-strings", "pmi": "smallest-strings", "frequency": "lowest-ids"}

SCORES = {BPE: ("frequency",), WordPiece: ("likelihood", "frequency", "pmi")}


def extend_spec(
    core: Core,
    spec: TokenizerSpec,
    counts: Counts,
    n: int,
    *,
    score: str | None = None,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification with `n` more entries, and the id map, which keeps all old ids.

    `core` is the compiled specification. `score` is one of `SCORES` for the model, None for the first.
    Ties do not depend on the order of the corpus. Warns with `TrainingWarning` if it learns fewer.
    """
    model = _extensible(spec)
    _check_counts(spec, counts)
    scores = SCORES[type(model)]
    if score is not None and score not in scores:
        raise ArgumentError("score", repr(score), f"one of {', '.join(scores)}")
    chosen = score or scores[0]
    learned = continue_training(
        core,
        counts._raw,
        vocab_size=len(model.vocab) + n,
        score=chosen,
        ties=_TIES[chosen],
        min_frequency=min_frequency,
        continuing_subword_prefix=model.continuing_subword_prefix or "",
        max_token_length=max_token_length,
        barriers=[model.vocab[token] for token in _barriers(spec, model)],
        progress=progress,
    )
    if learned.stopped_early:
        warnings.warn(f"stopped early: {learned.stopped_early}", TrainingWarning, stacklevel=3)
    return _with_learned(spec, model, learned)


def _with_learned(
    spec: TokenizerSpec, model: BPE | WordPiece, learned: LearnedEntries
) -> tuple[TokenizerSpec, IdMap]:
    new_ids = _new_ids(spec, learned.vocab[len(model.vocab) :])
    larger: BPE | WordPiece = replace(model, vocab={**model.vocab, **new_ids})
    if isinstance(larger, BPE):
        merges = tuple((left, right) for left, right, *_ in learned.merges)
        larger = replace(larger, merges=larger.merges + merges)
    old = all_ids(spec)
    return replace(spec, model=larger), IdShift(()).id_map(old, set(new_ids.values()) - old)


def _new_ids(spec: TokenizerSpec, entries: Sequence[str]) -> dict[str, int]:
    """Return ids for new entries: those of their added tokens, otherwise the ids after all others."""
    added = {token.content: token.id for token in spec.added_tokens}
    first_free = max(all_ids(spec), default=-1) + 1
    not_added = (entry for entry in entries if entry not in added)
    ids = added | {entry: id for id, entry in enumerate(not_added, start=first_free)}
    return {entry: ids[entry] for entry in entries}


def _barriers(spec: TokenizerSpec, model: BPE | WordPiece) -> set[str]:
    """Return the entries that must not be merged, because they do not represent text."""
    fallback = isinstance(model, BPE) and model.byte_fallback
    return required_entries(spec) | (BYTE_TOKENS & model.vocab.keys() if fallback else set())


def _extensible(spec: TokenizerSpec) -> BPE | WordPiece:
    """Return the model; a character model becomes a BPE model without merges."""
    model = spec.model
    if isinstance(model, Char):
        return BPE(model.vocab, (), unk_token=model.unk_token)
    if not isinstance(model, BPE | WordPiece):
        raise ArgumentError("model", type(model).__name__, "BPE, Char or WordPiece")
    return model


def _check_counts(spec: TokenizerSpec, counts: Counts) -> None:
    pipeline = pipeline_of(spec)
    if counts.pipeline is not None and counts.pipeline != pipeline:
        found = f"words of the pipeline {counts.pipeline}"
        raise ArgumentError("corpus", found, f"the pipeline of the tokenizer: {pipeline}")
    if len(counts) == 0:
        raise CorpusError("corpus", "no words", "text to learn from")
