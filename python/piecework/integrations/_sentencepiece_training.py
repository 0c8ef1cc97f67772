"""Training as callers of sentencepiece ask for it: keyword arguments, or options as on a command line.

Names and defaults are those of `piecework.train.SentencePieceTrainer`, which learns; values may be
texts, as on a command line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from piecework._core import write_sentencepiece, write_sentencepiece_vocab
from piecework.errors import ArgumentError, InputTypeError
from piecework.files import whole_file
from piecework.tokenizer import Tokenizer
from piecework.train import SentencePieceTrainer as Learner

_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Learner)}
_RENAMED = {"random_seed": "seed", "sentence_reader": "sentence_iterator"}
# What says how much is reported, or that much memory may be taken; what is learned depends on none of it.
_WITHOUT_EFFECT = ("minloglevel", "logtostderr", "train_extremely_large_corpus")
_OF_THE_CALL = (
    "input",
    "model_prefix",
    "num_threads",
    "sentence_iterator",
    "model_writer",
)
_TRUTHS = {
    **dict.fromkeys(("", "1", "t", "true", "y", "yes"), True),
    **dict.fromkeys(("0", "f", "false", "n", "no"), False),
}


class SentencePieceTrainer:
    """Learn a model as `sentencepiece.SentencePieceTrainer` does."""

    @staticmethod
    def train(arg: str | None = None, logstream: object = None, **kwargs: Any) -> None:
        """Learn a model and write it to `model_prefix` with `.model` and `.vocab`, or to `model_writer`.

        Give options as one text, `"--input=a.txt --model_prefix=m --vocab_size=1000"`, or by name. The
        sentences are the lines of the files in `input`, or what `sentence_iterator` gives. Progress is not
        reported; `logstream` is taken for the sake of callers.
        """
        options = _renamed(kwargs if arg is None else _options_in(arg, kwargs))
        call = {name: options.pop(name) for name in _OF_THE_CALL if name in options}
        _check_call(call)
        learner = Learner(**{name: _value(name, value) for name, value in options.items()})
        _write(_learned(learner, call), call)

    Train = train


def _options_in(arg: object, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Read options between spaces; one without a value is set."""
    if not isinstance(arg, str):
        raise InputTypeError("arg", type(arg).__name__, "str")
    if kwargs:
        raise ArgumentError(next(iter(kwargs)), "given with a text of options", "one of the two")
    options = {}
    for option in arg.split():
        name, _, value = option.removeprefix("--").partition("=")
        options[name] = value
    return options


def _renamed(options: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        _RENAMED.get(name, name): value
        for name, value in options.items()
        if name not in _WITHOUT_EFFECT and value is not None
    }
    for name in known:
        if name not in _DEFAULTS and name not in _OF_THE_CALL:
            raise ArgumentError(name, "an option", "one that training has here")
    return known


def _check_call(call: Mapping[str, Any]) -> None:
    for pair in (("input", "sentence_iterator"), ("model_prefix", "model_writer")):
        given = [name for name in pair if call.get(name)]
        if len(given) != 1:
            found = "given with " + pair[1] if given else "nothing"
            raise ArgumentError(pair[0], found, f"either this or {pair[1]}")


def _value(name: str, value: Any) -> Any:
    """Return a value of the kind that a setting has."""
    default = _DEFAULTS[name]
    if isinstance(default, tuple):
        return tuple(_listed(value))
    if not isinstance(value, str) or isinstance(default, str) or default is None:
        return value
    try:
        return _TRUTHS[value.lower()] if isinstance(default, bool) else type(default)(value)
    except (KeyError, ValueError):
        raise ArgumentError(
            name, repr(value), f"a value of type {type(default).__name__}"
        ) from None


def _listed(value: Any) -> list[str]:
    """Return names, which a text has between commas; quotes keep a comma in a name."""
    if not isinstance(value, str):
        return [str(one) for one in value]
    # A line end is a name like others, which csv takes for the end of a row.
    return next(csv.reader([value]), []) if '"' in value else value.split(",") if value else []


def _learned(learner: Learner, call: Mapping[str, Any]) -> Tokenizer:
    threads = int(call.get("num_threads", -1))
    workers = threads if threads > 0 else None
    if "input" in call:
        return Tokenizer.train(_listed(call["input"]), learner, workers=workers)
    sentences = _sentences(call["sentence_iterator"])
    return Tokenizer.train_from_iterator(sentences, learner, workers=workers)


def _sentences(given: Iterable[Any]) -> Iterator[str]:
    """Give sentences without the ends of their lines."""
    for at, sentence in enumerate(given):
        if isinstance(sentence, bytes):
            sentence = sentence.decode("utf-8", "replace")
        if not isinstance(sentence, str):
            raise InputTypeError(
                f"sentence_iterator[{at}]", type(sentence).__name__, "str or bytes"
            )
        yield sentence.rstrip("\r\n")


def _write(tokenizer: Tokenizer, call: Mapping[str, Any]) -> None:
    data = write_sentencepiece(tokenizer._core)
    if "model_writer" in call:
        call["model_writer"].write(data)
        return
    prefix = call["model_prefix"]
    with whole_file(f"{prefix}.model") as model, whole_file(f"{prefix}.vocab") as entries:
        model.write_bytes(data)
        entries.write_bytes(write_sentencepiece_vocab(tokenizer._core))
