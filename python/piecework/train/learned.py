"""What trainers of entries learn: the vocabulary, and the merges or removals that led to it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from piecework._core import LearnedEntries
from piecework._internal.validation import PathLike
from piecework.errors import FormatError
from piecework.io.atomic_files import atomic_stream
from piecework.io.read_file import file_bytes


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
        """Write the entries and merges as JSON, atomically; by custom `tokenizer.training.json`.

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
        rows = [(m.left, m.right, m.token, m.pair_count, m.score) for m in self.merges]
        write_learned(path, self.entries, rows, self.stopped_early)

    @classmethod
    def load(cls, path: PathLike) -> LearnedVocabulary:
        """Read a file of `save`; raises `FileError`, and `FormatError` with the field."""
        entries, rows, stopped_early = read_learned(path)
        return cls(entries, tuple(Merge(*row) for row in rows), stopped_early)

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


# ---- files with the merges of a training run, such as `tokenizer.training.json`: JSON, one merge a line


Row: TypeAlias = tuple[str, str, str, int, float]
"""The left symbol, the right symbol, the token, the count of the pair, and its score."""

_FORMAT = "piecework training"
_VERSION = 1


def write_learned(
    path: str | os.PathLike[str],
    entries: Sequence[str],
    merges: Sequence[Row],
    stopped_early: str | None,
) -> None:
    """Write entries in id order and merges in the order of learning, atomically."""
    head = {"format": _FORMAT, "version": _VERSION, "stopped_early": stopped_early}
    parts = [json.dumps(head, ensure_ascii=False)[:-1]]
    parts.append(f'"entries": {json.dumps(list(entries), ensure_ascii=False)}')
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in merges)
    parts.append(f'"merges": [\n{rows}\n]' if merges else '"merges": []')
    with atomic_stream(path) as stream:
        stream.write((",\n".join(parts) + "}\n").encode("utf-8", "surrogatepass"))


def read_learned(
    path: str | os.PathLike[str],
) -> tuple[tuple[str, ...], tuple[Row, ...], str | None]:
    """Return entries, merges and the reason for stopping early.

    Raises `FileError`, and `FormatError` that names the field.
    """
    name = os.fspath(path)
    found = _parsed(name, file_bytes(path, "a file of merges that training wrote"))
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise FormatError(name, f'is another kind of file; it needs "format": "{_FORMAT}"')
    if found.get("version") != _VERSION:
        problem = f"found {found.get('version')!r}, expected {_VERSION}"
        raise FormatError(f"{name}: version", problem)
    entries = _texts(f"{name}: entries", found.get("entries"))
    merges = found.get("merges")
    if not isinstance(merges, list):
        problem = f"found {type(merges).__name__}, expected a list of merges"
        raise FormatError(f"{name}: merges", problem)
    known = set(entries)
    rows = tuple(_row(f"{name}: merges[{at}]", row, known) for at, row in enumerate(merges))
    stopped = found.get("stopped_early")
    if stopped is not None and not isinstance(stopped, str):
        problem = f"found {type(stopped).__name__}, expected a string or null"
        raise FormatError(f"{name}: stopped_early", problem)
    return entries, rows, stopped


def _parsed(name: str, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "strict"))
    except (ValueError, RecursionError) as error:
        raise FormatError(name, f"is not JSON in UTF-8: {' '.join(str(error).split())}") from error


def _texts(place: str, found: object) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FormatError(place, f"found {type(found).__name__}, expected a list of strings")
    return tuple(found)


def _row(place: str, row: object, known: set[str]) -> Row:
    """Return a merge whose parts and token are entries; raise `FormatError` for any other row."""
    expected = "[left, right, token, count, score]"
    if not isinstance(row, list) or len(row) != 5:
        raise FormatError(place, f"found {type(row).__name__}, expected {expected}")
    left, right, token, count, score = row
    texts = all(isinstance(text, str) and text in known for text in (left, right, token))
    numbers = type(count) is int and count >= 0 and type(score) in (int, float)
    if not texts or not numbers:
        problem = f"found {json.dumps(row)[:200]}, expected {expected} of entries and numbers"
        raise FormatError(place, problem)
    return left, right, token, count, score
