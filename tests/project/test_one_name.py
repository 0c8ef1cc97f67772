"""One name for a concept: docs/reference/names.md lists them, and the options of all commands keep to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from piecework.cli.app import VERBS, commands
from piecework.cli.parameters import Context
from piecework.cli.training_options import options_of
from piecework.train import LEARNERS
from piecework.train.setting_fields import settings_of
from piecework.train.trainers import TRAINERS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "names.md"
ROWS = [
    [re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:-1]]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and "`" in line
]
OTHER_NAMES = {other: argument for _, [argument], _, others in ROWS for other in others}


def options(verb: str) -> Iterator[str]:
    """Yield the long flags of a command, with those of every model."""
    group = Context(commands, **commands.context_settings)
    command = commands.get_command(group, verb)
    assert command is not None
    of_models = [one for model in TRAINERS for one in options_of(model)]
    for parameter in [*command.get_params(Context(command, group)), *of_models]:
        if isinstance(parameter, click.Option):
            yield from (flag for flag in parameter.opts if flag.startswith("--"))


@pytest.mark.parametrize("verb", VERBS)
def test_no_option_has_a_second_name_for_a_concept(verb: str) -> None:
    names = {flag: flag[2:].replace("-", "_") for flag in options(verb)}
    wrong = {flag: OTHER_NAMES[name] for flag, name in names.items() if name in OTHER_NAMES}
    assert wrong == {}


@pytest.mark.parametrize("cls", [*TRAINERS.values(), *LEARNERS.values()])
def test_no_setting_has_a_second_name_for_a_concept(cls: type) -> None:
    assert not settings_of(cls).keys() & OTHER_NAMES.keys()


def test_every_option_of_the_table_is_one_of_a_command() -> None:
    known = {flag for verb in VERBS for flag in options(verb)}
    assert {option for row in ROWS for option in row[2]} <= known
