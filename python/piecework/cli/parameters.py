"""Commands, options and argument types: help in sections, no repeated options, errors with flags."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

import piecework as pw
from piecework.cli.foreign_options import hint_for, value_hint
from piecework.cli.messages import flags_of, with_flags

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])

COMPLETE = "_PIECEWORK_COMPLETE"
"""The environment variable of a completion request of a shell."""

_QUIET = "piecework.quiet"
_LAST_SECTION = "Other"
_NAMES_WIDTH = 30  # width of the option column; longer names get a line of their own
_FORMATS = "{formats}"


# ---- help


class HelpFormatter(click.HelpFormatter):
    """The help formatter of click, with bold headings and colored names on a terminal."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the usage line."""
        super().write_usage(prog, args, click.style(prefix or "Usage:", bold=True) + " ")

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        self.write(f"{'':>{self.current_indent}}{click.style(f'{heading}:', bold=True)}\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = _NAMES_WIDTH, col_spacing: int = 2
    ) -> None:
        """Write names with their descriptions."""
        colored = [(click.style(name, fg="cyan"), about) for name, about in rows]
        super().write_dl(colored, col_max, col_spacing)


def forced_color() -> bool | None:
    """Return whether the environment turns colors on or off, None if the kind of the stream decides."""
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None


class Context(click.Context):
    """A context that uses `HelpFormatter`, and colors as the environment says."""

    formatter_class = HelpFormatter

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.color = forced_color()


class Option(click.Option):
    """An option with a section in the help, and a short placeholder for numbers."""

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

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the converted value; errors say which choice is probably meant, or the least number."""
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter as error:
            names = getattr(self.type, "names", getattr(self.type, "choices", ()))
            hint = value_hint(value, self.opts, names)
            message = f"{error.message.rstrip('.')}; {hint}" if hint else error.message
            message = message.replace("is not in the range x>=", "is not an integer of at least ")
            raise click.BadParameter(message, error.ctx, error.param) from None

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return the bracketed part of the help, without the range of numbers, which errors name."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class Command(click.Command):
    """A command whose help lists options by section, and which rejects repeated options.

    `{formats}` in the help stands for the formats of a corpus.
    """

    context_class = Context

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        if _FORMATS in (settings.get("help") or ""):
            settings["help"] = settings["help"].replace(_FORMATS, pw.corpus.formats_text())
        super().__init__(*arguments, **settings)
        self.params += [color_option()]

    def shown_params(self, ctx: click.Context) -> Sequence[click.Parameter]:
        """Return the parameters that the help lists."""
        return self.get_params(ctx)

    def hint_elsewhere(self, flag: str) -> str:
        """Return where an option is that this command does not have, "" if nowhere."""
        return ""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section; options without a section come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.shown_params(ctx):
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
        """Parse the arguments; raise if an option is unknown, or has a single value and is repeated."""
        if not ctx.resilient_parsing:
            with hints_for_options(self, ctx):
                _, _, order = self.make_parser(ctx).parse_args(list(args))
            _check_repeated(ctx, order)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; translate argument names in errors of the library to flags."""
        try:
            return super().invoke(ctx)
        except pw.PieceworkError as error:
            raise click.ClickException(with_flags(error, self.get_params(ctx))) from error


