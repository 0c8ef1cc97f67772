"""`SentencePieceTrainer`: training with sentencepiece's keyword arguments or command-line options.

`piecework.train.SentencePieceTrainer` trains the model and defines the names and defaults of the
options. A value may be a string, as on a command line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from piecework import SentencePieceTrainer as Trainer
from piecework import Tokenizer
from piecework.compat.sentencepiece.loaded_model import BOOLEANS
from piecework.compat.sentencepiece.normalizer import WHITESPACE_FLAGS, SentencePieceNormalizer
from piecework.errors import ArgumentError, InputTypeError
from piecework.io.atomic_files import atomic_file
from piecework.io.normalization_rules import NormalizationRules
from piecework.io.saving import tokenizer_bytes

_DEFAULTS: dict[str, Any] = {
    **{field.name: field.default for field in fields(Trainer)},
    "hard_vocab_limit": True,
}
_RENAMED = {"random_seed": "seed", "sentence_reader": "sentence_iterator"}
# Logging and memory options, and options that sentencepiece ignores too: none changes the model.
_IGNORED = (
    "minloglevel",
    "logtostderr",
    "train_extremely_large_corpus",
    "mining_sentence_size",
    "training_sentence_size",
)
_NO_NOISE = "piecework adds no noise, and sentencepiece 0.2.3 ignores the option"
# Options that are not supported, with the reason or the replacement. Their defaults are accepted.
_UNSUPPORTED = {
    "enable_differential_privacy": _NO_NOISE,
    "differential_privacy_noise_level": _NO_NOISE,
    "differential_privacy_clipping_threshold": _NO_NOISE,
    "escape_whitespaces": "the trainer recognizes words by ▁",
    "auto_character_coverage": "use character_coverage or required_chars",
    "use_sparse_pruning": "pieces are pruned by their loss of likelihood",
    "min_freq_alpha": "a seed piece must occur at least twice",
    "seed_piece_length_power": "seed scores are proportional to the length",
    "pretokenizer": "use pretokenization_delimiter, or count words with a Pipeline",
    "self_test_sample_size": "models store no self-tests",
    "allow_inconsistent_pretokenization": "it requires a pretokenizer",
}
_OTHER_DEFAULTS = {
    "seed_piece_length_power": ("1", "1.0"),
    "escape_whitespaces": ("", "1", "t", "true", "y", "yes"),
}
# For these options, an empty string means not given.
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
_CALL_OPTIONS = (
    "input",
    "model_prefix",
    "num_threads",
    "sentence_iterator",
    "model_writer",
)


class SentencePieceTrainer:
    """Train a model like `sentencepiece.SentencePieceTrainer`.

    >>> import io
    >>> model = io.BytesIO()
    >>> sentences = iter(["hug hugs bug bugs"] * 20)
    >>> SentencePieceTrainer.train(sentence_iterator=sentences, model_writer=model, vocab_size=12)
    >>> len(model.getvalue()) > 0
    True
    """

    @staticmethod
    def train(arg: str | None = None, logstream: object = None, **kwargs: Any) -> None:
        """Train a model; write `model_prefix`.model and `model_prefix`.vocab, or write to `model_writer`.

        Options are keyword arguments, or one string: `"--input=a.txt --model_prefix=m --vocab_size=1000"`.
        The sentences are the lines of the files in `input`, or the items of `sentence_iterator`. A
        `normalizer` replaces the normalization options. `logstream` is accepted for compatibility and
        ignored.
        """
        given = kwargs if arg is None else _parse_options(arg, kwargs)
        normalizer = given.pop("normalizer", None)
        options = _supported(given | _normalizer_options(normalizer, given))
        call = {name: options.pop(name) for name in _CALL_OPTIONS if name in options}
        _check_call(call)
        options.setdefault("hard_vocab_limit", _DEFAULTS["hard_vocab_limit"])
        trainer = Trainer(**{name: _converted(name, value) for name, value in options.items()})
        _write(_train(trainer, call), call)

    Train = train


def _parse_options(arg: object, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Parse `--name=value` options; an option without a value gets ""."""
    if not isinstance(arg, str):
        raise InputTypeError("arg", f"must be str, not {type(arg).__name__}")
    if kwargs:
        message = "options are given both in arg and as keyword arguments; use one of the two"
        raise ArgumentError(next(iter(kwargs)), message)
    options = {}
    for option in arg.split():
        name, _, value = option.removeprefix("--").partition("=")
        options[name] = value
    return options


