"""BPE training in which sources, such as languages, choose the merges in turns: parity-aware BPE.

The learner differs from `bpe_training` only in the choice of a pair. Before each merge, the cost of each
source is the number of tokens of its parallel text or, without parallel texts, of its own words divided by
their size. The source with the highest cost chooses the pair that is most frequent in it, and the pair is
merged in all sources. Three rules are added:

    global_merges   the counts of all sources choose so many merges first
    window          sources that chose more than twice their equal share of so many last merges come last
    no pair         a source without a frequent pair leaves its turn to the next

Source: Foroutan et al. 2026, "Parity-Aware Byte-Pair Encoding: Improving Cross-lingual Fairness in
Tokenization", section 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain

from piecework.reference.bpe_training import (
    LearnedBPE,
    Pair,
    Settings,
    Split,
    alphabet,
    best_pair,
    count_pairs,
    first_entries,
    merge,
    merged,
    split,
)
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER

Words = Sequence[tuple[str, int]]


@dataclass(frozen=True)
class Parity:
    """How sources choose merges: settings of `BPETrainer` with these names, and whether words are bytes."""

    parity_unit: str | None = None
    parity_window: int | None = None
    global_merges: int = 0
    byte_level: bool = False


def learn(
    sources: Sequence[Words],
    settings: Settings,
    parity: Parity,
    parallel: Sequence[Words] = (),
) -> LearnedBPE:
    """Merge pairs that sources choose in turns until the vocabulary is full or no pair is frequent enough.

    >>> english, other = [("hug", 90), ("pug", 80)], [("zzyx", 2)]
    >>> learn([english, other], Settings(vocab_size=10, min_frequency=1), Parity("bytes")).merges
    [('u', 'g'), ('y', 'x'), ('z', 'z')]

    The words of the second source are rare, but they are one token a byte before their turn. Costs are
    compared by `parity_unit`, or by the tokens of `parallel` texts, one for each source.
    """
    kept = alphabet(list(chain.from_iterable(sources)), settings)
    texts = [[(split(word, kept, settings), count) for word, count in words] for words in sources]
    learned = LearnedBPE(first_entries(kept, list(chain.from_iterable(texts)), settings))
    measured = [_known(words, kept, learned.vocab, settings) for words in parallel]
    sizes = [1 if parallel else size(words, parity) for words in sources]
    state = _State(settings, parity, texts, measured, sizes, learned)
    while len(learned.vocab) < settings.vocab_size:
        best = state.choose()
        if best is None:
            break
        state.merge(best)
    return learned


@dataclass
class _State:
    """The words of the sources and of their parallel texts, the merges, and the turns so far."""

    settings: Settings
    parity: Parity
    texts: list[list[Split]]
    measured: list[list[Split]]
    sizes: list[int]
    learned: LearnedBPE
    turns: list[int] = field(default_factory=list)

    def choose(self) -> Pair | None:
        """Return the next pair, None if no pair is frequent in a source."""
        pairs = self._pairs()
        vocab, settings = self.learned.vocab, self.settings
        if len(self.learned.merges) < self.parity.global_merges:
            return best_pair(pairs, pairs, vocab, settings)
        costs = [
            Fraction(tokens(text), size)
            for text, size in zip(self.measured or self.texts, self.sizes, strict=True)
        ]
        for source in order(costs, self.turns, self.parity.parity_window):
            of_source = count_pairs(self.texts[source], settings)
            if best := best_pair(of_source, pairs, vocab, settings):
                self.turns.append(source)
                return best
        return None

    def merge(self, pair: Pair) -> None:
        """Merge a pair in all texts, and record it with its count in all sources."""
        self.learned.merges.append(pair)
        self.learned.pair_counts.append(self._pairs()[pair])
        for group in (self.texts, self.measured):
            group[:] = [
                [(merge(entries, pair, self.settings), count) for entries, count in text]
                for text in group
            ]
        token = merged(pair, self.settings)
        self.learned.vocab = list(dict.fromkeys([*self.learned.vocab, token]))

    def _pairs(self) -> Counter[Pair]:
        return count_pairs(list(chain.from_iterable(self.texts)), self.settings)


def _known(words: Words, kept: set[str], vocab: Sequence[str], settings: Settings) -> list[Split]:
    """Return the words of a parallel text without the characters that are not entries."""
    splits = ((split(word, kept, settings), count) for word, count in words)
    return [([entry for entry in entries if entry in vocab], count) for entries, count in splits]


def order(costs: Sequence[Fraction], turns: Sequence[int], window: int | None) -> list[int]:
    """Return the sources in the order in which they may choose; equal ones in the order given.

    >>> order([Fraction(1, 2), Fraction(3, 4), Fraction(1, 4)], [], None)
    [1, 0, 2]
    >>> order([Fraction(1, 2), Fraction(3, 4), Fraction(1, 4)], [1, 1, 1], 4)
    [0, 2, 1]
    """
    recent = Counter(turns[-window:] if window else ())
    number = len(costs)
    exceeding = [recent[source] * number > 2 * (window or 0) for source in range(number)]
    return sorted(range(number), key=lambda source: (exceeding[source], -costs[source], source))


def tokens(text: Sequence[Split]) -> int:
    """Count the tokens of a text.

    >>> tokens([(["h", "ug"], 10)])
    20
    """
    return sum(len(entries) * count for entries, count in text)


def size(words: Words, parity: Parity) -> int:
    """Return the bytes, the characters or the number of words, at least 1.

    >>> [size([("é", 3)], Parity(unit)) for unit in ("bytes", "characters", "words")]
    [6, 3, 3]
    """
    return max(1, sum(_size(word, parity) * count for word, count in words))


def _size(word: str, parity: Parity) -> int:
    if parity.parity_unit == "words":
        return 1
    text = bytes(BYTE_OF_CHARACTER[c] for c in word) if parity.byte_level else word.encode()
    if parity.parity_unit == "bytes":
        return len(text)
    return sum(not 0x80 <= byte < 0xC0 for byte in text)
