"""The settings of trainers and learners as options: each one reaches the trainer."""

from __future__ import annotations

import click
import pytest

from piecework.cli.explain_training import explain_training
from piecework.cli.train import train
from piecework.cli.train_sentencepiece import train_sentencepiece
from piecework.cli.training_options import TrainingCommand

COMMANDS = [train, train_sentencepiece, explain_training]


def parameters(command: TrainingCommand, model: str) -> list[click.Parameter]:
    context = click.Context(command)
    context.meta["piecework.model"] = model
    return command.get_params(context)


@pytest.mark.parametrize(
    ("command", "model"), [(command, model) for command in COMMANDS for model in command.models]
)
def test_no_setting_has_the_name_of_another_option(command: TrainingCommand, model: str) -> None:
    found = parameters(command, model)
    names = [parameter.name for parameter in found]
    assert len(names) == len(set(names)) > len(command.params)
    flags = [flag for one in found for flag in (*one.opts, *one.secondary_opts)]
    assert len(flags) == len(set(flags))


def test_a_shared_setting_is_one_option() -> None:
    [seed] = [one for one in parameters(train_sentencepiece, "sentencepiece") if one.name == "seed"]
    assert seed in train_sentencepiece.params
