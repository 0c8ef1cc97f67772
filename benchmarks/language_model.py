"""A language model as judge of vocabularies: bits per byte of held-out novels under each, run by run.

    build/torch-venv/bin/python benchmarks/language_model.py --minutes 60

A small transformer is trained under each vocabulary: once on equal text, and once with equal compute. The two
share the steps before the learning rate of the shorter one falls, and take some five minutes on one core; as
many vocabularies as there are cores are judged at once. Each run appends a line to the record. The next call
continues with the runs that the record lacks; runs that were interrupted start again.
`language_model.toml` has the matrix and the recipe, `novels.py` writes the texts, and
`language_model_report.py` prints the tables.

Bits per byte are those of lowercase words with a space or newline after each, the same bytes for every
vocabulary. Words with unknown characters cost 8 bits more for each of their bytes. The record also has the
bits of an n-gram model of the same ids (`judging/kneser_ney.py`).

Needs torch and sentencepiece: `make build/torch-venv/.tools`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from datetime import date
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "python"))

import numpy as np

import piecework as pw
from corpora import built_corpus, lexicon_path
from judging.kneser_ney import KneserNey
from judging.lines import LineVocabulary
from judging.matrix import (
    RECORD,
    Run,
    append_record,
    missing,
    read_definition,
    read_record,
    recipe_checksum,
    run_of,
    together,
)
from judging.recipe import Recipe
from judging.text import Integers, Text, TextTooShortError, read_text
from judging.vocabularies import Vocabulary, VocabularyTooSmallError, learn
from machine import machine
from small_corpora import small_corpus

Records = list[dict[str, Any]]
# Runs are started if this many times the seconds of the longest ones are left.
MARGIN = 1.1
SMALL, SMALL_LINES = "small-novels", 100


def main() -> None:
    """Make the runs that the record lacks, as many as the time allows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    amount = parser.add_mutually_exclusive_group(required=True)
    amount.add_argument("--minutes", type=float, help="start no run that would end later")
    amount.add_argument(
        "--next", action="store_true", help="make the next runs: those of one vocabulary"
    )
    amount.add_argument("--list", action="store_true", help="list the runs that are missing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="vocabularies at once")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--smoke", action="store_true", help="runs of seconds, on small text")
    options = parser.parse_args()
    definition = read_definition(options.smoke)
    try:
        paths = {language: corpus(name) for language, name in definition["corpora"].items()}
        lexicons = {language: lexicon(language, options.smoke) for language in paths}
        checksums = {language: checksum(path) for language, path in paths.items()}
        todo = missing(definition, read_record(options.record), checksums)
        if options.list:
            print(*todo, sep="\n")
            return
        make_runs(todo, definition, paths, lexicons, options)
    except (TextTooShortError, VocabularyTooSmallError, MissingCorpusError) as error:
        sys.exit(f"language_model.py: {error}")


class MissingCorpusError(Exception):
    """A text is not there; the message says how it is made."""


def corpus(name: str) -> Path:
    """Return the path of a corpus."""
    if name == SMALL:
        return small_novels(Path(own_folder().name))
    if path := built_corpus(name):
        return path
    raise MissingCorpusError(f"the corpus {name!r} is missing: write it with benchmarks/novels.py")


