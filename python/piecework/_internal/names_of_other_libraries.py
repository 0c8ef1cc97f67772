"""Names of `tokenizers`, `transformers`, `tiktoken` and `sentencepiece` that differ in piecework."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

from piecework._internal.close_names import did_you_mean
from piecework._internal.role_attributes import ROLES
from piecework.errors import ImmutableError, InputTypeError

Method = TypeVar("Method", bound=Any)

_TAKES_KEYWORDS = 0x08  # `inspect.CO_VARKEYWORDS`; `import piecework` does not wait for `inspect`

# Attributes of `Tokenizer`.
_HERE = {
    # tokenizers
    "add_special_tokens": "with_added_tokens(tokens, special=True), which returns a new tokenizer",
    "add_tokens": "with_added_tokens(tokens), which returns a new tokenizer",
    "assign_ids_to_post_processor": "with_post_processor",
    "decoder": "spec.decoder",
    "enable_padding": "with_padding(length), which returns a new tokenizer",
    "enable_truncation": "with_truncation(max_length), which returns a new tokenizer",
    "from_buffer": "Tokenizer.from_bytes(data)",
    "from_pretrained": "Tokenizer.load(name), with download=True for one of the hub",
    "model": "spec.model",
    "no_padding": "without_padding(), which returns a new tokenizer",
    "no_truncation": "without_truncation(), which returns a new tokenizer",
    "normalizer": "spec.normalizer, or with_normalizer for another",
    "padding": "spec.padding, or with_padding for another",
    "post_process": "encode",
    "post_processor": "spec.post_processor",
    "pre_tokenizer": "spec.pre_tokenizer, or with_pre_tokenizer for another",
    "truncation": "spec.truncation, or with_truncation for another",
    # transformers
    "additional_special_tokens": "special_tokens_map['additional_special_tokens']",
    "backend_tokenizer": "spec, or piecework.integrations.transformers.BackendTokenizer(tokenizer)",
    "all_special_ids": "special_tokens_map, and token_to_id for each",
    "apply_chat_template": "piecework.chat.apply_chat_template(tokenizer, messages)",
    "all_special_tokens": "added_tokens, those with special=True",
    "batch_decode": "decode_batch",
    "batch_encode_plus": "encode_batch",
    "convert_ids_to_tokens": "id_to_token for each id",
    "convert_tokens_to_ids": "token_to_id for each token",
    "convert_tokens_to_string": "decode with ids",
    "encode_plus": "encode",
    "extra_special_tokens": "special_tokens_map['additional_special_tokens']",
    "save_pretrained": "save('folder/'), where the / makes it a folder",
    "vocab": "get_vocab()",
    "vocab_size": "len(tokenizer), or get_vocab_size(with_added_tokens=False)",
    # tiktoken
    "encode_ordinary": "encode(text, parse_special=False).ids",
    "encode_to_numpy": "encode_batch(texts).ids",
    "n_vocab": "len(tokenizer)",
    # sentencepiece
    "EncodeAsIds": "encode(text).ids, or piecework.compat.sentencepiece",
    "EncodeAsPieces": "encode(text).pieces, or piecework.compat.sentencepiece",
    "GetPieceSize": "len(tokenizer)",
    "IdToPiece": "id_to_token",
    "PieceToId": "token_to_id",
    "encode_as_ids": "encode(text).ids, or piecework.compat.sentencepiece",
    "encode_as_pieces": "encode(text).pieces, or piecework.compat.sentencepiece",
    "id_to_piece": "id_to_token",
    "piece_to_id": "token_to_id",
}

# Names that libraries which take a tokenizer look for on any. They work, and no list has them.
_ALIASES = {
    "encode_batch_fast": "encode_batch",
    "from_file": "load",
    "get_added_tokens_decoder": "_added_tokens_by_id",
    "num_special_tokens_to_add": "_count_of_special_tokens",
}

# Attributes of a `BatchEncoding` of transformers, looked up on `Batch` and `Encoding`.
_OF_BATCH = {
    "data": "to_dict()",
    "encodings": "batch[i] for each Encoding",
    "input_ids": "ids, to_lists(), or to_dict() for the names of transformers",
    "offset_mapping": "offsets",
    "token_type_ids": "type_ids",
}

# Attributes of `ChatEncoding` and `SegmentedEncoding`.
_OF_PROMPT = {
    "attention_mask": "encoding.attention_mask",
    "input_ids": "ids",
    "tokens": "encoding.tokens",
}

# Names of the module `piecework`.
_OF_MODULE = {
    # tokenizers
    "AddedToken": "piecework.spec.AddedToken",
    "BertWordPieceTokenizer": "piecework.Tokenizer.train(files, model='wordpiece')",
    "BpeTrainer": "piecework.BPETrainer",
    "ByteLevelBPETokenizer": "piecework.Tokenizer.train(files, model='byte-bpe')",
    "CharBPETokenizer": "piecework.Tokenizer.train(files, model='bpe')",
    "Regex": "strings, as in piecework.spec.Split",
    "SentencePieceBPETokenizer": "piecework.Tokenizer.train(files, model='bpe')",
    "SentencePieceUnigramTokenizer": "piecework.Tokenizer.train(files, model='unigram')",
    "decoders": "piecework.spec, such as spec.WordPieceDecoder",
    "models": "piecework.spec, such as spec.WordPiece",
    "normalizers": "piecework.spec, such as spec.BertNormalizer",
    "pre_tokenizers": "piecework.spec, such as spec.WhitespaceSplit",
    "processors": "piecework.spec, such as spec.TemplateProcessing",
    "trainers": "piecework.WordPieceTrainer and its like",
    # transformers
    "AutoTokenizer": "piecework.Tokenizer.load(name)",
    "BertTokenizer": "piecework.Tokenizer.load(name)",
    "BertTokenizerFast": "piecework.Tokenizer.load(name)",
    "PreTrainedTokenizerFast": "piecework.Tokenizer.load(name), or piecework.integrations.transformers",
    # tiktoken
    "encoding_for_model": "piecework.Tokenizer.load('gpt-4o')",
    "get_encoding": "piecework.Tokenizer.load('cl100k_base')",
    # sentencepiece
    "SentencePieceProcessor": (
        "piecework.Tokenizer.load('m.model'), or piecework.compat.sentencepiece.SentencePieceProcessor"
    ),
}

# Attributes of `Tokenizer` that are set, and the methods that return a changed one.
_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_METHOD_FOR = {
    # here
    **{f"{role}_id": f"with_roles({role}=...) with the token of that id" for role in ROLES},
    **{stage: f"with_{stage}(...)" for stage in _STAGES},
    "added_tokens": "with_added_tokens([...])",
    "chat_template": "with_chat_template(...)",
    "chat_templates": "with_chat_template(..., name=...)",
    "model_max_length": "with_model_max_length(...), or with_truncation(...) to truncate",
    "padding_side": "with_padding(side=...)",
    "special_tokens_map": "with_roles(...)",
    "truncation_side": "with_truncation(..., side=...)",
    "vocab_size": "piecework.vocabulary.shrink(tokenizer, size), or extend(tokenizer, corpus, n)",
    # tokenizers
    "encode_special_tokens": "with_parse_special(False)",
    "model": "Tokenizer(model, ...)",
    "padding": "with_padding(...)",
    "truncation": "with_truncation(...)",
    # transformers
    "add_bos_token": "with_post_processor(...)",
    "add_eos_token": "with_post_processor(...)",
    "additional_special_tokens": "with_added_tokens([...], special=True)",
    "clean_up_tokenization_spaces": "decode(ids, clean_up=...)",
    "split_special_tokens": "with_parse_special(False)",
}

# Settings of trainers.
_SETTINGS = {"show_progress": "progress=True of the call that trains, such as Tokenizer.train"}

# Keyword arguments of `load`, `from_bytes`, `encode`, `encode_batch` and `decode`.
_KEYWORDS = {
    # transformers
    "max_length": "tokenizer.with_truncation(N)",
    "padding": "tokenizer.with_padding(None) for the longest row, or with_padding(N) for N tokens",
    "pad_to_multiple_of": "tokenizer.with_padding(pad_to_multiple_of=N)",
    "return_attention_mask": "attention_mask of the result",
    "return_offsets_mapping": "encode_batch(texts, offsets=True), or offsets of an Encoding",
    "return_overflowing_tokens": "encode_batch(texts, overflow=True), or overflowing of an Encoding",
    "return_special_tokens_mask": "special_tokens_mask of the result",
    "return_tensors": 'encode_batch(texts).to_dict(return_tensors="pt"), or to_numpy()',
    "return_token_type_ids": "type_ids of the result",
    "split_special_tokens": "parse_special=False",
    "stride": "tokenizer.with_truncation(N, stride=S)",
    "text_pair": "the second argument",
    "truncation": "tokenizer.with_truncation(N), or with_truncation() for the stored length",
    # tiktoken
    "errors": "encoding_errors=",
    "allowed_special": "parse_special",
    "disallowed_special": "parse_special",
    # sentencepiece
    "add_bos": "tokenizer.with_post_processor(vocabulary.bos_eos_template(tokenizer.spec.model, bos=True))",
    "add_eos": "tokenizer.with_post_processor(vocabulary.bos_eos_template(tokenizer.spec.model, eos=True))",
    "out_type": "ids or tokens of the result",
}

# Keyword arguments of one method; they take precedence over the ones of all methods.
_KEYWORDS_OF = {
    "apply_chat_template": {
        "conversation": "the first argument, messages",
        "enable_thinking": "variables={'enable_thinking': ...}",
        "return_assistant_tokens_mask": "assistant_mask of the result",
        "return_dict": "ids and encoding of the result",
        "return_tensors": "ids of the result",
        "tokenize": "text of the result for the prompt, which is to be read, or its ids",
    },
    "with_padding": {"direction": "side=", "padding_side": "side="},
    "with_truncation": {"direction": "side=", "truncation_side": "side="},
}
_OTHER_KEYWORDS = {"apply_chat_template": "variables={...} for a variable of the template"}


def reject_keywords(method: Callable[..., object], given: Iterable[str]) -> NoReturn:
    """Raise `InputTypeError` for keyword arguments that a method of `Tokenizer` does not have.

    >>> import piecework as pw
    >>> reject_keywords(pw.Tokenizer.encode_batch, ["ofsets"])
    Traceback (most recent call last):
    piecework.errors.InputTypeError: ofsets: is not an argument of encode_batch; did you mean 'offsets'?
    """
    names, name = list(given), method.__name__
    code = method.__wrapped__.__code__  # type: ignore[attr-defined]
    known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    questions = (did_you_mean(one, known) for one in names)
    use = _uses_of(names, name) or _OTHER_KEYWORDS.get(name)
    hint = f"use {use}" if use else next(filter(None, questions), f"it has {', '.join(known)}")
    raise InputTypeError(names[0], f"is not an argument of {name}", also=names[1:], hint=hint)


def _uses_of(names: Iterable[str], method: str = "") -> str:
    """Return what to write in place of keyword arguments, "" if none is known."""
    known = {**_KEYWORDS, **_KEYWORDS_OF.get(method, {})}
    uses = dict.fromkeys(known[name] for name in names if name in known)
    # One call can stand for several arguments, such as `truncation` and `max_length`.
    longest = [use for use in uses if not any(use in other for other in uses if other != use)]
    return "; ".join(longest)


def hides_keywords(method: Method) -> Method:
    """Leave `**unknown` and the last arguments, of type None, out of the signature of a method.

    `help` and `inspect.signature` read it from `__wrapped__`. Calls are as fast as without.
    """
    code, defaults = method.__code__, method.__defaults__ or ()
    hidden = [*method.__annotations__.values()].count("None")
    shown = code.replace(
        co_argcount=code.co_argcount - hidden, co_flags=code.co_flags & ~_TAKES_KEYWORDS
    )
    wrapped = type(method)(
        shown, method.__globals__, method.__name__, defaults[: len(defaults) - hidden]
    )
    wrapped.__kwdefaults__, wrapped.__annotations__ = method.__kwdefaults__, method.__annotations__
    method.__wrapped__ = wrapped
    return method


def unknown_setting(owner: str, name: str, known: Iterable[str], hint: str = "") -> InputTypeError:
    """Return the error for a setting that a trainer does not have.

    >>> raise unknown_setting("CharTrainer", "show_progress", ["vocab_size"])
    Traceback (most recent call last):
    piecework.errors.InputTypeError: show_progress: is not a setting of CharTrainer; use progress=True of ...
    """
    settings = list(known)
    problem = f"is not a setting of {owner}"
    if name in _SETTINGS:
        return InputTypeError(name, problem, hint=f"use {_SETTINGS[name]}")
    problem += f", which has {', '.join(settings)}"
    return InputTypeError(name, problem, hint=hint or did_you_mean(name, settings))


def immutable_error(name: str, change: str, value: object = None) -> ImmutableError:
    """Return the error for a change, "an assignment" or "a deletion", of an attribute of a tokenizer."""
    method = (
        _with_roles(name, value) if name in ROLES else _METHOD_FOR.get(name, "a with_... method")
    )
    called = "which returns" if "with_" in method else "for"
    changed = "set" if change == "an assignment" else "deleted"
    problem = f"cannot be {changed}: a tokenizer does not change"
    return ImmutableError(name, f"{problem}; use {method}, {called} another tokenizer")


def _with_roles(role: str, value: object) -> str:
    token = repr(value) if value is None or isinstance(value, str) else "..."
    changed = f"with_roles({role}={token})"
    if role != "pad_token" or value is None:
        return changed
    return f"{changed}, or with_padding(pad_token={token}) to pad with it"


def use_of_module_name(name: str) -> str:
    """Return what to write for a name of another library, as the end of the error; "" if it is none.

    >>> use_of_module_name("AddedToken"), use_of_module_name("no_such_name")
    (': use piecework.spec.AddedToken', '')
    """
    return f": use {_OF_MODULE[name]}" if name in _OF_MODULE else ""


def many_texts(text: object) -> InputTypeError:
    """Return the error for a list where `encode` takes one text.

    >>> print(many_texts(["a", "b"]))
    text: must be str, not list; use encode_batch(texts), or is_pretokenized=True for words
    """
    return InputTypeError(
        "text",
        f"must be str, not {type(text).__name__}; use encode_batch(texts), or "
        "is_pretokenized=True for words",
    )


def _called(tokenizer: object, *texts: object, **arguments: object) -> NoReturn:
    uses = _uses_of(arguments)
    use = f"encode(text).ids, or encode_batch(texts){'; ' * bool(uses)}{uses}"
    raise InputTypeError("tokenizer", f"is not callable; use {use}")


def _item(prompt: object, key: object) -> NoReturn:
    name = type(prompt).__name__
    raise InputTypeError(name, "has no items; use its ids, or encoding for the other columns")


class ForeignName:
    """An attribute with a name of another library: `dir` and documents leave it out."""


class NameElsewhere(ForeignName):
    """An attribute that raises: a name of another library that piecework calls something else.

    A descriptor for each name, because a `__getattr__` would slow down every attribute of a tokenizer.
    """

    def __init__(self, owner: str, name: str, here: str) -> None:
        self._name = name
        self._message = f"{owner!r} has no attribute {name!r}: use {here}"

    def __get__(self, instance: object, owner: type | None = None) -> object:
        raise AttributeError(self._message, name=self._name)


class Alias(ForeignName):
    """Another library's name for an attribute of piecework."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> object:
        return getattr(owner if instance is None else instance, self._name)


class WithForeignNames(type):
    """The class of `Tokenizer` and `Batch`: `dir` and completion leave out the names of other libraries."""

    def __dir__(cls) -> list[str]:
        return [
            name for name in super().__dir__() if not isinstance(vars(cls).get(name), ForeignName)
        ]


_OF_CLASS: dict[str, tuple[dict[str, str], dict[str, Callable[..., NoReturn]]]] = {
    "Batch": (_OF_BATCH, {}),
    "ChatEncoding": (_OF_PROMPT, {"__getitem__": _item}),
    "SegmentedEncoding": (_OF_PROMPT, {"__getitem__": _item}),
    "Tokenizer": (_HERE, {"__call__": _called}),
}


def add_foreign_names(cls: type) -> None:
    """Make each name of another library an alias, or an attribute that raises with the name here.

    A call of a tokenizer and an item of a prompt raise too. Type checkers know neither.
    """
    names, operators = _OF_CLASS[cls.__name__]
    for name, here in names.items():
        setattr(cls, name, NameElsewhere(cls.__name__, name, here))
    for name, operator in operators.items():
        setattr(cls, name, operator)
    for name, here in (_ALIASES if cls.__name__ == "Tokenizer" else {}).items():
        setattr(cls, name, Alias(here))
