"""A whole tokenizer: added tokens, normalizer, pre-tokenizer, model, truncation, post-processor, padding.

`ReferenceTokenizer` runs the same `TokenizerSpec` as `piecework.Tokenizer`, one plain step after the
other, and gives the same ids, tokens and offsets. A text of n characters costs up to n² steps.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Sequence

from piecework.errors import SpecialTokenError
from piecework.reference.added_tokens import Permission, everywhere, split_added_tokens
from piecework.reference.aligned import Aligned, align, as_text, span_between
from piecework.reference.decoders import decode
from piecework.reference.encoding import Piece, ReferenceEncoding, Token, Windows, to_encoding
from piecework.reference.models import encode_word
from piecework.reference.normalizers import normalize
from piecework.reference.post_processors import post_process, special_ids
from piecework.reference.pre_tokenizers import pre_tokenize
from piecework.reference.truncation_padding import pad, padded_length, truncate
from piecework.spec import AddedToken, TokenizerSpec


class ReferenceTokenizer:
    """Encode and decode by a specification.

    >>> from piecework.spec import WordPiece
    >>> tok = ReferenceTokenizer(TokenizerSpec(WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})))
    >>> encoding = tok.encode("hugs")
    >>> encoding.ids, encoding.tokens, encoding.offsets
    ([1, 2], ['hug', '##s'], [(0, 3), (3, 4)])
    >>> tok.decode([1, 2])
    'hug ##s'

    `rng` draws the merges that a BPE model with dropout ignores.
    """

    def __init__(self, spec: TokenizerSpec, rng: random.Random | None = None) -> None:
        self.spec, self.rng = spec, rng
        self.vocab = {**spec.model.vocab, **special_ids(spec.post_processor)}
        self.vocab.update({token.content: token.id for token in spec.added_tokens})
        self.tokens_by_id = {id: token for token, id in self.vocab.items()}
        self.normalized_forms = {
            token.content: as_text(self.normalize(align(token.content)))
            for token in spec.added_tokens
            if token.normalized
        }

    # ---- text to ids

    def encode(
        self, text: str, pair: str | None = None, *, add_special_tokens: bool = True
    ) -> ReferenceEncoding:
        """Encode a text or a pair of texts.

        >>> from piecework.spec import Char, Padding
        >>> tok = ReferenceTokenizer(TokenizerSpec(Char({"[UNK]": 0, "a": 1}), padding=Padding(3)))
        >>> tok.encode("ab").ids
        [1, 0, 0]

        Raises `SpecialTokenError` for a special token in the text when the specification refuses them.
        """
        windows = self._windows(text, pair, add_special_tokens)
        return self._padded(windows, len(windows[0]))

    def encode_batch(
        self,
        texts: Sequence[str],
        pairs: Sequence[str] | None = None,
        *,
        add_special_tokens: bool = True,
    ) -> list[ReferenceEncoding]:
        """Encode several texts or pairs; padding without a length fills to the longest row.

        >>> from piecework.spec import Char, Padding
        >>> tok = ReferenceTokenizer(TokenizerSpec(Char({"[PAD]": 0, "a": 1}), padding=Padding()))
        >>> [encoding.ids for encoding in tok.encode_batch(["aa", "a"])]
        [[1, 1], [1, 0]]
        """
        seconds = [None] * len(texts) if pairs is None else pairs
        rows = [
            self._windows(text, pair, add_special_tokens)
            for text, pair in zip(texts, seconds, strict=True)
        ]
        longest = max((len(windows[0]) for windows in rows), default=0)
        return [self._padded(windows, longest) for windows in rows]

    def encode_segments(
        self, segments: Sequence[tuple[str, bool]], guarded: Collection[str]
    ) -> ReferenceEncoding:
        """Encode the text of segments; guarded added tokens match inside a segment that allows them.

        >>> from piecework.spec import Char
        >>> end = AddedToken("<end>", 2)
        >>> tok = ReferenceTokenizer(TokenizerSpec(Char({"[UNK]": 0, "a": 1}), added_tokens=(end,)))
        >>> tok.encode_segments([("a<en", True), ("d>", True), ("<end>", True)], {"<end>"}).ids
        [1, 0, 0, 0, 0, 0, 2]
        """
        allowed = []
        text = ""
        for part, allow_special in segments:
            if allow_special:
                allowed.append((len(text), len(text) + len(part)))
            text += part

        def permits(token: AddedToken, start: int, end: int) -> bool:
            inside = any(first <= start and end <= last for first, last in allowed)
            return inside or token.content not in guarded

        return to_encoding([list(self.sequence(text, 0, permits))], self.vocab)

    def _windows(self, text: str, pair: str | None, add_special_tokens: bool) -> Windows:
        """Return the tokens of a text or pair, truncated and framed, before padding."""
        texts = [text] if pair is None else [text, pair]
        self._refuse_special(texts)
        sequences = [list(self.sequence(text, number)) for number, text in enumerate(texts)]
        empty: list[Windows] = [[[]] for _ in texts]
        inserted = post_process(
            empty, self.spec.post_processor, add_special_tokens=add_special_tokens
        )
        truncated = truncate(sequences, self.spec.truncation, len(inserted[0]))
        return post_process(
            truncated, self.spec.post_processor, add_special_tokens=add_special_tokens
        )

    def _padded(self, windows: Windows, longest: int) -> ReferenceEncoding:
        """Return the encoding of one row, padded, given the length of the longest row."""
        padding = self.spec.padding
        if padding is None:
            return to_encoding(windows, self.vocab)
        rectangle = pad(windows, padding, padded_length(longest, padding))
        return to_encoding(rectangle, self.vocab, padding.pad_id)

    def sequence(
        self, text: str, sequence_id: int, permits: Permission = everywhere
    ) -> Iterator[Token]:
        """Encode one text without special tokens.

        >>> from piecework.spec import Char
        >>> tok = ReferenceTokenizer(TokenizerSpec(Char({"[UNK]": 0, "a": 1})))
        >>> [token.token for token in tok.sequence("ab", 0)]
        ['a', '[UNK]']
        """
        for word_id, (word, pieces, matched) in enumerate(self._words(text, permits)):
            for piece in pieces:
                offsets = span_between(word, piece.start, piece.end)
                yield Token(piece.token, offsets, word_id, sequence_id, text=matched)

    def _words(
        self, text: str, permits: Permission = everywhere
    ) -> Iterator[tuple[Aligned, list[Piece], str | None]]:
        """Return the words and added tokens of a text with their pieces.

        The last item is the text in which an added token was found, normalized or not; None for a word.
        """
        for part, added in self._split_added_tokens(align(text), permits):
            if added is not None:
                yield part, [Piece(added.content, 0, len(part))], as_text(part)
                continue
            for word in pre_tokenize(part, self.spec.pre_tokenizer):
                yield word, encode_word(as_text(word), self.spec.model, self.rng), None

    def _split_added_tokens(
        self, text: Aligned, permits: Permission = everywhere
    ) -> Iterator[tuple[Aligned, AddedToken | None]]:
        """Split a text into added tokens and normalized text."""
        raw = self._searched_forms(normalized=False)
        in_normalized = self._searched_forms(normalized=True)
        for part, added in split_added_tokens(text, raw, permits):
            if added is not None:
                yield part, added
                continue
            yield from split_added_tokens(self.normalize(part), in_normalized, permits)

    def _searched_forms(self, *, normalized: bool) -> dict[str, list[AddedToken]]:
        """Return the texts to search for with their tokens, the lowest id first."""
        forms: dict[str, list[AddedToken]] = {}
        for token in sorted(self.spec.added_tokens, key=lambda token: token.id):
            is_text = token.special and self.spec.parse_special is False
            form = self.normalized_forms.get(token.content, token.content)
            if token.normalized == normalized and form and not is_text:
                forms.setdefault(form, []).append(token)
        return forms

    def _refuse_special(self, texts: list[str]) -> None:
        """Raise `SpecialTokenError` for a special token when the specification refuses them in text."""
        if self.spec.parse_special != "refuse":
            return
        for text in texts:
            for _, token in self._split_added_tokens(align(text)):
                if token is not None and token.special:
                    message = f"contains the special token {token.content!r}"
                    advice = "use parse_special True or False"
                    raise SpecialTokenError("text", message, hint=advice)

    def normalize(self, text: Aligned) -> Aligned:
        """Apply the normalizer.

        >>> from piecework.spec import Char, Lowercase
        >>> tok = ReferenceTokenizer(TokenizerSpec(Char({"[UNK]": 0}), Lowercase()))
        >>> tok.normalize(align("A"))
        [('a', (0, 1))]
        """
        return normalize(text, self.spec.normalizer)

    def pre_tokenize(self, text: Aligned) -> list[Aligned]:
        """Normalize a text and split it into words.

        >>> from piecework.spec import Char, Lowercase, WhitespaceSplit
        >>> spec = TokenizerSpec(Char({"[UNK]": 0}), Lowercase(), WhitespaceSplit())
        >>> [as_text(word) for word in ReferenceTokenizer(spec).pre_tokenize(align("Two words"))]
        ['two', 'words']
        """
        return pre_tokenize(self.normalize(text), self.spec.pre_tokenizer)

    # ---- ids to text

    def decode(
        self, ids: Iterable[int], *, skip_special_tokens: bool = True, clean_up: bool | None = None
    ) -> str:
        """Turn ids into text; ids without a token are skipped.

        >>> from piecework.spec import Char, Fuse
        >>> tok = ReferenceTokenizer(TokenizerSpec(Char({"[UNK]": 0, "a": 1}), decoder=Fuse()))
        >>> tok.decode([1, 1, 99])
        'aa'

        `clean_up` removes spaces before punctuation; None follows the decoder's own setting.
        """
        special = {token.id for token in self.spec.added_tokens if token.special}
        kept = [id for id in ids if not (skip_special_tokens and id in special)]
        tokens = [self.tokens_by_id[id] for id in kept if id in self.tokens_by_id]
        surfaces = [self.normalized_forms.get(token, token) for token in tokens]
        return decode(surfaces, self.spec.decoder, clean_up=clean_up)