def lexicon(language: str, is_small: bool) -> Path:
    """Return the path of the morphemes of a language; for small text, of every word in two halves."""
    path = lexicon_path(language)
    if not is_small:
        if path.is_file():
            return path
        raise MissingCorpusError(
            f"{path} is missing: write it with benchmarks/boundaries.py --write"
        )
    path = Path(own_folder().name) / path.name
    words = sorted(set(re.findall("[a-z]{2,}", corpus(SMALL).read_text(encoding="utf-8").lower())))
    halves = ((word, word[: len(word) // 2], word[len(word) // 2 :]) for word in words)
    path.write_text("".join(f"{word}\t{one} {two}\n" for word, one, two in halves), "utf-8")
    return path


@cache
def own_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is deleted when the process ends."""
    return tempfile.TemporaryDirectory(prefix="piecework-")


def small_novels(folder: Path) -> Path:
    """Write text that every machine can make, as if it were novels; return its path."""
    lines = small_corpus("english", folder).read_text(encoding="utf-8").split("\n")
    path = folder / f"{SMALL}.txt"
    starts = range(0, len(lines), SMALL_LINES)
    novels = ("\n".join(lines[start : start + SMALL_LINES]) for start in starts)
    path.write_text("\n\n".join(novels), encoding="utf-8")
    return path


@cache
def checksum(path: Path) -> str:
    """Return the checksum of a text, as records have it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def make_runs(
    todo: list[Run],
    definition: Mapping[str, Any],
    paths: Mapping[str, Path],
    lexicons: Mapping[str, Path],
    options: argparse.Namespace,
) -> None:
    """Make runs until the time is over, and print a line for each."""
    start, longest, made = time.monotonic(), 0.0, 0
    rest, waiting = together(todo), set[Future[Records]]()
    jobs = 1 if options.next else options.jobs
    threads = max((os.cpu_count() or 1) // jobs, 1)

    def may_start() -> bool:
        if options.next:
            return not made and not waiting
        needed = time.monotonic() - start + MARGIN * longest
        return needed < 60 * float(options.minutes)

    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        while True:
            while len(waiting) < jobs and may_start() and (runs := next(rest, None)):
                language = runs[0].language
                files = paths[language], lexicons[language]
                waiting.add(pool.submit(judged, runs, *files, definition, threads))
            if not waiting:
                break
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for result in [record for future in done for record in future.result()]:
                append_record(options.record, result)
                made += 1
                print(told(result), flush=True)
                longest = max(longest, result["seconds"])
    print(f"{made} runs made, {len(todo) - made} missing")


def told(result: Mapping[str, Any]) -> str:
    """Return the line that is printed for a record."""
    run = run_of(result)
    return (
        f"{run.language} {run.size} {run.budget} {run.learner} seed {run.seed}: "
        f"{result['bits_per_byte']:.4f} bits a byte, {result['seconds']:.0f} s with its other budgets"
    )


@cache
def words_of(path: Path, training_megabytes: float, held_out_kilobytes: float) -> Text:
    """Return the words of a text, read once."""
    text = path.read_text(encoding="utf-8")
    return read_text(text, int(training_megabytes * 1e6), int(held_out_kilobytes * 1e3))


def judged(
    runs: list[Run], path: Path, lexicon: Path, definition: Mapping[str, Any], threads: int
) -> Records:
    """Learn the vocabulary of runs that differ by their budget, train their models, return the records."""
    import torch

    from judging.transformer import bits, trained

    torch.set_num_threads(threads)
    start = time.monotonic()
    recipe = Recipe(**definition["recipe"])
    text = replace(words_of(path, **definition["text"]), lexicon=lexicon)
    vocabulary = learn(runs[0].learner, text, runs[0].size)
    held_out = vocabulary.stream(np.concatenate([[text.line_end], text.held_out]))
    unknown_bits = float(vocabulary.extra_bits[text.held_out].sum())
    size = int(text.word_bytes[text.held_out].sum())
    streams = [(*training_ids(run, text, vocabulary, recipe), run) for run in runs]
    streams.sort(key=lambda stream: len(stream[0]))
    lengths = [len(ids) for ids, _, _ in streams]
    models = trained(streams[-1][0], lengths, vocabulary.size, recipe, runs[0].seed)
    records = []
    for model, (ids, used, run) in zip(models, streams, strict=True):
        found = bits(model, held_out, recipe).sum() + unknown_bits
        n_grams = KneserNey.learn(ids, vocabulary.size).bits(held_out).sum() + unknown_bits
        records.append(
            {
                **vars(run),
                "bits_per_byte": found / size,
                "kneser_ney": n_grams / size,
                "unknown_bits_per_byte": unknown_bits / size,
                "held_out_bytes": size,
                "held_out_ids": len(held_out) - 1,
                "training_ids": len(ids),
                "training_bytes": used,
                "block_parameters": recipe.block_parameters,
                "embedding_parameters": vocabulary.size * recipe.width,
                "recipe": recipe_checksum(definition),
                "text": checksum(path),
                "date": date.today().isoformat(),
                "versions": {"piecework": pw.__version__, "torch": torch.__version__},
                "threads": threads,
                "processor": machine()["processor"],
            }
        )
    seconds = round(time.monotonic() - start, 1)
    return [{**record, "seconds": seconds} for record in records]


def training_ids(
    run: Run, text: Text, vocabulary: Vocabulary | LineVocabulary, recipe: Recipe
) -> tuple[Integers, int]:
    """Return the ids of documents in the order of a seed, as many as the budget allows, and their bytes.

    Raises `TextTooShortError` if no document would be read once only.
    """
    order, _ = text.documents(run.seed)
    order_bytes = np.cumsum(text.word_bytes[order])
    if run.budget == "text":
        spent, allowed, setting = order_bytes, int(recipe.text_megabytes * 1e6), "text_megabytes"
    else:
        spent, allowed = (
            np.cumsum(vocabulary.lengths(order)),
            recipe.ids_of_compute(vocabulary.size),
        )
        setting = "teraflop"
    if spent[-1] < allowed:
        used = f"{order_bytes[-1] / 1e6:.1f} MB, which are {spent[-1]:,} of the {allowed:,}"
        unit = "bytes" if run.budget == "text" else "ids"
        raise TextTooShortError(
            f"{run.learner}, {run.language}, {run.size} entries: documents have {used} {unit} of {setting}; "
            f"set {setting} lower or training_megabytes higher, with as much text"
        )
    words = int(np.searchsorted(spent, allowed)) + 1
    return vocabulary.stream(order[:words]), int(order_bytes[words - 1])


if __name__ == "__main__":
    # Threads of torch that wait must not compute: beside other programs, runs took seven times as long.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # The processes that are started keep their memory: to ask for it again takes an eighth of the time.
    os.environ.setdefault("MALLOC_MMAP_MAX_", "0")
    os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(1 << 32))
    main()
