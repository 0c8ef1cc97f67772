"""`piecework train`: corpora or word counts in, a tokenizer file out."""

from __future__ import annotations

from typing import Any, Literal

import click

import piecework as pw
from piecework.cli.notes import note, progress
from piecework.cli.options import (
    corpus_options,
    counts_by,
    given_options,
    kind_of_model,
    training_options,
)
from piecework.cli.outputs import check_output, save_tokenizer
from piecework.cli.parameters import (
    InputFile,
    TokenizerOutput,
    command,
    is_quiet,
    output_option,
    quiet_option,
)
from piecework.cli.sentencepiece_options import sentencepiece_options

_EXAMPLE = """\b
Example:
  piecework train corpus.txt more.jsonl.gz --vocab-size 8000 -o tokenizer.json
  piecework count corpus/ -o counts.parquet
  piecework train counts.parquet --score frequency -o vocab.txt
  piecework train corpus.txt --type bpe --byte-fallback --vocab-size 32000 -o spm.model
  piecework train corpus.txt --preset llama -o llama.model
"""


@command(epilog=_EXAMPLE)
@click.argument("corpus", nargs=-1, required=True, type=InputFile())
@corpus_options
@training_options
@sentencepiece_options
@output_option(
    "tokenizer.json, *.model, *.txt or another format by suffix, or - for stdout.",
    type=TokenizerOutput(),
    required=True,
)
@quiet_option
def train(
    corpus: tuple[str, ...],
    model: str,
    preset: str | None,
    field: str | None,
    errors: Literal["replace", "strict"],
    num_threads: int | None,
    path: str,
    **settings: Any,
) -> None:
    """Train a tokenizer on CORPUS.

    CORPUS: text files, .jsonl files, both also as .gz or .zst, directories of them, - for stdin, or
    counts that `piecework count` made (.parquet, .tsv).
    """
    given = given_options(settings)
    plan = pw.train.Plan.of(None, kind_of_model(model, given), preset, given)
    check_output(path)
    _check_portable(plan, path)
    if plan.tests:
        # Sentences are kept in the model, which counts no longer have.
        learned = pw.Tokenizer.train(
            corpus,
            model=kind_of_model(model, given),
            preset=preset,
            field=field,
            errors=errors,
            num_threads=num_threads,
            show_progress=not is_quiet(),
            **given,
        )
        source = "sentences"
    else:
        counts = counts_by(corpus, plan.pipeline, field, errors, num_threads, plan.sentences)
        learned = _learned(counts, plan, num_threads)
        source = f"{len(counts):,} distinct words"
    save_tokenizer(learned, path)
    entries = f"{learned.get_vocab_size():,} entries from {source}"
    note(f"learned {entries}" + ("" if path == "-" else f", saved as {path}"))


def _check_portable(plan: pw.train.Plan, path: str) -> None:
    """Refuse settings that no `tokenizer.json` can hold before the work, not after it."""
    trainer = plan.trainer
    if not (path == "-" or path.endswith(".json")):
        return
    if not isinstance(trainer, pw.train.SentencePieceTrainer):
        return
    # What is learned has this normalizer, this kind of model and these symbols, whatever the corpus.
    pieces = [pw.spec.ScoredPiece("<unk>", 0.0, "unknown"), pw.spec.ScoredPiece("u", -1.0)]
    symbols = trainer.user_defined_symbols
    pieces += [pw.spec.ScoredPiece(symbol, 0.0, "user_defined") for symbol in symbols]
    model = pw.spec.SentencePiece(tuple(pieces), kind=trainer.model_type)
    pw.TokenizerSpec(model, plan.pipeline.normalizer).to_json()


def _learned(counts: pw.Counts, plan: pw.train.Plan, num_threads: int | None) -> pw.Tokenizer:
    with progress("learning") as update:
        spec = pw.train.learn_spec(
            counts, plan.trainer, plan.preset, progress=update, num_threads=num_threads
        )
    return pw.Tokenizer.from_spec(spec)
