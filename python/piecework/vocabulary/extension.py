"""Learn further entries from counts; existing entries keep their scores and ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from piecework._internal._core import Core, LearnedEntries, continue_training
from piecework._internal.progress import progress_bar
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress, Update
from piecework._internal.validation import check_size, check_tokenizer
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, CorpusError, TrainingError, TrainingWarning
from piecework.spec import (
    BPE,
    Char,
    SentencePiece,
    SentencePieceNormalizer,
    TokenizerSpec,
    Unigram,
    WordPiece,
)
from piecework.spec.portable import bpe_of
from piecework.train import Counts, Merges, SentencePieceTrainer, pipeline_of
from piecework.train.learners import check_learner
from piecework.train.relearn import counts_for
from piecework.train.segmenter import compiled_model, segment
from piecework.vocabulary.alphabet import BYTE_TOKENS, entry_scores, required_entries
from piecework.vocabulary.changed_vocabulary import ChangedVocabulary, IdMap, changed
from piecework.vocabulary.components import merges_of
from piecework.vocabulary.entries import NewEntry, with_entries, with_pieces_after

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

_BY_FREQUENCY = Merges("frequency")
_SPECIAL = 3  # unknown, bos and eos pieces of the learned model


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
    Words are segmented with the current vocabulary, and training continues from there:

    - BPE appends merges of the most frequent pair (a `Char` model becomes BPE).
    - WordPiece merges as `learner` says, a `train.Merges`, by likelihood by default. Without `ties`, the
      result does not depend on the order of the corpus.
    - Unigram adds the pieces that gain most in the likelihood of the text, with their log probabilities.
      Existing pieces keep their scores.

    Ids of entries do not change; new entries get the ids after the highest. Unigram and SentencePiece
    number entries by position, so the ids of added tokens after the last entry move up. Characters
    outside the vocabulary stay unknown.

    Warns with `TrainingWarning` if the corpus does not yield `n` entries. Raises `ArgumentError` for
    models of whole words and SentencePiece models of characters, and `CorpusError` for a corpus without
    words.
    """
    check_tokenizer(tokenizer)
    check_size("n", n)
    check_size("min_frequency", min_frequency)
    spec = tokenizer.spec
    counts = counts_for(spec, corpus, num_threads=num_threads, progress=progress)
    model = _extensible(spec)
    check_counts(spec, counts)
    merges = _merges_for(model, learner)
    with progress_bar("learning", progress) as update:
        if isinstance(model, Unigram):
            pieces, stopped = learn_pieces(spec, counts, n, min_frequency, max_token_length, update)
            _warn_if(stopped)
            larger = with_entries(spec, [NewEntry(text, score, ids) for text, score, ids in pieces])
            return changed(tokenizer, *larger)
        converted = isinstance(spec.model, SentencePiece)
        learned = continue_training(
            compiled_model(TokenizerSpec(model)) if converted else tokenizer._core,
            counts._raw,
            {
                "vocab_size": len(model.vocab) + n,
                "score": merges.score,
                "ties": merges.ties
                or ("lowest-ids" if merges.score == "frequency" else "smallest-strings"),
                "min_frequency": min_frequency,
                "max_token_length": max_token_length,
                "num_threads": thread_count(None),
            },
            continuing_subword_prefix=model.continuing_subword_prefix or "",
            barriers=[model.vocab[token] for token in _barriers(spec, model)],
            progress=update,
        )
    _warn_if(learned.stopped_early)
    spec = replace(spec, model=spec.model if converted else model)
    return changed(tokenizer, *_with_learned(spec, learned))


def _merges_for(model: BPE | WordPiece | Unigram, learner: Merges | None) -> Merges:
    """Return how to merge pairs; raise `ArgumentError` for a learner that the model does not support."""
    if learner is not None:
        check_learner(learner, (Merges,))
    if isinstance(model, WordPiece):
        return learner or Merges()
    fits = isinstance(model, BPE) and learner is not None and learner.score == "frequency"
    if learner is None or fits:
        return learner or _BY_FREQUENCY
    expected = f"{_BY_FREQUENCY} or none" if isinstance(model, BPE) else "none"
    problem = f"{learner} does not support a {type(model).__name__} model; it takes {expected}"
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
        return bpe_of(model, merges_of(model))
    if isinstance(model, SentencePiece) and model.kind == "unigram":
        return Unigram(tuple((piece.text, piece.score) for piece in model.pieces))
    if isinstance(model, Char):
        return BPE(model.vocab, (), unk_token=model.unk_token)
    if not isinstance(model, BPE | WordPiece | Unigram):
        found = type(model).__name__
        if isinstance(model, SentencePiece):
            found = f"a SentencePiece model of kind {model.kind!r}"
        message = f"{found} cannot be extended; BPE, Char, Unigram and WordPiece can"
        raise ArgumentError("model", message)
    return model


