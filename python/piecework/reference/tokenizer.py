"""The stages put together: text -> added tokens -> normalize -> pre-tokenize -> model -> post-process.

`ReferenceTokenizer` follows the same `TokenizerSpec` that the compiled core does, one naive step
after the other. Truncation and padding are not part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from piecework.errors import FormatError
from piecework.reference.aligned import Aligned, align, as_text, span
from piecework.reference.decoders import decode
from piecework.reference.normalizers import normalize
from piecework.reference.post_processors import Token, post_process, special_ids
from piecework.reference.pre_tokenizers import pre_tokenize
from piecework.reference.wordpiece import Piece, encode_word
from piecework.spec import Char, Model, TokenizerSpec, WordLevel, WordPiece


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
        self.ids_by_token.update(special_ids(spec.post_processor))
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
        """Encode a text or a pair and put the post-processor's special tokens around it."""
        sequences = [self.encode_sequence(text, 0)]
        if pair is not None:
            sequences.append(self.encode_sequence(pair, 1))
        return post_process(
            sequences, self.spec.post_processor, add_special_tokens=add_special_tokens
        )

    def encode_sequence(self, text: str, sequence_id: int) -> list[Token]:
        """Encode one text without special tokens."""
        return [
            Token(piece.token, span(word[piece.start : piece.end]), word_id, sequence_id)
            for word_id, (word, pieces) in enumerate(self.words(text))
            for piece in pieces
        ]

    def words(self, text: str) -> Iterator[tuple[Aligned, list[Piece]]]:
        """Cut a text into added tokens and words, each with its pieces."""
        for part, is_added_token in self.split_added_tokens(align(text)):
            if is_added_token:
                yield part, [Piece(as_text(part), 0, len(part))]
                continue
            for word in self.pre_tokenize(part):
                yield word, model_pieces(as_text(word), self.spec.model)

    def split_added_tokens(self, text: Aligned) -> Iterator[tuple[Aligned, bool]]:
        """Find added tokens in the raw text, leftmost first and longest first."""
        contents = sorted(
            (token.content for token in self.spec.added_tokens), key=len, reverse=True
        )
        pattern = "|".join(map(re.escape, contents)) or r"(?!)"  # the latter matches nowhere
        end = 0
        for match in re.finditer(pattern, as_text(text)):
            yield text[end : match.start()], False
            yield text[match.start() : match.end()], True
            end = match.end()
        yield text[end:], False

    def pre_tokenize(self, part: Aligned) -> list[Aligned]:
        """Normalize a part of the text and cut it into words."""
        return pre_tokenize(normalize(part, self.spec.normalizer), self.spec.pre_tokenizer)

    # ---- ids to text

    def decode(
        self, ids: Iterable[int], *, skip_special_tokens: bool = True, clean_up: bool | None = None
    ) -> str:
        """Turn ids into text; `clean_up=None` follows the decoder's own setting."""
        special = {token.id for token in self.spec.added_tokens if token.special}
        kept = [id for id in ids if not (skip_special_tokens and id in special)]
        tokens = [self.tokens_by_id[id] for id in kept]
        return decode(tokens, self.spec.decoder, clean_up=clean_up)


# ---- models


def model_pieces(word: str, model: Model) -> list[Piece]:
    """Cut one word as the model says.

    >>> model_pieces("abc", Char({"[UNK]": 0, "a": 1, "b": 2}))[-1]
    Piece(token='[UNK]', start=2, end=3)
    """
    if isinstance(model, WordPiece):
        return encode_word(word, model)
    if not isinstance(model, (WordLevel, Char)):
        raise FormatError("model", type(model).__name__, "WordPiece, WordLevel or Char")
    size = 1 if isinstance(model, Char) else len(word)
    units = ((word[start : start + size], start) for start in range(0, len(word), size))
    return [
        Piece(unit if unit in model.vocab else model.unk_token, start, start + size)
        for unit, start in units
    ]
