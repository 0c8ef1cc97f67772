"""Trainers of entries, and what they learn: the vocabulary, and the merges or removals that led to it."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from piecework._internal._core import LearnedEntries
from piecework._internal._core import LearnedPieces as CorePieces
from piecework._internal.types import Progress, Unpack
from piecework._internal.validation import PathLike
from piecework.errors import ArgumentError, FormatError, TrainingError
from piecework.io.atomic_files import atomic_stream
from piecework.io.read_file import file_bytes
from piecework.spec import Model
from piecework.train.counts import AnyCounts
from piecework.train.trainer import LearnOptions, Trainer, Traits


@dataclass(frozen=True)
class Merge:
    """One merge of a trainer that merges pairs: the pair `left`, `right` becomes `token`.

    `pair_count` is the number of occurrences of the pair in the corpus, `score` its score.
    """

    left: str
    right: str
    token: str
    pair_count: int
    score: float


@dataclass(frozen=True)
class Removal:
    """One step of pruning: the removal of `token` adds `loss` to the cost of the corpus, in tokens.

    `put_back` is the token that returns to the vocabulary in exchange, None without one.
    """

    token: str
    loss: float
    put_back: str | None = None


@dataclass(frozen=True)
class LearnedVocabulary:
    """What a BPE or WordPiece trainer learned: entries in id order, and any merges in order.

    >>> from piecework.train import BPETrainer, count_texts
    >>> trainer = BPETrainer(vocab_size=4, special_tokens=("<unk>",), min_frequency=1)
    >>> learned = trainer.learn_vocabulary(count_texts(["ab"], preset="whitespace"))
    >>> learned.entries, learned.merges[0].pair_count
    (('<unk>', 'a', 'b', 'ab'), 1)

    `stopped_early` is the reason why learning ended before `vocab_size`, None if it did not. `removals` are
    the steps of `WordPieceTrainer.learn_removals`, else empty.
    """

    entries: tuple[str, ...]
    merges: tuple[Merge, ...]
    stopped_early: str | None
    removals: tuple[Removal, ...] = ()

    @classmethod
    def _of(cls, learned: LearnedEntries) -> LearnedVocabulary:
        merges = tuple(Merge(*merge) for merge in learned.merges)
        removals = tuple(Removal(*removal) for removal in learned.removals)
        return cls(tuple(learned.vocab), merges, learned.stopped_early, removals)

    def save(self, path: PathLike) -> None:
        """Write the entries and merges as JSON, atomically; the usual name is `tokenizer.training.json`.

        >>> import tempfile
        >>> from piecework.train import BPETrainer, count_texts
        >>> trainer = BPETrainer(vocab_size=4, special_tokens=("<unk>",), min_frequency=1)
        >>> learned = trainer.learn_vocabulary(count_texts(["ab"], preset="whitespace"))
        >>> path = tempfile.mkdtemp() + "/tokenizer.training.json"
        >>> learned.save(path)
        >>> LearnedVocabulary.load(path) == learned
        True

        A tokenizer file has the result of training only, this one the count and score of each merge too.
        Raises `FileError` if the path is not writable.
        """
        head = {"format": _FORMAT, "version": _VERSION, "stopped_early": self.stopped_early}
        rows = [(m.left, m.right, m.token, m.pair_count, m.score) for m in self.merges]
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        parts = [
            json.dumps(head, ensure_ascii=False)[:-1],
            f'"entries": {json.dumps(self.entries, ensure_ascii=False)}',
            f'"merges": [\n{lines}\n]' if rows else '"merges": []',
        ]
        with atomic_stream(path) as stream:
            stream.write((",\n".join(parts) + "}\n").encode("utf-8", "surrogatepass"))

    @classmethod
    def load(cls, path: PathLike) -> LearnedVocabulary:
        """Read a file that `save` wrote; raises `FileError`, and `FormatError` with the field."""
        name = os.fspath(path)
        found = _parsed(name, file_bytes(path, "a file of merges that training wrote"))
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise FormatError(name, f'is another kind of file; it needs "format": "{_FORMAT}"')
        if found.get("version") != _VERSION:
            problem = f"found {found.get('version')!r}, expected {_VERSION}"
            raise FormatError(f"{name}: version", problem)
        entries = _texts(f"{name}: entries", found.get("entries"))
        merges = _typed(f"{name}: merges", found.get("merges"), list, "a list of merges")
        stopped = found.get("stopped_early")
        if stopped is not None:
            _typed(f"{name}: stopped_early", stopped, str, "a string or null")
        known = set(entries)
        rows = (_merge(f"{name}: merges[{at}]", row, known) for at, row in enumerate(merges))
        return cls(entries, tuple(rows), stopped)

    def prefix(self, size: int) -> LearnedVocabulary:
        """Return what the same trainer learns with a smaller `vocab_size`, at least its alphabet.

        Merging adds one entry after the other, so a smaller vocabulary is the beginning of a larger one.
        """
        if size > len(self.entries):
            reason = self.stopped_early
            if reason is not None:
                learned = f"{len(self.entries)} of "
                reason = f"{reason[: reason.rindex(learned)]}{learned}{size} entries learned"
            return LearnedVocabulary(self.entries, self.merges, reason)
        length, made = self._first_size(), 0
        while length < size:
            length += self.merges[made].token == self.entries[length]
            made += 1
        return LearnedVocabulary(self.entries[:size], self.merges[:made], None)

    def _first_size(self) -> int:
        """Return the number of entries before the first merge."""
        index = {entry: position for position, entry in enumerate(self.entries)}
        indices = list(dict.fromkeys(index[merge.token] for merge in self.merges))
        later = len(indices)
        # New entries come one after the other; a merge can also yield a special token again.
        while later:
            first = len(self.entries) - later
            if [position for position in indices if position >= first] == list(
                range(first, len(self.entries))
            ):
                return first
            later -= 1
        return len(self.entries)


@dataclass(frozen=True)
class LearningStep:
    """One EM iteration: the number of pieces, and the log-likelihood of the corpus under them."""

    pieces: int
    log_likelihood: float


@dataclass(frozen=True)
class LearnedPieces:
    """What a Unigram or SentencePiece trainer learned: scored pieces in id order, and the EM iterations.

    >>> from piecework.train import UnigramTrainer, count_texts
    >>> trainer = UnigramTrainer(vocab_size=4, special_tokens=("<unk>",))
    >>> learned = trainer.learn_pieces(count_texts(["ab ab"], preset="whitespace"))
    >>> [piece for piece, _ in learned.pieces]
    ['<unk>', 'ab', 'a', 'b']
    """

    pieces: tuple[tuple[str, float], ...]
    steps: tuple[LearningStep, ...]

    @classmethod
    def _of(cls, learned: CorePieces) -> LearnedPieces:
        return cls(tuple(learned.pieces), tuple(LearningStep(*step) for step in learned.steps))


# ---- the trainers


ModelT = TypeVar("ModelT", bound=Model)


class VocabularyTrainer(Trainer, Generic[ModelT]):
    """A trainer whose result is a `LearnedVocabulary`: entries, and merges if it merges pairs."""

    def learn(
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> ModelT:
        """Return the model; warns with `TrainingWarning` if it is small or has mostly rare entries.

        Raises `TrainingError` if special tokens and alphabet exceed `vocab_size`, `CorpusError` if there
        are no words, and `ArgumentError` for "first-seen" if counts lack first positions.
        """
        learned = self.learn_vocabulary(counts, progress, **how)
        return self._model_of(learned)

    @abstractmethod
    def learn_vocabulary(
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> LearnedVocabulary:
        """Return the entries and every merge."""

    @abstractmethod
    def _model_of(self, learned: LearnedVocabulary) -> ModelT:
        """Return the model of a learned vocabulary, with the warnings of `learn`."""

    @property
    def _nests(self) -> bool:
        """Whether a smaller vocabulary is the beginning of a larger one."""
        return True

    def _traits(self) -> Traits:
        return replace(
            super()._traits(), merges_pairs=True, learns_together=True, resumption="merges"
        )

    def _learn_models(
        self, counts: AnyCounts, sizes: Sequence[int], **how: Any
    ) -> dict[int, Model]:
        """Return the model of each size, learned in one run if `learns_together`."""
        if not self._nests:
            return super()._learn_models(counts, sizes, **how)
        largest = self._sized(max(sizes))
        learned = largest.learn_vocabulary(counts, **how)
        return {size: self._model_of_prefix(learned, size) for size in sizes}

    def _model_of_prefix(self, learned: LearnedVocabulary, size: int) -> Model:
        """Return the model of the first entries; raise `TrainingError` if they lack the alphabet."""
        needed = learned._first_size()
        if size < needed:
            problem = f"must be at least {needed} (special tokens and alphabet), not {size}"
            raise TrainingError("vocab_size", problem)
        return self._sized(size)._model_of(learned.prefix(size))


def merging_trainer(trainer: Trainer) -> VocabularyTrainer[Any]:
    """Return a trainer that merges pairs; raise `ArgumentError` for another, which has nothing to log.

    >>> from piecework.train import BPETrainer
    >>> merging_trainer(BPETrainer()).kind
    'bpe'
    """
    if isinstance(trainer, VocabularyTrainer) and trainer._traits().merges_pairs:
        return trainer
    expected = "a trainer that merges pairs: BPE, or WordPiece with learner=Merges()"
    raise ArgumentError("training_log", f"needs {expected}, not the {trainer.kind} trainer")


# ---- files with the merges of a training run, such as `tokenizer.training.json`: JSON, one merge a line

_FORMAT = "piecework training"
_VERSION = 1


def _parsed(name: str, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "strict"))
    except (ValueError, RecursionError) as error:
        raise FormatError(name, f"is not JSON in UTF-8: {' '.join(str(error).split())}") from error


def _typed(place: str, found: Any, kind: type, expected: str) -> Any:
    if not isinstance(found, kind):
        raise FormatError(place, f"found {type(found).__name__}, expected {expected}")
    return found


def _texts(place: str, found: object) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FormatError(place, f"found {type(found).__name__}, expected a list of strings")
    return tuple(found)


def _merge(place: str, row: object, known: set[str]) -> Merge:
    """Return a merge whose parts and token are entries; raise `FormatError` for any other row."""
    expected = "[left, right, token, count, score]"
    if not isinstance(row, list) or len(row) != 5:
        raise FormatError(place, f"found {type(row).__name__}, expected {expected}")
    *texts, count, score = row
    are_known = all(isinstance(text, str) and text in known for text in texts)
    if not are_known or type(count) is not int or count < 0 or type(score) not in (int, float):
        problem = f"found {json.dumps(row)[:200]}, expected {expected} of entries and numbers"
        raise FormatError(place, problem)
    return Merge(*row)
