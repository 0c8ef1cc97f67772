"""The bytes that each token adds to a text, for constrained decoding."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from piecework._internal._core import vocab_bytes as core_vocab_bytes
from piecework._internal.validation import check_choice, check_tokenizer
from piecework.errors import ArgumentError, InvalidUtf8Error
from piecework.io.core_parts import STRIP_TEXT, steps_of_clean_up
from piecework.spec import (
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    Decoder,
    Fuse,
    MetaspaceDecoder,
    ReplaceDecoder,
    SentencePieceDecoder,
    StripDecoder,
    TokenizerSpec,
    WordPieceDecoder,
)
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
from piecework.spec.sequences import single_stages

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer


Step: TypeAlias = Callable[[str], str]
"""Returns text for the next step; bytes that are not UTF-8 are lone surrogates in it."""

_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


def decoded_bytes(tokenizer: Tokenizer) -> dict[int, bytes]:
    r"""Return the bytes that each token adds to a text, by id, for constrained decoding.

    >>> import piecework as pw
    >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    >>> tok = pw.Tokenizer(model, decoder=pw.spec.WordPieceDecoder())
    >>> pw.vocabulary.decoded_bytes(tok)
    {0: b' [UNK]', 1: b' hug', 2: b's'}

    Notation of the model is decoded: byte-level characters, byte tokens such as `<0x0A>`, `▁`, `##`
    and `</w>`. The bytes of one token need not be UTF-8. Those of several ids, concatenated, are the
    text of `decode(ids, clean_up=False)`, which drops the space at the start of a text, or with `</w>`
    at its end. The `special_token_ids` are absent: they have no text.

    `vocab_bytes` has the notation instead. Raises `ArgumentError` for a decoder whose output depends on
    the neighbours of a token, such as `CTC`.
    """
    check_tokenizer(tokenizer)
    spec, vocab = tokenizer.spec, tokenizer.get_vocab()
    special = special_ids(spec, vocab)
    bytes_of = token_decoder(spec)
    texts = {id: token for token, id in vocab.items() if id not in special}
    return {id: bytes_of(text) for id, text in sorted(texts.items())}


def token_decoder(spec: TokenizerSpec) -> Callable[[str], bytes]:
    """Return a function from a token to the bytes that it adds to a text, as `decoded_bytes` has them.

    >>> import piecework as pw
    >>> spec = pw.TokenizerSpec(pw.spec.Char({"[UNK]": 0}), decoder=pw.spec.WordPieceDecoder())
    >>> token_decoder(spec)("##s")
    b's'
    """
    steps = list(_steps(spec))
    return lambda token: _applied(steps, token)


def vocab_bytes(tokenizer: Tokenizer) -> dict[int, bytes]:
    """Return the bytes of each token of the model, by id; added tokens are left out.

    >>> import piecework as pw
    >>> pw.vocabulary.vocab_bytes(pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "é": 1})))
    {0: b'[UNK]', 1: b'\\xc3\\xa9'}
    """
    check_tokenizer(tokenizer)
    return dict(core_vocab_bytes(tokenizer._core))


def special_ids(spec: TokenizerSpec, vocab: Mapping[str, int]) -> set[int]:
    """Return the ids that decoding skips: special tokens, and control pieces of SentencePiece."""
    special = {token.id for token in spec.added_tokens if token.special}
    decoder = spec.decoder
    if isinstance(decoder, SentencePieceDecoder):
        special |= {vocab[piece] for piece in decoder.control_symbols if piece in vocab}
    return special


def text_of_ids(
    tokenizer: Tokenizer,
    text: str,
    ids: Iterable[int],
    skip_special_tokens: bool,
    encoding_errors: str,
    place: str,
) -> str:
    """Return the decoded text of ids without U+FFFD for invalid bytes, or raise `InvalidUtf8Error`."""
    check_choice("encoding_errors", encoding_errors, ("replace", "ignore", "strict"))
    if "\ufffd" not in text:
        return text
    skipped = tokenizer.special_token_ids if skip_special_tokens else ()
    tokens = [tokenizer.id_to_token(id) for id in ids if id not in skipped]
    known = [token for token in tokens if token is not None]
    return _without_errors(text, _bytes_of(known, tokenizer.spec), encoding_errors, place)


def _without_errors(text: str, data: bytes, encoding_errors: str, place: str) -> str:
    """Return the decoded text of bytes, or what `encoding_errors` says if they are not UTF-8.

    "ignore" drops what is invalid, "strict" raises `InvalidUtf8Error`.
    """
    try:
        valid = data.decode()
    except UnicodeDecodeError as error:
        found = f"the bytes {data[error.start : error.end]!r} at byte {error.start}"
    else:
        # A control piece that decodes to nothing also divides the bytes of a character.
        if valid.count("\ufffd") == text.count("\ufffd"):
            return text
        found = "bytes of a character with a token between them"
    if encoding_errors == "strict":
        problem = f'has {found}, which are not UTF-8; encoding_errors="replace" decodes them'
        raise InvalidUtf8Error(place, problem)
    if data.decode(errors="replace") == text:
        return data.decode(errors="ignore")
    # The decoder also changed the ends of the text, or replaced valid bytes beside invalid ones.
    return text.replace("\ufffd", "")


def stream_errors(
    tokenizer: Tokenizer,
    prefills: Iterable[Iterable[int]],
    skip_special_tokens: bool,
    encoding_errors: str,
) -> list[StreamErrors]:
    """Return what each stream does with bytes that are not UTF-8."""
    check_choice("encoding_errors", encoding_errors, ("replace", "ignore", "strict"))
    return [
        StreamErrors(tokenizer, prefill, skip_special_tokens, encoding_errors)
        for prefill in prefills
    ]


class StreamErrors:
    """What a `DecodeStream` does with bytes that are not UTF-8: "ignore" drops them, "strict" raises."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        prefill: Iterable[int],
        skip_special_tokens: bool,
        encoding_errors: str,
    ) -> None:
        self._tokenizer = tokenizer
        self._spec = tokenizer.spec
        self._skipped = tokenizer.special_token_ids if skip_special_tokens else ()
        self._encoding_errors = encoding_errors
        decoder = getincrementaldecoder("utf-8")(errors="replace")
        decoder.decode(self._bytes_of(prefill))
        self._pending = decoder.getstate()[0]  # the bytes of an incomplete character

    def text_of(
        self, ids: Iterable[int], text: str | None, *, is_end: bool = False, place: str = "ids"
    ) -> str | None:
        """Return the text that the stream adds for `ids`, from the text with U+FFFD; None for no text.

        `place` names the ids in errors.
        """
        self._pending += self._bytes_of(ids)
        if text is None:
            return None
        data = self._pending
        end = len(data) if is_end else _end_of_text(data, text)
        self._pending = data[end:]
        return _without_errors(text, data[:end], self._encoding_errors, place) or None

    def _bytes_of(self, ids: Iterable[int]) -> bytes:
        tokens = (self._tokenizer.id_to_token(id) for id in ids if id not in self._skipped)
        return _bytes_of([token for token in tokens if token is not None], self._spec)


