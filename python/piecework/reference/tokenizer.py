"""The stages put together: text -> added tokens -> normalize -> pre-tokenize -> model -> template.

`ReferenceTokenizer` follows the same `TokenizerSpec` that the compiled core does, one naive step
after the other. Truncation and padding are not part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from piecework.errors import FormatError
from piecework.reference import bert
from piecework.reference.bert import Aligned
from piecework.reference.wordpiece import Piece, encode_word
from piecework.spec import (
    BertNormalizer,
    BertPreTokenizer,
    BertProcessing,
    Char,
    Model,
    PostProcessor,
    PreTokenizer,
    Punctuation,
    Template,
    TokenizerSpec,
    WhitespaceSplit,
    Word,
    WordPiece,
    WordPieceDecoder,
)

CLEAN_UP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


@dataclass(frozen=True)
class Token:
    """One token of an encoding; offsets in characters of the original text."""

    token: str
    offsets: tuple[int, int] = (0, 0)
    word_id: int | None = None
    sequence_id: int | None = None
    type_id: int = 0


class ReferenceTokenizer:
    """Encode and decode as a specification says.

    >>> from piecework.spec import WordPiece
    >>> tok = ReferenceTokenizer(TokenizerSpec(WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})))
    >>> [(token.token, token.offsets) for token in tok.encode("hugs")]
    [('hug', (0, 3)), ('##s', (3, 4))]
    >>> tok.ids("hugs")
    [1, 2]
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        self.spec = spec
        self.ids_by_token = dict(spec.model.vocab)
        self.ids_by_token.update({token.content: token.id for token in spec.added_tokens})
        self.ids_by_token.update(template_ids(spec.post_processor))
        self.tokens_by_id = {id: token for token, id in self.ids_by_token.items()}

    # ---- text to ids

    def ids(
        self, text: str, pair: str | None = None, *, add_special_tokens: bool = True
    ) -> list[int]:
        """Encode to ids alone."""
        tokens = self.encode(text, pair, add_special_tokens=add_special_tokens)
        return [self.ids_by_token[token.token] for token in tokens]

    def encode(
        self, text: str, pair: str | None = None, *, add_special_tokens: bool = True
    ) -> list[Token]:
        """Encode a text or a pair and put the template's special tokens around it."""
        sequences = [self.encode_sequence(text, 0)]
        if pair is not None:
            sequences.append(self.encode_sequence(pair, 1))
        return list(frame(sequences, self.spec.post_processor, add_special_tokens))

    def encode_sequence(self, text: str, sequence_id: int) -> list[Token]:
        """Encode one text without a template."""
        return [
            Token(piece.token, bert.span(word[piece.start : piece.end]), word_id, sequence_id)
            for word_id, (word, pieces) in enumerate(self.words(text))
            for piece in pieces
        ]

    def words(self, text: str) -> Iterator[tuple[Aligned, list[Piece]]]:
        """Cut a text into added tokens and words, each with its pieces."""
        for part, is_added_token in self.split_added_tokens(bert.align(text)):
            if is_added_token:
                yield part, [Piece(bert.as_text(part), 0, len(part))]
                continue
            for word in pre_tokenize(self.normalize(part), self.spec.pre_tokenizer):
                yield word, model_pieces(bert.as_text(word), self.spec.model)

    def split_added_tokens(self, text: Aligned) -> Iterator[tuple[Aligned, bool]]:
        """Find added tokens in the raw text, leftmost first and longest first."""
        contents = sorted(
            (token.content for token in self.spec.added_tokens), key=len, reverse=True
        )
        pattern = "|".join(map(re.escape, contents)) or r"(?!)"  # the latter matches nowhere
        end = 0
        for match in re.finditer(pattern, bert.as_text(text)):
            yield text[end : match.start()], False
            yield text[match.start() : match.end()], True
            end = match.end()
        yield text[end:], False

    def normalize(self, part: Aligned) -> Aligned:
        """Apply the normalizer to a part of the text."""
        normalizer = self.spec.normalizer
        if normalizer is None:
            return part
        if not isinstance(normalizer, BertNormalizer):
            raise FormatError("normalizer", type(normalizer).__name__, "BertNormalizer or None")
        return bert.normalize(part, normalizer)

    # ---- ids to text

    def decode(
        self, ids: Iterable[int], *, skip_special_tokens: bool = True, clean_up: bool | None = None
    ) -> str:
        """Turn ids into text; `clean_up=None` follows the decoder's own setting."""
        special = {token.id for token in self.spec.added_tokens if token.special}
        kept = [id for id in ids if not (skip_special_tokens and id in special)]
        tokens = [self.tokens_by_id[id] for id in kept]
        decoder = self.spec.decoder
        if isinstance(decoder, WordPieceDecoder):
            tidy = decoder.cleanup if clean_up is None else clean_up
            return decode_wordpiece(tokens, decoder.prefix, clean_up=tidy)
        return (" " if decoder is None else "").join(tokens)


