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
from piecework.compat.sentencepiece.normalizer import (
    SPACE_FLAGS,
    SentencePieceNormalizer,
)
from piecework.errors import ArgumentError, InputTypeError
from piecework.io.atomic_files import whole_file
from piecework.normalization_rules import NormalizationRules
from piecework.tokenizer import Tokenizer
from piecework.train import SentencePieceTrainer as Learner

_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Learner)}
_RENAMED = {"random_seed": "seed", "sentence_reader": "sentence_iterator"}
# What says how much is reported, or that much memory may be taken, and what has no effect there either;
# what is learned depends on none of it.
_WITHOUT_EFFECT = (
    "minloglevel",
    "logtostderr",
    "train_extremely_large_corpus",
    "mining_sentence_size",
    "training_sentence_size",
)
# What is not followed here, and why; the values that change nothing are taken.
_NOT_HERE = {
    "enable_differential_privacy": "no noise is added here, nor by 0.2.3, which ignores it",
    "differential_privacy_noise_level": "no noise is added here, nor by 0.2.3, which ignores it",
    "differential_privacy_clipping_threshold": "no noise is added here, nor by 0.2.3, which ignores it",
    "auto_character_coverage": "give character_coverage or required_chars",
    "use_sparse_pruning": "pieces are pruned by what the likelihood loses",
    "min_freq_alpha": "seeds are what occurs twice",
    "seed_piece_length_power": "seeds are weighed by their length",
    "pretokenizer": "give pretokenization_delimiter, or count words with a Pipeline",
    "allow_inconsistent_pretokenization": "it goes with a pretokenizer",
}
_USUAL_VALUES = {"seed_piece_length_power": ("1", "1.0")}
# An empty text here is as good as none.
_MAY_BE_EMPTY = (
    "input_format",
    "normalization_rule_name",
    "normalization_rule_tsv",
    "denormalization_rule_tsv",
    "seed_sentencepieces_file",
    "required_chars_file",
    "control_symbols_file",
    "user_defined_symbols_file",
)
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
        reported; `logstream` is taken for the sake of callers. A `normalizer` takes the place of the settings
        of normalization.
        """
        options = _renamed(kwargs if arg is None else _options_in(arg, kwargs))
        options |= _of_normalizer(options.pop("normalizer", None), options)
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
        if value is not None and not _has_no_effect(name, value)
    }
    for name, value in known.items():
        if name in _NOT_HERE:
            raise ArgumentError(name, repr(value), f"it left out: {_NOT_HERE[name]}")
        if name not in _DEFAULTS and name not in (*_OF_THE_CALL, "normalizer"):
            raise ArgumentError(name, "an option", "one that training has here")
    return known


def _has_no_effect(name: str, value: Any) -> bool:
    if name in _NOT_HERE:
        as_ever = _USUAL_VALUES.get(name, ("0", "0.0", "false", "no"))
        return str(value).lower() in as_ever
    return name in _WITHOUT_EFFECT or (name in _MAY_BE_EMPTY and value == "")


def _of_normalizer(given: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a normalizer, which go with no others of their kind."""
    if given is None:
        return {}
    if not isinstance(given, SentencePieceNormalizer):
        raise InputTypeError("normalizer", type(given).__name__, "SentencePieceNormalizer")
    for name in ("normalization_rule_name", "normalization_rule_tsv", *SPACE_FLAGS):
        if name in options:
            raise ArgumentError(name, "given with a normalizer", "one of the two")
    normalizer = given.specification
    rules = NormalizationRules(normalizer.charsmap)
    return {
        "normalization_rule_tsv": rules,
        **{name: getattr(normalizer, name) for name in SPACE_FLAGS},
    }


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
    return _of_kind(name, value, type(default))


def _of_kind(name: str, value: Any, kind: type) -> Any:
    try:
        return _TRUTHS[value.lower()] if kind is bool else kind(value)
    except (KeyError, TypeError, ValueError):
        raise ArgumentError(name, repr(value), f"a value of type {kind.__name__}") from None


def _listed(value: Any) -> list[str]:
    """Return names, which a text has between commas; quotes keep a comma in a name."""
    if not isinstance(value, str):
        return [str(one) for one in value]
    # A line end is a name like others, which csv takes for the end of a row.
    return next(csv.reader([value]), []) if '"' in value else value.split(",") if value else []


def _learned(learner: Learner, call: Mapping[str, Any]) -> Tokenizer:
    threads = _of_kind("num_threads", call.get("num_threads", -1), int)
    num_threads = threads if threads > 0 else None
    if "input" in call:
        return Tokenizer.train(_listed(call["input"]), learner, num_threads=num_threads)
    sentences = _sentences(call["sentence_iterator"])
    return Tokenizer.train_from_iterator(sentences, learner, num_threads=num_threads)


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
