"""What runs single components: the reference, the compiled core through the public names, and the
published library whose files hold these components. All answer with plain lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tokenizers

import piecework as pw
from piecework.reference.aligned import align, as_text, word_at
from piecework.reference.decoders import decode
from piecework.reference.normalizers import normalize
from piecework.reference.pre_tokenizers import pre_tokenize
from piecework.reference.tokenizer import ReferenceTokenizer
from piecework.spec import Char, Decoder, Normalizer, PreTokenizer, TokenizerSpec, WordLevel
from piecework.spec.portable import portable_json

Offsets = list[tuple[int, int]]
# Token, type id, start, end.
Row = tuple[str, int, int, int]

SPECIALS = ("[UNK]", "[CLS]", "[SEP]")


class Reference:
    """The executable specification."""

    name = "reference"

    def normalized(self, normalizer: Normalizer, text: str, _known: str) -> tuple[str, Offsets]:
        aligned = normalize(align(text), normalizer)
        return as_text(aligned), [source for _, source in aligned]

    def pieces(self, pre_tokenizer: PreTokenizer, text: str) -> list[tuple[str, tuple[int, int]]]:
        return [word_at(word) for word in pre_tokenize(align(text), pre_tokenizer)]

    def framed(self, spec: TokenizerSpec, text: str, pair: str | None, special: bool) -> list[Row]:
        return rows(ReferenceTokenizer(spec).encode(text, pair, add_special_tokens=special))

    def decoded(self, decoder: Decoder | None, tokens: Sequence[str]) -> str:
        return decode(tokens, decoder)


class Core:
    """The compiled core."""

    name = "core"

    def normalized(self, normalizer: Normalizer, text: str, known: str) -> tuple[str, Offsets]:
        tokenizer = pw.Tokenizer.from_spec(characters_spec(normalizer, known))
        normalized = tokenizer.normalize(text)
        encoding = tokenizer.encode(text)
        assert encoding.tokens == [c if c in known else "[UNK]" for c in normalized]
        return normalized, encoding.offsets

    def pieces(self, pre_tokenizer: PreTokenizer, text: str) -> list[tuple[str, tuple[int, int]]]:
        spec = TokenizerSpec(WordLevel(numbered([])), None, pre_tokenizer)
        return pw.Tokenizer.from_spec(spec).pre_tokenize(text)

    def framed(self, spec: TokenizerSpec, text: str, pair: str | None, special: bool) -> list[Row]:
        return rows(pw.Tokenizer.from_spec(spec).encode(text, pair, add_special_tokens=special))

    def decoded(self, decoder: Decoder | None, tokens: Sequence[str]) -> str:
        vocab = numbered(tokens)
        tokenizer = pw.Tokenizer.from_spec(TokenizerSpec(WordLevel(vocab), decoder=decoder))
        return tokenizer.decode([vocab[token] for token in tokens], skip_special_tokens=False)


class Published:
    """The published library."""

    name = "tokenizers"

    def normalized(self, normalizer: Normalizer, text: str, known: str) -> tuple[str, Offsets]:
        tokenizer = published(characters_spec(normalizer, known))
        return tokenizer.normalizer.normalize_str(text), tokenizer.encode(text).offsets

    def pieces(self, pre_tokenizer: PreTokenizer, text: str) -> list[tuple[str, tuple[int, int]]]:
        tokenizer = published(TokenizerSpec(WordLevel(numbered([])), None, pre_tokenizer))
        pieces: list[tuple[str, tuple[int, int]]] = tokenizer.pre_tokenizer.pre_tokenize_str(text)
        return pieces

    def framed(self, spec: TokenizerSpec, text: str, pair: str | None, special: bool) -> list[Row]:
        return rows(published(spec).encode(text, pair, add_special_tokens=special))

    def decoded(self, decoder: Decoder | None, tokens: Sequence[str]) -> str:
        vocab = numbered(tokens)
        tokenizer = published(TokenizerSpec(WordLevel(vocab), decoder=decoder))
        text: str = tokenizer.decode([vocab[token] for token in tokens], skip_special_tokens=False)
        return text


Engine = Reference | Core | Published
REFERENCE, CORE, PUBLISHED = Reference(), Core(), Published()
ENGINES: tuple[Engine, ...] = (REFERENCE, CORE, PUBLISHED)


def numbered(tokens: Iterable[str]) -> dict[str, int]:
    """Number tokens after those that every vocabulary of these tests begins with."""
    return {token: id for id, token in enumerate(dict.fromkeys([*SPECIALS, *tokens]))}


def characters_spec(normalizer: Normalizer, known: str) -> TokenizerSpec:
    """Return a tokenizer that makes a token of every character, so that each shows its offsets."""
    return TokenizerSpec(Char(numbered(known)), normalizer)


def published(spec: TokenizerSpec) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(portable_json(spec))


def rows(encoding: Any) -> list[Row]:
    columns = zip(encoding.tokens, encoding.type_ids, encoding.offsets, strict=True)
    return [(token, type_id, *offsets) for token, type_id, offsets in columns]
