"""Load the tokenizer of a command, with options for what its file does not contain."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from inspect import cleandoc
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

import piecework as pw
from piecework.cli.parameters import InputFile, NameChoice, apply, option
from piecework.io.stored_lengths import ignore_warnings_of_lengths

Function = TypeVar("Function", bound=Callable[..., Any])
Hints: TypeAlias = Mapping[str, Any]

_FORMAT_NAMES = ("encoding_name", "pattern", "special_tokens", "merges", "lowercase")
_NAMES = (*_FORMAT_NAMES, "download", "revision")
_KINDS = (
    "{} is a file, a folder as transformers writes it, an encoding such as cl100k_base, a model such as "
    "gpt-4o, or a repository of the Hugging Face hub, such as org/name, in its local cache."
)


def tokenizer_argument(name: str = "tokenizer", **settings: Any) -> Callable[[Function], Function]:
    """Return the argument for a tokenizer file."""
    return click.argument(name, type=InputFile(), **settings)


def tokenizer_options(
    function: Callable[..., Any], shared: Collection[str] = (), argument: str = "TOKENIZER"
) -> Callable[..., Any]:
    """Add the options for a tokenizer; the command receives them together as `hints`.

    The options in `shared` are defined by the command, which also receives them separately. The help of the
    command gets a paragraph about what `argument` can be.
    """

    @wraps(function)
    def with_hints(*arguments: Any, **settings: Any) -> Any:
        hints = {name: settings[name] for name in _NAMES}
        others = {
            name: value for name, value in settings.items() if name not in _NAMES or name in shared
        }
        return function(*arguments, hints=hints, **others)

    with_hints.__doc__ = f"{cleandoc(function.__doc__ or '')}\n\n{_KINDS.format(argument)}"
    return apply([one for name, one in _options().items() if name not in shared], with_hints)


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
    loaded = {}
    applied = not _arguments(hints)
    for name, path in paths.items():
        loaded[name], was_applied = _load_with_some(path, hints)
        applied = applied or was_applied
    if not applied:
        raise _no_file_takes(hints)
    return loaded


def try_each(paths: Mapping[str, str], hints: Hints) -> dict[str, pw.Tokenizer | pw.PieceworkError]:
    """Load tokenizers as `load_each` does; the error of one that does not load takes its place."""
    loaded: dict[str, pw.Tokenizer | pw.PieceworkError] = {}
    applied = not _arguments(hints)
    for name, path in paths.items():
        try:
            loaded[name], was_applied = _load_with_some(path, hints)
            applied = applied or was_applied
        except pw.PieceworkError as error:
            loaded[name] = error
            applied = True
    if not applied:
        raise _no_file_takes(hints)
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


def _no_file_takes(hints: Hints) -> pw.errors.ArgumentError:
    names = ", ".join(f"{name}=" for name in _arguments(hints))
    message = f"{names} does not apply: the tokenizer files are self-contained"
    return pw.errors.ArgumentError("tokenizers", message=message)


def _options() -> dict[str, Callable[[Any], Any]]:
    in_section = partial(option, section="Tokenizer")
    encodings = NameChoice(tuple(pw.spec.ENCODINGS), "encoding")
    return {
        "encoding_name": in_section(
            "--encoding-name",
            type=encodings,
            help=f"Encoding of a .tiktoken file, {encodings.examples}.",
        ),
        "pattern": in_section(
            "--pattern",
            multiple=True,
            metavar="NAME|REGEX",
            help="Split pattern of a .tiktoken file, or of vocab.json with merges: a name such as gpt2 or "
            "cl100k, or regular expressions, applied in order; repeatable.",
        ),
        "special_tokens": in_section(
            "--special-token",
            "special_tokens",
            multiple=True,
            metavar="TOKEN[=ID]",
            help="Special token of a .tiktoken file (TOKEN=ID) or of vocab.json with merges (TOKEN); "
            "repeatable.",
        ),
        "merges": in_section("--merges", type=InputFile(), help="The merges.txt of a vocab.json."),
        "lowercase": in_section(
            "--lowercase/--no-lowercase",
            default=None,
            help="Lowercase text for a vocab.txt, or not.  "
            "[default: lowercase if no token has a capital letter]",
        ),
        "download": in_section(
            "--download",
            is_flag=True,
            help="Fetch the tokenizer files of a repository of the Hugging Face hub into its local cache. "
            "Needs the extra hub.",
        ),
        "revision": in_section(
            "--revision",
            metavar="NAME",
            help="Branch, tag or commit of a repository of the Hugging Face hub.  [default: main]",
        ),
    }


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