def check_counts(spec: TokenizerSpec, counts: Counts) -> None:
    """Raise unless the counts are words of the pipeline of a specification."""
    pipeline = pipeline_of(spec)
    if counts.pipeline is not None and counts.pipeline != pipeline:
        found = f"words of the pipeline {counts.pipeline}"
        raise ArgumentError("corpus", f"has {found}, and the tokenizer has the pipeline {pipeline}")
    if len(counts) == 0:
        raise CorpusError("corpus", "has no words; it needs text to learn from")


# ---- pieces of a Unigram model


def learn_pieces(
    spec: TokenizerSpec,
    counts: Counts,
    n: int,
    min_frequency: int,
    max_token_length: int | None,
    progress: Update | None,
) -> tuple[list[tuple[str, float, tuple[int, ...]]], str | None]:
    """Return at most `n` pieces with scores and the old ids of their texts, and why there are fewer.

    A Unigram model learned from the counts alone proposes pieces with their log probabilities. All of them
    join the current ones, and the words are segmented with both. The gain of a piece is its number of uses
    times the difference between its score and the best score of its text with the current pieces. The `n`
    pieces with the highest gain are kept; ties go to the piece that is first by code points.
    """
    if n == 0:
        return [], None
    old = compiled_model(spec)
    size = 2 * n + len({id for ids in segment(old, counts.words) for id in ids})
    proposed = _proposals(spec, counts, size, max_token_length, progress)
    gains = _gains(spec, old, counts, proposed, min_frequency)
    while len(gains) < n:
        size *= 2
        more = _proposals(spec, counts, size, max_token_length, progress)
        if len(more) <= len(proposed):
            break
        proposed, gains = more, _gains(spec, old, counts, more, min_frequency)
    best = sorted(gains)[:n]
    stopped = None if len(best) == n else f"{len(best)} pieces occur {min_frequency} times or more"
    return [(text, proposed[text], ids) for _, text, ids in best], stopped


def _gains(
    spec: TokenizerSpec,
    old: Core,
    counts: Counts,
    proposed: Mapping[str, float],
    min_frequency: int,
) -> list[tuple[float, str, tuple[int, ...]]]:
    """Return the negative gain, the text and the old ids of each proposed piece with a gain."""
    both = compiled_model(with_pieces_after(spec, proposed.items()))
    uses = Counter[int]()
    for ids, frequency in zip(segment(both, counts.words), counts.counts.tolist(), strict=True):
        for id in ids:
            uses[id] += frequency
    first, unknown = len(spec.model.vocab), _lowest_score(spec) - 10.0
    scores, gains = _scores_by_id(spec), []
    for id, (text, ids) in enumerate(
        zip(proposed, segment(old, list(proposed)), strict=True), first
    ):
        gain = proposed[text] - sum(scores.get(old_id, unknown) for old_id in ids)
        if uses[id] >= max(min_frequency, 1) and gain > 0:
            gains.append((-uses[id] * gain, text, tuple(ids)))
    return gains


def _proposals(
    spec: TokenizerSpec,
    counts: Counts,
    size: int,
    max_token_length: int | None,
    progress: Update | None,
) -> dict[str, float]:
    """Return pieces that a model of the counts has and the current model lacks, with their scores.

    Pieces with characters that the current model lacks are left out. No score is below the lowest current
    one, from which the score of unknown characters is derived.
    """
    known = {text for text in entry_scores(_scored(spec)) if len(text) == 1}
    present = spec.model.vocab.keys() | {token.content for token in spec.added_tokens}
    characters = {char for word in counts.words for char in word}
    normalizer = spec.normalizer
    trainer = SentencePieceTrainer(
        vocab_size=size + len(characters) + _SPECIAL,
        hard_vocab_limit=False,
        max_sentencepiece_length=max_token_length or SentencePieceTrainer.max_sentencepiece_length,
        treat_whitespace_as_suffix=isinstance(normalizer, SentencePieceNormalizer)
        and normalizer.treat_whitespace_as_suffix,
    )
    try:
        learned = trainer.learn(counts, progress)
    except TrainingError:
        return {}  # too few substrings for a model of their own
    lowest = _lowest_score(spec)
    return {
        piece.text: max(piece.score, lowest)
        for piece in learned.pieces
        if piece.type == "normal" and piece.text not in present and known.issuperset(piece.text)
    }


def _scored(spec: TokenizerSpec) -> Unigram | SentencePiece:
    assert isinstance(spec.model, Unigram | SentencePiece)
    return spec.model


def _scores_by_id(spec: TokenizerSpec) -> dict[int, float]:
    model = _scored(spec)
    vocab, unknown = model.vocab, model.unk_token
    return {vocab[text]: score for text, score in entry_scores(model).items() if text != unknown}


def _lowest_score(spec: TokenizerSpec) -> float:
    return min(entry_scores(_scored(spec)).values(), default=0.0)
