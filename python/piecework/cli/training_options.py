"""The options of the trainers, made from their settings: a command has those of its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import click

import piecework as pw
from piecework.cli.parameters import (
    Command,
    Option,
    option,
)
from piecework.cli.reading import given_options
from piecework.cli.setting_options import SECTION, declared_options
from piecework.train.plan import model_of
from piecework.train.setting_fields import Variant, settings_of
from piecework.train.trainer import sections_of
from piecework.train.trainers import TRAINERS

Function = TypeVar("Function", bound=Callable[..., Any])

SENTENCEPIECE = "sentencepiece"
PRESET_MODELS = tuple(model for model in TRAINERS if model != SENTENCEPIECE)
"""The models that `piecework train` trains; their pipeline comes from a preset."""

_SHARED = {SENTENCEPIECE: ("seed",)}
"""Settings by model whose value comes from an option of the command, where it has one of the same name."""

_MODEL = "piecework.model"  # the model of the command line, None for that of the preset
_MORE_OPTIONS = "Each model has further options: {} --model bpe --help lists those of BPE."


class TrainingCommand(Command):
    """A command with the settings of the trainer of its model as options.

    The model is that of `--model`, of `--preset`, or the only one of the command. Without one of these, the
    command has the options of WordPiece, and its help shows those that all models have.
    """

    def __init__(
        self, *arguments: Any, models: Sequence[str], several_sizes: bool = False, **settings: Any
    ) -> None:
        super().__init__(*arguments, **settings)
        self.models = models
        self.several_sizes = several_sizes

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the model in the arguments, then parse them with its options."""
        ctx.meta[_MODEL] = self._model(ctx, args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options of the model, and those of the command."""
        return self._with_own(ctx, options_of(self._model_of(ctx), self.several_sizes))

    def shown_params(self, ctx: click.Context) -> Sequence[click.Parameter]:
        """Return the parameters that the help lists."""
        if ctx.meta.get(_MODEL):
            return self.get_params(ctx)
        return self._with_own(ctx, _common_options(self.models, self.several_sizes))

    def _with_own(self, ctx: click.Context, options: Sequence[Option]) -> list[click.Parameter]:
        """Return options of settings between `--model` and the other options of the command."""
        own = sorted(super().get_params(ctx), key=lambda parameter: parameter.name != "model")
        names = {parameter.name for parameter in own}
        shared = names.intersection(_SHARED.get(self._model_of(ctx), ()))
        settings = [one for one in options if one.name not in shared]
        _assert_distinct([*own, *settings])
        first = own[: "model" in names]
        return [*first, *settings, *own[len(first) :]]

    def _model_of(self, ctx: click.Context) -> str:
        """Return the model of the arguments, or the first one of the command."""
        model: str = ctx.meta.get(_MODEL) or self.models[0]
        return model

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; without a model, say how to see those of each."""
        super().format_options(ctx, formatter)
        if not ctx.meta.get(_MODEL):
            formatter.write_paragraph()
            formatter.write_text(_MORE_OPTIONS.format(ctx.command_path))

    def hint_elsewhere(self, flag: str) -> str:
        """Return the models that have an option."""
        flag = flag.replace("_", "-")
        models = [model for model in TRAINERS if flag in _flags_of(model)]
        if here := [model for model in models if model in self.models]:
            return f"it is an option of --model {', '.join(here)}"
        if models == [SENTENCEPIECE]:
            return "it is an option of piecework train-sentencepiece"
        return f"it is an option of piecework train --model {', '.join(models)}" if models else ""

    def _model(self, ctx: click.Context, args: Sequence[str]) -> str | None:
        """Return the model that the arguments name; raise for an unknown one."""
        if len(self.models) == 1:
            return self.models[0]
        model = _typed_value("--model", args)
        if model in self.models:
            return model
        if model is not None and not ctx.resilient_parsing:
            [parameter] = [one for one in self.params if one.name == "model"]
            return str(parameter.type_cast_value(ctx, model))
        preset = _typed_value("--preset", args)
        if preset in pw.train.SENTENCEPIECE_PRESETS:
            return SENTENCEPIECE
        return model_of(preset) if preset in pw.train.PRESETS else None


def _assert_distinct(parameters: Sequence[click.Parameter]) -> None:
    """Assert that no setting has a name or flag of another option: one of the two would have no effect."""
    taken: set[str] = set()
    for parameter in parameters:
        names = {str(parameter.name), *parameter.opts, *parameter.secondary_opts}
        assert taken.isdisjoint(names), (
            f"two options of a command are called {', '.join(sorted(taken & names))}: rename the setting of "
            "the trainer or learner"
        )
        taken |= names


def model_option(models: Sequence[str]) -> Callable[[Function], Function]:
    """Return the option `--model`."""
    return option(
        "--model",
        section=SECTION,
        type=click.Choice(list(models)),
        help="Type of the model.  [default: that of the preset, such as byte-bpe for gpt2; else wordpiece]",
    )


def _typed_value(flag: str, args: Sequence[str]) -> str | None:
    """Return the value of an option in arguments that are not parsed yet."""
    for at, argument in enumerate(args):
        if argument == "--":
            return None
        if argument == flag:
            return args[at + 1] if at + 1 < len(args) else None
        if argument.startswith(f"{flag}="):
            return argument[len(flag) + 1 :]
    return None


# ---- settings as options


@cache
def options_of(model: str, several_sizes: bool = False) -> tuple[Option, ...]:
    """Return the options of the settings of a model; with `several_sizes`, of more than one vocabulary."""
    trainer = TRAINERS[model]
    declared = declared_options(settings_of(trainer), SECTION, several_sizes, sections_of(trainer))
    return tuple(Option(names, **how) for names, how in declared)


@cache
def _common_options(models: Sequence[str], several_sizes: bool) -> tuple[Option, ...]:
    """Return the options that all models have, without the defaults, which differ."""
    first, *others = (settings_of(TRAINERS[model]) for model in models)
    common = {
        name: (about, "") for name, (about, _) in first.items() if all(name in o for o in others)
    }
    return tuple(
        Option(names, **how) for names, how in declared_options(common, SECTION, several_sizes)
    )


@cache
def _flags_of(model: str) -> tuple[str, ...]:
    return tuple(flag for one in options_of(model) for flag in (*one.opts, *one.secondary_opts))


# ---- options as settings


def given_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that were given, for the trainer of the model of the command."""
    context = click.get_current_context()
    assert isinstance(context.command, TrainingCommand)
    model = context.meta.get(_MODEL) or context.command.models[0]
    given = given_options(dict(options))
    for name, (about, _) in settings_of(TRAINERS[model]).items():
        if isinstance(about, Variant):
            given = _with_variant(name, about, given)
    return given


def _with_variant(name: str, about: Variant, given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with those of one kind as one value; raise for settings of two kinds.

    Without the option of the kind, its settings name it.
    """
    kinds = {setting: kind for kind in about.kinds for setting in about.settings_of(kind)}
    values = {setting: given.pop(setting) for setting in kinds if setting in given}
    if not values and name not in given:
        return given
    kind = given.get(name, kinds[next(iter(values), next(iter(kinds)))])
    for setting, value in values.items():
        if kinds[setting] != kind:
            problem = (
                f"{value!r} does not support --{name} {kind}; it needs --{name} {kinds[setting]}"
            )
            raise pw.errors.ArgumentError(setting, problem)
    return {**given, name: about.kinds[kind](**values)}
