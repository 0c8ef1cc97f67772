"""Learn a WordPiece model: word counts in, `WordPiece` out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from piecework._internal._core import LearnedEntries, learn_wordpiece
from piecework._internal.setting_fields import (
    Choice,
    Text,
    Variant,
    check_settings,
    documented,
    setting,
)
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress, Unpack
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, TrainingWarning
from piecework.spec import Decoder, Model, WordPiece, WordPieceDecoder
from piecework.train.counts import AnyCounts, Counts, isolated_characters
from piecework.train.learned import LearnedVocabulary, VocabularyTrainer
from piecework.train.learners import (
    DEFAULT_LEARNER,
    LEARNERS,
    Learner,
    check_learner,
    one_of,
)
from piecework.train.presets import Pipeline
from piecework.train.trainer import (
    SPLIT_AT_SPACES,
    Amount,
    LearnOptions,
    PresetTrainer,
    Traits,
    WordSizes,
)
from piecework.train.trainers import common

BERT_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@documented
@dataclass(frozen=True)
class WordPieceTrainer(VocabularyTrainer[WordPiece], PresetTrainer):
    """Learn a WordPiece vocabulary with a learner, which chooses the entries.

    >>> from piecework.train import Merges, count_texts
    >>> trainer = WordPieceTrainer(vocab_size=13, special_tokens=("[UNK]",))
    >>> model = trainer.learn(count_texts(["hug hugs bug bugs"]))
    >>> list(model.vocab)[-3:]
    ['u', 'bug', 'hug']

    `learner` says how the entries are learned. It is a value of a class in `piecework.train.LEARNERS`, whose
    docstring describes it. The default, `Pruning()`, yields the fewest tokens.

    `alphabet_order` is the order of the entries of one character: "sorted" by code points; "first-seen" by
    first occurrence in the corpus, which needs counts with first positions; "given" has the
    characters of `initial_alphabet` first, in their order; "word-starts-first" has the entries at the start
    of words before those inside, each part by code points, as `Merges("frequency")` always has.

    `alphabet_forms` are the entries of a character. "possible", the default: at the start of words, and
    inside unless the pipeline makes a word of each such character, as BERT's does of punctuation and Han
    characters; so no word of known characters is unknown. "start-and-seen": at the start, and inside where
    the corpus has it, as the trainer of `tokenizers`. "seen": only where the corpus has it, as published
    worked examples.

    >>> counts = count_texts(["aqua, xenon"])
    >>> for forms in ("possible", "start-and-seen", "seen"):
    ...     trainer = WordPieceTrainer(17, Merges(), min_frequency=1, alphabet_forms=forms, special_tokens=())
    ...     entries = trainer.learn(counts).vocab
    ...     print(forms, *(entry for entry in ("q", "##q", "x", "##x", ",", "##,") if entry in entries))
    possible q ##q x ##x ,
    start-and-seen q ##q x ,
    seen ##q x ,

    `special_tokens=()` shows what a trainer learns, for example in a course: the model has no unknown token,
    so a `Tokenizer` rejects it.
    """

    kind = "wordpiece"
    _model_class = WordPiece
    _title = "WordPiece"
    # Their notation shows where words begin, as that of WordPiece does.
    _presets = SPLIT_AT_SPACES
    _knows_all_bytes = False  # an alphabet has each character at the start of words and inside

    vocab_size: int = setting(30_000, common.VOCAB_SIZE)
    learner: Learner = setting(
        DEFAULT_LEARNER,
        Variant(
            f"How to learn: {one_of(learner._summary for learner in LEARNERS.values())}.",
            annotation="Learner",
            kinds=LEARNERS,
            check=check_learner,
        ),
    )
    min_frequency: int = setting(
        2,
        replace(
            common.MIN_FREQUENCY, help="Do not learn pairs or substrings that occur less often."
        ),
    )
    limit_alphabet: int | None = setting(None, common.LIMIT_ALPHABET)
    initial_alphabet: tuple[str, ...] = setting((), common.INITIAL_ALPHABET)
    special_tokens: tuple[str, ...] = setting(BERT_SPECIAL_TOKENS, common.SPECIAL_TOKENS)
    continuing_subword_prefix: str = setting(
        "##", Text("Prefix of the entries that continue a word.", metavar="PREFIX")
    )
    max_token_length: int | None = setting(
        None, replace(common.MAX_TOKEN_LENGTH, none="no limit with merges, else 50")
    )
    unk_token: str = setting("[UNK]", common.UNK_TOKEN)
    alphabet_order: str = setting(
        "sorted",
        Choice(
            "Order of the alphabet in the vocabulary: by code points, by first occurrence in the corpus, "
            "as in the initial alphabet, or starts of words first.",
            names=(*common.ALPHABET_ORDERS, "word-starts-first"),
        ),
    )

    alphabet_forms: str = setting(
        "possible",
        Choice(
            "Forms of each character: at the start and inside of words, unless the pipeline isolates it; at "
            "the start, and inside if the corpus has it there; or only where the corpus has it.",
            names=("possible", "start-and-seen", "seen"),
        ),
    )

    @property
    def _nests(self) -> bool:
        return self.learner._merges_pairs

    def _traits(self) -> Traits:
        first_seen = getattr(self.learner, "_chosen_ties", None) == "first-seen"
        traits = super()._traits()
        return replace(
            traits,
            detail=self.learner.name,
            merges_pairs=self._nests,
            learns_together=self._nests or self.learner._learns_sizes,
            resumption="merges" if self._nests else "choices",
            needs_positions="ties" if first_seen else traits.needs_positions,
        )

    @property
    def _checkpoint_settings(self) -> dict[str, Any]:
        """The settings that a checkpoint must agree with."""
        return {**super()._checkpoint_settings, "learner": repr(self.learner)}

    def _memory(self, words: WordSizes) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""
        return self.learner._memory(words, self.vocab_size)

    def _check_can_encode(self) -> None:
        """Raise `ArgumentError` if the model would have no unknown token."""
        if not self.special_tokens:
            problem = f"must contain the unknown token {self.unk_token!r}, which a tokenizer needs"
            raise ArgumentError("special_tokens", problem)

    def _decoder_for(self, pipeline: Pipeline) -> Decoder:
        """Return the decoder for the words of a pipeline."""
        return WordPieceDecoder(prefix=self.continuing_subword_prefix)

    def _smallest_model(self) -> WordPiece:
        """Return a model with the special tokens and one character."""
        entries = tuple(dict.fromkeys((*self.special_tokens, "a")))
        return self._model_of(LearnedVocabulary(entries, (), None))

    def __post_init__(self) -> None:
        check_settings(self)
        self.learner._check(self.vocab_size)
        common.add_unknown_token(self, can_be_empty=True)

    def _model_of(self, learned: LearnedVocabulary) -> WordPiece:
        """Return the model of a learned vocabulary, with the warnings of `learn`."""
        messages = self.learner._warnings(learned, self.min_frequency)
        if learned.stopped_early:
            messages = [f"stopped early: {learned.stopped_early}", *messages]
        for message in messages:
            warn(message, TrainingWarning)
        return WordPiece(
            vocab=common.vocabulary_of(learned.entries),
            unk_token=self.unk_token,
            continuing_subword_prefix=self.continuing_subword_prefix,
            segmentation=self.learner._model_segmentation,
        )

    def learn_vocabulary(
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> LearnedVocabulary:
        """Return the vocabulary, and every merge with its count and score if the learner is `Merges`."""
        return self._learn(counts, progress, **how)[0]

    def _learn_models(
        self, counts: AnyCounts, sizes: Sequence[int], **how: Any
    ) -> dict[int, Model]:
        """Return the model of each size, learned in one run if `learns_together`."""
        if not self.learner._learns_sizes:
            return super()._learn_models(counts, sizes, **how)
        learned = replace(self, vocab_size=max(sizes))._learn(counts, sizes=list(sizes), **how)
        models = (
            self._sized(size)._model_of(one) for size, one in zip(sizes, learned, strict=True)
        )
        return dict(zip(sizes, models, strict=True))

    def learn_removals(self, counts: Counts | Mapping[str, int]) -> LearnedVocabulary:
        """Return the vocabulary, and every removal with its loss if the learner is `Pruning`.

        >>> from piecework.train import count_texts
        >>> trainer = WordPieceTrainer(vocab_size=13, special_tokens=("[UNK]",), min_frequency=1)
        >>> learned = trainer.learn_removals(count_texts(["hug hugs bug bugs"]))
        >>> learned.removals[-1]
        Removal(token='hugs', loss=1.0, put_back=None)
        """
        recording = {"record_removals": True} if self.learner._removes_entries else {}
        return self._learn(counts, None, further=recording)[0]

    def _learn(
        self,
        counts: AnyCounts,
        progress: Progress = None,
        sizes: list[int] | None = None,
        further: Mapping[str, object] | None = None,
        **how: Unpack[LearnOptions],
    ) -> list[LearnedVocabulary]:
        """Return the vocabulary of each size, by default one; `further` are settings of the learner."""
        counts = common.checked_counts(counts)
        with common.resumable(self, counts, progress, how.get("checkpoint"), sizes or ()) as run:
            learned = self._run(counts, how.get("num_threads"), further, sizes=sizes, **run)
        return [LearnedVocabulary._of(one) for one in learned]

    def _run(
        self,
        counts: Counts,
        num_threads: int | None,
        further: Mapping[str, object] | None = None,
        **arguments: Any,
    ) -> list[LearnedEntries]:
        """Call the trainer of the core with the settings and these arguments."""
        settings = common.core_settings(self, without=("learner", "unk_token"))
        return learn_wordpiece(
            counts._raw,
            {
                **settings,
                "learner": {**self.learner._core_settings(), **(further or {})},
                "isolated_characters": isolated_characters(counts, settings["initial_alphabet"]),
                "num_threads": thread_count(num_threads),
            },
            **arguments,
        )
