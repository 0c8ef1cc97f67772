r"""The module `tiktoken._educational`: BPE step by step, to read and to watch.

>>> pattern = r"\w+|\s+"
>>> ranks = bpe_train("hug hugs hug", 258, pattern, visualise="simple")
token 256: b'h' + b'u', 3 times
[b'hu', b'g']
[b' ']
[b'hu', b'g', b's']
[b' ']
[b'hu', b'g']
<BLANKLINE>
token 257: b'hu' + b'g', 3 times
[b'hug']
[b' ']
[b'hug', b's']
[b' ']
[b'hug']
<BLANKLINE>
>>> enc = SimpleBytePairEncoding(pat_str=pattern, mergeable_ranks=ranks)
>>> enc.encode("hugs", visualise=None)
[257, 115]
>>> enc.decode_tokens_bytes([257, 115])
[b'hug', b's']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from piecework import Tokenizer
from piecework.compat.tiktoken.encoding import Encoding
from piecework.compat.tiktoken.ranks_mapping import tokenizer_from_ranks
from piecework.compat.tiktoken.registry import get_encoding
from piecework.errors import ArgumentError, VocabularyError

# Background colours of a terminal, from the palette of 256.
_COLOURS = (167, 179, 185, 77, 80, 68, 134)


class SimpleBytePairEncoding:
    """An encoding in plain Python that shows its steps; `Encoding` is the fast one."""

    def __init__(self, *, pat_str: str, mergeable_ranks: Mapping[bytes, int]) -> None:
        self.pat_str = pat_str
        self.mergeable_ranks = dict(mergeable_ranks)
        self._decoder = {rank: token for token, rank in self.mergeable_ranks.items()}
        self._splitter = _splitter(pat_str)

    @staticmethod
    def train(training_data: str, vocab_size: int, pat_str: str) -> SimpleBytePairEncoding:
        """Learn ranks from a text; print each merge and, in colours, what becomes of the first words."""
        ranks = bpe_train(training_data, vocab_size, pat_str)
        return SimpleBytePairEncoding(pat_str=pat_str, mergeable_ranks=ranks)

    @staticmethod
    def from_tiktoken(encoding: str | Encoding) -> SimpleBytePairEncoding:
        """Take over the ranks and the pattern of an encoding, or of one by name."""
        if isinstance(encoding, str):
            encoding = get_encoding(encoding)
        return SimpleBytePairEncoding(
            pat_str=encoding._pat_str, mergeable_ranks=encoding._mergeable_ranks
        )

    def encode(self, text: str, visualise: str | None = "colour") -> list[int]:
        """Encode a text; print the tokens after each merge unless `visualise` is None."""
        return [
            token
            for word in _words(self._splitter, text)
            for token in bpe_encode(self.mergeable_ranks, word, visualise)
        ]

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Decode tokens to bytes."""
        return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: Sequence[int]) -> str:
        """Decode tokens to text; invalid UTF-8 is replaced."""
        return self.decode_bytes(tokens).decode("utf-8", "replace")

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each token."""
        return [self._decoder[token] for token in tokens]


def bpe_encode(
    mergeable_ranks: Mapping[bytes, int], input: bytes, visualise: str | None = "colour"
) -> list[int]:
    """Encode one word: merge the adjacent pair with the lowest rank until no pair has a rank.

    Of equal pairs, the first is merged. Prints the tokens before each merge and, at the end, a blank line.
    Raises `VocabularyError` for a byte without a rank.
    """
    parts = [bytes([byte]) for byte in input]
    while True:
        _show(parts, visualise)
        ranked = [
            (mergeable_ranks[first + second], at)
            for at, (first, second) in enumerate(pairwise(parts))
            if first + second in mergeable_ranks
        ]
        if not ranked:
            break
        _, at = min(ranked)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    if visualise:
        print()
    for part in parts:
        if part not in mergeable_ranks:
            problem = f"has no rank for {part!r}; each byte needs one"
            raise VocabularyError("mergeable_ranks", problem)
    return [mergeable_ranks[part] for part in parts]


def bpe_train(
    data: str, vocab_size: int, pat_str: str, visualise: str | None = "colour"
) -> dict[bytes, int]:
    """Learn ranks: merge the most frequent adjacent pair of all words, until `vocab_size` tokens exist.

    Of equally frequent pairs, the one that occurs first is merged.
    """
    if vocab_size < 256:
        problem = f"must be at least 256, not {vocab_size}: each byte has a rank"
        raise ArgumentError("vocab_size", problem)
    ranks = {bytes([byte]): byte for byte in range(256)}
    words = [[bytes([byte]) for byte in word] for word in _words(_splitter(pat_str), data)]
    while len(ranks) < vocab_size:
        pairs = Counter(pair for word in words for pair in pairwise(word))
        if not pairs:
            raise ArgumentError(
                "vocab_size",
                f"must be at most {len(ranks)}, not {vocab_size}: then the text has no pair "
                "left to merge",
            )
        pair = max(pairs, key=pairs.__getitem__)
        ranks[pair[0] + pair[1]] = len(ranks)
        words = [_merged(word, pair) for word in words]
        if visualise:
            print(f"token {len(ranks) - 1}: {pair[0]!r} + {pair[1]!r}, {pairs[pair]} times")
            _show_words(words, visualise)
    return ranks


def visualise_tokens(token_values: Sequence[bytes]) -> None:
    """Print tokens on a line, neighbours in different colours; the start of a token decides its colour."""
    shown, start, last = "", 0, -1
    for token in token_values:
        text = token.decode("utf-8", "replace")
        colour = start % len(_COLOURS)
        last = (colour + (colour == last)) % len(_COLOURS)
        shown += f"\x1b[48;5;{_COLOURS[last]}m{text}"
        start += len(text)
    print(shown + "\x1b[0m")


def _show(parts: Sequence[bytes], visualise: str | None) -> None:
    if visualise in ("colour", "color"):
        visualise_tokens(parts)
    elif visualise:
        print(list(parts))


def _show_words(words: Sequence[Sequence[bytes]], visualise: str) -> None:
    """Print the first fifty words in colours, or the first twenty on a line each; then a blank line."""
    if visualise in ("colour", "color"):
        visualise_tokens([part for word in words[:50] for part in word])
    else:
        for word in words[:20]:
            print(list(word))
    print()


def _merged(word: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    """Return a word with each occurrence of a pair merged, from left to right."""
    merged: list[bytes] = []
    at = 0
    while at < len(word):
        is_pair = tuple(word[at : at + 2]) == pair
        merged.append(word[at] + word[at + 1] if is_pair else word[at])
        at += 2 if is_pair else 1
    return merged


def _splitter(pat_str: str) -> Tokenizer:
    """Return a tokenizer of single bytes that splits by a pattern."""
    return tokenizer_from_ranks(
        "pat_str", pat_str, {bytes([byte]): byte for byte in range(256)}, {}
    )


def _words(splitter: Tokenizer, text: str) -> Iterator[bytes]:
    for _, (start, end) in splitter.pre_tokenize(text):
        yield text[start:end].encode()