def color_option() -> click.Option:
    """Return the option `--color`, which every command has."""

    def choose(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
        if value in ("always", "never") and not ctx.resilient_parsing:
            names = ("FORCE_COLOR", "NO_COLOR")  # rich and the errors at the end read them
            chosen, other = names if value == "always" else names[::-1]
            os.environ[chosen] = "1"
            os.environ.pop(other, None)
            ctx.color = ctx.find_root().color = forced_color()

    return Option(
        ["--color"],
        type=click.Choice(("auto", "always", "never")),
        is_eager=True,
        expose_value=False,
        callback=choose,
        help="Whether to print colors.  [default: auto, on a terminal]",
    )


@contextmanager
def hints_for_options(command: click.Command, ctx: click.Context) -> Iterator[None]:
    """Add to the error for an unknown option what it is called here, if something is near."""
    try:
        yield
    except click.NoSuchOption as error:
        known = [flag for option in command.get_params(ctx) for flag in _long_flags(option)]
        arguments = [one for one in command.params if isinstance(one, click.Argument)]
        hint = hint_for(error.option_name, known, flags_of(arguments).values())
        if isinstance(command, Command) and error.option_name.replace("_", "-") not in known:
            hint = command.hint_elsewhere(error.option_name) or hint
        message = f"No such option {error.option_name!r}"
        raise click.UsageError(f"{message}; {hint}" if hint else f"{message}.", ctx) from None


def _long_flags(parameter: click.Parameter) -> list[str]:
    if not isinstance(parameter, click.Option):
        return []
    flags = [*parameter.opts, *parameter.secondary_opts]
    return [flag for flag in flags if flag.startswith("--")]


def _check_repeated(ctx: click.Context, order: Sequence[click.Parameter]) -> None:
    seen = set()
    for parameter in order:
        if not isinstance(parameter, click.Option) or parameter.multiple:
            continue
        is_switch = parameter.is_flag and not parameter.secondary_opts
        if parameter in seen and not is_switch:
            flag = max(parameter.opts, key=len)
            raise click.UsageError(
                f"Option '{flag}' is given more than once; give it one value.", ctx
            )
        seen.add(parameter)


class VocabSize(click.ParamType):  # type: ignore[type-arg]
    """The size of a vocabulary, such as `32000` or `8k`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the size."""
        if not isinstance(value, str):
            return int(value)
        digits = value.strip().lower()
        factor = 1000 if digits.endswith("k") else 1
        digits = digits[:-1] if factor == 1000 else digits
        try:
            return int(digits) * factor
        except ValueError:
            self.fail(
                f"{value!r} is not a valid integer, or a number of thousands such as 32k",
                param,
                ctx,
            )


class SizeOrShare(VocabSize):
    """A number of entries, such as `24000` or `24k`, or a share of them, such as `0.75`."""

    name = "size or share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the size as an int, or the share as a float."""
        try:
            return float(value) if "." in str(value) else super().convert(value, param, ctx)
        except ValueError:
            self.fail(f"{value!r} is not a size such as 24k, or a share such as 0.75", param, ctx)


class VocabSizes(click.ParamType):  # type: ignore[type-arg]
    """One or more sizes of vocabularies, such as `32000` or `8k,16k`; a single size is an integer."""

    name = "sizes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | tuple[int, ...]:
        """Return the size, or a tuple of several sizes."""
        if not isinstance(value, str):
            return int(value)
        sizes = tuple(VocabSize().convert(text, param, ctx) for text in value.split(","))
        if len(set(sizes)) != len(sizes):
            self.fail(f"{value!r} repeats a size", param, ctx)
        return sizes[0] if len(sizes) == 1 else sizes


class CommaSeparated(click.ParamType):  # type: ignore[type-arg]
    """Texts with commas between them."""

    name = "texts"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        """Return the texts."""
        return value.split(",") if isinstance(value, str) else value


# ---- decorators


command = partial(click.command, cls=Command)
option = partial(click.option, cls=Option)
in_corpus = partial(option, section="Corpus")
in_output = partial(option, section="Output")
in_vocabulary = partial(option, section="Vocabulary")
in_explanation = partial(option, section="Explanation")


def apply(options: Sequence[Callable[[Function], Function]], function: Function) -> Function:
    """Add options to a command, in the order of the help."""
    for one in reversed(options):
        function = one(function)
    return function


def quiet_option(function: Function) -> Function:
    """Add the option `--quiet`; `is_quiet` returns its value."""

    def keep(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        ctx.meta[_QUIET] = value

    decorate = option(
        "-q",
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=keep,
        help="Do not print progress and summary on stderr.",
    )
    return decorate(function)


def is_quiet() -> bool:
    """Return whether the running command has `--quiet`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def output_option(
    help: str, *, name: str = "path", type: click.ParamType[Any] | None = None, **settings: Any
) -> Callable[[Function], Function]:
    """Return the option `-o`."""
    return option(
        "-o", "--output", name, type=type or OutputFile(), section="Output", help=help, **settings
    )


# ---- types of values


if TYPE_CHECKING:
    _Text: TypeAlias = click.ParamType[str]  # a generic class from click 8.2 on
else:
    _Text = click.ParamType


class InputFile(_Text):
    """A file to read, or `-` for stdin; shells complete file names."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Make the shell complete file names."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class OutputFile(InputFile):
    """A file to write, or `-` for stdout; raises for a directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the validated value."""
        path = str(value)
        if path.endswith(_separators()) or os.path.isdir(path):
            inside = os.path.join(path, self._example())
            self.fail(f"{path!r} is a directory; give a file name, such as {inside!r}.", param, ctx)
        return path

    def _example(self) -> str:
        return "out"


class TokenizerOutput(OutputFile):
    """A tokenizer to write: a file whose suffix selects the format, a folder, or `-` for stdout."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the validated value."""
        from piecework.io.saving import check_tokenizer_path

        path = str(value)
        if path == "-":
            return path
        try:
            check_tokenizer_path(path)
        except pw.PieceworkError as error:
            self.fail(f"{error.message}.", param, ctx)
        return path


class NameChoice(_Text):
    """A choice of many names: `list` prints them, and the error for an unknown name lists them.

    The help of the option has `examples` in place of all names.
    """

    name = "name"

    def __init__(self, names: Sequence[str], of: str) -> None:
        self.names = tuple(names)
        self.of = of

    @property
    def examples(self) -> str:
        """The first names, and how to see all."""
        return f"such as {' or '.join(self.names[:2])}; list prints all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the validated value; print the names for `list` and end the command."""
        if value == "list" and ctx is not None:
            click.echo("\n".join(self.names))
            ctx.exit()
        if value not in self.names:
            self.fail(
                f"{value!r} is not a known {self.of}; choose one of {', '.join(self.names)}.",
                param,
                ctx,
            )
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that start with `incomplete`."""
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name) for name in (*self.names, "list") if name.startswith(incomplete)
        ]


def _separators() -> tuple[str, ...]:
    return tuple(filter(None, (os.sep, os.altsep)))
