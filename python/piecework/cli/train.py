"""`piecework train`: train a tokenizer on a corpus or on word counts."""

from __future__ import annotations

from typing import Any, Literal

import click

import piecework as pw
from piecework.cli.engines import count_on_engine, engine_options
from piecework.cli.notes import note, progress
from piecework.cli.options import (
    corpus_options,
    count_or_load,
    given_options,
    requested_model,
    training_options,
)
from piecework.cli.outputs import check_tokenizer_output, save_tokenizer
from piecework.cli.parameters import (
    InputFile,
    TokenizerOutput,
    command,
    is_quiet,
    output_option,
    quiet_option,
)
from piecework.cli.sentencepiece_options import sentencepiece_options
from piecework.io.saving import is_folder_path

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
@engine_options
@output_option(
    "File to write: .json, .model, .txt or another format by suffix; a name that ends in / is a folder for "
    "transformers; - writes a tokenizer.json to stdout.",
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
    engine: str | None,
    address: str | None,
    master: str | None,
    path: str,
    **settings: Any,
) -> None:
    """Train a tokenizer on CORPUS.

    CORPUS: text files or JSON lines (.jsonl), optionally compressed (.gz, .zst), directories of these, or -
    for stdin.
    Counts files of `piecework count` (.parquet, .tsv) work too.
    """
    given = given_options(settings)
    plan = pw.train.Plan.of(None, requested_model(model, given), preset, given)
    check_tokenizer_output(path)
    _check_portable(plan, path)
    on_engine = count_on_engine(corpus, plan, field, errors, engine, address, master)
    if on_engine is not None:
        learned = _train(on_engine, plan, num_threads)
        source = f"{len(on_engine):,} distinct words"
    elif plan.tests:
        # The model stores sentences for self-tests, and counts have no sentences.
        learned = pw.Tokenizer.train(
            corpus,
            model=requested_model(model, given),
            preset=preset,
            field=field,
            errors=errors,
            num_threads=num_threads,
            show_progress=not is_quiet(),
            **given,
        )
        source = "sentences"
    else:
        counts = count_or_load(corpus, plan.pipeline, field, errors, num_threads, plan.sentences)
        learned = _train(counts, plan, num_threads)
        source = f"{len(counts):,} distinct words"
    save_tokenizer(learned, path)
    entries = f"{learned.get_vocab_size():,} entries from {source}"
    note(f"trained {entries}" + ("" if path == "-" else f", saved as {path}"))


def _check_portable(plan: pw.train.Plan, path: str) -> None:
    """Raise now for settings that a `tokenizer.json` cannot represent, before the training."""
    trainer = plan.trainer
    if not (path == "-" or path.endswith(".json") or is_folder_path(path)):
        return
    if not isinstance(trainer, pw.train.SentencePieceTrainer):
        return
    # The trained model will have this normalizer, this model type and these symbols.
    pieces = [pw.spec.ScoredPiece("<unk>", 0.0, "unknown"), pw.spec.ScoredPiece("u", -1.0)]
    symbols = trainer.user_defined_symbols
    pieces += [pw.spec.ScoredPiece(symbol, 0.0, "user_defined") for symbol in symbols]
    model = pw.spec.SentencePiece(tuple(pieces), kind=trainer.model_type)
    pw.TokenizerSpec(model, plan.pipeline.normalizer).to_json()


def _train(counts: pw.Counts, plan: pw.train.Plan, num_threads: int | None) -> pw.Tokenizer:
    with progress("learning") as update:
        spec = pw.train.learn_spec(
            counts, plan.trainer, plan.preset, progress=update, num_threads=num_threads
        )
    return pw.Tokenizer.from_spec(spec)
