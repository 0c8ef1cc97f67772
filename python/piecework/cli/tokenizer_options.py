"""Load the tokenizer of a command, with options for what its file does not contain."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from inspect import cleandoc
from pathlib import Path
from typing import Any, TypeAlias

import click

import piecework as pw
from piecework.cli.parameters import Function, InputFile, NameChoice, all_of, option
from piecework.io.stored_lengths import ignore_warnings_of_lengths

Hints: TypeAlias = Mapping[str, Any]

_FORMAT_NAMES = ("encoding_name", "pattern", "special_tokens", "merges", "lowercase")
_NAMES = (*_FORMAT_NAMES, "download", "revision")
_KINDS = (
    "{} is a file, a folder as transformers writes it, an encoding such as cl100k_base, a model such as "
    "gpt-4o, or a repository of the Hugging Face hub, such as org/name, in its local cache."
)


_in_section = partial(option, section="Tokenizer")
_ENCODINGS = NameChoice(tuple(pw.spec.ENCODINGS), "encoding")
_with_options = all_of(
    _in_section(
        "--encoding-name",
        type=_ENCODINGS,
        help=f"Encoding of a .tiktoken file, {_ENCODINGS.examples}.",
    ),
    _in_section(
        "--pattern",
        multiple=True,
        metavar="NAME|REGEX",
        help="Split pattern of a .tiktoken file, or of vocab.json with merges: a name such as gpt2 or "
        "cl100k, or regular expressions, applied in order; repeatable.",
    ),
    _in_section(
        "--special-token",
        "special_tokens",
        multiple=True,
        metavar="TOKEN[=ID]",
        help="Special token of a .tiktoken file (TOKEN=ID) or of vocab.json with merges (TOKEN); "
        "repeatable.",
    ),
    _in_section("--merges", type=InputFile(), help="The merges.txt of a vocab.json."),
    _in_section(
        "--lowercase/--no-lowercase",
        default=None,
        help="Lowercase text for a vocab.txt, or not.  "
        "[default: lowercase if no token has a capital letter]",
    ),
    _in_section(
        "--download",
        is_flag=True,
        help="Fetch the tokenizer files of a repository of the Hugging Face hub into its local cache. "
        "Needs the extra hub.",
    ),
    _in_section(
        "--revision",
        metavar="NAME",
        help="Branch, tag or commit of a repository of the Hugging Face hub.  [default: main]",
    ),
)


def tokenizer_argument(name: str = "tokenizer", **settings: Any) -> Callable[[Function], Function]:
    """Return the argument for a tokenizer file."""
    return click.argument(name, type=InputFile(), **settings)


def tokenizer_options(
    function: Callable[..., Any], argument: str = "TOKENIZER"
) -> Callable[..., Any]:
    """Add the options for a tokenizer; the command receives them together as `hints`.

    The help of the command gets a paragraph about what `argument` can be.
    """

    @wraps(function)
    def with_hints(*arguments: Any, **settings: Any) -> Any:
        hints = {name: settings.pop(name) for name in _NAMES}
        return function(*arguments, hints=hints, **settings)

    with_hints.__doc__ = f"{cleandoc(function.__doc__ or '')}\n\n{_KINDS.format(argument)}"
    return _with_options(with_hints)


def with_tokenizer(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument TOKENIZER with its options; the command receives the loaded tokenizer."""

    @wraps(function)
    def with_loaded(*arguments: Any, tokenizer: str, hints: Hints, **settings: Any) -> Any:
        return function(*arguments, tokenizer=load_one(tokenizer, hints), **settings)

    return tokenizer_argument()(tokenizer_options(with_loaded))


def load_one(path: str, hints: Hints) -> pw.Tokenizer:
    """Load a tokenizer with the options for its file."""
    return _load(path, **_arguments(hints), **_name_arguments(hints))


@contextmanager
def without_warnings_of_lengths() -> Iterator[None]:
    """Do not warn of lengths that a file stores: no command applies them to the texts it reads."""
    with warnings.catch_warnings():
        ignore_warnings_of_lengths()
        yield