# ---- pre-tokenizers


def pre_tokenize(text: Aligned, pre_tokenizer: PreTokenizer | None) -> list[Aligned]:
    """Cut normalized text into words; without a pre-tokenizer it is one word."""
    runs = [text] if text else []
    if isinstance(pre_tokenizer, WhitespaceSplit | BertPreTokenizer):
        runs = bert.split_whitespace(runs)
    if isinstance(pre_tokenizer, Punctuation | BertPreTokenizer):
        runs = bert.isolate_punctuation(runs)
    return runs


# ---- models


def model_pieces(word: str, model: Model) -> list[Piece]:
    """Cut one word as the model says.

    >>> model_pieces("abc", Char({"[UNK]": 0, "a": 1, "b": 2}))[-1]
    Piece(token='[UNK]', start=2, end=3)
    """
    if isinstance(model, WordPiece):
        return encode_word(word, model)
    if not isinstance(model, (Word, Char)):
        raise FormatError("model", type(model).__name__, "WordPiece, Word or Char")
    size = 1 if isinstance(model, Char) else len(word)
    units = ((word[start : start + size], start) for start in range(0, len(word), size))
    return [
        Piece(unit if unit in model.vocab else model.unk_token, start, start + size)
        for unit, start in units
    ]


# ---- template


def frame(
    sequences: list[list[Token]], template: PostProcessor | None, add_special_tokens: bool
) -> Iterator[Token]:
    """Lay sequences into a template, with or without its special tokens."""
    for item in template_items(template, len(sequences)):
        name, _, type_id = item.rpartition(":")
        if name in ("$A", "$B"):
            for token in sequences["AB".index(name[1])]:
                yield replace(token, type_id=int(type_id))
        elif add_special_tokens:
            yield Token(name, type_id=int(type_id))


def template_items(template: PostProcessor | None, sequences: int) -> tuple[str, ...]:
    """Return the template in the notation of `Template`; without one, text and pair in a row.

    >>> template_items(BertProcessing(sep=("[SEP]", 102), cls=("[CLS]", 101)), 1)
    ('[CLS]:0', '$A:0', '[SEP]:0')
    """
    if template is None:
        template = Template(("$A:0",), ("$A:0", "$B:1"), {})
    elif isinstance(template, BertProcessing):
        cls, sep = template.cls[0], template.sep[0]
        single = (f"{cls}:0", "$A:0", f"{sep}:0")
        template = Template(single, (*single, "$B:1", f"{sep}:1"), {})
    if not isinstance(template, Template):
        raise FormatError("post_processor", type(template).__name__, "a template")
    return template.single if sequences == 1 else template.pair


def template_ids(template: PostProcessor | None) -> dict[str, int]:
    """Return the ids that a template gives to its special tokens, one each."""
    if template is None:
        return {}
    if isinstance(template, BertProcessing):
        return dict([template.sep, template.cls])
    if not isinstance(template, Template):
        raise FormatError("post_processor", type(template).__name__, "a template")
    return {token: ids[0] for token, ids in template.special_tokens.items()}


# ---- decoding


def decode_wordpiece(tokens: Iterable[str], prefix: str = "##", *, clean_up: bool = True) -> str:
    """Join tokens with spaces, glue continuations, and tidy each token by itself.

    >>> decode_wordpiece(["hug", "##s", ",", "do", "not", "!"])
    'hugs, do not!'
    """
    parts = []
    for index, token in enumerate(tokens):
        if index > 0:
            token = token[len(prefix) :] if token.startswith(prefix) else f" {token}"
        parts.append(tidy(token) if clean_up else token)
    return "".join(parts)


def tidy(text: str) -> str:
    """Take back the spaces that stand before punctuation and English clitics."""
    for before, after in CLEAN_UP:
        text = text.replace(before, after)
    return text
