"""The tokenizer that a command reads: the options that say what its file leaves out, and one loader."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, wraps
from typing import Any, TypeAlias, TypeVar

import click

import piecework as pw
from piecework.cli.parameters import InputFile, Name, apply, option

Function = TypeVar("Function", bound=Callable[..., Any])
Hints: TypeAlias = Mapping[str, Any]

_NAMES = ("encoding", "pattern", "special_tokens", "merges", "lowercase")


def tokenizer_argument(name: str = "tokenizer", **settings: Any) -> Callable[[Function], Function]:
    """Return the argument that names a tokenizer file."""
    return click.argument(name, type=InputFile(), **settings)


def tokenizer_options(
    function: Callable[..., Any], shared: Collection[str] = ()
) -> Callable[..., Any]:
    """Add the options about the tokenizer's file, which the command takes together as `hints`.

    Those of the names in `shared` the command has already, for a use of its own too.
    """

    @wraps(function)
    def with_hints(*arguments: Any, **settings: Any) -> Any:
        hints = {name: settings[name] for name in _NAMES}
        others = {
            name: value for name, value in settings.items() if name not in _NAMES or name in shared
        }
        return function(*arguments, hints=hints, **others)

    return apply([one for name, one in _options().items() if name not in shared], with_hints)


def load_tokenizer(path: str, hints: Hints) -> pw.Tokenizer:
    """Load a tokenizer with what the options say of its file."""
    return pw.Tokenizer.load(path, **_arguments(hints))


def load_each(paths: Mapping[str, str], hints: Hints) -> dict[str, pw.Tokenizer]:
    """Load tokenizers of several formats: the options are for the files that need or take them.

    Raises `ArgumentError` when options were given and no file takes them.
    """
    given = _arguments(hints)
    lowercase = {name: given[name] for name in ("lowercase",) if name in given}
    # A file that says everything itself refuses options, so that they are tried last.
    attempts = [lowercase, {}, given] if lowercase else [{}, given]
    taken = not given
    loaded = {}
    for name, path in paths.items():
        loaded[name], settings = _first_that_loads(path, attempts)
        taken = taken or bool(settings)
    if not taken:
        names = ", ".join(f"{name}=" for name in given)
        found = f"{names} for files that need no such option"
        raise pw.errors.ArgumentError("tokenizers", found, "options that one of the files takes")
    return loaded


def _first_that_loads(
    path: str, attempts: Sequence[dict[str, Any]]
) -> tuple[pw.Tokenizer, dict[str, Any]]:
    for settings in attempts[:-1]:
        try:
            return pw.Tokenizer.load(path, **settings), settings
        except pw.errors.ArgumentError:
            continue
    return pw.Tokenizer.load(path, **attempts[-1]), attempts[-1]


def _options() -> dict[str, Callable[[Any], Any]]:
    in_section = partial(option, section="Tokenizer")
    return {
        "encoding": in_section(
            "--encoding",
            type=Name(tuple(pw.spec.ENCODINGS), "encoding"),
            help=f"What .tiktoken ranks are: {', '.join(pw.spec.ENCODINGS)}.",
        ),
        "pattern": in_section(
            "--pattern",
            multiple=True,
            metavar="NAME|REGEX",
            help="How ranks, or a vocabulary with merges, split text: a name such as "
            "gpt2 or cl100k, or regular expressions that are applied in turn. Repeatable.",
        ),
        "special_tokens": in_section(
            "--special-token",
            "special_tokens",
            multiple=True,
            metavar="TOKEN[=ID]",
            help="Special token of ranks (TOKEN=ID) or of a vocabulary with merges (TOKEN). Repeatable.",
        ),
        "merges": in_section(
            "--merges", type=InputFile(), help="Merges that belong to a vocab.json."
        ),
        "lowercase": in_section(
            "--lowercase/--no-lowercase",
            default=None,
            help="Whether text is lowercased for a vocab.txt.  [default: as its entries suggest]",
        ),
    }


def _arguments(hints: Hints) -> dict[str, Any]:
    """Return the options that were given, as `Tokenizer.load` takes them."""
    patterns = hints["pattern"]
    values = {
        **hints,
        "pattern": patterns[0] if len(patterns) == 1 else patterns,
        "special_tokens": _special_tokens(hints["special_tokens"]),
    }
    return {name: value for name, value in values.items() if value not in (None, ())}


def _special_tokens(given: Sequence[str]) -> Mapping[str, int] | Collection[str] | None:
    """Return tokens with ids where all have one, else the tokens."""
    parts = [token.rpartition("=") for token in given]
    if given and all(token and id.isdecimal() for token, _, id in parts):
        return {token: int(id) for token, _, id in parts}
    return tuple(given) or None