def _load(path: str, **arguments: Any) -> pw.Tokenizer:
    with without_warnings_of_lengths():
        return pw.Tokenizer.load(path, **arguments)


def load_each(paths: Mapping[str, str], hints: Hints) -> dict[str, pw.Tokenizer]:
    """Load tokenizers of several formats; the options apply to the files that accept them.

    Raises `ArgumentError` if no file accepts the given options.
    """
    loaded: dict[str, pw.Tokenizer] = {}
    for name, one in try_each(paths, hints).items():
        if isinstance(one, pw.PieceworkError):
            raise one
        loaded[name] = one
    return loaded


def try_each(paths: Mapping[str, str], hints: Hints) -> dict[str, pw.Tokenizer | pw.PieceworkError]:
    """Load tokenizers as `load_each` does; the error of one that does not load takes its place."""
    loaded: dict[str, pw.Tokenizer | pw.PieceworkError] = {}
    given = list(_arguments(hints))
    applied = not given
    for name, path in paths.items():
        try:
            loaded[name], was_applied = _load_with_some(path, hints)
        except pw.PieceworkError as error:
            loaded[name], was_applied = error, True
        applied = applied or was_applied
    if not applied:
        problem = "does not apply: the tokenizer files are self-contained"
        raise pw.errors.ArgumentError(given[0], problem, also=given[1:])
    return loaded


def names_of_files(paths: Sequence[str]) -> dict[str, str]:
    """Return name -> path; the names are the file names if these are distinct, else the paths."""
    for path in paths:
        if paths.count(path) > 1:
            raise pw.errors.ArgumentError("TOKENIZER", f"{path} is given more than once")
    files = [Path(path).name for path in paths]
    names = files if len(set(files)) == len(files) else paths
    return {
        # File names may contain invalid Unicode, which cannot be printed.
        name.encode(errors="surrogateescape").decode(errors="replace"): path
        for name, path in zip(names, paths, strict=True)
    }


def load_with_some(path: str, hints: Hints) -> pw.Tokenizer:
    """Load a tokenizer with the given options that its format accepts."""
    return _load_with_some(path, hints)[0]


def _load_with_some(path: str, hints: Hints) -> tuple[pw.Tokenizer, bool]:
    """Load a tokenizer with the given options that its format accepts; return whether it accepts some."""
    given = _arguments(hints)
    lowercase = {name: given[name] for name in ("lowercase",) if name in given}
    # A self-contained format rejects options, so each file is first tried without them.
    attempts = [lowercase, {}] if lowercase else [{}]
    always = _name_arguments(hints)
    if os.path.exists(path):
        always.pop("revision", None)
    for settings in attempts:
        try:
            return _load(path, **settings, **always), bool(settings)
        except pw.errors.ArgumentError:
            continue
    return _load(path, **given, **always), bool(given)


def _arguments(hints: Hints) -> dict[str, Any]:
    """Return the given options about the file as arguments of `Tokenizer.load`."""
    patterns = hints["pattern"]
    values = {
        **{name: hints[name] for name in _FORMAT_NAMES},
        "pattern": patterns[0] if len(patterns) == 1 else patterns,
        "special_tokens": _special_tokens(hints["special_tokens"]),
    }
    return {name: value for name, value in values.items() if value not in (None, ())}


def _name_arguments(hints: Hints) -> dict[str, Any]:
    """Return the given options about the name as arguments of `Tokenizer.load`."""
    given = {"download": hints["download"], "revision": hints["revision"]}
    return {name: value for name, value in given.items() if value}


def _special_tokens(given: Sequence[str]) -> Mapping[str, int] | Collection[str] | None:
    """Return token -> id if each token has an id, else the tokens."""
    parts = [token.rpartition("=") for token in given]
    if given and all(token and id.isdecimal() for token, _, id in parts):
        return {token: int(id) for token, _, id in parts}
    return tuple(given) or None
