"""WordPiece training by pruning: start from many substrings and remove the least useful one, repeatedly.

**Cost.** Let S(w, V) be the segmentation of a word w by the vocabulary V, as the model will encode it:
longest match ("greedy") or fewest tokens ("shortest"). A token t costs

    cost(t) = 1 + balance x -ln(uses(t) / uses of all tokens)

so with `balance=0` the cost of a corpus is its number of tokens. The corpus, words w with counts c(w), costs

    C(V) = sum over w of c(w) x sum over t in S(w, V) of cost(t).

**Loss.** Removing an entry e changes this by

    L(e) = C(V without e) - C(V) = sum over w of c(w) x [cost of S(w, V without e) - cost of S(w, V)].

A word whose segmentation does not contain e keeps it: longest match never looks at e then, and a segmentation
with the fewest tokens stays one when another entry disappears. So only the words that use e contribute.
The loss can be negative under longest match, where an entry can hide two better ones. With `max_use_cost`,
a word contributes at most c(w) x uses of e in w x `max_use_cost`, so that an entry cannot live from a few
uses in long words.

**Removal.** The entry with the least loss is removed, until `vocab_size` is reached. Among equal losses, the
entry with the lower count is removed first, then the longer one, then a word start before a continuation,
then the lower code points. Special tokens and single characters stay. Costs with surprisal are estimated
from the present segmentations, again whenever 85 % of the entries are left.

**Putting back.** Greedy removal regrets some choices: a good entry looks useless while the words that
contain it are entries. So each removed entry that would save more than the cheapest entry's loss, the one
that saves most first, is put back if it still does, and the cheapest entry is removed. Without
`max_use_cost`, no swap raises the cost. Rounds repeat until one swaps nothing.

Costs are integers, in units of 2^-16, so results do not depend on the platform.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from piecework.reference.boundaries import begins
from piecework.reference.wordpiece_model import greedy, shortest
from piecework.reference.wordpiece_training import (
    LearnedWordPiece,
    Settings,
    alphabet,
    initial_vocabulary,
    length_of,
)
from piecework.reference.words import count_parts
from piecework.spec import WordPiece

SEEDS_PER_ENTRY = 8
LONGEST_ENTRY_CHARS = 50
LONGEST_WORD_CHARS = 100
STAGE_PERCENT = 85
PUT_BACK_ROUNDS = 4
ONE = 1 << 16
LN_2 = 45_426  # ln 2, in units of 2^-16


@dataclass(frozen=True)
class PruningSettings(Settings):
    """What to learn by pruning; `max_use_cost` is in units of cost."""

    balance: float = 0.0
    max_use_cost: float | None = None
    seed_vocab_size: int | None = None
    segmentation: Literal["greedy", "shortest"] = "greedy"


def learn_pruning(words: Sequence[tuple[str, int]], settings: PruningSettings) -> LearnedWordPiece:
    """Learn `vocab_size` tokens, or fewer if the corpus has fewer substrings.

    >>> words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    >>> settings = PruningSettings(vocab_size=17, special_tokens=())
    >>> learn_pruning(words, settings).vocab[-3:]
    ['hug', 'pun', 'pug']
    """
    vocab = initial_vocabulary(words, settings)
    seeds = {
        entry: count for entry, count in find_seeds(words, settings).items() if entry not in vocab
    }
    pruner = Pruner(usable_words(words, settings), settings, vocab, seeds)
    if len(vocab) + len(seeds) > settings.vocab_size:
        pruner.prune(settings.vocab_size - len(vocab))
        pruner.put_back()
    uses = pruner.uses(pruner.present)
    vocab += sorted(pruner.removable(), key=lambda entry: (-uses[entry], entry))
    if len(vocab) < settings.vocab_size:
        return LearnedWordPiece(vocab, stopped_early="no more substrings are frequent enough")
    return LearnedWordPiece(vocab)


# ---- seeds


def usable_words(words: Sequence[tuple[str, int]], settings: Settings) -> list[tuple[str, int]]:
    """Return the words that the model can segment.

    >>> usable_words([("hug", 1), ("x" * 101, 1)], Settings())
    [('hug', 1)]
    """
    kept = alphabet(words, settings)
    return [
        (word, count)
        for word, count in words
        if kept.issuperset(word) and 0 < len(word) <= LONGEST_WORD_CHARS
    ]


def find_seeds(
    words: Sequence[tuple[str, int]],
    settings: PruningSettings,
    allows: Callable[[str], bool] | None = None,
) -> dict[str, int]:
    """Return the allowed substrings with the largest count times length, with their counts.

    >>> list(find_seeds([("hug", 2)], PruningSettings(vocab_size=10)))
    ['hug', 'hu', '##ug']
    """
    prefix = settings.continuing_subword_prefix
    longest = settings.max_token_length or LONGEST_ENTRY_CHARS
    counts: Counter[str] = Counter()
    for word, count in usable_words(words, settings):
        for start in range(len(word)):
            for end in range(start + 1, len(word) + 1):
                head = "" if start == 0 and begins(word) else prefix
                counts[head + word[start:end]] += count
    seeds = [
        entry
        for entry, count in counts.items()
        if count >= settings.min_frequency
        and 1 < length_of(entry, prefix) <= longest
        and (allows is None or allows(entry))
    ]
    seeds.sort(
        key=lambda entry: (-counts[entry] * length_of(entry, prefix), *spelling(entry, prefix))
    )
    limit = settings.seed_vocab_size or SEEDS_PER_ENTRY * settings.vocab_size
    return {entry: counts[entry] for entry in seeds[: max(limit, settings.vocab_size)]}


def spelling(entry: str, prefix: str) -> tuple[bool, str]:
    """Return a sort key: word starts first, then by code points without the prefix.

    >>> sorted(["##b", "a", "c"], key=lambda entry: spelling(entry, "##"))
    ['a', 'c', '##b']
    """
    continues = prefix != "" and entry != prefix and entry.startswith(prefix)
    return continues, entry[len(prefix) :] if continues else entry


# ---- costs


def token_cost(uses: int, total: int, balance: int) -> int:
    """Return 1 + balance x surprisal; `balance` and the result are in units of 2^-16.

    >>> token_cost(1, 1, 2 * ONE) == ONE
    True
    >>> round(token_cost(1, 10, 2 * ONE) / ONE, 2)  # 1 + 2 ln 10
    5.61
    """
    bits = max(log2(max(total, 1)) - log2(max(uses, 1)), 0)
    return ONE + (balance * (bits * LN_2 >> 16) >> 16)


def log2(value: int) -> int:
    """Return the binary logarithm in units of 2^-16, rounded down, of a number below 2^64.

    >>> log2(8) == 3 * ONE
    True

    Squaring the mantissa, a number from 1 to 2, gives one bit of the fraction after the other.
    """
    result = value.bit_length() - 1
    mantissa = value << (63 - result)
    for _ in range(16):
        square = mantissa * mantissa
        carry = square >> 127
        mantissa = square >> (63 + carry)
        result = result << 1 | carry
    return result


# ---- pruning


@dataclass
class Pruner:
    """The vocabulary while it shrinks: `base` stays, and `seeds` with their counts can be removed."""

    words: Sequence[tuple[str, int]]
    settings: PruningSettings
    base: Sequence[str]
    seeds: dict[str, int]
    present: set[str] = field(init=False)
    cost: dict[str, int] = field(init=False)
    words_of: dict[str, list[tuple[str, int]]] = field(init=False)

    def __post_init__(self) -> None:
        self.present = {*self.base, *self.seeds}
        self.cost = dict.fromkeys(self.present, ONE)
        self.balance = round(self.settings.balance * ONE)
        cost = self.settings.max_use_cost
        self.max_use_cost = None if cost is None else max(round(cost * ONE), 1)
        prefix = self.settings.continuing_subword_prefix
        self.words_of = {
            entry: [row for row in self.words if entry.removeprefix(prefix) in row[0]]
            for entry in self.seeds
        }

    def removable(self) -> list[str]:
        """Return the entries that can be removed."""
        return [entry for entry in self.seeds if entry in self.present]

    def prune(self, wanted: int) -> None:
        """Remove the cheapest entry until `wanted` can still be removed."""
        self.estimate_costs()
        next_estimate = len(self.removable()) * STAGE_PERCENT // 100
        while (left := len(self.removable())) > wanted:
            self.present.remove(self.cheapest()[0])
            if left - 1 == next_estimate:
                self.estimate_costs()
                next_estimate = next_estimate * STAGE_PERCENT // 100

    def put_back(self) -> None:
        """Swap removed entries for cheaper ones, round by round."""
        for _ in range(PUT_BACK_ROUNDS if self.removable() else 0):
            self.estimate_costs()
            least = self.cheapest()[1]
            removed = [entry for entry in self.seeds if entry not in self.present]
            gains = {entry: self.loss(entry, self.present | {entry}) for entry in removed}
            removed = [entry for entry in removed if gains[entry] > least]
            removed.sort(key=self.rank, reverse=True)
            removed.sort(key=lambda entry: -gains[entry])
            if not sum(self.swap_in(entry) for entry in removed):
                break

    def swap_in(self, entry: str) -> bool:
        """Put an entry back if it saves more than the cheapest one; return whether that changed anything."""
        if self.loss(entry, self.present | {entry}) <= self.cheapest()[1]:
            return False
        self.present.add(entry)
        removed = self.cheapest()[0]
        self.present.remove(removed)
        return removed != entry

    def cheapest(self) -> tuple[str, int]:
        """Return the entry with the least loss, and its loss."""
        losses = {entry: self.loss(entry, self.present) for entry in self.removable()}
        entry = min(losses, key=lambda entry: (losses[entry], self.rank(entry)))
        return entry, losses[entry]

    def rank(self, entry: str) -> tuple[int, int, bool, str]:
        """Return the order of removal among equal losses."""
        prefix = self.settings.continuing_subword_prefix
        return self.seeds[entry], -length_of(entry, prefix), *spelling(entry, prefix)

    def loss(self, entry: str, vocab: set[str]) -> int:
        """Return what the words cost more without an entry of `vocab`; only words that contain it can."""
        total = 0
        for word, count in self.words_of[entry]:
            tokens = self.segment(word, vocab)
            uses = tokens.count(entry)
            if uses:
                added = self.total_cost(self.segment(word, vocab - {entry})) - self.total_cost(
                    tokens
                )
                total += count * (
                    added if self.max_use_cost is None else min(added, uses * self.max_use_cost)
                )
        return total

    def segment(self, word: str, vocab: Iterable[str]) -> list[str]:
        """Return the tokens of a word."""
        prefix = self.settings.continuing_subword_prefix
        model = WordPiece(dict.fromkeys(vocab, 0), continuing_subword_prefix=prefix)
        pieces = {"greedy": greedy, "shortest": shortest}[self.settings.segmentation](word, model)
        assert pieces is not None  # every character is an entry
        return [piece.token for piece in pieces]

    def total_cost(self, tokens: Iterable[str]) -> int:
        """Add the costs of tokens."""
        return sum(self.cost[token] for token in tokens)

    def uses(self, vocab: set[str]) -> Counter[str]:
        """Count the tokens of all words."""
        return count_parts(self.words, lambda word: self.segment(word, vocab))

    def estimate_costs(self) -> None:
        """Estimate costs from the present uses; of an absent entry, from the uses it would have."""
        if not self.balance:
            return
        uses = self.uses(self.present)
        total = uses.total()
        for entry in self.seeds:
            if entry not in self.present:
                uses[entry] = self.uses(self.present | {entry})[entry]
        self.cost = {
            entry: token_cost(uses[entry], total, self.balance)
            for entry in {*self.base, *self.seeds}
        }
