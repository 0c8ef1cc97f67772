"""What the command line says about mistakes, and how: near names, labels, colors, sentences of errors."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

import piecework as pw
from piecework._internal.close_names import close_names
from piecework._internal.setting_fields import Setting, Variant, settings_of
from piecework.cli.app import commands
from piecework.cli.parameters import Context
from piecework.train.trainers import TRAINERS

Run = Callable[..., tuple[int, str, str]]

NEEDS_DEV_FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
MODELS = ["wordpiece", "bpe", "byte-bpe", "unigram", "word", "char"]


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text("Hug pug hugs\npun bun\n" * 20)
    return str(path)


@pytest.fixture(autouse=True)
def no_choice_of_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("FORCE_COLOR", "")


# ---- near names


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("bep", MODELS, ["bpe"]),
        ("wordpeice", MODELS, ["wordpiece"]),
        ("BPE", MODELS, ["bpe"]),
        (
            "--vocab_size",
            ["--seed-vocab-size", "--vocab-size"],
            ["--vocab-size", "--seed-vocab-size"],
        ),
        ("--min-freq", ["--min-frequency", "--field"], ["--min-frequency"]),
        ("--json", ["--score", "--on-error"], []),
        ("--padding", ["--encoding-name"], []),
        ("--sep", ["--help", "--keep", "--seed", "--steps"], ["--steps"]),
        ("", MODELS, []),
        ("x", MODELS, []),
    ],
)
def test_only_near_names_are_suggested(name: str, known: list[str], near: list[str]) -> None:
    assert close_names(name, known) == near


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--verion", "No such option '--verion'; did you mean '--version'? (see piecework --help)"),
        ("encde x", "No such command 'encde'; did you mean 'encode'? (see piecework --help)"),
        ("frobnicate", "No such command 'frobnicate'. (see piecework --help)"),
        ("train x --frobnicate", "No such option '--frobnicate'. (see piecework train --help)"),
        ("train x --vocab_size 9", "'--vocab_size'; did you mean '--vocab-size'? (see"),
        ("train x --workers 4", "'--workers'; it is called '--num-threads' here (see"),
        ("train --input x", "'--input'; CORPUS is an argument, without an option (see"),
        ("encode --input x", "'--input'; FILE is an argument, without an option (see"),
        ("train x --model_prefix m", "'--model_prefix'; it is called '--output' here (see"),
        ("train x --model wordpeice", "'char'; did you mean 'wordpiece'? (see"),
        ("train x --model sentencepiece", "'char'; use piecework train-sentencepiece (see"),
        ("train x --preset llama", "qwen2; use piecework train-sentencepiece (see"),
        ("train-sentencepiece x --preset gpt2", "xlnet; use piecework train (see"),
        ("train x --byte-fallback", "'--byte-fallback'; it is an option of --model unigram (see"),
        ("train x --bos-id 1", "'--bos-id'; it is an option of piecework train-sentencepiece (see"),
        (
            "train-sentencepiece x --min-frequency 2",
            "it is an option of piecework train --model word",
        ),
        ("train-sentencepiece x --model bpe", "'--model'; it is called '--model-type' here (see"),
        ("train x --model bbpe", "'char'; did you mean 'byte-bpe'? (see"),
        ("train x --preset bert-uncasd", "qwen2; did you mean 'bert-uncased'? (see"),
        (
            "train x -o y.json --num-threads 0",
            "'--num-threads': 0 is not an integer of at least 1. (see",
        ),
        (
            "inspect x --encoding-name cl100k-base",
            "o200k_harmony; did you mean 'cl100k_base'? (see",
        ),
    ],
)
def test_mistaken_names_are_answered_with_the_right_one(
    cli: Run, arguments: str, message: str
) -> None:
    code, out, err = cli(*arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith("piecework: error: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("verb", "flag"), [("train", "--json"), ("encode", "--sep")])
def test_far_options_are_not_suggested(cli: Run, verb: str, flag: str) -> None:
    assert "did you mean" not in cli(verb, "x", f"{flag}=1")[2]


# ---- help


@pytest.mark.parametrize("verb", ["train", "encode", "completion"])
def test_help_of_a_command_is_its_help(cli: Run, verb: str) -> None:
    assert cli("help", verb) == cli(verb, "--help")


def test_help_alone_is_the_help_of_the_program(cli: Run) -> None:
    assert cli("help") == cli("--help")
    assert "Print the help of a command." in cli("help")[1]


def test_help_of_an_unknown_command_is_an_error(cli: Run) -> None:
    assert "No such command 'trian'; did you mean 'train'?" in cli("help", "trian")[2]


def test_the_version_has_a_short_option(cli: Run) -> None:
    assert cli("-V") == cli("--version")


def headings(text: str) -> list[str]:
    return [line[:-1] for line in text.splitlines() if line.endswith(":") and line[0] != " "]


@pytest.mark.parametrize("verb", ["train", "explain-training"])
@pytest.mark.parametrize("model", [*TRAINERS])
def test_the_help_has_the_options_of_the_model_and_no_other(
    cli: Run, verb: str, model: str
) -> None:
    if (verb, model) == ("train", "sentencepiece"):
        arguments = ["train-sentencepiece"]
    else:
        arguments = [verb, "--model", model]
    known = flags_in(cli(*arguments, "--help")[1])
    assert known >= set(flags_of_settings(settings_of(TRAINERS[model])))
    others = {flag for cls in TRAINERS.values() for flag in flags_of_settings(settings_of(cls))}
    own = {"--seed"}  # of sampling too
    assert known & (others - own) == set(flags_of_settings(settings_of(TRAINERS[model]))) - own


@pytest.mark.parametrize("model", [model for model in TRAINERS if model != "sentencepiece"])
def test_the_help_of_train_fits_a_few_screens(
    cli: Run, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = cli("train", "--model", model, "--help")
    assert out.count("\n  -") <= 47
    assert len(out.splitlines()) < 140


def test_the_help_without_a_model_has_what_all_models_have(cli: Run) -> None:
    out = cli("train", "--help")[1]
    known = flags_in(out)
    assert {"--vocab-size", "--special-token", "--preset", "--model"} <= known
    assert not known & {"--learner", "--min-frequency", "--byte-fallback"}
    assert "piecework train --model bpe --help" in " ".join(out.split())


def flags_in(text: str) -> set[str]:
    return set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE))


def flags_of_settings(settings: Mapping[str, tuple[Setting, Any]]) -> Iterator[str]:
    for name, (about, _) in settings.items():
        if about.option is not None:
            yield about.option or f"--{name.replace('_', '-')}"
        if isinstance(about, Variant):
            for kind in about.kinds:
                yield from flags_of_settings(about.settings_of(kind))


# ---- colors


@pytest.mark.parametrize(
    ("arguments", "variables", "colored"),
    [
        ("help", {}, False),
        ("help", {"FORCE_COLOR": "1"}, True),
        ("help", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("train --help", {"FORCE_COLOR": "1"}, True),
    ],
)
def test_the_environment_chooses_colors(
    cli: Run,
    monkeypatch: pytest.MonkeyPatch,
    arguments: str,
    variables: dict[str, str],
    colored: bool,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    code, out, _ = cli(*arguments.split())
    assert code == 0
    assert ("\x1b[36m" in out) == colored


def test_the_label_of_an_error_is_red(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("encode", "missing.json")[2].startswith("piecework: error: ")
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, _, err = cli("encode", "missing.json")
    assert err.startswith("piecework: \x1b[31m\x1b[1merror:\x1b[0m ")


def test_tokens_are_colored_on_request(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "t.json")
    pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1})).save(path)
    assert "\x1b[" not in cli("explain", path, "hh")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in cli("explain", path, "hh")[1]


# ---- sentences


@NEEDS_DEV_FULL
@pytest.mark.parametrize("name", ["counts.parquet", "counts.tsv"])
def test_counts_on_a_full_disk_name_the_file(
    cli: Run, corpus: str, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.symlink_to("/dev/full")
    code, _, err = cli("count", corpus, "-o", str(path), "--quiet")
    assert code == 2
    assert err == f"piecework: error: {path}: cannot be written: no space left on device\n"


def test_messages_name_a_position_in_json_once(cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"model": {')
    err = cli("inspect", str(path))[2]
    assert err.count("column") == 1


def test_one_is_singular(cli: Run, tmp_path: Path) -> None:
    path, text, ids = (str(tmp_path / name) for name in ("t.json", "one.txt", "ids.txt"))
    pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1})).save(path)
    Path(text).write_text("h\n")
    assert cli("encode", path, text, "-o", ids)[2].startswith("1 line read, 1 written")
    assert cli("count", text, "-o", str(tmp_path / "c.tsv"))[2].startswith("1 word, 1 distinct")


# ---- train --dry-run


def test_a_dry_run_prints_the_plan_and_writes_nothing(
    cli: Run, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("counted the corpus")

    monkeypatch.setattr(pw, "count_files", never)
    out = str(tmp_path / "t.json")
    before = sorted(tmp_path.iterdir())
    code, text, err = cli("train", corpus, "-o", out, "--vocab-size", "5k", "--dry-run")
    assert (code, err) == (0, "")
    fields = dict(line.split(None, 1) for line in text.replace("first text", "text").splitlines())
    assert fields["corpus"] == f"1 file, 420 bytes: {corpus}"
    assert fields["text"] == "Hug pug hugs"
    assert text.count("hug  pug  hugs") == 1
    assert fields["preset"].startswith("bert-uncased: BertNormalizer")
    assert fields["model"] == "wordpiece (pruning)"
    assert fields["entries"] == "5,000"
    assert fields["output"] == f"a .json file, {out}"
    assert text.endswith("Dry run: nothing was trained or written.\n")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("missing.txt -o t.json", "missing.txt: cannot be read: no such file or directory"),
        ("CORPUS missing.txt -o t.json", "missing.txt: cannot be read: no such file or directory"),
        (
            "CORPUS -o missing/t.json",
            "missing/t.json: cannot be written: no such file or directory",
        ),
        (
            "CORPUS --vocab-size 0 -o t.json",
            ("--vocab-size: must be an integer of at least 1 and at most 4294967295, not 0"),
        ),
    ],
)
def test_a_dry_run_finds_mistakes(
    cli: Run, corpus: str, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.chdir(Path(corpus).parent)
    words = arguments.replace("CORPUS", corpus).split()
    code, _, err = cli("train", *words, "--dry-run")
    assert code == 2
    assert message in err


def test_a_dry_run_reads_no_stdin(cli: Run) -> None:
    code, text, _ = cli("train", "-", "-o", "-", "--model", "bpe", "--dry-run")
    assert code == 0
    assert "stdin cannot be read twice" in text


def test_the_context_of_the_command_gives_click_the_hint() -> None:
    context = Context(commands, info_name="piecework")
    with pytest.raises(click.UsageError) as error:
        commands.parse_args(context, ["--verion"])
    assert error.value.ctx is context
