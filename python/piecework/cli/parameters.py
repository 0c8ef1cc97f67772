"""Commands, options and argument types, and errors with the names that users type."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

import piecework as pw
from piecework._internal.close_names import did_you_mean
from piecework.errors import FileError, FormatError, PieceworkError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Programs: spm_train, spm_encode, subword-nmt, fastBPE, huggingface-cli, scripts of transformers, Unix tools.
# Name here -> the names of others, without dashes.
_NAMES_OF_OTHERS = {
    "CORPUS or FILE": "corpus file files input input-file input-files train-files",
    "TOKENIZER": "bpe-model codes model-name-or-path tokenizer tokenizer-model tokenizer-name "
    "vocab vocab-file",
    "TOKENIZER or --model-type": "model",
    "--character-coverage": "coverage",
    "--encoding-errors": "errors",
    "--encoding-name": "encoding",
    "--field": "column content-key json-keys key text-column text-field",
    "--format": "output-format",
    "--memory": "max-memory mem",
    "--min-frequency": "min-count min-freq",
    "--model": "model-type tokenizer-type",
    "--model-type": "type",
    "--normalization-rule-name": "normalization",
    "--num-threads": "cpus jobs nproc num-proc num-workers workers",
    "--out-dir": "output-dir",
    "--output": "model-prefix output-prefix save-dir",
    "--preset": "pre-tokenizer",
    "--preset bert-cased": "cased",
    "--preset bert-uncased": "do-lower-case lower lower-case uncased",
    "--unk-token": "unk",
    "--vocab-size": "num-merges num-operations num-symbols symbols vocabulary-size",
}
_HERE = {f"--{name}": here for here, names in _NAMES_OF_OTHERS.items() for name in names.split()}


def hint_for(option: str, flags: Collection[str], arguments: Collection[str]) -> str:
    """Return the name in piecework of an unknown option, "" if no name is close.

    >>> hint_for("--model_prefix", ["--output", "--model"], ["CORPUS"])
    "it is called '--output' here"
    >>> hint_for("--input", ["--input-format"], ["CORPUS"])
    'CORPUS is an argument, without an option'
    >>> hint_for("--vocab_size", ["--vocab-size"], [])
    "did you mean '--vocab-size'?"
    """
    wanted = option.replace("_", "-")
    if wanted in flags:
        return f"did you mean {wanted!r}?"
    for here in _HERE.get(wanted, "").split(" or "):
        if here in arguments:
            return f"{here} is an argument, without an option"
        if here and here.split()[0] in flags:
            return f"it is called {here!r} here"
    return did_you_mean(option, flags)


# Values of `--model` that have another name here.
_MODELS = {
    "bbpe": "byte-bpe",
    "byte-level-bpe": "byte-bpe",
    "bytelevelbpe": "byte-bpe",
    "wordlevel": "word",
}


def value_hint(value: object, flags: Collection[str], known: Sequence[str]) -> str:
    """Return which known value of an option is probably meant, "" if none is close.

    >>> value_hint("wordpeice", ["--model"], ["bpe", "wordpiece"])
    "did you mean 'wordpiece'?"
    >>> value_hint("llama", ["--preset"], ["gpt2", "bert-cased"])
    'use piecework train-sentencepiece'
    """
    if "--model" in flags and isinstance(value, str):
        if value.lower() in ("sentencepiece", "spm"):
            return "use piecework train-sentencepiece"
        value = _MODELS.get(value.lower(), value)
    if "--preset" in flags:
        for command, presets in (
            ("train-sentencepiece", pw.train.SENTENCEPIECE_PRESETS),
            ("train", pw.train.PRESETS),
        ):
            if value in presets:
                return f"use piecework {command}"
    return did_you_mean(value, known)


def with_flags(error: PieceworkError, parameters: Iterable[click.Parameter]) -> str:
    """Return the text of an error, with the flags of a command as places.

    >>> import piecework as pw
    >>> option = click.Option(["--vocab-size"])
    >>> with_flags(pw.errors.ArgumentError("vocab_size", "must be at least 15, not 6"), [option])
    '--vocab-size: must be at least 15, not 6'

    Errors about files stay as they are: a file can be called like an argument.
    """
    if isinstance(error, (FileError, FormatError)):
        return str(error)
    flags = flags_of(parameters)
    named = copy.copy(error)
    named.place = _with_flag(error.place, flags)
    named.also = tuple(_with_flag(place, flags) for place in error.also)
    return str(named)


def _with_flag(place: str, flags: Mapping[str, str]) -> str:
    """Return a place with the flag of its argument, which an index or a field can follow."""
    name = re.split(r"[\[: ]", place, maxsplit=1)[0]  # not ".": the place can be a file
    return flags.get(name, name) + place[len(name) :]


def flags_of(parameters: Iterable[click.Parameter]) -> dict[str, str]:
    """Return argument name -> what the user types: a flag, or the name of a positional argument.

    >>> flags_of([click.Option(["--vocab-size"]), click.Argument(["corpus"])])
    {'vocab_size': '--vocab-size', 'corpus': 'CORPUS'}
    """
    flags = {}
    for parameter in parameters:
        if isinstance(parameter, click.Option):
            flag = max(parameter.opts, key=len)
            for name in (parameter.name, flag.lstrip("-").replace("-", "_")):
                flags[str(name)] = flag
        else:
            usage = re.search(r"[A-Z]+", parameter.human_readable_name)
            flags[str(parameter.name)] = usage.group() if usage else str(parameter.name).upper()
    return flags


Function = TypeVar("Function", bound=Callable[..., Any])
_Parameter: TypeAlias = click.Parameter | None
_Context: TypeAlias = click.Context | None

COMPLETE = "_PIECEWORK_COMPLETE"
"""The environment variable of a completion request of a shell."""

_QUIET = "piecework.quiet"
_LAST_SECTION = "Other"
_NAMES_WIDTH = 30  # width of the option column; longer names get a line of their own
_FORMATS = "{formats}"


# ---- help


class HelpFormatter(click.HelpFormatter):
    """The help formatter of click, with colored names on a terminal."""

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
        for kind, name in ((type(click.INT), "N"), (type(click.FLOAT), "X")):
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

    `first` names the options of a first run, which `-h` lists; without it, `-h` is `--help`. `{formats}`
    in the help stands for the formats of a corpus.
    """

    context_class = Context

    def __init__(self, *arguments: Any, first: str = "", **settings: Any) -> None:
        if _FORMATS in (settings.get("help") or ""):
            settings["help"] = settings["help"].replace(_FORMATS, pw.corpus.formats_text())
        super().__init__(*arguments, **settings)
        self.first = first.split()
        if self.first:
            self.context_settings = {**self.context_settings, "help_option_names": ["--help"]}
            self.params.append(_short_help_option())

    def shown_params(self, ctx: click.Context) -> Sequence[click.Parameter]:
        """Return the parameters that the help lists."""
        return self.get_params(ctx)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option `--help`; its help tells it from `-h`."""
        found = super().get_help_option(ctx)
        if found is not None and self.first:
            found.help = "Show all options and exit."
        return found

    def short_help_page(self, ctx: click.Context) -> str:
        """Return the help with the options of a first run alone."""
        flags = [*self.first, "-h", "--help"]
        shown = sorted(
            (flags.index(flag), parameter)
            for parameter in self.shown_params(ctx)
            for flag in flags
            if flag in parameter.opts
        )
        records = [parameter.get_help_record(ctx) for _, parameter in shown]
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text((self.help or "").split("\n\n")[0].replace("\n", " "))
        with formatter.section("Options of a first run"):
            formatter.write_dl([record for record in records if record])
        self.format_epilog(ctx, formatter)
        return formatter.getvalue().rstrip("\n")

    def hint_elsewhere(self, flag: str) -> str:
        """Return which command or model has an option that this one lacks, "" if none."""
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


def _short_help_option() -> Option:
    """Return the option `-h` of a command with many options."""

    def show(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            assert isinstance(ctx.command, Command)
            click.echo(ctx.command.short_help_page(ctx), color=ctx.color)
            ctx.exit()

    about = "Show the options of a first run and exit."
    names = ["-h", "short_help"]
    return Option(names, is_flag=True, expose_value=False, is_eager=True, callback=show, help=about)


@contextmanager
def hints_for_options(command: click.Command, ctx: click.Context) -> Iterator[None]:
    """Add the name in piecework to the error for an unknown option, if a name is close."""
    try:
        yield
    except click.NoSuchOption as error:
        known = [
            flag
            for one in command.get_params(ctx)
            for flag in (*one.opts, *one.secondary_opts)
            if flag.startswith("--")
        ]
        arguments = [one for one in command.params if isinstance(one, click.Argument)]
        hint = hint_for(error.option_name, known, flags_of(arguments).values())
        if isinstance(command, Command) and error.option_name.replace("_", "-") not in known:
            hint = command.hint_elsewhere(error.option_name) or hint
        message = f"No such option {error.option_name!r}"
        raise click.UsageError(f"{message}; {hint}" if hint else f"{message}.", ctx) from None


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
    """The size of a vocabulary, such as `32000` or `8k`.

    With `several`, sizes can follow after commas, and become a tuple; with `or_share`, a share of the
    entries, such as `0.75`, becomes a float.
    """

    name = "size"

    def __init__(self, *, several: bool = False, or_share: bool = False) -> None:
        self.several = several
        self.or_share = or_share

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> Any:
        """Return the size, the sizes or the share."""
        if not isinstance(value, str):
            return value
        try:
            if self.or_share and "." in value:
                return float(value)
            sizes = tuple(map(_size, value.split(",") if self.several else [value]))
        except ValueError:
            other = "a share such as 0.75" if self.or_share else "a number of thousands such as 32k"
            self.fail(f"{value!r} is not a valid integer, or {other}", param, ctx)
        if len(set(sizes)) != len(sizes):
            self.fail(f"{value!r} repeats a size", param, ctx)
        return sizes[0] if len(sizes) == 1 else sizes


def _size(text: str) -> int:
    digits = text.strip().lower()
    return 1000 * int(digits[:-1]) if digits.endswith("k") else int(digits)


class CommaSeparated(click.ParamType):  # type: ignore[type-arg]
    """Texts with commas between them."""

    name = "texts"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> list[str]:
        """Return the texts."""
        return value.split(",") if isinstance(value, str) else value


# ---- decorators


command = partial(click.command, cls=Command)
option = partial(click.option, cls=Option)
in_corpus = partial(option, section="Corpus")
in_output = partial(option, section="Output")
in_vocabulary = partial(option, section="Vocabulary")
in_explanation = partial(option, section="Explanation")


def all_of(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Return a decorator that adds several options to a command, in the order of the help."""

    def decorate(function: Function) -> Function:
        for one in reversed(options):
            function = one(function)
        return function

    return decorate


def _keep_quiet(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta[_QUIET] = value


quiet_option = option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_keep_quiet,
    help="Do not print progress and summary on stderr.",
)
"""Adds the option `--quiet`; `is_quiet` returns its value."""


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

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> str:
        """Return the validated value."""
        path = str(value)
        if path.endswith((os.sep, os.altsep or os.sep)) or os.path.isdir(path):
            inside = os.path.join(path, "out")
            self.fail(f"{path!r} is a directory; give a file name, such as {inside!r}.", param, ctx)
        return path


class TokenizerOutput(OutputFile):
    """A tokenizer to write: a file whose suffix selects the format, a folder, or `-` for stdout."""

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> str:
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

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> str:
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
