"""Unigram training with the options of real trainers: word counts in, scored pieces out.

The loop is the one of `unigram.train` (Kudo 2018, section 3.2). The constants, the digamma and the
approximate loss follow SentencePiece. Unlike there, seeds are weighted by word counts, and a
single word that occurs twice is a seed.

Expected counts are integers in small units, so that sums do not depend on their order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from piecework.errors import TrainingError
from piecework.reference.lattice import Lattice
from piecework.reference.words import count_parts, substrings

Words = Sequence[tuple[str, int]]
Scores = Mapping[str, float]

SURPLUS = 1.1
THRESHOLD = 0.5
RARE_CHARACTER_STEP = 0.0001
SEEDS_PER_ENTRY = 16


@dataclass(frozen=True)
class Settings:
    """What to learn; lengths are in characters."""

    vocab_size: int = 8_000
    special_tokens: Sequence[str] = ("<unk>", "<s>", "</s>")
    user_defined_symbols: Sequence[str] = ()
    byte_fallback: bool = False
    character_coverage: float = 0.9995
    initial_alphabet: Sequence[str] = ()
    seed_vocab_size: int | None = None
    max_piece_length: int = 16
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2
    count_exponent: float = 1.0


def learn(words: Words, settings: Settings) -> list[tuple[str, float]]:
    """Return `vocab_size` entries with their scores, or all there are; reserved entries have score 0.

    >>> words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    >>> [piece for piece, _ in learn(words, Settings(vocab_size=14))][3:7]
    ['pun', 'hug', 'hugs', 'pug']

    Raises `TrainingError` when `vocab_size` is too small for reserved entries and alphabet.
    """
    segments, reserved, required = segmented(words, settings)
    return learn_from(seeds(segments, reserved, settings), segments, reserved, required, settings)


def learn_from(
    scores: Scores,
    segments: Words,
    reserved: Sequence[str],
    required: Sequence[str],
    settings: Settings,
) -> list[tuple[str, float]]:
    """Estimate and prune seeds until they fit; return all entries with their scores.

    >>> learn_from({"a": -1.0}, [("a", 3)], ["<unk>"], ["a"], Settings(vocab_size=2))
    [('<unk>', 0.0), ('a', 0.0)]
    """
    vocab_size = size_within(settings.vocab_size, len(reserved), required, scores)
    wanted = vocab_size - len(reserved)
    target = int(vocab_size * SURPLUS)
    while True:
        for _ in range(settings.num_sub_iterations):
            expected = expect(segments, scores, settings.count_exponent)
            scores = maximize(expected, unit(segments), wanted)
        if len(scores) <= target:
            return [(entry, 0.0) for entry in reserved] + choose(scores, required, wanted)
        size = max(int(settings.shrinking_factor * len(scores)), target)
        scores = prune(segments, scores, size, wanted, settings.count_exponent)


def size_within(size: int, reserved: int, required: Sequence[str], scores: Scores) -> int:
    """Return the size, at most the number of entries that there are.

    >>> size_within(3, 1, ["a", "b"], {"a": -1.0, "b": -1.0})
    3
    >>> size_within(9, 1, ["a", "b"], {"a": -1.0, "b": -1.0})
    3

    Raises `TrainingError` if the size is below the number of required entries.
    """
    least, most = reserved + len(required), reserved + len({*required, *scores})
    if size < least:
        alphabet_size = len(required)
        raise TrainingError(
            "vocab_size",
            f"must be at least {least} ({reserved} reserved entries and an alphabet of "
            f"{alphabet_size}), not {size}",
        )
    return min(size, most)


# ---- words, alphabet, seeds


def segmented(words: Words, settings: Settings) -> tuple[Words, list[str], list[str]]:
    """Return the segments of the words, the reserved entries, and the other characters that must be entries.

    >>> segmented([("ab", 2)], Settings(special_tokens=("<unk>", "b")))
    ([('ab', 2)], ['<unk>', 'b'], ['a'])
    """
    words = around_symbols(words, settings.user_defined_symbols)
    reserved, characters = reserved_entries(settings), alphabet(words, settings)
    required = [character for character in characters if character not in reserved]
    return within_alphabet(words, characters), reserved, required


def around_symbols(words: Words, symbols: Sequence[str]) -> Words:
    """Split words around symbols: the leftmost symbol, and the longest one there.

    >>> around_symbols([("a<b>c", 2)], ["<b>"])
    [('a', 2), ('c', 2)]
    """
    return [(part, count) for word, count in words for part in _between(word, symbols) if part]


def _between(word: str, symbols: Sequence[str]) -> Iterator[str]:
    start = at = 0
    while at < len(word):
        found = [symbol for symbol in symbols if word.startswith(symbol, at)]
        if found:
            yield word[start:at]
            start = at = at + max(map(len, found))
        else:
            at += 1
    yield word[start:]


def reserved_entries(settings: Settings) -> list[str]:
    """Return special tokens, user-defined symbols and byte entries, without duplicates.

    >>> reserved_entries(Settings(user_defined_symbols=("<x>",)))
    ['<unk>', '<s>', '</s>', '<x>']
    """
    byte_entries = [f"<0x{byte:02X}>" for byte in range(256)] if settings.byte_fallback else []
    entries = [*settings.special_tokens, *settings.user_defined_symbols, *byte_entries]
    return list(dict.fromkeys(entries))


def alphabet(words: Words, settings: Settings) -> list[str]:
    """Return the characters that become entries, the most frequent first.

    >>> alphabet([("aab", 2), ("c", 1)], Settings(character_coverage=0.8))
    ['a', 'b']
    """
    totals = count_parts(words, iter)
    ranked = sorted(totals, key=lambda c: (-totals[c], c))
    kept, covered = set(settings.initial_alphabet), 0
    for character in ranked:
        if covered / totals.total() >= settings.character_coverage:
            break
        kept.add(character)
        covered += totals[character]
    return sorted(kept, key=lambda c: (-totals[c], c))


def within_alphabet(words: Words, alphabet: Sequence[str]) -> Words:
    """Split words at the characters outside the alphabet.

    >>> within_alphabet([("axb", 2)], ["a", "b"])
    [('a', 2), ('b', 2)]
    """
    known = set(alphabet)
    return [
        ("".join(run), count)
        for word, count in words
        for inside, run in groupby(word, known.__contains__)
        if inside
    ]


def seeds(segments: Words, reserved: Sequence[str], settings: Settings) -> dict[str, float]:
    """Return all characters and the substrings that cover most text, with their initial scores.

    >>> list(seeds([("only", 3), ("one", 1)], [], Settings()))
    ['e', 'l', 'ly', 'n', 'nly', 'o', 'on', 'only', 'y']

    A substring is a seed when it occurs twice and not always before the same character.
    """
    counts = substring_counts(segments, settings.max_piece_length + 1)
    extended = {(longer[:-1], count) for longer, count in counts.items()}
    weights = {
        piece: count * len(piece)
        for piece, count in counts.items()
        if piece not in reserved
        and (len(piece) == 1 or (count >= 2 and (piece, count) not in extended))
        and len(piece) <= settings.max_piece_length
    }
    return heaviest(weights, settings.seed_vocab_size or SEEDS_PER_ENTRY * settings.vocab_size)


def heaviest(weights: Mapping[str, int], size: int) -> dict[str, float]:
    """Return all characters and the strings of most weight, `size` in all, with the logs of their shares.

    >>> list(heaviest({"a": 1, "ab": 4, "abc": 3}, 2))
    ['a', 'ab']
    """
    ranked = sorted(weights, key=lambda piece: (len(piece) > 1, -weights[piece], piece))
    characters = sum(len(piece) == 1 for piece in ranked)
    chosen = ranked[: max(size, characters)]
    total = sum(weights[piece] for piece in chosen)
    return {piece: math.log(weights[piece]) - math.log(total) for piece in sorted(chosen)}


def substring_counts(segments: Words, max_length: int) -> Counter[str]:
    """Count all substrings, overlapping ones too.

    >>> substring_counts([("aa", 2)], 2)
    Counter({'a': 4, 'aa': 2})
    """
    return count_parts(segments, lambda segment: substrings(segment, max_length))


# ---- expectation and maximization


def unit(segments: Words) -> float:
    """Return the integer that stands for an expected count of 1: a power of two.

    >>> unit([("ab", 1)])
    1099511627776.0
    """
    characters = sum(count * len(segment) for segment, count in segments)
    return 2.0 ** min(62 - characters.bit_length(), 40)


def weight(count: int, exponent: float) -> float:
    """Return the weight of a word in EM and pruning: its count to the power of `count_exponent`.

    >>> weight(16, 1.0), weight(16, 0.5)
    (16.0, 4.0)
    """
    return float(count) if exponent == 1.0 else math.pow(count, exponent)


def expect(segments: Words, scores: Scores, exponent: float = 1.0) -> dict[str, int]:
    """Return the expected count of each piece over all segmentations: the E step.

    >>> segments = [("a", 3)]
    >>> expect(segments, {"a": -1.0})["a"] / unit(segments)
    3.0
    """
    one, expected = unit(segments), dict.fromkeys(scores, 0)
    for segment, count in segments:
        for piece, times in Lattice(segment, scores).expected(weight(count, exponent) * one):
            expected[piece] += int(times)
    return expected


def log_likelihood(segments: Words, scores: Scores) -> float:
    """Return the log probability of the corpus, summed over all segmentations.

    >>> log_likelihood([("a", 3)], {"a": -1.0})
    -3.0
    """
    return sum(count * math.log(Lattice(word, scores).probability()) for word, count in segments)


def maximize(expected: Mapping[str, int], one: float, wanted: int) -> dict[str, float]:
    """Return new scores: the M step. Pieces with a low expected count go, but `wanted` ones stay.

    >>> sorted(maximize({"a": 4, "b": 0}, one=1.0, wanted=1))
    ['a']

    The digamma in place of the logarithm lowers the scores of rare pieces: a sparse prior (Liang and
    Klein 2007).
    """
    kept = [piece for piece, count in expected.items() if count >= math.ceil(THRESHOLD * one)]
    if len(kept) < wanted:
        kept = sorted(sorted(expected, key=lambda piece: (-expected[piece], piece))[:wanted])
    total = sum(expected[piece] for piece in kept) / one
    log_total = digamma(max(total, THRESHOLD))
    return {piece: digamma(max(expected[piece] / one, THRESHOLD)) - log_total for piece in kept}


def digamma(x: float) -> float:
    """Return the digamma function, the derivative of log gamma (Bernardo 1976, AS 103).

    >>> round(digamma(1.0), 6)
    -0.577216
    """
    result = 0.0
    while x < 10.0:
        result -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    inner = 1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0))
    return result + math.log(x) - 0.5 / x - square * inner


# ---- pruning and the final choice


def use_unit(segments: Words, exponent: float) -> float:
    """Return the integer that stands for one use in the best segmentation.

    >>> use_unit([("ab", 1)], 1.0), use_unit([("ab", 1)], 0.9)
    (1.0, 1024.0)
    """
    return 1.0 if exponent == 1.0 else min(unit(segments), 1024.0)


def best_uses(segments: Words, scores: Scores, exponent: float = 1.0) -> dict[str, float]:
    """Return the weighted count of each piece in the best segmentations.

    >>> best_uses([("ab", 2)], {"a": -2.0, "b": -2.0, "ab": -1.0})
    {'ab': 2.0}
    """
    one, uses = use_unit(segments, exponent), Counter[str]()
    for segment, count in segments:
        for piece in Lattice(segment, scores).best().pieces:
            uses[piece] += int(weight(count, exponent) * one) if piece in scores else 0
    return {piece: used / one for piece, used in uses.items()}


def prune(
    segments: Words, scores: Scores, size: int, wanted: int, exponent: float = 1.0
) -> dict[str, float]:
    """Keep about `size` pieces: the ones with the greatest loss.

    >>> sorted(prune([("ab", 2)], {"a": -2.0, "b": -2.0, "ab": -1.0}, size=1, wanted=1))
    ['ab']
    """
    counts = best_uses(segments, scores, exponent)
    total = math.fsum(counts.values())
    losses = {piece: loss(piece, scores, counts, total) for piece in scores}
    ranked = sorted(scores, key=lambda piece: (-losses[piece], _useless(piece, losses, scores)))
    useful = sum(found > -math.inf for found in losses.values())
    needed = sum(found == math.inf for found in losses.values())
    kept = set(ranked[: max(min(useful, size), needed, wanted)])
    return {piece: score for piece, score in scores.items() if piece in kept}


def _useless(piece: str, losses: Scores, scores: Scores) -> tuple[float, str]:
    return (-scores[piece] if losses[piece] == -math.inf else 0.0, piece)


def loss(piece: str, scores: Scores, counts: Mapping[str, float], total: float) -> float:
    """Return approximately how much log-likelihood the corpus loses without a piece.

    >>> loss("a", {"a": -1.0}, {"a": 2.0}, 2.0), loss("a", {"a": -1.0}, {}, 2.0)
    (inf, -inf)

    The best alternative segmentation of the piece replaces each of its uses. The loss of a used
    character is infinite. The loss of an unused piece, or of one that its alternative beats, is minus
    infinity.
    """
    if not counts.get(piece):
        return -math.inf
    if len(piece) == 1:
        return math.inf
    others = _Without(scores, piece)
    parts, without = Lattice(piece, others).best()
    if without > scores[piece]:
        return -math.inf
    count = counts[piece]
    log_total_after = math.log(total + count * (len(parts) - 1.0))
    after = 0.0
    for part in parts:
        after += math.log(counts.get(part, 0.0) + count) - log_total_after
    return count * (math.log(count) - math.log(total) - after)


class _Without(dict[str, float]):
    """All scores but the one of a piece."""

    def __init__(self, scores: Scores, piece: str) -> None:
        super().__init__(scores)
        self.piece = piece

    def __contains__(self, piece: object) -> bool:
        return piece != self.piece and super().__contains__(piece)


def choose(scores: Scores, required: Sequence[str], wanted: int) -> list[tuple[str, float]]:
    """Return `wanted` pieces, the required characters and the best others, the best first.

    >>> choose({"a": -1.0, "ab": -0.5, "b": -2.0}, ["b"], 2)
    [('ab', -0.5), ('b', -2.0)]
    """
    lowest, chosen = min([0.0, *scores.values()]), {}
    for character in required:
        if character not in scores:
            lowest -= RARE_CHARACTER_STEP
        chosen[character] = scores.get(character, lowest)
    others = [piece for piece in ranked(scores) if piece not in chosen]
    chosen |= {piece: scores[piece] for piece in others[: wanted - len(chosen)]}
    return [(piece, chosen[piece]) for piece in ranked(chosen)]


def ranked(scores: Scores) -> list[str]:
    """Return the pieces by decreasing score, then by code points.

    >>> ranked({"a": -2.0, "b": -1.0})
    ['b', 'a']
    """
    return sorted(scores, key=lambda piece: (-scores[piece], piece))
