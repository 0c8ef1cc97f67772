"""Learn further entries from counts, after the existing ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from piecework._core import Core, LearnedEntries, continue_training
from piecework._internal.progress import progress_bar
from piecework._internal.renamed_arguments import renamed_arguments
from piecework._internal.types import Progress, Update
from piecework._internal.validation import check_size
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, CorpusError, TrainingWarning
from piecework.spec import BPE, Char, SentencePiece, TokenizerSpec, Unigram, WordPiece
from piecework.train import Counts, Merges, pipeline_of
from piecework.train.learners import check_learner
from piecework.train.runs import counts_for
from piecework.train.segmenter import compiled_model
from piecework.vocabulary.alphabet import BYTE_TOKENS, required_entries
from piecework.vocabulary.changed_vocabulary import ChangedVocabulary, changed
from piecework.vocabulary.components import merges_of
from piecework.vocabulary.entries import NewEntry, with_entries
from piecework.vocabulary.extend_unigram import learn_pieces
from piecework.vocabulary.id_map import IdMap

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

_BY_FREQUENCY = Merges("frequency")


@renamed_arguments(score="learner", show_progress="progress")
def extend(
    tokenizer: Tokenizer,
    corpus: Iterable[str | Sequence[str]] | Mapping[str, int] | Counts,
    n: int,
    *,
    learner: Merges | None = None,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    num_threads: int | None = None,
    progress: Progress = None,
) -> ChangedVocabulary:
    """Learn `n` more vocabulary entries from new text.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs bug"] * 9, vocab_size=19)
    >>> larger, id_map = pw.vocabulary.extend(tok, ["hug hugs bugs"] * 9, 1)
    >>> len(larger), id_map.added
    (20, array([19]))

    `corpus` is texts, or word counts (`Counts`, or a dict) with the pipeline of this tokenizer
    (`train.pipeline_of(tok.spec)`).
    Words are segmented with the present vocabulary, and training continues from there:

    - BPE appends merges of the most frequent pair (a `Char` model becomes BPE).
    - WordPiece merges as `learner` says, a `train.Merges`, by likelihood by default. Without `ties`, the
      result does not depend on the order of the corpus.
    - Unigram adds the pieces that gain most in the likelihood of the text, with their log probabilities.
      Present pieces keep their scores.

    Ids of entries do not change; new entries get the ids after the highest. Unigram and SentencePiece
    number entries by position, so the ids of added tokens after the last entry move up. Characters
    outside the vocabulary stay unknown.

    Warns with `TrainingWarning` if the corpus does not yield `n` entries. Raises `ArgumentError` for
    models of whole words and SentencePiece models of characters, and `CorpusError` for a corpus without
    words.
    """
    check_size("n", n)
    check_size("min_frequency", min_frequency)
    counts = counts_for(tokenizer.spec, corpus, num_threads=num_threads, progress=progress)
    with progress_bar("learning", progress) as update:
        spec, id_map = extend_spec(
            tokenizer._core,
            tokenizer.spec,
            counts,
            n,
            learner=learner,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            progress=update,
        )
    return changed(tokenizer, spec, id_map)


def extend_spec(
    core: Core,
    spec: TokenizerSpec,
    counts: Counts,
    n: int,
    *,
    learner: Merges | None = None,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    progress: Update | None = None,
) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification with `n` more entries, and the id map.

    `core` is the compiled specification. `learner` says how a WordPiece model learns; BPE merges by
    frequency, and Unigram takes none. Without `ties`, the result does not depend on the order of the corpus.
    Warns with `TrainingWarning` if it learns fewer.
    """
    model = _extensible(spec)
    check_counts(spec, counts)
    merges = _merges_for(model, learner)
    if isinstance(model, Unigram):
        pieces, stopped = learn_pieces(spec, counts, n, min_frequency, max_token_length, progress)
        _warn_if(stopped)
        return with_entries(spec, [NewEntry(text, score, ids) for text, score, ids in pieces])
    converted = isinstance(spec.model, SentencePiece)
    learned = continue_training(
        compiled_model(TokenizerSpec(model)) if converted else core,
        counts._raw,
        {
            "vocab_size": len(model.vocab) + n,
            "score": merges.score,
            "ties": merges.ties
            or ("lowest-ids" if merges.score == "frequency" else "smallest-strings"),
            "min_frequency": min_frequency,
            "max_token_length": max_token_length,
        },
        continuing_subword_prefix=model.continuing_subword_prefix or "",
        barriers=[model.vocab[token] for token in _barriers(spec, model)],
        progress=progress,
    )
    _warn_if(learned.stopped_early)
    return _with_learned(replace(spec, model=spec.model if converted else model), learned)


