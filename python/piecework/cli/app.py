"""From arguments to an exit code: every failure is one line on stderr, never a traceback."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

import click

import piecework as pw
from piecework.cli.bench import bench
from piecework.cli.compare import compare
from piecework.cli.convert import convert
from piecework.cli.count import count
from piecework.cli.decode import decode
from piecework.cli.encode import encode
from piecework.cli.explain import explain
from piecework.cli.extend import extend
from piecework.cli.inspect import inspect
from piecework.cli.normalize import normalize
from piecework.cli.prune import prune
from piecework.cli.signals import Terminated
from piecework.cli.train import train

_BAD_USAGE = 2
_INTERRUPTED = 128 + 2  # as a shell reports SIGINT
_BROKEN_PIPE = 128 + 13  # as a shell reports SIGPIPE

_EXAMPLE = """\b
Example:
  piecework train corpus.txt --vocab-size 8000 -o tokenizer.json
  echo "Hello world" | piecework encode tokenizer.json --format tokens -
"""

commands = click.Group(
    "piecework",
    help="Train subword tokenizers and use them.",
    epilog=_EXAMPLE,
    commands=[
        train,
        count,
        encode,
        decode,
        inspect,
        explain,
        compare,
        bench,
        extend,
        prune,
        convert,
        normalize,
    ],
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with warnings.catch_warnings():
            _say_warnings_in_one_line()
            _invoke(given)
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except Terminated as request:
        return _fail(str(request), request.exit_code)
    except KeyboardInterrupt:
        return _fail("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        _let_stdout_go()
        return _BROKEN_PIPE
    except click.ClickException as error:
        return _fail(_usage_message(error))
    except (pw.PieceworkError, OSError) as error:
        return _fail(str(error))
    return 0


def _invoke(arguments: list[str]) -> None:
    # `Group.main` would print usage errors in several lines and choose the exit codes itself.
    with commands.make_context("piecework", arguments) as context:
        commands.invoke(context)
    sys.stdout.flush()


def _usage_message(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    if context is None:
        return error.format_message()
    return f"{error.format_message()} (see {context.command_path} --help)"


def _fail(message: str, code: int = _BAD_USAGE) -> int:
    print("piecework:", " ".join(message.split()), file=sys.stderr)
    return code


def _say_warnings_in_one_line() -> None:
    def show(message: Warning | str, *_: object, **__: object) -> None:
        print("piecework: warning:", " ".join(str(message).split()), file=sys.stderr)

    warnings.simplefilter("always", pw.errors.TrainingWarning)
    warnings.showwarning = show  # undone by the surrounding catch_warnings


def _let_stdout_go() -> None:
    """Point stdout at nothing, so that what is still buffered cannot fail again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
