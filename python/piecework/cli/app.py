"""Run a command and return an exit code; each failure prints one line on stderr, without a traceback."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

import piecework as pw
from piecework._internal._core import BUILD_PROFILE
from piecework._internal.close_names import did_you_mean
from piecework.cli.parameters import (
    COMPLETE,
    Context,
    forced_color,
    hints_for_options,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_BAD_USAGE = 2
_INTERRUPTED = 128 + 2  # as a shell reports SIGINT
_BROKEN_PIPE = 128 + 13  # as a shell reports SIGPIPE

_EXAMPLE = """\b
Example:
  piecework train corpus.txt --vocab-size 8000 -o tokenizer.json
  echo "Hello world" | piecework encode tokenizer.json --format tokens -
"""

# Task -> its commands -> first sentence of the help. The module of a command is imported when it runs.
TASKS = {
    "Train": {
        "train": "Train a tokenizer on CORPUS.",
        "train-sentencepiece": "Train a SentencePiece model, with spm_train's flags.",
        "count": "Count the words of CORPUS, for later training.",
        "choose": "Choose the size and the learner of a vocabulary.",
    },
    "Encode and decode": {
        "encode": "Encode each line of the FILEs with TOKENIZER.",
        "decode": "Decode the ids in the FILEs to text, one line per row.",
        "normalize": "Normalize each line of the FILEs as SentencePiece does.",
        "find-drift": "Print where the ids in the FILEs drift from their text.",
    },
    "Look into a tokenizer": {
        "inspect": "Print the stages, sizes and tokens of TOKENIZER.",
        "explain": "Print how TEXT is encoded, or what made a token.",
        "explain-training": "Print each step of training on CORPUS.",
        "serve": "Serve a local page that shows the tokens of a text.",
    },
    "Compare and check": {
        "check": "Judge TOKENIZERs: print what is wrong with each.",
        "compare": "Measure TOKENIZERs on a corpus and print a table.",
        "verify": "Check that TOKENIZER gives the ids of its library.",
        "golden": "Write texts and their ids that judge any engine.",
        "bench": "Measure how fast TOKENIZER encodes and decodes.",
    },
    "Change a tokenizer": {
        "convert": "Convert the tokenizer SRC to the format of DST.",
        "extend": "Add entries learned from CORPUS; existing ids stay.",
        "add": "Add WORDS to TOKENIZER as entries, one token each.",
        "prune": "Remove tokens from TOKENIZER, and renumber the others.",
        "shrink": "Remove the tokens of TOKENIZER that were learned last.",
    },
    "Other": {
        "completion": "Print a completion script for SHELL.",
    },
}
VERBS = {name: about for verbs in TASKS.values() for name, about in verbs.items()}
_HELP = {"help": "Print the help of a command."}


class Commands(click.Group):
    """The group of all commands; printing its help imports no command."""

    context_class = Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; raise with similar names for an unknown option."""
        with hints_for_options(self, ctx):
            return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, None for an unknown name."""
        if cmd_name not in VERBS:
            return None
        name = cmd_name.replace("-", "_")
        found = getattr(import_module(f"piecework.cli.{name}"), name)
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the first argument; raise with similar names if it is unknown.

        `help COMMAND` is `COMMAND --help`, and `help` is `--help`.
        """
        if args == ["help"]:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        args = [*args[1:], "--help"] if args[0] == "help" else args
        name = args[0]
        if name not in VERBS and not name.startswith("-") and not ctx.resilient_parsing:
            hint = did_you_mean(name, VERBS)
            message = f"No such command {name!r}"
            raise click.UsageError(f"{message}; {hint}" if hint else f"{message}.", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that start with `incomplete`."""
        from click.shell_completion import CompletionItem

        verbs = [
            CompletionItem(name, help=about)
            for name, about in VERBS.items()
            if name.startswith(incomplete)
        ]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the commands by task, with the first sentences of their help."""
        width = max(map(len, VERBS))
        for task, verbs in TASKS.items():
            rows = {**verbs, **(_HELP if task == "Other" else {})}
            with formatter.section(task):
                formatter.write_dl([(name.ljust(width), about) for name, about in rows.items()])


commands = Commands(
    "piecework",
    help="Train, use and study subword tokenizers.",
    epilog=_EXAMPLE,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(
    f"{pw.__version__} ({BUILD_PROFILE} build)",
    "-V",
    "--version",
    prog_name="piecework",
    message="%(prog)s %(version)s",
)(commands)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    instruction = os.environ.get(COMPLETE)
    if arguments is None and instruction:
        from click.shell_completion import shell_complete

        return shell_complete(commands, {}, "piecework", COMPLETE, instruction)
    try:
        if not given:
            with commands.make_context("piecework", [], resilient_parsing=True) as context:
                click.echo(context.get_help(), err=True, color=context.color)
            return _BAD_USAGE
        with warnings.catch_warnings():
            _print_warnings_in_one_line()
            _invoke(given)
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except KeyboardInterrupt as request:  # or `Terminated`, which has a message and a code
        click.echo(f"piecework: {str(request) or 'interrupted'}", err=True)
        return getattr(request, "exit_code", _INTERRUPTED)
    except BrokenPipeError:
        _discard_stdout()
        return _BROKEN_PIPE
    except click.ClickException as error:
        used = getattr(error, "ctx", None)
        hint = f" (see {used.command_path} --help)" if used else ""
        return _fail(error.format_message() + hint)
    except pw.PieceworkError as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("an allocation failed: there is not enough memory")
    except OSError as error:
        # Errors of the library name their file, so this one concerns stdout.
        place, action = (error.filename, "opened") if error.filename else ("<stdout>", "written")
        return _fail(f"{place}: cannot be {action}: {(error.strerror or str(error)).lower()}")
    return 0


def _invoke(arguments: list[str]) -> None:
    # `Group.main` would print usage errors on several lines and choose other exit codes.
    with commands.make_context("piecework", arguments) as context:
        commands.invoke(context)
    if sys.stdout is not None:
        sys.stdout.flush()


def _fail(message: str) -> int:
    _print_line("error:", "red", message)
    return _BAD_USAGE


def _print_line(label: str, color: str, message: str) -> None:
    styled = click.style(label, fg=color, bold=True)
    click.echo(f"piecework: {styled} {' '.join(message.split())}", err=True, color=forced_color())


def _print_warnings_in_one_line() -> None:
    def show(message: Warning | str, *_: object, **__: object) -> None:
        _print_line("warning:", "yellow", str(message))

    warnings.simplefilter("always", pw.errors.TrainingWarning)
    warnings.showwarning = show  # undone by the surrounding catch_warnings


def _discard_stdout() -> None:
    """Redirect stdout to the null device, so that flushing buffered data at exit cannot fail again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
