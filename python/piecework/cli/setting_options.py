"""Options made from declared settings, such as settings of trainers and of counting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import click

from piecework.cli.parameters import (
    CommaSeparated,
    InputFile,
    SizeOrShare,
    VocabSize,
    VocabSizes,
    apply,
    option,
)
from piecework.train.setting_fields import (
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

Function = TypeVar("Function", bound=Callable[..., Any])

SECTION = "Vocabulary"


def setting_options(
    cls: type, *names: str, section: str = SECTION
) -> Callable[[Function], Function]:
    """Return the options of some settings of a class."""
    chosen = {name: found for name, found in settings_of(cls).items() if name in names}
    declared = declared_options(chosen, section)
    options = [option(*names, **how) for names, how in declared]
    return lambda function: apply(options, function)


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
            how = _how_of_sizes(about) if several_sizes else _how_of_size(about)
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
            how["type"] = SizeOrShare()
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
            how |= {"multiple": True, "help": f"{about.help} Repeatable."}
    return how


def _how_of_size(about: Setting) -> dict[str, Any]:
    text = about.help.replace(".", ", such as 32000 or 32k.")
    return {"help": text, "type": VocabSize(), "metavar": "N"}


def _how_of_sizes(about: Setting) -> dict[str, Any]:
    several = "several, such as 8k,16k,32k, write one tokenizer each."
    text = about.help.replace(".", f", such as 32000 or 32k; {several}")
    return {"help": text, "type": VocabSizes(), "metavar": "N[,N...]"}


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
