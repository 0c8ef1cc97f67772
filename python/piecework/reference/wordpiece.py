"""WordPiece: learn tokens from pair scores, then segment each word by longest match.

The idea: write every word as its characters, with `##` before each but the first. Score the pairs of
adjacent symbols: the count of the pair over the product of the counts of its parts, so that rare parts
that occur together win. Merge the best pair into one symbol, which becomes a token. Repeat until the
vocabulary is large enough. To encode a word, take the longest token that it starts with, then go on
behind it. No merges are kept: the vocabulary alone decides.

Source: the score that is published for BERT's tokenizer; Devlin et al. 2019 for the segmentation.
`wordpiece_training` and `wordpiece_top_down` have other learners, `wordpiece_model` other options.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from piecework.reference import bpe
from piecework.reference.words import count_parts

Pair: TypeAlias = tuple[str, str]


def train(
    words: Mapping[str, int], vocab_size: int, special_tokens: Sequence[str] = ()
) -> list[str]:
    """Learn a vocabulary from the words of a corpus and their counts.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> train(words, vocab_size=9)
    ['##g', '##n', '##s', '##u', 'b', 'h', 'p', '##gs', 'hu']

    Special tokens come first, then the sorted alphabet, then the merged tokens in order.
    """
    splits = {word: initial_symbols(word) for word in words}
    alphabet = sorted({symbol for symbols in splits.values() for symbol in symbols})
    vocab = list(dict.fromkeys([*special_tokens, *alphabet]))
    while len(vocab) < vocab_size:
        scores = pair_scores(splits, words)
        if not scores:
            break
        best = max(scores, key=lambda pair: scores[pair])  # of equal scores, the first that occurs
        splits = {word: merge(symbols, best) for word, symbols in splits.items()}
        vocab = list(dict.fromkeys([*vocab, merged(best)]))
    return vocab


def initial_symbols(word: str) -> list[str]:
    """Return the characters of a word, with the prefix `##` inside the word.

    >>> initial_symbols("hug")
    ['h', '##u', '##g']
    """
    return [character if at == 0 else f"##{character}" for at, character in enumerate(word)]


def pair_scores(
    splits: Mapping[str, Sequence[str]], words: Mapping[str, int]
) -> dict[Pair, Fraction]:
    """Return the score of every pair of adjacent symbols: f(ab) / (f(a) f(b)).

    >>> words = {"hug": 10, "hugs": 5}
    >>> scores = pair_scores({word: initial_symbols(word) for word in words}, words)
    >>> print(scores["##g", "##s"], scores["##u", "##g"])
    1/15 1/15
    """
    weighted = [(symbols, words[word]) for word, symbols in splits.items()]
    symbol_counts, pair_counts = count_parts(weighted, iter), count_parts(weighted, pairwise)
    return {
        (left, right): Fraction(count, symbol_counts[left] * symbol_counts[right])
        for (left, right), count in pair_counts.items()
    }


def merged(pair: Pair) -> str:
    """Return the token that a pair becomes.

    >>> merged(("h", "##u")), merged(("##g", "##s"))
    ('hu', '##gs')
    """
    return pair[0] + pair[1].removeprefix("##")


def merge(symbols: Sequence[str], pair: Pair) -> list[str]:
    """Replace every occurrence of a pair by one symbol, from left to right.

    >>> merge(["h", "##u", "##g"], ("##u", "##g"))
    ['h', '##ug']
    """
    return bpe.merge(symbols, pair, merged(pair))


def encode(word: str, vocab: Collection[str], unk_token: str = "[UNK]") -> list[str]:
    """Split a word into the longest tokens from the left.

    >>> vocab = ["b", "h", "p", "##g", "##n", "##s", "##u", "##gs", "hu", "hug"]
    >>> encode("hugs", vocab), encode("bugs", vocab)
    (['hug', '##s'], ['b', '##u', '##gs'])

    A word that cannot be split to its end is one unknown token.

    >>> encode("mug", vocab), encode("bum", vocab)
    (['[UNK]'], ['[UNK]'])
    """
    tokens: list[str] = []
    start = 0
    while start < len(word):
        prefix = "##" if start > 0 else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in vocab), None)
        if end is None:
            return [unk_token]
        tokens.append(prefix + word[start:end])
        start = end
    return tokens


def decode(tokens: Sequence[str]) -> str:
    """Join tokens into words, separated by spaces.

    >>> decode(["hug", "##s", "pun"])
    'hugs pun'
    """
    return " ".join(tokens).replace(" ##", "")
