"""Commands, options and arguments: help in sections, single values once, errors that name the flag."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import click

import piecework as pw
from piecework.cli.messages import with_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])

_QUIET = "piecework.quiet"
_LAST_SECTION = "Other"
_NAMES_WIDTH = 30  # of the column of options; longer ones have a line to themselves


# ---- help


class HelpFormatter(click.HelpFormatter):
    """The help of click with bold headings where there is a terminal to show them."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the usage line."""
        super().write_usage(prog, args, click.style(prefix or "Usage:", bold=True) + " ")

    def write_heading(self, heading: str) -> None:
        """Write the name of a section."""
        self.write(f"{'':>{self.current_indent}}{click.style(f'{heading}:', bold=True)}\n")


class Context(click.Context):
    """A context whose help is formatted by `HelpFormatter`; colours follow `NO_COLOR`."""

    formatter_class = HelpFormatter

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        if os.environ.get("NO_COLOR"):
            self.color = False


class Option(click.Option):
    """An option with the section of the help that lists it, and a short name for its kind of value."""

    def __init__(self, *arguments: Any, section: str = _LAST_SECTION, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.section = section
        kinds: tuple[tuple[type, str], ...] = (
            (type(click.INT), "N"),
            (type(click.FLOAT), "X"),
        )
        for kind, name in kinds:
            if self.metavar is None and not self.is_flag and isinstance(self.type, kind):
                self.metavar = name

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return what the help says in brackets; the message for a wrong number names the range."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class Command(click.Command):
    """A command that lists its options by section and refuses an option given twice."""

    context_class = Context

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a section each; those of no section come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                name = getattr(parameter, "section", _LAST_SECTION)
                sections.setdefault(name, []).append(record)
        last = sections.pop(_LAST_SECTION, [])
        sections[_LAST_SECTION if sections else "Options"] = last
        names = [name for records in sections.values() for name, _ in records]
        width = min(max(map(len, names)), _NAMES_WIDTH)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), about) for name, about in records])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option with a single value may be given once."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(list(args))
            _refuse_repeated(ctx, order)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library names its argument as the user typed it."""
        try:
            return super().invoke(ctx)
        except pw.PieceworkError as error:
            raise click.ClickException(with_flags(error, self.params)) from error


def _refuse_repeated(ctx: click.Context, order: Sequence[click.Parameter]) -> None:
    seen = set()
    for parameter in order:
        if not isinstance(parameter, click.Option) or parameter.multiple:
            continue
        is_switch = parameter.is_flag and not parameter.secondary_opts
        if parameter in seen and not is_switch:
            flag = max(parameter.opts, key=len)
            raise click.UsageError(f"Option '{flag}' was given twice; it takes one value.", ctx)
        seen.add(parameter)


# ---- decorators


command = partial(click.command, cls=Command)
option = partial(click.option, cls=Option)


def apply(options: Sequence[Callable[[Function], Function]], function: Function) -> Function:
    """Add options to a command, listed in this order."""
    for one in reversed(options):
        function = one(function)
    return function


def quiet_option(function: Function) -> Function:
    """Add `--quiet`, which `is_quiet` tells."""

    def keep(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        ctx.meta[_QUIET] = value

    decorate = option(
        "-q",
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=keep,
        help="Show no progress and no summary on stderr.",
    )
    return decorate(function)


def is_quiet() -> bool:
    """Tell whether the command that runs was given `--quiet`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def output_option(
    help: str, *, name: str = "path", type: click.ParamType[Any] | None = None, **settings: Any
) -> Callable[[Function], Function]:
    """Return the option `-o`."""
    return option(
        "-o", "--output", name, type=type or OutputFile(), section="Output", help=help, **settings
    )


# ---- kinds of values


if TYPE_CHECKING:
    _Text: TypeAlias = click.ParamType[str]  # a generic class from click 8.2 on
else:
    _Text = click.ParamType


class InputFile(_Text):
    """A file to read, or `-`; a shell completes it."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Let the shell complete the name of a file."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class OutputFile(InputFile):
    """A file to write, or `-`; the name of a directory is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        path = str(value)
        if path.endswith(_separators()) or os.path.isdir(path):
            inside = os.path.join(path, self._example())
            self.fail(
                f"{path!r} is a directory; give the name of a file, such as {inside!r}.", param, ctx
            )
        return path

    def _example(self) -> str:
        return "out"


class TokenizerOutput(OutputFile):
    """A tokenizer file to write, whose suffix says its format, or `-`; a directory where that is allowed."""

    def __init__(self, *, directories: bool = False) -> None:
        self._directories = directories

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        from piecework.io.saving import check_tokenizer_path

        if self._directories and str(value).endswith(_separators()):
            return str(value)
        path = str(value) if self._directories else super().convert(value, param, ctx)
        try:
            check_tokenizer_path(path)
        except pw.PieceworkError as error:
            self.fail(f"{error.found} says no format; give {error.expected}.", param, ctx)
        return path

    def _example(self) -> str:
        return "tokenizer.json"


class Name(_Text):
    """One of the names of something; a wrong one is answered with all of them."""

    name = "name"

    def __init__(self, names: Sequence[str], of: str) -> None:
        self.names = tuple(names)
        self.of = of

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        if value not in self.names:
            self.fail(
                f"no {self.of} is called {value!r}; there are {', '.join(self.names)}.", param, ctx
            )
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]


def _separators() -> tuple[str, ...]:
    return tuple(filter(None, (os.sep, os.altsep)))
