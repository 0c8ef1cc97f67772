"""Names of `tokenizers`, `transformers`, `tiktoken` and `sentencepiece` that are called otherwise here."""

from __future__ import annotations

_HERE = {
    # tokenizers
    "add_special_tokens": "with_added_tokens(tokens, special=True), which returns a new tokenizer",
    "add_tokens": "with_added_tokens(tokens), which returns a new tokenizer",
    "assign_ids_to_post_processor": "with_post_processor",
    "decoder": "spec.decoder",
    "enable_padding": "with_padding(length), which returns a new tokenizer",
    "enable_truncation": "with_truncation(max_length), which returns a new tokenizer",
    "encode_batch_fast": "encode_batch",
    "from_buffer": "Tokenizer.from_bytes(data)",
    "from_file": "Tokenizer.load(path)",
    "from_pretrained": "Tokenizer.load(name), with download=True for one of the hub",
    "from_str": "Tokenizer.from_json(text)",
    "get_added_tokens_decoder": "added_tokens",
    "model": "spec.model",
    "no_padding": "with_padding(None), which returns a new tokenizer",
    "no_truncation": "with_truncation(None), which returns a new tokenizer",
    "normalizer": "spec.normalizer, or with_normalizer for another",
    "num_special_tokens_to_add": "count('')",
    "padding": "spec.padding, or with_padding for another",
    "post_process": "encode",
    "post_processor": "spec.post_processor",
    "pre_tokenizer": "spec.pre_tokenizer, or with_pre_tokenizer for another",
    "to_str": "to_json()",
    "truncation": "spec.truncation, or with_truncation for another",
    # transformers
    "all_special_ids": "special_tokens_map, and token_to_id for each",
    "all_special_tokens": "special_tokens_map.values()",
    "batch_decode": "decode_batch",
    "batch_encode_plus": "encode_batch",
    "convert_ids_to_tokens": "id_to_token for each id",
    "convert_tokens_to_ids": "token_to_id for each token",
    "convert_tokens_to_string": "decode with ids",
    "encode_plus": "encode",
    "save_pretrained": "save(folder)",
    "tokenize": "encode(text).tokens",
    # tiktoken
    "encode_ordinary": "encode(text, parse_special=False).ids",
    "encode_to_numpy": "encode_batch(texts).ids",
    "encode_with_unstable": "piecework.compat.tiktoken.Encoding",
    "n_vocab": "len(tokenizer)",
    # sentencepiece
    "EncodeAsIds": "encode(text).ids, or piecework.compat.sentencepiece",
    "EncodeAsPieces": "encode(text).tokens, or piecework.compat.sentencepiece",
    "GetPieceSize": "len(tokenizer)",
    "IdToPiece": "id_to_token",
    "PieceToId": "token_to_id",
    "encode_as_ids": "encode(text).ids, or piecework.compat.sentencepiece",
    "encode_as_pieces": "encode(text).tokens, or piecework.compat.sentencepiece",
    "id_to_piece": "id_to_token",
    "piece_to_id": "token_to_id",
}


class NameElsewhere:
    """An attribute of `Tokenizer` that raises: a name of another library, called otherwise here.

    A descriptor for each name, because a `__getattr__` would slow down every attribute of a tokenizer.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> object:
        message = f"'Tokenizer' has no attribute {self._name!r}: use {_HERE[self._name]}"
        raise AttributeError(message, name=self._name)


class WithForeignNames(type):
    """The class of `Tokenizer`: `dir` and completion leave out the names of other libraries."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name not in _HERE]


def add_foreign_names(cls: type) -> None:
    """Make each name of another library an attribute that raises `AttributeError` with the name here."""
    for name in _HERE:
        setattr(cls, name, NameElsewhere(name))
