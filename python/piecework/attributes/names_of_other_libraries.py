"""Names of `tokenizers`, `transformers`, `tiktoken` and `sentencepiece` that are called otherwise here."""

from __future__ import annotations

from piecework.errors import InputTypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

# Attributes of `Tokenizer`.
_HERE = {
    # earlier versions
    "add_words": "piecework.vocabulary.add_words(tokenizer, words)",
    "extend": "piecework.vocabulary.extend(tokenizer, corpus, n)",
    "find_special_token": "piecework.chat.find_special_token(tokenizer, texts)",
    "get_decoded_bytes": "piecework.vocabulary.decoded_bytes(tokenizer)",
    "get_vocab_bytes": "piecework.vocabulary.vocab_bytes(tokenizer), or token_bytes(id)",
    "growing_text": "piecework.chat.GrowingText(tokenizer, text)",
    "prune": "piecework.vocabulary.prune(tokenizer, keep)",
    "shrink": "piecework.vocabulary.shrink(tokenizer, size)",
    "to_unigram": "piecework.vocabulary.to_unigram(tokenizer, corpus)",
    "with_extras": "with_post_processor(piecework.vocabulary.bos_eos_template(model, bos=..., eos=...))",
    "with_stages": "piecework.stages.with_stages(tokenizer, stages)",
    "with_word_ids": "piecework.stages.with_word_ids(tokenizer, kind)",
    "with_vocabulary": "piecework.vocabulary.restrict(tokenizer, pieces)",
    "chunk_text": "piecework.chat.chunk_text(tokenizer, text, max_tokens)",
    "count_messages": "piecework.chat.count_messages(tokenizer, messages)",
    "decode_streams": "piecework.stages.decode_streams(tokenizer, prefills)",
    "encode_nbest": "piecework.lattice.nbest(tokenizer, text, n)",
    "encode_pre_token": "piecework.stages.encode_pre_token(tokenizer, data)",
    "encode_samples": "piecework.lattice.sample(tokenizer, text, n)",
    "entropy": "piecework.lattice.entropy(tokenizer, text)",
    "score": "piecework.lattice.score(tokenizer, text), or score_ids for ids",
    "from_json": "Tokenizer.from_str(text)",
    "stages_to_json": "piecework.spec.portable_json(piecework.stages.stages_of(tokenizer))",
    "to_json": "to_str()",
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
    "all_special_ids": "special_tokens_map, and token_to_id for each",
    "all_special_tokens": "added_tokens, those with special=True",
    "batch_decode": "decode_batch",
    "batch_encode_plus": "encode_batch",
    "convert_ids_to_tokens": "id_to_token for each id",
    "convert_tokens_to_ids": "token_to_id for each token",
    "convert_tokens_to_string": "decode with ids",
    "encode_plus": "encode",
    "extra_special_tokens": "special_tokens_map['additional_special_tokens']",
    "save_pretrained": "save('folder/'), where the / makes it a folder",
    # tiktoken
    "encode_ordinary": "encode(text, parse_special=False).ids",
    "encode_to_numpy": "encode_batch(texts).ids",
    "encode_with_unstable": "piecework.compat.tiktoken.Encoding",
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

# Attributes of `Batch` and `Encoding`: those of a `BatchEncoding` of transformers.
_OF_BATCH = {
    "data": "to_dict()",
    "encodings": "batch[i] for each Encoding",
    "input_ids": "ids, to_lists(), or to_dict() for the names of transformers",
    "offset_mapping": "offsets",
    "token_type_ids": "type_ids",
}

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
    "encoding": "encoding_name=",
    "errors": "encoding_errors=",
    "allowed_special": "parse_special",
    "disallowed_special": "parse_special",
    # sentencepiece
    "add_bos": "tokenizer.with_post_processor(vocabulary.bos_eos_template(tokenizer.spec.model, bos=True))",
    "add_eos": "tokenizer.with_post_processor(vocabulary.bos_eos_template(tokenizer.spec.model, eos=True))",
    "out_type": "ids or tokens of the result",
}


def reject_keywords(method: str, given: Iterable[str]) -> NoReturn:
    """Raise `InputTypeError` for keyword arguments that a method does not have.

    >>> reject_keywords("encode_batch", ["padding"])
    Traceback (most recent call last):
    piecework.errors.InputTypeError: encode_batch has no argument padding; use ...
    """
    names = list(given)
    uses = dict.fromkeys(_KEYWORDS[name] for name in names if name in _KEYWORDS)
    # One call can stand for several arguments, such as `truncation` and `max_length`.
    longest = [use for use in uses if not any(use in other for other in uses if other != use)]
    expected = "; ".join(longest) or f"an argument that help(Tokenizer.{method}) lists"
    message = f"{method} has no argument {', '.join(names)}; use {expected}"
    raise InputTypeError(", ".join(names), message=message)


class ForeignName:
    """An attribute with a name of another library: `dir` and documents leave it out."""


class NameElsewhere(ForeignName):
    """An attribute that raises: a name of another library, called otherwise here.

    A descriptor for each name, because a `__getattr__` would slow down every attribute of a tokenizer.
    """

    def __init__(self, owner: str, name: str, here: str) -> None:
        self._name = name
        self._message = f"{owner!r} has no attribute {name!r}: use {here}"

    def __get__(self, instance: object, owner: type | None = None) -> object:
        raise AttributeError(self._message, name=self._name)


class Alias(ForeignName):
    """An attribute with the name of another library that is one of this library."""

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


def add_foreign_names(cls: type) -> None:
    """Make each name of another library an alias, or an attribute that raises with the name here."""
    is_tokenizer = cls.__name__ == "Tokenizer"
    for name, here in (_HERE if is_tokenizer else _OF_BATCH).items():
        setattr(cls, name, NameElsewhere(cls.__name__, name, here))
    for name, here in (_ALIASES if is_tokenizer else {}).items():
        setattr(cls, name, Alias(here))
