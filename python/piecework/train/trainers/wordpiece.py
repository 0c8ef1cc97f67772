"""Learn a WordPiece model: word counts in, `WordPiece` out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from piecework._core import LearnedEntries, learn_wordpiece
from piecework._internal import validation as checks
from piecework._internal.threads import thread_count
from piecework._internal.validation import PathLike
from piecework.errors import ArgumentError, TrainingWarning
from piecework.spec import WordPiece
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.trainers.common import (
    ALPHABET_ORDERS,
    LearnedVocabulary,
    check_counts,
    check_special_tokens,
    resumable,
    set_field,
    vocabulary_of,
)

BERT_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

_RARE_PAIR_COUNT = 10
_DEFAULT_SCORE = "likelihood"
_MAX_BALANCE = 1000.0
_PRUNING_DEFAULTS = {"segmentation": "greedy", "balance": 0.0, "use_cap": None, "seed_size": None}
_MIN_USE_CAP, _MAX_USE_CAP = 1e-4, 1e6


@dataclass(frozen=True)
class WordPieceTrainer:
    """Learn a WordPiece vocabulary by pruning, by merging pairs, or from the top down.

    >>> from piecework.train import count_texts
    >>> trainer = WordPieceTrainer(vocab_size=8, special_tokens=("[UNK]",))
    >>> model = trainer.learn(count_texts(["hug hugs bug bugs"]))
    >>> list(model.vocab)[-3:]
    ['h', 'bug', 'hug']

    `algorithm` selects the learner:

    - "pruning" (default): start from many substrings, and remove the one whose removal costs the fewest
      tokens, again and again. It takes the fewest tokens of all learners.
    - "merges": replace the pair with the best `score` by one token, and repeat. The default with a `score`
      or `ties`, which only this learner has.
    - "top-down": the longest frequent substrings; the same as `score="top-down"`.

    "pruning" and "top-down" meet `vocab_size` exactly and merge no pairs.

    `score` selects the pair to merge:

    - "likelihood" (default of `algorithm="merges"`): the exact gain in log-likelihood of the corpus under a
      unigram model.
    - "frequency": the most frequent pair.
    - "pmi": f(ab) / (f(a) f(b)), the formula usually published for WordPiece. It prefers the rarest pairs,
      so with `min_frequency=1` nearly all entries are words that occur once. On 50 MB of documentation
      and 8,000 entries, held-out words have 3.2 tokens each, against 1.10 with "likelihood" and 1.09 with
      "frequency". Use it to follow the formula, not in production.

    The other settings of "pruning":

    - `segmentation`: the segmentation of the model, for which the vocabulary is learned. "greedy" is the
      longest match of every WordPiece library. "shortest" takes the fewest tokens. Other libraries segment
      that vocabulary greedily, with other ids, so save it as `.piecework`.
    - `balance`: the weight of surprisal. A token costs 1 + balance x -ln(its share of all tokens). 2 gives
      boundaries nearer to those of morphemes, for about 1 per cent more tokens.
    - `use_cap`: the most that one use of an entry counts for, in units of cost. 1.5 leaves fewer rarely used
      entries.
    - `seed_size`: the number of substrings to start from, at least `vocab_size`; None means eight for each
      entry. More take longer.

    `limit_alphabet` is the maximum number of characters in the alphabet; those of `initial_alphabet` come
    first. `max_token_length` is in characters, without the prefix.

    `ties` selects among pairs with equal scores:

    - "smallest-strings" (default of "likelihood"): the smaller left entry, then the smaller right entry,
      by code points, prefix included.
    - "lowest-ids" (default of "frequency"): the lower left id, then the lower right id, as `tokenizers`.
    - "first-seen" (default of "pmi", whose published examples need it): the pair that occurs first in the
      corpus; needs counts with first positions.

    `alphabet_order` is the order of the entries of one character: "sorted" by code points; "first-seen" by
    first occurrence in the corpus, which needs counts with first positions; "given" has those of
    `initial_alphabet` first, in their order; "word-starts-first" has the entries at the start of words
    before those inside, each part by code points, as `score="frequency"` always has.

    `special_tokens` are the first entries, in this order. An `unk_token` that is not one of them follows
    them. `()` is for looking at what a trainer learns, as in a course: the
    model has no unknown token, so a `Tokenizer` does not take it.
    """

    SCORES: ClassVar[tuple[str, ...]] = ("likelihood", "pmi", "frequency", "top-down")
    MERGE_SCORES: ClassVar[tuple[str, ...]] = ("likelihood", "pmi", "frequency")
    ALGORITHMS: ClassVar[tuple[str, ...]] = ("merges", "pruning", "top-down")
    SEGMENTATIONS: ClassVar[tuple[str, ...]] = ("greedy", "shortest")
    TIES: ClassVar[tuple[str, ...]] = ("smallest-strings", "lowest-ids", "first-seen")
    ALPHABET_ORDERS: ClassVar[tuple[str, ...]] = (*ALPHABET_ORDERS, "word-starts-first")

    vocab_size: int = 30_000
    score: str | None = None
    min_frequency: int = 2
    limit_alphabet: int | None = None
    initial_alphabet: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = BERT_SPECIAL_TOKENS
    continuing_subword_prefix: str = "##"
    max_token_length: int | None = None
    unk_token: str = "[UNK]"
    ties: str | None = None
    algorithm: str | None = None
    segmentation: str = "greedy"
    balance: float = 0.0
    use_cap: float | None = None
    alphabet_order: str = "sorted"
    seed_size: int | None = None

    def __post_init__(self) -> None:
        set_field(self, "vocab_size", checks.whole_number("vocab_size", self.vocab_size, 1))
        seeds = checks.optional_number("seed_size", self.seed_size, self.vocab_size)
        set_field(self, "seed_size", seeds)
        _check_algorithm(self)
        _check_pruning(self)
        _check_ties(self)
        frequency = checks.whole_number("min_frequency", self.min_frequency, 0)
        set_field(self, "min_frequency", frequency)
        limit = checks.optional_number("limit_alphabet", self.limit_alphabet, 1)
        set_field(self, "limit_alphabet", limit)
        alphabet = checks.distinct_characters("initial_alphabet", self.initial_alphabet)
        set_field(self, "initial_alphabet", alphabet)
        check_special_tokens(self, can_be_empty=True)
        checks.check_text("continuing_subword_prefix", self.continuing_subword_prefix)
        longest = checks.optional_number("max_token_length", self.max_token_length, 1)
        set_field(self, "max_token_length", longest)
        checks.check_choice("alphabet_order", self.alphabet_order, self.ALPHABET_ORDERS)

    def learn(
        self,
        counts: Counts,
        progress: Progress | None = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> WordPiece:
        """Return the model; warns with `TrainingWarning` if it is small or has mostly rare entries.

        Raises `TrainingError` if special tokens and alphabet exceed `vocab_size`, `CorpusError` if there
        are no words, and `ArgumentError` for "first-seen" if counts lack first positions.
        """
        learned = self.learn_vocabulary(counts, progress, num_threads, checkpoint=checkpoint)
        return self.model_of(learned)

    def model_of(self, learned: LearnedVocabulary) -> WordPiece:
        """Return the model of a learned vocabulary, with the warnings of `learn`."""
        for message in _warnings(self, learned):
            warnings.warn(message, TrainingWarning, stacklevel=3)
        return WordPiece(
            vocab=vocabulary_of(learned.entries),
            unk_token=self.unk_token,
            continuing_subword_prefix=self.continuing_subword_prefix,
            segmentation=self.segmentation,  # type: ignore[arg-type]
        )

    @property
    def learner(self) -> str:
        """Return the algorithm in use: "merges", "pruning" or "top-down".

        >>> WordPieceTrainer().learner, WordPieceTrainer(score="frequency").learner
        ('pruning', 'merges')

        A score or `ties` implies "merges" unless `algorithm` is given; the score "top-down" implies itself.
        """
        if self.algorithm is not None:
            return self.algorithm
        if self.score == "top-down":
            return "top-down"
        return "pruning" if self.score is None and self.ties is None else "merges"

    @property
    def pair_score(self) -> str:
        """Return the score of pairs when the learner merges: `score`, or "likelihood" without one.

        >>> WordPieceTrainer(algorithm="merges").pair_score
        'likelihood'
        """
        return _DEFAULT_SCORE if self.score is None else self.score

    def learn_vocabulary(
        self,
        counts: Counts,
        progress: Progress | None = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> LearnedVocabulary:
        """Return the vocabulary and every merge with its count and score; only "merges" has any."""
        return self._learn(counts, progress, num_threads, checkpoint)[0]

    def learn_sizes(
        self,
        counts: Counts,
        sizes: Sequence[int],
        progress: Progress | None = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> dict[int, LearnedVocabulary]:
        """Return vocabularies of several sizes, learned in one run by "pruning".

        >>> from piecework.train import count_texts
        >>> counts = count_texts(["hug hugs bug bugs"])
        >>> trainer = WordPieceTrainer(special_tokens=("[UNK]",), min_frequency=1)
        >>> learned = trainer.learn_sizes(counts, [9, 10])
        >>> [vocabulary.entries[6:] for vocabulary in learned.values()]
        [('bug', 'hug', 'hugs'), ('bug', 'bugs', 'hug', 'hugs')]

        All sizes start from the same substrings, those of the largest size. So each vocabulary equals that
        of a run of its own with `seed_size` set to eight times the largest size, or to that of this trainer.
        Raises `ArgumentError` for another algorithm.
        """
        if self.learner != "pruning":
            raise ArgumentError("sizes", _learner_setting(self), 'algorithm="pruning"')
        largest = replace(self, vocab_size=max(sizes))
        learned = largest._learn(counts, progress, num_threads, checkpoint, sizes=list(sizes))
        return dict(zip(sizes, learned, strict=True))

    def learn_removals(self, counts: Counts) -> LearnedVocabulary:
        """Return the vocabulary and every removal with its loss; only "pruning" has any.

        >>> from piecework.train import count_texts
        >>> trainer = WordPieceTrainer(vocab_size=8, special_tokens=("[UNK]",), min_frequency=1)
        >>> learned = trainer.learn_removals(count_texts(["hug hugs bug bugs"]))
        >>> learned.removals[-1]
        Removal(token='hugs', loss=1.0, put_back=None)
        """
        return self._learn(counts, None, None, None, record_removals=True)[0]

    def _learn(
        self,
        counts: Counts,
        progress: Progress | None,
        num_threads: int | None,
        checkpoint: PathLike | None,
        *,
        sizes: list[int] | None = None,
        record_removals: bool = False,
    ) -> list[LearnedVocabulary]:
        """Return the vocabulary, or that of each size."""
        check_counts(counts)
        with resumable(self, counts, progress, checkpoint, sizes or ()) as run:
            learned = self._run(
                counts, num_threads, sizes=sizes, record_removals=record_removals, **run
            )
        return [LearnedVocabulary._of(one) for one in learned]

    def _run(
        self, counts: Counts, num_threads: int | None, **arguments: Any
    ) -> list[LearnedEntries]:
        """Call the trainer of the core with the settings and these arguments."""
        return learn_wordpiece(
            counts._raw,
            vocab_size=self.vocab_size,
            score=self.pair_score if self.learner == "merges" else self.learner,
            ties=self.ties,
            min_frequency=self.min_frequency,
            limit_alphabet=self.limit_alphabet,
            initial_alphabet=self.initial_alphabet,
            special_tokens=self.special_tokens,
            continuing_subword_prefix=self.continuing_subword_prefix,
            max_token_length=self.max_token_length,
            alphabet_order=self.alphabet_order,
            segmentation=self.segmentation,
            balance=self.balance,
            use_cap=self.use_cap,
            seed_size=self.seed_size,
            num_threads=thread_count(num_threads),
            **arguments,
        )


def _check_algorithm(trainer: WordPieceTrainer) -> None:
    """Check the algorithm and the score, and store the score that the algorithm uses."""
    if trainer.score is not None:
        checks.check_choice("score", trainer.score, trainer.SCORES)
    if trainer.algorithm is not None:
        checks.check_choice("algorithm", trainer.algorithm, trainer.ALGORITHMS)
    if trainer.learner != "merges" and trainer.score == _DEFAULT_SCORE:
        # Trainers stored by earlier versions name this score with every algorithm.
        set_field(trainer, "score", None)
    allowed = {"merges": trainer.MERGE_SCORES, "pruning": (), "top-down": ("top-down",)}
    if trainer.score is not None and trainer.score not in allowed[trainer.learner]:
        names = ", ".join(trainer.MERGE_SCORES)
        expected = f"one of {names}" if trainer.learner == "merges" else "no score"
        where = f"algorithm={trainer.algorithm!r}"
        raise ArgumentError("score", f"{trainer.score!r} with {where}", f"{expected} with {where}")


def _check_pruning(trainer: WordPieceTrainer) -> None:
    """Check and store the settings that only "pruning" has."""
    checks.check_choice("segmentation", trainer.segmentation, trainer.SEGMENTATIONS)
    set_field(trainer, "balance", _weight("balance", trainer.balance, 0.0, _MAX_BALANCE))
    if trainer.use_cap is not None:
        cap = _weight("use_cap", trainer.use_cap, _MIN_USE_CAP, _MAX_USE_CAP)
        set_field(trainer, "use_cap", cap)
    if trainer.learner == "pruning":
        return
    for name, default in _PRUNING_DEFAULTS.items():
        value = getattr(trainer, name)
        if value != default:
            expected = f'{default!r}, or algorithm="pruning", which alone has this setting'
            raise ArgumentError(name, f"{value!r} with {_learner_setting(trainer)}", expected)


def _learner_setting(trainer: WordPieceTrainer) -> str:
    """Return the setting that selects the learner, as it was given."""
    for name in ("algorithm", "score", "ties"):
        value = getattr(trainer, name)
        if value is not None:
            return f'{name}="{value}"'
    return f'algorithm="{trainer.learner}"'


def _weight(name: str, value: object, least: float, most: float) -> float:
    """Return a number in a range as a float; raise `ArgumentError` for anything else."""
    expected = f"a number from {least:g} to {most:g}"
    checks.check_number(name, value, (int, float), expected)
    assert isinstance(value, (int, float))
    if not least <= value <= most:
        raise ArgumentError(name, repr(value), expected)
    return float(value)


def _check_ties(trainer: WordPieceTrainer) -> None:
    if trainer.ties is None:
        return
    if trainer.learner == "top-down":
        expected = 'None: score="top-down" ranks substrings by count, then by code points'
        raise ArgumentError("ties", repr(trainer.ties), expected)
    if trainer.learner == "pruning":
        expected = 'None: algorithm="pruning" merges no pairs'
        raise ArgumentError("ties", repr(trainer.ties), expected)
    checks.check_choice("ties", trainer.ties, trainer.TIES)


def _warnings(trainer: WordPieceTrainer, learned: LearnedVocabulary) -> list[str]:
    messages = []
    if learned.stopped_early:
        messages.append(f"stopped early: {learned.stopped_early}")
    rare = sum(merge.pair_count < _RARE_PAIR_COUNT for merge in learned.merges)
    if trainer.pair_score == "pmi" and 2 * rare > len(learned.merges):
        messages.append(
            f"{rare} of {len(learned.merges)} merged pairs occur fewer than {_RARE_PAIR_COUNT} times: "
            f'score="pmi" with min_frequency={trainer.min_frequency} spends the vocabulary on rare '
            'words; use score="likelihood" or a higher min_frequency'
        )
    return messages