def _supported(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options under the names of the trainer; raise for unknown and unsupported ones."""
    known = {
        _RENAMED.get(name, name): value
        for name, value in options.items()
        if value is not None and not _has_no_effect(name, value)
    }
    for name in known:
        if name in _UNSUPPORTED:
            raise ArgumentError(name, f"is not supported; leave it out ({_UNSUPPORTED[name]})")
        if name not in _DEFAULTS and name not in _CALL_OPTIONS:
            raise ArgumentError(name, f"SentencePieceTrainer has no option {name}")
    return known


def _has_no_effect(name: str, value: Any) -> bool:
    if name in _UNSUPPORTED:
        defaults = _OTHER_DEFAULTS.get(name, ("0", "0.0", "false", "no"))
        return str(value).lower() in defaults
    return name in _IGNORED or (name in _MAY_BE_EMPTY and value == "")


def _normalizer_options(given: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a normalizer object stands for; it excludes other such options."""
    if given is None:
        return {}
    if not isinstance(given, SentencePieceNormalizer):
        problem = f"must be SentencePieceNormalizer, not {type(given).__name__}"
        raise InputTypeError("normalizer", problem)
    for name in ("normalization_rule_name", "normalization_rule_tsv", *WHITESPACE_FLAGS):
        if options.get(name) is not None:
            raise ArgumentError(name, "cannot be combined with normalizer")
    normalizer = given.specification
    rules = NormalizationRules(normalizer.charsmap)
    return {
        "normalization_rule_tsv": rules,
        **{name: getattr(normalizer, name) for name in WHITESPACE_FLAGS},
    }


def _check_call(call: Mapping[str, Any]) -> None:
    for pair in (("input", "sentence_iterator"), ("model_prefix", "model_writer")):
        given = [name for name in pair if call.get(name)]
        if len(given) != 1:
            raise ArgumentError(pair[0], f"pass exactly one of {pair[0]} and {pair[1]}")


def _converted(name: str, value: Any) -> Any:
    """Convert a value to the type of its option."""
    default = _DEFAULTS[name]
    if isinstance(default, tuple):
        return tuple(_split_list(value))
    if not isinstance(value, str) or isinstance(default, str) or default is None:
        return value
    return _convert(name, value, type(default))


def _convert(name: str, value: Any, kind: type) -> Any:
    try:
        return ({"": True} | BOOLEANS)[value.lower()] if kind is bool else kind(value)
    except (KeyError, TypeError, ValueError):
        problem = f"must be a value of type {kind.__name__}, not {value!r}"
        raise ArgumentError(name, problem) from None


def _split_list(value: Any) -> list[str]:
    """Split a comma-separated string; a quoted item may contain commas."""
    if not isinstance(value, str):
        return [str(one) for one in value]
    # Without quotes csv is avoided: an item may be a line break, which csv treats as the end of a row.
    return next(csv.reader([value]), []) if '"' in value else value.split(",") if value else []


def _train(trainer: Trainer, call: Mapping[str, Any]) -> Tokenizer:
    threads = _convert("num_threads", call.get("num_threads", -1), int)
    num_threads = threads if threads > 0 else None
    if "input" in call:
        return Tokenizer.train(_split_list(call["input"]), trainer, num_threads=num_threads)
    sentences = _sentences(call["sentence_iterator"])
    return Tokenizer.train_from_iterator(sentences, trainer, num_threads=num_threads)


def _sentences(sentences: Iterable[Any]) -> Iterator[str]:
    """Yield sentences without trailing line breaks."""
    for at, sentence in enumerate(sentences):
        if isinstance(sentence, bytes):
            sentence = sentence.decode("utf-8", "replace")
        if not isinstance(sentence, str):
            problem = f"must be str or bytes, not {type(sentence).__name__}"
            raise InputTypeError(f"sentence_iterator[{at}]", problem)
        yield sentence.rstrip("\r\n")


def _write(tokenizer: Tokenizer, call: Mapping[str, Any]) -> None:
    data = tokenizer_bytes(tokenizer, ".model")
    if "model_writer" in call:
        call["model_writer"].write(data)
        return
    prefix = call["model_prefix"]
    with atomic_file(f"{prefix}.model") as model, atomic_file(f"{prefix}.vocab") as entries:
        model.write_bytes(data)
        entries.write_bytes(tokenizer_bytes(tokenizer, ".vocab"))
