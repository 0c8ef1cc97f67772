"""Options of other programs that have another name here, for the messages of errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import piecework as pw
from piecework._internal.close_names import did_you_mean

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
    if "--preset" in flags:
        for command, presets in (
            ("train-sentencepiece", pw.train.SENTENCEPIECE_PRESETS),
            ("train", pw.train.PRESETS),
        ):
            if value in presets:
                return f"use piecework {command}"
    return did_you_mean(value, known)
