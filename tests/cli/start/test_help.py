"""Help texts and completion."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

import piecework as pw
from piecework._internal._core import BUILD_PROFILE
from piecework.cli.app import TASKS, VERBS, commands
from piecework.cli.parameters import Command, Context
from piecework.cli.training_options import TrainingCommand, options_of
from tests.cli.start.command_names import Run, command_named

# ---- help


def test_version_is_printed(cli: Run) -> None:
    printed = f"piecework {pw.__version__} ({BUILD_PROFILE} build)\n"
    assert cli("--version") == (0, printed, "")
    assert BUILD_PROFILE in ("quick", "release")


def test_without_a_command_the_help_is_shown_as_an_error(cli: Run) -> None:
    code, out, err = cli()
    assert (code, out) == (2, "")
    assert err == cli("--help")[1]
    assert "Train:\n  train " in err


IMPORTED = """
import sys
from piecework.cli.app import run
code = run(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_help_imports_no_command(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *arguments], capture_output=True, text=True, check=False
    )
    modules = set(done.stderr.splitlines()[-1].split())
    heavy = {"numpy", "rich", "json", "dataclasses", "hashlib", "pyarrow"}
    parts = {"spec.models", "train", "vocabulary", "analysis", "export", "reference"}
    assert not modules & heavy
    assert not modules & {f"piecework.{part}" for part in parts}
    assert not modules & {f"piecework.cli.{verb.replace('-', '_')}" for verb in VERBS}


@pytest.mark.parametrize("verb", VERBS)
def test_the_list_of_commands_says_what_their_help_says(verb: str) -> None:
    about = (command_named(verb).help or "").split("\n\n")[0].replace("\n", " ")
    assert about.startswith(VERBS[verb].removesuffix("."))


def test_the_list_of_commands_has_one_line_for_each(cli: Run) -> None:
    lines = cli("--help")[1].splitlines()
    assert [task for task in TASKS if f"{task}:" in lines] == list(TASKS)
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line.endswith(".")]
    assert set(VERBS) <= set(listed)
    assert all(any(line.endswith(f" {about}") for line in lines) for about in VERBS.values())


@pytest.mark.parametrize("verb", VERBS)
def test_the_short_help_has_ten_options_and_the_long_one_all(cli: Run, verb: str) -> None:
    code, short, err = cli(verb, "-h")
    assert (code, err) == (0, "")
    command = command_named(verb)
    assert isinstance(command, Command)
    if not command.first:
        assert short == cli(verb, "--help")[1]
        return
    [listed] = sections_of(short).values()
    flags = {flag for parameter in command.params for flag in (*parameter.opts, *_of_model(verb))}
    assert set(command.first) <= flags
    assert len(listed) <= 10 + len(["-h", "--help"])
    assert listed[-2:] == ["-h", "--help"]
    assert short.splitlines()[0] == cli(verb, "--help")[1].splitlines()[0]
    assert "Example:" in short


def _of_model(verb: str) -> set[str]:
    """Return the options of all models of a command that trains."""
    command = command_named(verb)
    models = command.models if isinstance(command, TrainingCommand) else ()
    return {flag for model in models for option in options_of(model) for flag in option.opts}


def test_commands_with_many_options_have_a_short_help() -> None:
    for verb in VERBS:
        command = command_named(verb)
        assert isinstance(command, Command)
        with Context(command) as context:
            own = [one for one in command.get_params(context) if isinstance(one, click.Option)]
        assert command.first or len(own) <= 12, verb


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("columns", ["20", "80", "200"])
def test_help_fits_its_terminal(
    cli: Run, monkeypatch: pytest.MonkeyPatch, verb: str, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    _, out, _ = cli(verb, "--help")
    described = out.split("\n  Example:")[0]
    width = min(max(int(columns), 50), 100)
    lines = [line for line in described.splitlines() if "--no-" not in line and "[" not in line]
    assert max(map(len, lines)) <= width


def sections_of(text: str) -> dict[str, list[str]]:
    """Return the options of a help by section."""
    sections: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            title = line[:-1]
        elif line.startswith("  -"):
            sections.setdefault(title, []).append(line.split()[0])
    return sections


def test_the_options_of_train_are_listed_by_section(cli: Run) -> None:
    sections = sections_of(cli("train", "--model", "bpe", "--help")[1])
    assert list(sections) == [
        "Vocabulary",
        "Corpus",
        "Large corpora",
        "Clusters",
        "Output",
        "Other",
    ]
    assert sections["Vocabulary"][:2] == ["--model", "--vocab-size"]
    assert "--end-of-word-suffix" in sections["Vocabulary"]
    assert "--preset" in sections["Corpus"]
    assert sections["Other"] == ["-q,", "-h", "--help"]


def test_the_settings_of_sentencepiece_are_in_sections(cli: Run) -> None:
    sections = sections_of(cli("train-sentencepiece", "--help")[1])
    trainer = pw.SentencePieceTrainer
    of_settings = [name for name in sections if name != "Learner pruning"]
    assert [*trainer._sections.values()] == of_settings[1 : 1 + len(trainer._sections)]
    assert trainer._sections.keys() <= trainer.__dataclass_fields__.keys()
    assert max(map(len, sections.values())) < 20
    assert "--unk-id" in sections["Pieces that are not learned"]


@pytest.mark.parametrize("verb", ["train", "train-sentencepiece", "count", "explain-training"])
def test_the_help_names_two_presets_and_list_prints_all(cli: Run, verb: str) -> None:
    code, out, _ = cli(verb, "--preset", "list")
    assert code == 0
    names = out.split()
    assert {*names} <= pw.train.PRESETS.keys() | pw.train.SENTENCEPIECE_PRESETS.keys()
    about = " ".join(cli(verb, "--help")[1].split())
    assert f"such as {names[0]} or {names[1]}; list prints all" in about


def test_names_are_colored_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def help_of(color: bool | None) -> str:
        monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_, **__: False)
        with Context(commands, info_name="piecework") as context:
            assert context.color is color
            return context.get_help()

    assert "\x1b[36mtrain" in help_of(None)
    monkeypatch.setenv("NO_COLOR", "1")
    help_of(False)


# ---- completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_each_shell_is_printed(cli: Run, shell: str) -> None:
    code, out, _ = cli("completion", shell)
    assert code == 0
    assert f"_PIECEWORK_COMPLETE={shell}_complete" in out
    assert "piecework" in out


def completed(*words: str) -> set[str]:
    """Return what bash would be offered for the last word."""
    environment = {
        **os.environ,
        "_PIECEWORK_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["piecework", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "piecework"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (
            ["co"],
            {"plain,count", "plain,compare", "plain,convert", "plain,completion"},
        ),
        (
            ["train", "--preset", "bert"],
            {
                "plain,bert-uncased",
                "plain,bert-cased",
                "plain,bert-original-uncased",
                "plain,bert-original-cased",
            },
        ),
        (["train", "--vocab-s"], {"plain,--vocab-size"}),
        (["train", "--model", "unigram", "--byte"], {"plain,--byte-fallback"}),
        (["train", "--model", "unigram", "--learn"], {"plain,--learner"}),
        (["train", "--model", "bpe", "--learn"], set()),
        (["train", "--learner", "m"], {"plain,merges"}),
        (["encode", "tok"], {"file,tok"}),
        (["encode", "--encoding-name", "cl"], {"plain,cl100k_base"}),
    ],
)
def test_a_shell_completes_commands_options_names_and_files(
    words: list[str], offered: set[str]
) -> None:
    assert completed(*words) == offered
