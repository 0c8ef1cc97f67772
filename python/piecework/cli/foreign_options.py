"""Options of other programs that have another name here, for the messages of errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import piecework as pw
from piecework._internal.close_names import did_you_mean

# Programs: spm_train, spm_encode, subword-nmt, fastBPE, huggingface-cli, scripts of transformers, Unix tools;
# and options of earlier versions.
_HERE = {
    "--bpe-model": "TOKENIZER",
    "--corpus": "CORPUS or FILE",
    "--algorithm": "--learner",
    "--coverage": "--character-coverage",
    "--codes": "TOKENIZER",
    "--cased": "--preset bert-cased",
    "--column": "--field",
    "--content-key": "--field",
    "--cpus": "--num-threads",
    "--do-lower-case": "--preset bert-uncased",
    "--encoding": "--encoding-name",
    "--errors": "--encoding-errors",
    "--file": "CORPUS or FILE",
    "--files": "CORPUS or FILE",
    "--input": "CORPUS or FILE",
    "--input-file": "CORPUS or FILE",
    "--input-files": "CORPUS or FILE",
    "--jobs": "--num-threads",
    "--json-keys": "--field",
    "--key": "--field",
    "--lower": "--preset bert-uncased",
    "--lower-case": "--preset bert-uncased",
    "--max-memory": "--memory",
    "--min-count": "--min-frequency",
    "--min-freq": "--min-frequency",
    "--mem": "--memory",
    "--model": "TOKENIZER or --model-type",
    "--model-name-or-path": "TOKENIZER",
    "--model-prefix": "--output",
    "--model-type": "--model",
    "--normalization": "--normalization-rule-name",
    "--nproc": "--num-threads",
    "--num-merges": "--vocab-size",
    "--num-operations": "--vocab-size",
    "--num-proc": "--num-threads",
    "--num-symbols": "--vocab-size",
    "--num-workers": "--num-threads",
    "--output-dir": "--out-dir",
    "--output-format": "--format",
    "--output-prefix": "--output",
    "--pre-tokenizer": "--preset",
    "--sample-seed": "--seed",
    "--save-dir": "--output",
    "--seed-size": "--seed-vocab-size",
    "--symbols": "--vocab-size",
    "--text-column": "--field",
    "--text-field": "--field",
    "--tokenizer": "TOKENIZER",
    "--tokenizer-model": "TOKENIZER",
    "--tokenizer-name": "TOKENIZER",
    "--tokenizer-type": "--model",
    "--train-files": "CORPUS or FILE",
    "--uncased": "--preset bert-uncased",
    "--type": "--model-type",
    "--unk": "--unk-token",
    "--use-cap": "--max-use-cost",
    "--vocab": "TOKENIZER",
    "--vocab-file": "TOKENIZER",
    "--vocabulary-size": "--vocab-size",
    "--workers": "--num-threads",
}


# Options that moved to a command of their own.
_MOVED = {
    "--type": "piecework train-sentencepiece --model-type",
    "--all": "--steps all",
    "--example": "piecework explain-training",
    "--training": "piecework explain-training",
    "--help-all": "--help, which lists all options of --model",
}


def hint_for(option: str, flags: Collection[str], arguments: Collection[str]) -> str:
    """Return what an unknown option of a command is called here, "" if nothing is near.

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
    if wanted in _MOVED:
        return f"use {_MOVED[wanted]}"
    return did_you_mean(option, flags)


# Values of `--model` that have another name here.
_MODELS = {
    "bbpe": "byte-bpe",
    "byte-level-bpe": "byte-bpe",
    "bytelevelbpe": "byte-bpe",
    "wordlevel": "word",
}


def value_hint(value: object, flags: Collection[str], known: Sequence[str]) -> str:
    """Return which of the known values of an option is probably meant, "" if none is near.

    >>> value_hint("wordpeice", ["--model"], ["bpe", "wordpiece"])
    "did you mean 'wordpiece'?"
    >>> value_hint("llama", ["--preset"], ["gpt2", "bert-cased"])
    'use piecework train-sentencepiece'
    """
    if "--model" in flags and isinstance(value, str):
        if value.lower() in ("sentencepiece", "spm"):
            return "use piecework train-sentencepiece"
        value = _MODELS.get(value.lower(), value)
    if "--score" in flags and value == "top-down":
        return "use --learner top-down"
    if "--preset" in flags:
        for command, presets in (
            ("train-sentencepiece", pw.train.SENTENCEPIECE_PRESETS),
            ("train", pw.train.PRESETS),
        ):
            if value in presets:
                return f"use piecework {command}"
    return did_you_mean(value, known)
