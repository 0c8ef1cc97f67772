"""Print the steps of training: counts, alphabet, splits, pair scores and merges, or removals.

The reference implementation computes the first pair scores and counts. The trainer reports the merges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from fractions import Fraction

import click

import piecework as pw
from piecework.reference import bpe_training as bpe
from piecework.reference import wordpiece_training as reference


def explain_training(counts: pw.Counts, trainer: pw.train.Trainer, steps: int) -> None:
    """Print the steps of training on counts, at most `steps` lines of each list."""
    _print_list("word counts", [f"{word}  {count}" for word, count in counts], steps)
    if isinstance(trainer, pw.ByteBPETrainer):
        trainer = trainer.by_characters()
    if isinstance(trainer, (pw.WordPieceTrainer, pw.BPETrainer)):
        if isinstance(trainer, pw.BPETrainer):
            learned = trainer.learn_vocabulary(counts)
            _print_bpe_start(list(counts), trainer, steps)
            _print_list("merges", _merge_lines(learned), steps)
        else:
            learned = trainer.learn_removals(counts)
            _print_wordpiece_start(list(counts), trainer, steps)
            if trainer.learner == "pruning":
                _print_list("removals", _removal_lines(learned), steps)
            elif trainer.learner == "merges":
                _print_list("merges", _scored_merge_lines(learned), steps)
        if learned.stopped_early:
            click.echo(f"stopped early: {learned.stopped_early}")
        entries: Sequence[str] = learned.entries
    elif isinstance(trainer, pw.UnigramTrainer):
        entries = _explain_unigram(counts, trainer, steps)
    elif isinstance(trainer, pw.SentencePieceTrainer):
        entries = _explain_sentencepiece(counts, trainer, steps)
    else:
        entries = list(trainer.learn(counts).vocab)
    click.echo(f"vocabulary ({len(entries):,})")
    click.echo("  " + " ".join(entries))


def _explain_unigram(counts: pw.Counts, trainer: pw.UnigramTrainer, steps: int) -> list[str]:
    """Print the EM estimates and the pieces by score; return all entries."""
    learned = trainer.learn_pieces(counts)
    _print_list("estimates", _estimate_lines(learned), steps)
    reserved = {*trainer.special_tokens, *trainer.user_defined_symbols}
    scored = [
        f"{piece}  {_score(score)}" for piece, score in learned.pieces if piece not in reserved
    ]
    _print_list("scores", scored, steps)
    return [piece for piece, _ in learned.pieces]


def _explain_sentencepiece(
    counts: pw.Counts, trainer: pw.SentencePieceTrainer, steps: int
) -> list[str]:
    """Print the EM estimates (Unigram) and the pieces by score; return all pieces in order of ids."""
    learned = trainer.learn_pieces(counts)
    if learned.steps:
        _print_list("estimates", _estimate_lines(learned), steps)
    scored = [f"{piece}  {_score(score)}" for piece, score in learned.pieces]
    _print_list("scores", scored, steps)
    return [piece.text for piece in trainer.learn(counts).pieces]


def _print_wordpiece_start(
    words: list[tuple[str, int]], trainer: pw.train.WordPieceTrainer, steps: int
) -> None:
    """Print the state before the first WordPiece merge."""
    known = {field.name for field in fields(reference.Settings)}
    given = {name: value for name, value in asdict(trainer).items() if name in known}
    settings = reference.Settings(**given | {"score": trainer.pair_score})
    alphabet = reference.alphabet_entries(words, settings)
    click.echo(f"alphabet ({len(alphabet):,})")
    click.echo("  " + " ".join(alphabet))
    if trainer.learner == "merges":
        splits = reference.initial_splits(words, settings)
        _print_list("splits", [f"{' '.join(entries)}  {count}" for entries, count in splits], steps)
        merges = reference.candidate_merges(splits, settings)
        title = f"pair scores ({trainer.pair_score})"
        _print_list(
            title, [f"{m.left} {m.right}  {_score(m.score)}  {m.pair_count}" for m in merges], steps
        )


def _print_bpe_start(words: list[tuple[str, int]], trainer: pw.BPETrainer, steps: int) -> None:
    """Print the state before the first BPE merge."""
    known = {field.name for field in fields(bpe.Settings)}
    given = {name: value for name, value in asdict(trainer).items() if name in known}
    settings = bpe.Settings(**given)
    alphabet = bpe.alphabet(words, settings)
    click.echo(f"alphabet ({len(alphabet):,})")
    click.echo("  " + " ".join(sorted(alphabet)))
    splits = [(bpe.split(word, alphabet, settings), count) for word, count in words]
    _print_list("splits", [f"{' '.join(entries)}  {count}" for entries, count in splits], steps)
    pairs = bpe.count_pairs(splits, settings).most_common()
    _print_list(
        "pair counts", [f"{left} {right}  {count}" for (left, right), count in pairs], steps
    )


def _estimate_lines(learned: pw.train.LearnedPieces) -> list[str]:
    return [
        f"{step.pieces:,} pieces  log-likelihood {step.log_likelihood:.6g}"
        for step in learned.steps
    ]


def _merge_lines(learned: pw.train.LearnedVocabulary) -> list[str]:
    return [f"{m.left} {m.right} -> {m.token}  {m.pair_count}" for m in learned.merges]


def _scored_merge_lines(learned: pw.train.LearnedVocabulary) -> list[str]:
    return [
        f"{m.left} {m.right} -> {m.token}  {_score(m.score)}  {m.pair_count}"
        for m in learned.merges
    ]


def _removal_lines(learned: pw.train.LearnedVocabulary) -> list[str]:
    return [
        f"{removal.token}  {_score(removal.loss)}"
        + (f"  for {removal.put_back}" if removal.put_back is not None else "")
        for removal in learned.removals
    ]


def _score(score: Fraction | float) -> str:
    return f"{float(score):.6g}"


def _print_list(title: str, lines: list[str], limit: int) -> None:
    click.echo(f"{title} ({len(lines):,})")
    for line in lines[:limit]:
        click.echo(f"  {line}")
    if len(lines) > limit:
        click.echo(f"  ... and {len(lines) - limit:,} more")