def _end_of_text(data: bytes, text: str) -> int:
    """Return where the complete text ends: a stream holds back bytes that may begin a character.

    >>> _end_of_text(b"a\\xff\\xc3", "a\\ufffd")
    2
    """
    replacements = text.count("\ufffd")
    for end in range(len(data), 0, -1):
        if data[:end].decode(errors="replace").count("\ufffd") == replacements:
            return end
    return len(data)


def _bytes_of(tokens: Sequence[str], spec: TokenizerSpec) -> bytes:
    try:
        steps = list(_steps(spec))
    except ArgumentError:  # the text of a token depends on its neighbours
        return "".join(tokens).encode()
    return b"".join(_applied(steps, token) for token in tokens)


def _applied(steps: list[Step], token: str) -> bytes:
    for step in steps:
        token = step(token)
    return token.encode("utf-8", "surrogateescape")


def _steps(spec: TokenizerSpec) -> Iterator[Step]:
    if spec.decoder is None:
        yield lambda token: f" {token}"
        return
    for decoder in _without_steps_for_texts(list(single_stages(spec.decoder))):
        step = _step(decoder)
        if step is not None:
            yield step


def _without_steps_for_texts(decoders: list[Decoder]) -> list[Decoder]:
    """Return decoders without the last ones that clean up or strip a whole text."""
    for steps in (steps_of_clean_up(), [STRIP_TEXT]):
        if [decoder.to_json() for decoder in decoders[-len(steps) :]] == steps:
            decoders = decoders[: -len(steps)]
    return decoders


def _step(decoder: Decoder) -> Step | None:
    """Return the function of one decoder, None for a decoder that changes only the ends of a text."""
    match decoder:
        case Fuse() | StripDecoder():
            return None
        case ByteLevelDecoder():
            return _byte_level
        case ByteFallback():
            return _byte_fallback
        case MetaspaceDecoder():
            return _replaced(decoder.replacement, " ")
        case BPEDecoder():
            return _replaced(decoder.suffix, " ")
        case WordPieceDecoder():
            return _word_piece(decoder.prefix)
        case SentencePieceDecoder() if decoder.denormalizer is None:
            return _sentencepiece(decoder)
        case ReplaceDecoder(pattern=str(old)) if type(old) is str:
            return _replaced(old, decoder.content)
    problem = (
        f"the output of {type(decoder).__name__} depends on the neighbours of a token; "
        "the bytes of tokens need a byte-level, byte-fallback, metaspace, WordPiece, BPE "
        "or SentencePiece decoder"
    )
    raise ArgumentError("decoder", problem)


def _byte_level(token: str) -> str:
    if not all(character in BYTE_OF_CHARACTER for character in token):
        return token
    return _text_of(bytes(BYTE_OF_CHARACTER[character] for character in token))


def _byte_fallback(token: str) -> str:
    match = _BYTE_TOKEN.fullmatch(token)
    return token if match is None else _text_of(bytes.fromhex(match[1]))


def _text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _replaced(old: str, new: str) -> Step:
    return lambda token: token.replace(old, new) if old else token


def _word_piece(prefix: str) -> Step:
    def read(token: str) -> str:
        is_inside = bool(prefix) and token.startswith(prefix)
        return token[len(prefix) :] if is_inside else f" {token}"

    return read


def _sentencepiece(decoder: SentencePieceDecoder) -> Step:
    def read(token: str) -> str:
        if decoder.byte_fallback and _BYTE_TOKEN.fullmatch(token):
            return _byte_fallback(token)
        if token == decoder.unk_piece:
            return decoder.unk_surface
        return token.replace("▁", " ")

    return read