def _merges_for(model: BPE | WordPiece | Unigram, learner: Merges | None) -> Merges:
    """Return how to merge pairs; raise `ArgumentError` for a learner that the model does not take."""
    if learner is not None:
        check_learner(learner, (Merges,))
    if isinstance(model, WordPiece):
        return learner or Merges()
    fits = isinstance(model, BPE) and learner is not None and learner.score == "frequency"
    if learner is None or fits:
        return learner or _BY_FREQUENCY
    expected = f"{_BY_FREQUENCY} or none" if isinstance(model, BPE) else "none"
    problem = f"={learner} does not support a {type(model).__name__} model; it takes {expected}"
    raise ArgumentError("learner", problem)


def _warn_if(stopped_early: str | None) -> None:
    if stopped_early:
        warn(f"stopped early: {stopped_early}", TrainingWarning)


def _with_learned(spec: TokenizerSpec, learned: LearnedEntries) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification with learned entries; the two entries of a merge are its sources."""
    model = spec.model
    texts = learned.vocab[len(model.vocab) :]
    first_merge: dict[str, tuple[str, str]] = {}
    for left, right, merged, *_ in learned.merges:
        first_merge.setdefault(merged, (left, right))
    sources = lineage(model.vocab, texts, first_merge)
    entries = [NewEntry(text, None, sources[text]) for text in texts]
    if isinstance(model, BPE):
        merges = tuple((left, right) for left, right, *_ in learned.merges)
        spec = replace(spec, model=replace(model, merges=model.merges + merges))
    return with_entries(spec, entries)


def lineage(
    vocab: Mapping[str, int], texts: Iterable[str], merge_of: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[int, ...]]:
    """Return the ids of the old entries that each new entry was merged from, in the order of the text.

    >>> lineage({"h": 0, "u": 1, "g": 2}, ["hu", "hug"], {"hu": ("h", "u"), "hug": ("hu", "g")})
    {'hu': (0, 1), 'hug': (0, 1, 2)}
    """
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        parts = merge_of.get(text, ())
        found[text] = tuple(
            id for part in parts for id in found.get(part, (vocab[part],) if part in vocab else ())
        )
    return found


def _barriers(spec: TokenizerSpec, model: BPE | WordPiece) -> set[str]:
    """Return the entries that must not be merged, because they do not represent text."""
    fallback = isinstance(model, BPE) and model.byte_fallback
    fixed = required_entries(spec) | (BYTE_TOKENS & model.vocab.keys() if fallback else set())
    if isinstance(spec.model, SentencePiece):
        fixed.update(piece.text for piece in spec.model.pieces if piece.type != "normal")
    return fixed


def _extensible(spec: TokenizerSpec) -> BPE | WordPiece | Unigram:
    """Return the model to learn with.

    A character model becomes a BPE model without merges, a SentencePiece model one of its kind.
    """
    model = spec.model
    if isinstance(model, SentencePiece) and model.kind == "bpe":
        return BPE(
            model.vocab,
            merges_of(model),
            unk_token=model.unk_token,
            fuse_unk=True,
            byte_fallback=model.byte_fallback,
        )
    if isinstance(model, SentencePiece) and model.kind == "unigram":
        return Unigram(tuple((piece.text, piece.score) for piece in model.pieces))
    if isinstance(model, Char):
        return BPE(model.vocab, (), unk_token=model.unk_token)
    if not isinstance(model, BPE | WordPiece | Unigram):
        found = type(model).__name__
        if isinstance(model, SentencePiece):
            found = f"a SentencePiece model of kind {model.kind!r}"
        message = f"{found} cannot be extended; BPE, Char, Unigram and WordPiece can"
        raise ArgumentError("model", message=message)
    return model


def check_counts(spec: TokenizerSpec, counts: Counts) -> None:
    """Raise unless the counts are words of the pipeline of a specification."""
    pipeline = pipeline_of(spec)
    if counts.pipeline is not None and counts.pipeline != pipeline:
        found = f"words of the pipeline {counts.pipeline}"
        raise ArgumentError("corpus", f"has {found}, and the tokenizer has the pipeline {pipeline}")
    if len(counts) == 0:
        raise CorpusError("corpus", "has no words; it needs text to learn from")
