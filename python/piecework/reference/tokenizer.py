"""A whole tokenizer: added tokens, normalizer, pre-tokenizer, model, truncation, post-processor, padding.

Added tokens are tokens such as `[MASK]` that are found whole in the text, before the model sees it. The
leftmost match wins, then the longest. Tokens with `normalized=False` are sought in the raw text; the others
are sought in the normalized text, in their own normalized form.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from piecework.errors import SpecialTokenError, VocabularyError
from piecework.reference import bpe_model, sentencepiece_model, wordpiece_model
from piecework.reference.aligned import Aligned, align, as_text, span_between
from piecework.reference.decoders import decode
from piecework.reference.encoding import Piece, ReferenceEncoding, Token, Windows, to_encoding
from piecework.reference.lattice import Lattice
from piecework.reference.normalizers import normalize
from piecework.reference.patterns import is_whitespace, is_word
from piecework.reference.post_processors import (
    pad,
    padded_length,
    post_process,
    special_ids,
    truncate,
)
from piecework.reference.pre_tokenizers import pre_tokenize
from piecework.spec import (
    BPE,
    AddedToken,
    Char,
    Model,
    SentencePiece,
    TokenizerSpec,
    Unigram,
    WordLevel,
    WordPiece,
)

# The tokens of each text to search, by id: several tokens can have one normalized form.
Forms: TypeAlias = Mapping[str, Sequence[AddedToken]]
# A part of the text, and the added token that it is; None for ordinary text.
TextPart: TypeAlias = tuple[Aligned, AddedToken | None]
# Whether a token may match the characters from a start to an end.
Permission: TypeAlias = Callable[[AddedToken, int, int], bool]


def everywhere(token: AddedToken, start: int, end: int) -> bool:
    """Permit every match."""
    return True


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


# ---- models: one word in, tokens and the characters they cover out


def encode_word(word: str, model: Model, rng: random.Random | None = None) -> list[Piece]:
    """Split a word that is not empty; `rng` draws the merges that a BPE model with dropout ignores.

    >>> encode_word("abc", Char({"[UNK]": 0, "a": 1, "b": 2}))[-1]
    Piece(token='[UNK]', start=2, end=3)
    """
    if isinstance(model, WordPiece):
        return wordpiece_model.encode_word(word, model)
    if isinstance(model, BPE):
        return bpe_model.encode_word(word, model, rng)
    if isinstance(model, Unigram):
        return unigram(word, model)
    if isinstance(model, SentencePiece):
        return sentencepiece_model.encode_text(word, model)
    return look_up(word, model)


def look_up(word: str, model: WordLevel | Char) -> list[Piece]:
    """Look up a word, or each of its characters; the unknown token replaces what is missing.

    >>> look_up("to", WordLevel({"[UNK]": 0, "to": 1}))
    [Piece(token='to', start=0, end=2)]
    """
    size = 1 if isinstance(model, Char) else len(word)
    units = ((word[start : start + size], start) for start in range(0, len(word), size))
    return [
        Piece(unit if unit in model.vocab else model.unk_token, start, start + size)
        for unit, start in units
    ]


# ---- Unigram


def unigram(word: str, model: Unigram) -> list[Piece]:
    """Return the segmentation with the highest score; adjacent unknown characters are one token.

    >>> unigram("hugs", Unigram((("<unk>", 0.0), ("hug", -2.0), ("s", -3.0)), unk_id=0))
    [Piece(token='hug', start=0, end=3), Piece(token='s', start=3, end=4)]

    Raises `VocabularyError` for an unknown character when the model has no unknown token.
    """
    if model.unk_id is None:
        check_known(word, model)
    pieces: list[Piece] = []
    for text in Lattice(word, dict(model.pieces)).best().pieces:
        start = pieces[-1].end if pieces else 0
        pieces.append(Piece(text, start, start + len(text)))
    known = set(model.vocab) - {model.unk_token}
    tokens: list[Piece] = []
    for is_known, group in groupby(pieces, key=lambda piece: piece.token in known):
        run = list(group)
        tokens += run if is_known else unknown_run(word, run, model)
    return tokens


def check_known(word: str, model: Unigram) -> None:
    """Raise `VocabularyError` if the search meets an unknown character.

    >>> check_known("ab", Unigram((("a", -1.0), ("ab", -2.0))))

    The search goes from left to right, so the best segmentation of every prefix has to be known, as in
    `tokenizers`.
    """
    scores = dict(model.pieces)
    for end in range(1, len(word) + 1):
        last = Lattice(word[:end], scores).best().pieces[-1]
        if last not in scores:
            problem = f"found None, expected an entry for the unknown character {last!r}"
            raise VocabularyError("model.unk_id", problem)


def unknown_run(word: str, run: list[Piece], model: Unigram) -> list[Piece]:
    """Return the tokens of a run of unknown characters: an entry, byte entries or the unknown token.

    >>> model = Unigram((("<unk>", 0.0), ("<0x0A>", -1.0)), unk_id=0, byte_fallback=True)
    >>> unknown_run("\\n", [Piece("\\n", 0, 1)], model)
    [Piece(token='<0x0A>', start=0, end=1)]
    """
    start, end = run[0].start, run[-1].end
    text, vocab = word[start:end], model.vocab
    entries = [f"<0x{byte:02X}>" for byte in text.encode()]
    if text in vocab:
        return [Piece(text, start, end)]
    if model.byte_fallback and all(entry in vocab for entry in entries):
        return [Piece(entry, start, end) for entry in entries]
    return [Piece(model.unk_token or "", start, end)]


# ---- added tokens


def split_added_tokens(
    text: Aligned, forms: Forms, permits: Permission = everywhere
) -> Iterator[TextPart]:
    """Split a text into added tokens and ordinary text; `forms` maps each text to search to its tokens.

    `permits` decides about each match by its characters in the original text.

    >>> from piecework.reference.aligned import align
    >>> mask = AddedToken("<mask>", id=0, lstrip=True)
    >>> parts = split_added_tokens(align("a <mask>."), {"<mask>": [mask]})
    >>> [(as_text(part), found is mask) for part, found in parts]
    [('a', False), (' <mask>', True), ('.', False)]
    """
    plain = as_text(text)
    done = 0

    def is_permitted(token: AddedToken, start: int, end: int) -> bool:
        return permits(token, *span_between(text, start, end))

    for start, end, token in matches(plain, forms, is_permitted):
        if token.single_word and touches_word(plain, start, end):
            continue
        start, end = with_stripped_space(plain, done, start, end, token)
        if start >= end:
            continue
        if done < start:
            yield text[done:start], None
        yield text[start:end], token
        done = end
    if done < len(text):
        yield text[done:], None


def matches(
    text: str, forms: Forms, permits: Permission = everywhere
) -> Iterator[tuple[int, int, AddedToken]]:
    """Find the permitted added tokens of a text from left to right, the longest at each position.

    Of tokens with one form, the first that is permitted is found.

    >>> a, ab = AddedToken("a", 0), AddedToken("ab", 1)
    >>> [(start, end) for start, end, _ in matches("xab a", {"a": [a], "ab": [ab]})]
    [(1, 3), (4, 5)]
    """
    at = 0
    while at < len(text):
        permitted = (
            (at + len(form), token)
            for form, tokens in forms.items()
            if text.startswith(form, at)
            for token in tokens
            if permits(token, at, at + len(form))
        )
        end, token = max(permitted, key=itemgetter(0), default=(at + 1, None))
        if token is not None:
            yield at, end, token
        at = end


def touches_word(text: str, start: int, end: int) -> bool:
    """Return whether a word character precedes or follows a span.

    >>> touches_word("a b", 0, 1), touches_word("ab", 0, 1)
    (False, True)
    """
    return is_word(text[start - 1 : start] or " ") or is_word(text[end : end + 1] or " ")


def with_stripped_space(
    text: str, done: int, start: int, end: int, token: AddedToken
) -> tuple[int, int]:
    """Extend a match over the whitespace that its token strips, on the left at most to `done`.

    >>> with_stripped_space("a  <m> b", 0, 3, 6, AddedToken("<m>", 0, lstrip=True, rstrip=True))
    (1, 7)
    """
    if token.lstrip:
        start = max(start, done)
        while start > done and is_whitespace(text[start - 1]):
            start -= 1
    if token.rstrip:
        while end < len(text) and is_whitespace(text[end]):
            end += 1
    return start, end
