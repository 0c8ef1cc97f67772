"""A wrong value of any option is an error in one line, or has no effect on the run."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

import piecework as pw
from piecework.cli.app import VERBS, commands
from tests.conftest import Run

ENDLESS = {"bench", "completion", "serve", "verify"}  # or they need other libraries
VALUES = ("", "-1", "wrong")
SHORT = {"check": [("--select", "line-end-entries")]}  # options with which a run takes less


def parameters_of(verb: str) -> list[click.Parameter]:
    with commands.make_context("piecework", [], resilient_parsing=True) as context:
        command = commands.get_command(context, verb)
        assert command is not None
        with command.make_context(verb, [], context, resilient_parsing=True) as of_verb:
            return command.get_params(of_verb)


def file_for(argument: click.Parameter) -> str:
    """Return a file that suits an argument, by what the help calls it."""
    name = f"{argument.metavar} {argument.name}".upper()
    return "tok.json" if "TOKENIZER" in name else "ids.txt" if "IDS" in name else "corpus.txt"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in ENDLESS])
def test_a_wrong_value_is_an_error_in_one_line(
    cli: Run, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_candidates: None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text("hug hugs\nbug\n" * 9)
    Path("ids.txt").write_text("5 6\n")
    pw.Tokenizer.train("corpus.txt", vocab_size=20).save("tok.json")
    parameters = parameters_of(verb)
    words = [file_for(one) for one in parameters if isinstance(one, click.Argument)]
    options = [one for one in parameters if isinstance(one, click.Option)]
    for option in options:
        if option.required or "--output" in option.opts:  # `golden` needs one if it checks nothing
            words += [max(option.opts, key=len), "out.json"]
    for option in options:
        flag = max(option.opts, key=len)
        short = [word for one in SHORT.get(verb, ()) if one[0] != flag for word in one]
        for value in VALUES if not option.is_flag else ():
            code, _, err = cli(verb, *words, *short, flag, value)
            failed = [line for line in err.splitlines() if line.startswith("piecework: error: ")]
            assert (code, len(failed)) in ((0, 0), (1, 0), (2, 1)), (option.opts, value, err)
