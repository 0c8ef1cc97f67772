"""What `piecework explain --training` prints: counts, alphabet, splits, pair scores, joins.

The first pair scores and counts come from the reference, which says what they are; the joins and
merges come from the learner itself.
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
    """Print the steps of learning from counts, at most `steps` lines of each kind."""
    _say("word counts", [f"{word}  {count}" for word, count in counts], steps)
    if isinstance(trainer, pw.ByteBPETrainer):
        trainer = trainer.by_characters()
    if isinstance(trainer, (pw.WordPieceTrainer, pw.BPETrainer)):
        learned = trainer.learn_vocabulary(counts)
        if isinstance(trainer, pw.BPETrainer):
            _explain_bpe_start(list(counts), trainer, steps)
            _say("merges", _merge_lines(learned), steps)
        else:
            _explain_start(list(counts), trainer, steps)
            _say("joins", _join_lines(learned), steps)
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
    """Print the estimates and the best pieces; return all entries."""
    learned = trainer.learn_pieces(counts)
    _say("estimates", _estimate_lines(learned), steps)
    reserved = {*trainer.special_tokens, *trainer.user_defined_symbols}
    scored = [
        f"{piece}  {_score(score)}" for piece, score in learned.pieces if piece not in reserved
    ]
    _say("scores", scored, steps)
    return [piece for piece, _ in learned.pieces]


def _explain_sentencepiece(
    counts: pw.Counts, trainer: pw.SentencePieceTrainer, steps: int
) -> list[str]:
    """Print the estimates of Unigram and the best pieces; return all pieces in the order of ids."""
    learned = trainer.learn_pieces(counts)
    if learned.steps:
        _say("estimates", _estimate_lines(learned), steps)
    scored = [f"{piece}  {_score(score)}" for piece, score in learned.pieces]
    _say("scores", scored, steps)
    return [piece.text for piece in trainer.learn(counts).pieces]


def _explain_start(
    words: list[tuple[str, int]], trainer: pw.train.WordPieceTrainer, steps: int
) -> None:
    """Print the state before the first join."""
    known = {field.name for field in fields(reference.Settings)}
    given = {name: value for name, value in asdict(trainer).items() if name in known}
    settings = reference.Settings(**given)
    alphabet = reference.alphabet_entries(words, settings)
    click.echo(f"alphabet ({len(alphabet):,})")
    click.echo("  " + " ".join(alphabet))
    splits = reference.initial_splits(words, settings)
    _say("splits", [f"{' '.join(entries)}  {count}" for entries, count in splits], steps)
    if trainer.score != "top-down":
        joins = reference.candidate_joins(splits, settings)
        title = f"pair scores ({trainer.score})"
        _say(
            title, [f"{j.left} {j.right}  {_score(j.score)}  {j.pair_count}" for j in joins], steps
        )


def _explain_bpe_start(words: list[tuple[str, int]], trainer: pw.BPETrainer, steps: int) -> None:
    """Print the state before the first merge."""
    known = {field.name for field in fields(bpe.Settings)}
    given = {name: value for name, value in asdict(trainer).items() if name in known}
    settings = bpe.Settings(**given)
    alphabet = bpe.alphabet(words, settings)
    click.echo(f"alphabet ({len(alphabet):,})")
    click.echo("  " + " ".join(sorted(alphabet)))
    splits = [(bpe.split(word, alphabet, settings), count) for word, count in words]
    _say("splits", [f"{' '.join(entries)}  {count}" for entries, count in splits], steps)
    pairs = bpe.count_pairs(splits, settings).most_common()
    _say("pair counts", [f"{left} {right}  {count}" for (left, right), count in pairs], steps)


def _estimate_lines(learned: pw.train.LearnedPieces) -> list[str]:
    return [
        f"{step.pieces:,} pieces  log-likelihood {step.log_likelihood:.6g}"
        for step in learned.steps
    ]


def _merge_lines(learned: pw.train.LearnedVocabulary) -> list[str]:
    return [f"{m.left} {m.right} -> {m.token}  {m.pair_count}" for m in learned.merges]


def _join_lines(learned: pw.train.LearnedVocabulary) -> list[str]:
    return [
        f"{m.left} {m.right} -> {m.token}  {_score(m.score)}  {m.pair_count}"
        for m in learned.merges
    ]


def _score(score: Fraction | float) -> str:
    return f"{float(score):.6g}"


def _say(title: str, lines: list[str], limit: int) -> None:
    click.echo(f"{title} ({len(lines):,})")
    for line in lines[:limit]:
        click.echo(f"  {line}")
    if len(lines) > limit:
        click.echo(f"  ... and {len(lines) - limit:,} more")
