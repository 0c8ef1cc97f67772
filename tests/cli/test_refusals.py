"""Every option that the training commands refuse: before the corpus is read, in a dry run too."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

import piecework as pw
from piecework._internal import setting_fields as kinds
from piecework._internal.setting_fields import Setting, settings_of
from piecework.cli.train import train
from piecework.cli.train_sentencepiece import train_sentencepiece
from piecework.cli.training_options import TrainingCommand
from piecework.train.trainers import TRAINERS

Cli = Callable[..., tuple[int, str, str]]

COMMANDS: dict[str, TrainingCommand] = {
    "train": train,
    "train-sentencepiece": train_sentencepiece,
}
ENGLISH = "the hug of a pug, and the pun of a bun\n" * 20
CZECH = "největší kůň v pořádku, a malý taky\n" * 20
LANGUAGES = "en.txt cs.txt"
PARALLEL = "--parallel en-dev.txt --parallel cs-dev.txt"

# What no value makes wrong: switches, strings of any kind, and how results are shown.
NEVER_REFUSED = {
    *"as_json dry_run quiet _click_default_help short_help field".split(),
    *"continuing_subword_prefix end_of_word_suffix cross_punctuation byte_fallback".split(),
    *"hard_vocab_limit add_dummy_prefix remove_extra_whitespaces treat_whitespace_as_suffix".split(),
    *"required_chars split_by_unicode_script split_by_number split_digits".split(),
    *"allow_whitespace_only_pieces unk_surface shuffle_input_sentence".split(),
    *"vocabulary_output_piece_score unk_token".split(),
}


@dataclass(frozen=True)
class Row:
    """A wrong use: what is given, the option that is refused, and what the error says."""

    option: str
    given: str
    message: str
    verb: str = "train"

    def __str__(self) -> str:
        return f"{self.verb} {self.given}"


ROWS = [
    # sources and their parallel texts
    Row(
        "parity",
        f"{LANGUAGES} --model byte-bpe --parity",
        "--parity: needs --parallel FILE for each CORPUS argument, a text that says the same in each "
        "language; for languages of one script, --parity-unit compares their own texts",
    ),
    Row("parity", f"en.txt --model bpe --parity {PARALLEL}", "CORPUS: is one argument, en.txt"),
    Row("parity", "en.tsv --model bpe --parity --parity-unit words", "CORPUS: is one argument, en.tsv"),
    Row(
        "parity_unit",
        f"{LANGUAGES} --model bpe --parity --parity-unit words {PARALLEL}",
        "--parity-unit: 'words' does not apply with --parallel, whose tokens are compared",
    ),
    Row("parity_unit", "en.txt --model bpe --parity-unit words", "--parity-unit: 'words' needs parity"),
    Row("parity_window", "en.txt --model bpe --parity-window 9", "--parity-window: 9 needs parity"),
    Row("global_merges", "en.txt --model bpe --global-merges 9", "--global-merges: 9 needs parity"),
    Row(
        "parallel",
        f"{LANGUAGES} --model bpe {PARALLEL}",
        "--parallel: 'en-dev.txt' needs --balance-rounds, or --parity for BPE",
    ),
    Row(
        "parallel",
        f"{LANGUAGES} --model bpe --parity --parallel en-dev.txt",
        "--parallel: has 1 files, and CORPUS 2 arguments; give one for each",
    ),
    Row(
        "parallel",
        f"{LANGUAGES} --model bpe --parity --parallel en-dev.txt --parallel missing.txt",
        "missing.txt: cannot be read: no such file or directory",
    ),
    Row(
        "parallel",
        "en.tsv cs.tsv --model unigram --balance-rounds 2 --parallel en-dev.txt --parallel bytes.tsv",
        "bytes.tsv: counts: have words of preset 'gpt2'",
    ),
    *(
        Row(
            "balance_rounds",
            f"{LANGUAGES} --balance-rounds 2{vocab}",
            "--balance-rounds: needs --parallel FILE for each CORPUS argument, a text that says the same in "
            "each language",
            verb,
        )
        for verb, vocab in (("train", ""), ("train-sentencepiece", " --vocab-size 300"))
    ),
    Row(
        "balance_rounds",
        f"{LANGUAGES} --model bpe --parity {PARALLEL} --balance-rounds 2",
        "--balance-rounds, --parity: cannot be combined",
    ),
    Row(
        "balance_rounds",
        f"{LANGUAGES} --vocab-size 300,400 {PARALLEL} --balance-rounds 2",
        "--balance-rounds: needs one size of the vocabulary",
    ),
    Row("balance_rounds", f"{LANGUAGES} --balance-rounds 0", "'--balance-rounds': 0"),
    # counts
    Row(
        "model",
        "metaspace.tsv --model wordpiece",
        "--model, metaspace.tsv: 'wordpiece' does not support counts of preset 'metaspace', whose words it",
    ),
    Row(
        "model",
        "en.tsv --model char",
        "--model, en.tsv: 'char' does not support counts of preset 'bert-uncased'",
    ),
    Row(
        "model",
        "bytes.tsv --model unigram",
        "--model, bytes.tsv: 'unigram' does not support counts of preset 'gpt2', whose words are byte-level",
    ),
    Row(
        "model",
        "en.tsv --model byte-bpe",
        "--model, en.tsv: 'byte-bpe' does not support counts of preset 'bert-uncased'; use model 'bpe', or",
    ),
    Row("model", "en.txt --model unheard-of", "'--model': 'unheard-of' is not"),
    Row(
        "model_type",
        "en.tsv --model-type bpe",
        "en.tsv: counts: have words of preset 'bert-uncased'",
        "train-sentencepiece",
    ),
    Row(
        "preset",
        "en.txt --model unigram --preset bert-cased",
        "--preset: 'bert-cased' does not support model 'unigram'",
    ),
    Row(
        "preset",
        "en.tsv --preset bert-cased",
        "--preset, en.tsv: 'bert-cased' does not fit counts of preset 'bert-uncased'",
    ),
    Row(
        "corpus",
        "en.tsv bytes.tsv",
        "bytes.tsv: counts: have words of preset 'gpt2'",
    ),
    Row("corpus", "en.txt en.tsv", "CORPUS: has both text files and counts files"),
    Row("corpus", "en.txt missing.txt", "missing.txt: cannot be read: no such file or directory"),
    Row(
        "corpus",
        f"en.txt en.txt --model bpe --parity {PARALLEL}",
        "CORPUS: has en.txt twice; give each language once",
    ),
    *(
        Row(name, f"en.tsv {flag} {value}", f"{flag}: does not apply to counts files")
        for name, flag, value in (
            ("sample", "--sample", "0.5"),
            ("seed", "--seed", "3"),
            ("max_word_length", "--max-word-length", "9"),
            ("source_weights", "--source-weights", "2"),
            ("temperature", "--temperature", "2"),
        )
    ),
    # counting
    Row("sample", "en.txt --sample 2", "--sample: must be a number above 0 and at most 1, not 2"),
    Row("seed", "en.txt --seed=-1", "--seed: must be an integer of at least 0 "),
    Row("seed", "en.txt --seed=-1", "--seed: must be an integer of at least 0 ", "train-sentencepiece"),
    Row("max_word_length", "en.txt --max-word-length 0", "--max-word-length: must be an integer"),
    Row("source_weights", "en.txt --source-weights 1,2", "--source-weights: must be one for each of 1"),
    Row("source_weights", "en.txt --source-weights 0", "--source-weights[0]: must be a number above 0"),
    Row(
        "source_weights",
        f"{LANGUAGES} --source-weights 1,2 --temperature 2",
        "--source-weights, --temperature: cannot be combined",
    ),
    Row(
        "source_weights",
        f"{LANGUAGES} --model bpe --parity {PARALLEL} --source-weights 1,2",
        "--source-weights: does not support --parity",
    ),
    Row("temperature", "en.txt --temperature 0", "--temperature: must be"),
    Row(
        "temperature",
        f"{LANGUAGES} {PARALLEL} --balance-rounds 2 --temperature 2",
        "--temperature: does not support --balance-rounds",
    ),
    Row("memory", "en.txt --memory much", "--memory: must be a size such as 512MB"),
    Row("memory", "en.txt --memory 1MB", "--memory: must be at least 128MB"),
    Row("checkpoint", "en.txt --checkpoint en-dev.txt", "--checkpoint: 'en-dev.txt' is a file"),
    Row("checkpoint", "en.txt --checkpoint state-of-half", "has a count with sample 0.5, and this call None"),
    Row("checkpoint", "cs.txt --sample 0.5 --checkpoint state-of-half", "has other files: "),
    Row("checkpoint", "- --checkpoint state", "--checkpoint: needs files: stdin cannot be read again"),
    Row("checkpoint_seconds", "en.txt --checkpoint-seconds soon", "'--checkpoint-seconds'"),
    Row("num_threads", "en.txt --num-threads 0", "'--num-threads': 0"),
    Row("on_error", "en.txt --on-error stop", "'--on-error': 'stop' is not"),
    Row("encoding_errors", "en.txt --encoding-errors ignore", "'--encoding-errors': 'ignore' is not"),
    Row(
        "source_weights",
        "en.txt --input-sentence-size 5 --source-weights 2",
        "--source-weights: does not apply with a limited number of sentences",
        "train-sentencepiece",
    ),
    # clusters
    Row("engine", "en.tsv --engine ray", "--engine: counts text files; counts files need no engine"),
    Row("engine", "en.txt --engine dask", "'--engine': 'dask' is not"),
    Row("sample", "en.txt --engine spark --sample 0.5", "--sample: 0.5 does not support --engine spark"),
    Row("cluster", "en.txt --cluster host:1", "--cluster: 'host:1' needs --engine ray or spark"),
    # output
    Row("path", "en.txt -o out.docx", "'out.docx'"),
    Row("path", "en.txt -o missing/out.json", "missing/out.json"),
    Row("path", "en.txt --model bpe -o vocab.txt", "--output vocab.txt"),
    Row("path", "en.txt --vocab-size 30,40 -o -", "--output: - does not support several sizes"),
    Row("roles", "en.txt --role eos=[SEP]", "--role: needs a folder such as -o NAME/, not the file out.json"),
    Row("roles", "en.txt --role end=[SEP] -o out/", "--role: must be unk|bos|eos"),
    Row("roles", "en.txt --role eos=<e> -o out/", "--role: must be a special token"),
    Row(
        "training_log",
        "en.txt --training-log",
        "--training-log: needs merges, which --learner merges and --model bpe make; pruning makes none",
    ),
    Row(
        "training_log",
        "en.txt --score pmi --vocab-size 40,50 --training-log",
        "--training-log: needs one tokenizer in a file or folder, not several sizes",
    ),
    Row(
        "model_max_length",
        "en.txt --model-max-length 512",
        "--model-max-length: needs a folder such as -o NAME/, not the file out.json",
    ),
    Row("model_max_length", "en.txt --model-max-length 0 -o out/", "'--model-max-length': 0"),
    Row("boundaries", "en.txt --boundaries missing.tsv", "missing.tsv"),
    Row("boundaries", "en.txt --boundaries en-dev.txt", "en-dev.txt line 1: found"),
    Row("boundary_marker", "en.txt --boundary-marker ''", "--boundary-marker: must not be empty"),
    # settings that do not go together
    Row("vocab_size", "en.txt --vocab-size 5", "--vocab-size: must be more than 5 (the reserved entries,"),
    Row("vocab_size", "en.txt --model byte-bpe --vocab-size 200", "--vocab-size: must be at least 257"),
    Row("vocab_size", "en.txt --vocab-size 3,90", "--vocab-size: must be more than 5"),
    Row("vocab_size", "en.txt --model char --vocab-size 1,9", "--vocab-size: must be"),
    Row(
        "vocab_size",
        "en.txt --model unigram --byte-fallback --vocab-size 200",
        "--vocab-size: must be more than 259 (the reserved entries",
    ),
    Row("learner", "en.txt --score pmi --learner pruning", "--score: 'pmi' does not support --learner"),
    Row("balance", "en.txt --learner top-down --balance 2", "--balance: 2.0 does not support --learner"),
    Row("max_use_cost", "en.txt --learner merges --max-use-cost 2", "--max-use-cost: 2.0 does not"),
    Row(
        "segmentation",
        "en.txt --learner merges --segmentation shortest",
        "--segmentation: 'shortest' does not support --learner",
    ),
    Row(
        "ties",
        "en.txt --learner pruning --ties first-seen",
        "--ties: 'first-seen' does not support --learner",
    ),
    Row(
        "ties",
        f"{LANGUAGES} --model bpe --ties first-seen {PARALLEL} --balance-rounds 2",
        "--balance-rounds: does not support --ties first-seen: weighted counts have no first positions",
    ),
    Row(
        "score",
        f"{LANGUAGES} --score pmi {PARALLEL} --balance-rounds 2",
        "--balance-rounds: does not support --ties first-seen: weighted counts have no first positions; "
        "choose another --ties",
    ),
    Row(
        "alphabet_order",
        f"{LANGUAGES} --alphabet-order first-seen {PARALLEL} --balance-rounds 2",
        "--balance-rounds: does not support --alphabet-order first-seen",
    ),
    Row(
        "transition",
        "en.txt --model bpe --parity --transition 90",
        "--transition, --parity: cannot be combined",
    ),
    Row(
        "transition",
        "bytes.tsv --model byte-bpe --transition 290",
        "bytes.tsv: counts: have words of preset 'gpt2'; transition needs sequences of words",
    ),
    Row(
        "shrinking_factor",
        "en.txt --model unigram --learner pruning --shrinking-factor 0.5",
        "--shrinking-factor: 0.5 does not apply with Pruning()",
    ),
    Row("user_defined_symbols", "en.txt --model unigram --user-defined-symbol ''", "--user-defined-symbol"),
    Row(
        "use_all_vocab",
        "en.txt --use-all-vocab",
        "--use-all-vocab: must be False: only word and char models",
        "train-sentencepiece",
    ),
    Row(
        "split_by_whitespace",
        "en.txt --model-type bpe --transition 900 --no-split-by-whitespace",
        "--transition, --split-by-whitespace: cannot be combined",
        "train-sentencepiece",
    ),
    Row(
        "pretokenization_delimiter",
        "en.txt --model-type char --pretokenization-delimiter x",
        "--pretokenization-delimiter: must be empty",
        "train-sentencepiece",
    ),
    Row(
        "input_format",
        "en.txt --input-format json",
        "'--input-format': 'json' is not",
        "train-sentencepiece",
    ),
    Row(
        "seed_sentencepieces_file",
        "en.txt --seed-sentencepieces-file en-dev.txt",
        "en-dev.txt line 1",
        "train-sentencepiece",
    ),
]  # fmt: skip


def bad_value(about: Setting) -> str | None:
    """Return a value that the option of a setting refuses, None if every text is a value."""
    match about:
        case kinds.IntegerOrShare():
            return "1.5"
        case kinds.Integer():
            return str(about.least - 1)
        case kinds.Number():
            return "inf"
        case kinds.Choice() | kinds.Variant():
            return "unheard-of"
        case kinds.Text() if not about.can_be_empty:
            return ""
        case kinds.Tokens():
            return ""
        case kinds.Characters():
            return "\udcff"
        case kinds.File():
            return "missing.txt"
    return None


def derived_rows() -> Iterator[Row]:
    """Yield a row for each option of a setting that has bad values."""
    for verb, command in COMMANDS.items():
        for model in command.models:
            for name, (about, _) in all_settings(TRAINERS[model]):
                value = bad_value(about)
                if value is None or about.option is None or (name == "seed" and verb != "train"):
                    continue
                flag = about.option or f"--{name.replace('_', '-')}"
                chosen = f" --model {model}" if verb == "train" else ""
                shown = "missing.txt" if isinstance(about, kinds.File) else flag
                yield Row(name, f"en.txt{chosen} {flag}={shlex.quote(value)}", shown, verb)


def all_settings(trainer: type) -> Iterator[tuple[str, tuple[Setting, Any]]]:
    """Yield the settings of a trainer, and of its learners."""
    for name, (about, default) in settings_of(trainer).items():
        yield name, (about, default)
        if isinstance(about, kinds.Variant):
            for kind in about.kinds:
                yield from about.settings_of(kind).items()


ALL_ROWS = list(dict.fromkeys([*ROWS, *derived_rows()]))


@pytest.mark.parametrize("verb", list(COMMANDS))
def test_every_option_has_a_row(verb: str) -> None:
    names: set[str] = set()
    for model in COMMANDS[verb].models:
        context = click.Context(COMMANDS[verb])
        context.meta["piecework.model"] = model
        names |= {str(one.name) for one in COMMANDS[verb].get_params(context)}
    refused = {row.option for row in ALL_ROWS if row.verb == verb or row.option not in SETTINGS}
    assert names <= refused | NEVER_REFUSED
    assert not refused & NEVER_REFUSED


SETTINGS = {name for trainer in TRAINERS.values() for name, _ in all_settings(trainer)}


def test_no_row_is_of_an_option_that_is_gone() -> None:
    names = {"model", "corpus", "_click_default_help", "short_help"} | SETTINGS
    for command in COMMANDS.values():
        names |= {str(one.name) for one in command.params}
    assert {row.option for row in ALL_ROWS} | NEVER_REFUSED <= names


# ---- what is read

_OPENED: list[str] = []


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], (str, os.PathLike)):
        _OPENED.append(os.path.basename(os.fspath(arguments[0])))


sys.addaudithook(_note_opened)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("en", ENGLISH), ("cs", CZECH)):
        Path(f"{name}.txt").write_text(text, encoding="utf-8")
        Path(f"{name}-dev.txt").write_text(text[: len(text) // 20], encoding="utf-8")
        pw.count_texts([text]).save(f"{name}.tsv")
    for name, preset in (("bytes", "gpt2"), ("metaspace", "metaspace"), ("t5", "t5")):
        pw.count_texts([ENGLISH], preset=preset).save(f"{name}.tsv")

    options: Any = {"checkpoint": "state-of-half", "keep_checkpoint": True, "sample": 0.5}
    pw.count_files("en.txt", **options)

    def load(path: str) -> pw.Counts:
        _OPENED.append(f"words of {path}")
        return loaded(path)

    loaded = pw.Counts.load
    monkeypatch.setattr(pw.Counts, "load", load)
    return tmp_path


def read_files() -> set[str]:
    """Return which texts and words were read since the last call."""
    found = {
        name for name in _OPENED if name in ("en.txt", "cs.txt") or name.startswith("words of")
    }
    _OPENED.clear()
    return found


def test_what_is_read_is_noticed(cli: Cli, folder: Path) -> None:
    read_files()
    assert cli("train", "en.txt", "--vocab-size", "60", "-o", "out.json")[0] == 0
    assert read_files() == {"en.txt"}
    assert cli("train", "en.tsv", "--vocab-size", "60", "-o", "out.json")[0] == 0
    assert read_files() == {"words of en.tsv"}


@pytest.mark.parametrize("row", ALL_ROWS, ids=str)
def test_a_refusal_comes_before_the_corpus_is_read(cli: Cli, folder: Path, row: Row) -> None:
    arguments = [row.verb, *shlex.split(row.given)]
    if "-o" not in arguments:
        arguments += ["-o", "out.json" if row.verb == "train" else "out.model"]
    before = set(os.listdir())
    read_files()
    code, out, errors = cli(*arguments)
    assert (code, out, read_files()) == (2, "", set())
    assert row.message in errors
    assert len(errors.splitlines()) == 1
    assert cli(*arguments, "--dry-run") == (code, out, errors)
    assert read_files() == set()
    assert set(os.listdir()) == before
