"""`PieceworkTokenizerFast`: a tokenizer of this library as a class of transformers."""

from __future__ import annotations

import warnings
from typing import Any

from transformers import AutoTokenizer, TokenizersBackend
from transformers.models.auto.tokenization_auto import REGISTERED_TOKENIZER_CLASSES

from piecework import Tokenizer
from piecework.integrations.transformers.accelerated import EncodesHere
from piecework.integrations.transformers.backend import BackendTokenizer
from piecework.io.stored_lengths import ignore_warnings_of_lengths


class PieceworkTokenizerFast(EncodesHere, TokenizersBackend):  # type: ignore[misc]
    """A tokenizer of this library with the interface of transformers' fast tokenizers.

    >>> import piecework as pw
    >>> from piecework.integrations.transformers import PieceworkTokenizerFast
    >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)
    >>> fast = PieceworkTokenizerFast(tokenizer_object=tok)
    >>> fast(["hugs", "pun hugs"], padding=True)["input_ids"]
    [[2, 21, 3, 0], [2, 23, 21, 3]]

    `tokenizer_object` is a `Tokenizer`; its special tokens, padding and truncation become those of the
    class. `from_pretrained` reads folders with a `tokenizer.json`, a SentencePiece `tokenizer.model` or a
    `vocab.txt`; of other files, pass what `Tokenizer.load` returns. No tokenizer of `tokenizers` is built,
    unless the model is read as a component.
    """

    vocab_files_names = {  # noqa: RUF012 - transformers reads it from the class
        "tokenizer_file": "tokenizer.json",
        "sentencepiece_file": "tokenizer.model",
        "vocab_file": "vocab.txt",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        tokenizer = kwargs.pop("tokenizer_object", None)
        files = [kwargs.pop(name, None) for name in self.vocab_files_names]
        if tokenizer is None and any(files):
            with warnings.catch_warnings():
                ignore_warnings_of_lengths()  # transformers applies none
                tokenizer = Tokenizer.load(next(filter(None, files)))
        if isinstance(tokenizer, Tokenizer):
            kwargs = {**_settings(tokenizer), **kwargs}
            tokenizer = BackendTokenizer(tokenizer)
        super().__init__(*args, tokenizer_object=tokenizer, **kwargs)

    @classmethod
    def convert_to_native_format(cls, **kwargs: Any) -> dict[str, Any]:
        """Return the arguments of the constructor for the files of a folder."""
        return kwargs


def register(*config_classes: type) -> None:
    """Make `AutoTokenizer` return a `PieceworkTokenizerFast` for folders that name it, and for these models.

    >>> from piecework.integrations.transformers import register
    >>> register()

    `config_classes` are configuration classes of transformers, such as `BertConfig`: a folder of such a
    model whose `tokenizer_config.json` names no class then opens with this one.
    """
    REGISTERED_TOKENIZER_CLASSES[PieceworkTokenizerFast.__name__] = PieceworkTokenizerFast
    for config_class in config_classes:
        AutoTokenizer.register(config_class, tokenizer_class=PieceworkTokenizerFast, exist_ok=True)


def _settings(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the settings of transformers that a tokenizer has: roles, lengths, sides and chat templates."""
    templates = tokenizer.chat_templates
    found = {
        "model_max_length": tokenizer.model_max_length,
        "padding_side": tokenizer.padding_side,
        "truncation_side": tokenizer.truncation_side,
        "chat_template": templates if templates.keys() - {"default"} else tokenizer.chat_template,
    }
    return {
        **{
            role: token
            for role, token in tokenizer.special_tokens_map.items()
            if isinstance(token, str)
        },
        **{name: value for name, value in found.items() if value is not None},
    }
