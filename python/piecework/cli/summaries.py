"""Summaries of `train`, `count` and `encode`: figures, what the normalizer changes, the next command."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

import piecework as pw
from piecework._internal.validation import counted
from piecework._internal.warn import warn
from piecework.cli.outputs import note
from piecework.cli.parameters import in_output
from piecework.cli.reading import Reading, in_one_thread
from piecework.corpus.formats import PLAIN_TEXT, format_of
from piecework.corpus.rows import DOCUMENTS, ReadOptions

if TYPE_CHECKING:
    from piecework.analysis.round_trip import RoundTrip
    from piecework.train.plan import Plan

_PHRASES = {"case": "lowercases", "accents": "removes accents", "width": "unifies widths"}
_KEEPS_CASE_AND_ACCENTS = {"bert-uncased": "bert-cased", "albert": "t5", "xlnet": "t5"}
_MANY_WORDS = 0.25
_BYTES_OF_A_RATE = 1_000_000


summary_option = in_output(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the summary as JSON on stdout, or on stderr if the output goes to stdout.",
)


def summarize(
    lines: Sequence[str | None], data: dict[str, Any], *, as_json: bool, err: bool
) -> None:
    """Print the lines on stderr; or the data as one line of JSON, on stderr if `err`."""
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False), err=err)
        return
    for line in filter(None, lines):
        note(line)


class Timing:
    """The time since the start of a command, and the bytes of the files that it reads.

    `of_text` says whether the files contain texts, so that bytes per second measure speed.
    """

    def __init__(self, corpus: Sequence[str], *, of_text: bool = True) -> None:
        self._begun = monotonic()
        self._ended: float | None = None
        self._of_text = of_text
        files = [] if "-" in corpus else pw.corpus.corpus_files(list(corpus))
        self._bytes = sum(map(os.path.getsize, files)) if all(map(os.path.isfile, files)) else 0

    def stop(self) -> None:
        """End the time: what follows is not part of the work."""
        self._ended = monotonic()

    @property
    def _seconds(self) -> float:
        return (self._ended or monotonic()) - self._begun

    def figures(self) -> dict[str, float | None]:
        """Return the seconds, and the bytes as stored, None if they are unknown."""
        return {"seconds": round(self._seconds, 3), "bytes": self._bytes or None}

    def __str__(self) -> str:
        seconds = self._seconds
        shows_rate = self._of_text and self._bytes >= _BYTES_OF_A_RATE and seconds
        rate = f" ({self._bytes / seconds / 1e6:.1f} MB/s)" if shows_rate else ""
        return f"in {duration(seconds)}{rate}"


def duration(seconds: float) -> str:
    """Return a time as text.

    >>> duration(0.123), duration(12.34), duration(200)
    ('0.12 s', '12.3 s', '3 min 20 s')
    """
    if seconds < 60:
        return f"{seconds:.{1 if seconds >= 1 else 2}f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


# ---- the corpus and its preset


def documents_text(
    count: int, corpus: Sequence[str], document: str, options: ReadOptions | None = None
) -> str:
    """Return a number of documents, and what a document of the files was.

    >>> documents_text(2, ["a.txt"], "blank-line")
    '2 documents (separated by blank lines)'
    >>> documents_text(3, ["a.txt", "b.jsonl"], "line")
    '3 documents (a line or a record each)'
    """
    what = DOCUMENTS[document]
    if document == "line":
        files = pw.corpus.corpus_files(list(corpus))
        are_lines = {format_of(path, options) is PLAIN_TEXT for path in files}
        names = {(True,): "a line", (False,): "a record", (False, True): "a line or a record"}
        what = f"{names[tuple(sorted(are_lines))]} each"
    return f"{counted(count, 'document')} ({what})"


def first_texts(corpus: Sequence[str], plan: Plan, reading: Reading) -> list[str]:
    """Return the first texts of a corpus; none of counts, pipes and URLs."""
    from piecework.analysis.corpus_texts import sample_of_files
    from piecework.cli.options import are_counts_files

    if "-" in corpus or plan.sentences.with_counts or are_counts_files(corpus, reading["field"]):
        return []
    with warnings.catch_warnings():
        # Counting reads the same errors again, and reports them.
        warnings.simplefilter("ignore", pw.errors.CorpusWarning)
        return sample_of_files(corpus, **in_one_thread(reading))


def normalized(plan: Plan, texts: Sequence[str]) -> RoundTrip:
    """Return what the normalizer of a plan changes in texts, before there is a tokenizer."""
    return pw.analysis.measure_round_trip(_with_normalizer(plan.pipeline.normalizer), texts)


def preset_hint(plan: Plan, found: RoundTrip) -> str | None:
    """Return the line that names another preset, if this one changes case or accents of many words."""
    from piecework.analysis.readable import percent

    preset = "" if plan.preset is None else plan.preset.name
    changes = found.case_words or found.accent_words
    if not changes or found.changed_share < _MANY_WORDS or preset not in _KEEPS_CASE_AND_ACCENTS:
        return None
    share = f"{percent(found.changed_share)} of the words of this corpus"
    other = _KEEPS_CASE_AND_ACCENTS[preset]
    return f"preset {preset} changes {share}; --preset {other} keeps case and accents"


def pipeline_text(plan: Plan, found: RoundTrip | None) -> str:
    """Return the model, the preset, and what it changes in the texts of a corpus."""
    preset = "" if plan.preset is None else f" with preset {plan.preset.name}"
    return f"{model_name(plan)}{preset} {normalization_text(plan.pipeline.normalizer, found)}"


def normalization_text(
    normalizer: pw.spec.Normalizer | None, found: RoundTrip | None = None
) -> str:
    """Return what a normalizer does to case, accents and width, and how many words it changes.

    >>> normalization_text(pw.spec.Lowercase()), normalization_text(None)
    ('lowercases', 'keeps case and accents')
    """
    from piecework.analysis.readable import percent

    changes = changes_of(normalizer)
    text = " and ".join(_PHRASES[change] for change in changes)
    if not {"case", "accents"} & set(changes):
        text = " and ".join(filter(None, ["keeps case and accents", text]))
    if found is None or not found.changed_words:
        return text
    [(word, changed), *_] = found.changed
    return f"{text}: {percent(found.changed_share)} of the words, such as {word} -> {changed}"


def decoding_text(plan: Plan) -> str | None:
    """Return what decoding does to words that do not show where they begin, None for other words."""
    kinds = {"bpe": "; --end-of-word-suffix '</w>' marks where words end", "unigram": ""}
    if plan.trainer.kind not in kinds or plan.smallest_spec().decoder is not None:
        return None
    words = "" if plan.preset is None else f": words of preset {plan.preset.name} have no spaces"
    return f"decoding puts a space between all tokens{words}{kinds[plan.trainer.kind]}"


def changes_of(normalizer: pw.spec.Normalizer | None) -> tuple[str, ...]:
    """Return which of "case", "accents" and "width" a normalizer changes."""
    found = pw.analysis.measure_round_trip(_with_normalizer(normalizer), ["À", "B", "Ａ"])
    return tuple(change for change in found.changes if change in _PHRASES)


def _with_normalizer(normalizer: pw.spec.Normalizer | None) -> pw.Tokenizer:
    """Return a tokenizer of unknown characters, in which ▁ is a space."""
    model, decoder = pw.spec.Char({"[UNK]": 0}), pw.spec.MetaspaceDecoder()
    return pw.Tokenizer(model, normalizer=normalizer, decoder=decoder)


def model_name(plan: Plan) -> str:
    """Return the kind of model that a plan trains."""
    from piecework.train.trainer import traits_of

    traits = traits_of(plan.trainer)
    return f"{traits.title} {traits.detail}" if traits.has_own_pipeline else plan.trainer.kind


def warn_of_loss(found: RoundTrip, path: str) -> None:
    """Warn if a tokenizer loses characters of the texts that it was trained on."""
    if not found.is_lossless:
        name = "the tokenizer" if path == "-" else path
        advice = "--model byte-bpe loses none, nor does --byte-fallback"
        message = f"{name} loses text: {found.lost_text}; {advice}"
        warn(message, pw.errors.TrainingWarning)


# ---- a tokenizer


def tokenizer_text(tokenizer: pw.Tokenizer) -> str:
    """Return the kind of a tokenizer, its size, and what it does to case and accents.

    >>> tokenizer_text(pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})))
    'character tokenizer with 2 entries keeps case and accents'
    """
    from piecework.analysis.entry_bytes import family

    spec = tokenizer.spec
    kind = f"{family(spec)} tokenizer with {tokenizer.get_vocab_size():,} entries"
    return f"{kind} {normalization_text(spec.normalizer)}"


def tokenizer_data(tokenizer: pw.Tokenizer) -> dict[str, Any]:
    """Return the content of `tokenizer_text` as data."""
    from piecework.analysis.entry_bytes import family

    spec = tokenizer.spec
    return {
        "model": family(spec),
        "changes": list(changes_of(spec.normalizer)),
        "vocab_size": tokenizer.get_vocab_size(),
    }


def special_text(count: int, tokenizer: pw.Tokenizer) -> str | None:
    """Return the line about special tokens that texts had, None if they had none."""
    if not count:
        return None
    special = [token.content for token in tokenizer.added_tokens if token.special]
    name = f" {special[0]}" if len(special) == 1 else ""
    found = f"{count:,} special {'token' if count == 1 else 'tokens'}{name} in the text became ids"
    return f"{found}; --no-parse-special encodes them as text"
