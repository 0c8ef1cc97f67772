"""Top-down WordPiece training: keep the frequent substrings of words, longest first.

A substring that is frequent enough becomes a token, and its count is subtracted from the counts of its
prefixes. So a prefix is kept only if it also occurs elsewhere. Later iterations count only substrings
that start where the vocabulary so far splits a word. A binary search finds the lowest count threshold
whose vocabulary fits `vocab_size`; the next lower threshold fills the rest.

Source: the learner published with TensorFlow Text, after Schuster & Nakajima 2012.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from piecework.reference.boundaries import begins
from piecework.reference.wordpiece_model import greedy
from piecework.reference.wordpiece_training import (
    LearnedWordPiece,
    Settings,
    alphabet,
    alphabet_entries,
    initial_vocabulary,
    length_of,
)
from piecework.spec import WordPiece

ITERATIONS = 4
LONGEST_ENTRY_CHARS = 50


def learn_top_down(words: Sequence[tuple[str, int]], settings: Settings) -> LearnedWordPiece:
    """Learn `vocab_size` tokens, or fewer if the corpus has fewer frequent substrings.

    >>> words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    >>> settings = Settings(vocab_size=17, special_tokens=())
    >>> learn_top_down(words, settings).vocab[-3:]
    ['hug', 'pun', 'hugs']
    """
    return TopDownLearner(words, settings).learn()


class TopDownLearner:
    """The corpus, and the vocabulary of each threshold."""

    def __init__(self, words: Sequence[tuple[str, int]], settings: Settings) -> None:
        self.settings, self.all_words = settings, words
        self.loosest = max(settings.min_frequency, 1)
        self.alphabet = alphabet_entries(words, settings)
        self.longest = settings.max_token_length or LONGEST_ENTRY_CHARS
        kept = alphabet(words, settings)
        self.words = [(word, count) for word, count in words if kept.issuperset(word)]

    def learn(self) -> LearnedWordPiece:
        """Return the vocabulary.

        >>> TopDownLearner([("hug", 2)], Settings(7, special_tokens=())).learn().vocab
        ['##g', '##h', '##u', 'g', 'h', 'u', 'hug']
        """
        settings = self.settings
        vocab = initial_vocabulary(self.all_words, settings)
        threshold = self.loosest_that_fits(vocab)
        vocab += self.new_entries(vocab, threshold)
        if len(vocab) < settings.vocab_size and threshold > self.loosest:
            vocab += self.new_entries(vocab, threshold - 1)[: settings.vocab_size - len(vocab)]
        if len(vocab) < settings.vocab_size:
            return LearnedWordPiece(
                vocab, stopped_early=f"no further substring occurs {threshold} times"
            )
        return LearnedWordPiece(vocab)

    def loosest_that_fits(self, vocab: Sequence[str]) -> int:
        """Return the lowest threshold whose vocabulary fits, by binary search."""
        low = self.loosest
        high = max(self.substring_counts(None).values(), default=0) + 1
        while low < high:
            middle = (low + high) // 2
            if len(vocab) + len(self.new_entries(vocab, middle)) <= self.settings.vocab_size:
                high = middle
            else:
                low = middle + 1
        return low

    def new_entries(self, vocab: Sequence[str], threshold: int) -> list[str]:
        """Return the tokens of a threshold outside `vocab`, by decreasing count, then by code points."""
        kept = self.kept_at(threshold)
        ranked = sorted(kept, key=lambda entry: (-kept[entry], entry))
        return [entry for entry in ranked if entry not in vocab]

    def kept_at(self, threshold: int) -> dict[str, int]:
        """Count and keep substrings several times, each time from the splits of the vocabulary before."""
        prefix = self.settings.continuing_subword_prefix
        kept = keep_frequent(self.substring_counts(None), threshold, prefix)
        for _ in range(ITERATIONS - 1):
            vocab = dict.fromkeys([*self.alphabet, *kept], 0)
            kept = keep_frequent(self.substring_counts(vocab), threshold, prefix)
        return kept

    def substring_counts(self, vocab: Mapping[str, int] | None) -> Counter[str]:
        """Count the substrings that start where `vocab` splits a word; None counts all substrings.

        Substrings inside a word have the prefix.
        """
        prefix = self.settings.continuing_subword_prefix
        counts: Counter[str] = Counter()
        for word, count in self.words:
            for start in cuts(word, vocab, prefix):
                for end in range(start + 1, min(start + self.longest, len(word)) + 1):
                    head = "" if start == 0 and begins(word) else prefix
                    counts[head + word[start:end]] += count
        return counts


def cuts(word: str, vocab: Mapping[str, int] | None, prefix: str) -> Sequence[int]:
    """Return the starts of the tokens of a word; every position if the word cannot be split.

    >>> cuts("hugs", {"hug": 0, "##s": 0}, "##")
    [0, 3]
    """
    if vocab is None:
        return range(len(word))
    model = WordPiece(vocab, continuing_subword_prefix=prefix)
    pieces = greedy(word, model)
    return range(len(word)) if pieces is None else [piece.start for piece in pieces]


def keep_frequent(counts: Counter[str], threshold: int, prefix: str) -> dict[str, int]:
    """Keep frequent substrings of two or more characters, and subtract them from their prefixes.

    >>> keep_frequent(Counter({"##ugs": 5, "##ug": 7}), 3, "##")
    {'##ugs': 5}
    """
    by_length: defaultdict[int, list[str]] = defaultdict(list)
    for entry in counts:
        by_length[length_of(entry, prefix)].append(entry)
    left, kept = Counter(counts), dict[str, int]()
    for length in sorted(by_length, reverse=True):
        for entry in by_length[length] if length > 1 else []:
            if left[entry] < threshold:
                continue
            kept[entry] = left[entry]
            for fewer in range(1, length):
                left[entry[:-fewer]] -= kept[entry]
    return kept
