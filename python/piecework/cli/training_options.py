"""Options made from declared settings: of counting, and of the trainer of a command's model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import click

import piecework as pw
from piecework._internal.setting_fields import (
    Choice,
    File,
    Integer,
    IntegerOrShare,
    Number,
    Setting,
    Switch,
    Tokens,
    Value,
    Variant,
    settings_of,
)
from piecework.cli.parameters import (
    Command,
    CommaSeparated,
    Function,
    InputFile,
    Option,
    VocabSize,
    all_of,
    option,
)
from piecework.cli.reading import given_options
from piecework.train.plan import model_of
from piecework.train.trainer import sections_of
from piecework.train.trainers import TRAINERS

SECTION = "Vocabulary"


def setting_options(
    cls: type, *names: str, section: str = SECTION
) -> Callable[[Function], Function]:
    """Return the options of some settings of a class."""
    chosen = {name: found for name, found in settings_of(cls).items() if name in names}
    return all_of(*(option(*flags, **how) for flags, how in declared_options(chosen, section)))


def declared_options(
    settings: Mapping[str, tuple[Setting, Any]],
    section: str,
    several_sizes: bool = False,
    sections: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the names of each option, and its other arguments; `sections` has the settings that begin one."""
    for name, (about, default) in settings.items():
        section = sections.get(name, section)
        how = _how(about)
        if name == "vocab_size":
            how = _how_of_size(about, several_sizes)
        if shown := _default_text(about, default):
            how["help"] += f"  [default: {shown}]"
        if about.option is not None:
            flag = about.option or f"--{name.replace('_', '-')}"
            flags = f"{flag}/--no{flag[1:]}" if isinstance(about, Switch) else flag
            yield [flags, name], {"section": section, **how}
        if isinstance(about, Variant):
            for kind in about.kinds:
                title = f"{name.capitalize()} {kind}"
                yield from declared_options(about.settings_of(kind), title, several_sizes)


def _how(about: Setting) -> dict[str, Any]:
    """Return the help of an option, its type, and how it reads its values."""
    how: dict[str, Any] = {"help": about.help, "metavar": about.metavar}
    match about:
        case Switch():
            how["default"] = None
        case IntegerOrShare():
            how["type"] = VocabSize(or_share=True)
        case Integer():
            how["type"] = int
        case Number():
            how["type"] = float
        case Choice():
            how["type"] = click.Choice(list(about.names))
        case Variant():
            how["type"] = click.Choice(list(about.kinds))
        case File():
            how["type"] = InputFile()
        case Value():
            how["type"] = CommaSeparated()
        case Tokens():
            how |= {"multiple": True, "help": f"{about.help[:-1]}; repeatable."}
    return how


def _how_of_size(about: Setting, several: bool) -> dict[str, Any]:
    text = about.help.replace(".", ", such as 32000 or 32k.")
    if not several:
        return {"help": text, "type": VocabSize(), "metavar": "N"}
    text = f"{text[:-1]}; several, such as 8k,16k,32k, write one tokenizer each."
    return {"help": text, "type": VocabSize(several=True), "metavar": "N[,N...]"}


def _default_text(about: Setting, default: Any) -> str:
    """Return a default as the user would type it, "" if there is nothing to type."""
    if default is None:
        return "" if isinstance(about, File) else about.none
    if isinstance(about, Switch):
        return "on" if default else "off"
    if isinstance(about, Variant):
        kind = next(kind for kind, cls in about.kinds.items() if isinstance(default, cls))
        return f"{kind}, or the one that has the given options"
    if isinstance(default, float):
        return f"{default:g}"
    text = " ".join(default) if isinstance(default, tuple) else str(default)
    return repr(text) if text != text.strip() else text


SENTENCEPIECE = "sentencepiece"
PRESET_MODELS = tuple(model for model in TRAINERS if model != SENTENCEPIECE)
"""The models that `piecework train` trains; their pipeline comes from a preset."""

_SHARED = {SENTENCEPIECE: ("seed",)}
"""Settings by model whose value comes from an option of the command, where it has one of the same name."""

_MODEL = "piecework.model"  # the model of the command line, None for the preset's model
_MORE_OPTIONS = "Each model has further options: {} --model bpe --help lists the options of BPE."


class TrainingCommand(Command):
    """A command with the settings of the trainer of its model as options.

    `--model` or `--preset` selects the model, unless the command has only one. Without one of these, the
    command has the options of WordPiece, and its help shows the options that all models have.
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
        """Return the options of the model and of the command."""
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
        first = own[: "model" in names]
        return [*first, *settings, *own[len(first) :]]

    def _model_of(self, ctx: click.Context) -> str:
        """Return the model of the arguments, or the first one of the command."""
        model: str = ctx.meta.get(_MODEL) or self.models[0]
        return model

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; without a model, say how to list the options of each."""
        super().format_options(ctx, formatter)
        if not ctx.meta.get(_MODEL):
            formatter.write_paragraph()
            formatter.write_text(_MORE_OPTIONS.format(ctx.command_path))

    def hint_elsewhere(self, flag: str) -> str:
        """Return the models that have an option."""
        flag = flag.replace("_", "-")
        models = [
            model
            for model in TRAINERS
            if any(flag in (*one.opts, *one.secondary_opts) for one in options_of(model))
        ]
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


def model_option(models: Sequence[str]) -> Callable[[Function], Function]:
    """Return the option `--model`."""
    return option(
        "--model",
        section=SECTION,
        type=click.Choice(list(models)),
        help="Type of the model.  [default: the preset's model, such as byte-bpe for gpt2, or wordpiece]",
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
    """Return the settings, with the settings of one kind as one value; raise for settings of two kinds.

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
