"""Choose the size and the learner of a vocabulary before a model is trained.

Documents are held out by a hash of their text, so that equal documents are on one side. The others are
counted in two halves. Each learner learns every size from both halves together and from the first half alone;
the difference shows what more text would change. All tokenizers encode the same held-out documents, so the
intervals of their differences are paired.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from piecework import Counts, Tokenizer, TokenizerSpec
from piecework._internal.types import Progress
from piecework._internal.validation import (
    PathLike,
    check_choice,
    check_fraction,
    check_positive,
    check_tokenizer,
    check_type,
    counted,
    listed,
    path_text,
    whole_number,
)
from piecework.analysis.choice import Candidate, Choice, Estimate, Interval, Loss
from piecework.analysis.compare import named_sources
from piecework.analysis.corpus_counts import CorpusCounts, FrequentWords
from piecework.analysis.corpus_texts import Texts, TextSample, reading, texts_to_read_twice
from piecework.analysis.entry_bytes import PLAIN_TEXT, family
from piecework.analysis.metrics import TokenSums, parity, ratio
from piecework.analysis.round_trip import measure_round_trip
from piecework.analysis.word_differences import single_token_rate
from piecework.corpus import Corpus, Rows
from piecework.errors import ArgumentError, CorpusError, TrainingWarning
from piecework.io.atomic_files import atomic_file, locked_folder
from piecework.io.read_file import file_bytes
from piecework.spec import WhitespaceSplit, WordLevel
from piecework.train import Learner, Merges, Preset, Pruning, TopDown, count_texts, learn_specs
from piecework.train.learners import SCORES
from piecework.train.plan import Plan
from piecework.train.trainer import check_size

LEARNERS_OF_MODELS: Mapping[str, Mapping[str, Learner | None]] = {
    "wordpiece": {
        "pruning": Pruning(),
        **{name: Merges(name) for name in SCORES},
        "top-down": TopDown(),
    },
    "bpe": {"merges": None},
    "byte-bpe": {"merges": None},
    "unigram": {"em": None, "pruning": Pruning()},
    "byte-unigram": {"em": None, "pruning": Pruning()},
}
"""Model -> the learners that can be compared, with the setting `learner` of the trainer."""

_DEFAULT = {"wordpiece": ("pruning", "likelihood", "frequency")}
_LEAST_GAIN = 0.005
_WORDS = "whitespace"
_WORDS_AT_ONCE = 100_000
_PER = 1_000  # entries
_FIXED_ROWS = 2  # words and bytes, before the rows of tokenizers


def choose(
    texts: Texts | Mapping[str, Texts],
    sizes: Sequence[int],
    *,
    model: str | None = None,
    preset: str | Preset | None = None,
    learners: Sequence[str] | None = None,
    hold_out: float = 0.1,
    seed: int = 0,
    min_uses: int = 100,
    least_gain: float | None = None,
    model_size: int | None = None,
    width: int | None = None,
    against: Mapping[str, Tokenizer] | None = None,
    num_threads: int | None = None,
    memory: int | str | None = None,
    checkpoint: PathLike | None = None,
    progress: Progress = None,
) -> Choice:
    """Learn vocabularies of several sizes with several learners, and measure them on held-out documents.

    >>> texts = [f"the cat sat on mat {number}, the dogs sat on logs" for number in range(300)]
    >>> found = choose(texts, [60, 80], preset="bert-cased", learners=["frequency", "pruning"])
    >>> found.documents, found.held_out, found.words
    (300, 30, 330)
    >>> found.fewest, found.pays_to
    ((('pruning',), ('frequency', 'pruning')), 80)

    - `texts`: documents; with a mapping of names to texts, such as languages, parity is measured. Files are
      read three times: `corpus.read_corpus("corpus.txt", document="blank-line")`.
    - `model` and `preset`: as for `Tokenizer.train`; one family of `LEARNERS_OF_MODELS`.
    - `learners`: names of learners of the model, such as "pruning", "likelihood", "frequency" and "top-down"
      of WordPiece. None means the first three of these, or all of another model.
    - `hold_out`: the share of the documents that no learner sees. The hash of a document and `seed` decide.
    - `min_uses`: entries with fewer uses in the training text are rare (Gowda and May 2020 advise 100 or more
      uses for 95 per cent of the entries).
    - `least_gain`: the share of the tokens that a thousand more entries must save to pay. None means 1000
      `width` / `model_size`, by which the parameters grow; 0.005 without these.
    - `model_size` and `width`: the parameters of the model and the columns of its one table of embeddings.
    - `against`: further tokenizers by name, of any pipeline; their tokens and losses are shown, not ranked.
    - `memory`: the budget of counting and of learning, as for `Tokenizer.train`.
    - `checkpoint`: a folder for counts and learned tokenizers, from which an interrupted call with the same
      files and settings continues. It is emptied at the end.

    Raises `ArgumentError` for unknown learners, repeated sizes and settings in conflict, `TrainingError` for
    sizes below the alphabet, and `CorpusError` for texts without words to learn from or to hold out.
    """
    sources = {name: texts_to_read_twice(one) for name, one in named_sources(texts).items()}
    plans = _plans(model, preset, learners, _checked_sizes(sizes))
    check_fraction("hold_out", hold_out)
    share = _embedding_share(model_size, width)
    if least_gain is None:
        least_gain = _LEAST_GAIN if share is None else _PER * share
    check_positive("least_gain", least_gain)
    limits = _Limits(whole_number("min_uses", min_uses, 1), least_gain, share)
    others = dict(_checked_tokenizers(against))
    how = {"num_threads": num_threads, "memory": memory, "progress": progress}
    documents = _Documents(sources, hold_out, whole_number("seed", seed, 0), how)
    with _work_folder(checkpoint, documents, plans) as folder:
        counts = documents.counts(plans.first, folder)
        cells: dict[_Cell, Tokenizer] = {}
        for learner in plans.of:
            cells.update(_learned(plans, learner, counts, folder, how))
        measured = documents.measured([*cells.values(), *others.values()])
        result = _Result(plans, cells, measured, counts[0], limits, num_threads)
        names = tuple(name for name in sources if name is not None)
        return result.choice(names, others)


class _Limits(NamedTuple):
    """What decides whether an entry is rare and whether more entries pay; the share that one entry takes."""

    min_uses: int
    least_gain: float
    embedding_share: float | None


# ---- what to learn


class _Plans(NamedTuple):
    """How each learner learns, by its name, and the sizes."""

    of: Mapping[str, Plan]
    sizes: tuple[int, ...]

    @property
    def first(self) -> Plan:
        """The plan of the first learner; all have one model and one preset."""
        return next(iter(self.of.values()))


class _Cell(NamedTuple):
    """One vocabulary: by a learner, of a size, from half of the training text or from all of it."""

    learner: str
    size: int
    is_half: bool


def _plans(
    model: str | None,
    preset: str | Preset | None,
    learners: Sequence[str] | None,
    sizes: tuple[int, ...],
) -> _Plans:
    """Return the plan of each learner; raise `ArgumentError` for unknown ones."""
    given: dict[str, Any] = {"model": model, "preset": preset, "vocab_size": sizes[-1]}
    kind = Plan.of(**given).trainer.kind
    check_choice("model", kind, LEARNERS_OF_MODELS)
    known = LEARNERS_OF_MODELS[kind]
    names = listed(_DEFAULT.get(kind, known) if learners is None else learners, "learners")
    if not names or len(set(names)) != len(names):
        raise ArgumentError("learners", f"must be distinct names, at least one, not {names!r}")
    for name in names:
        check_choice("learners", name, known)
    settings: dict[str, Any] = {
        name: {} if known[name] is None else {"learner": known[name]} for name in names
    }
    plans = _Plans({name: Plan.of(**given, **settings[name]) for name in names}, sizes)
    for size in sizes:
        check_size(plans.first.trainer, size)
    return plans


def _checked_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes in order; raise `ArgumentError` for repeated ones and for none."""
    checked = sorted(
        whole_number(f"sizes[{at}]", size, 1) for at, size in enumerate(listed(sizes, "sizes"))
    )
    if not checked or len(set(checked)) != len(checked):
        raise ArgumentError("sizes", f"must be distinct sizes, at least one, not {list(sizes)!r}")
    return tuple(checked)


def _embedding_share(model_size: int | None, width: int | None) -> float | None:
    """Return the share of a model's parameters that one entry takes, None without a model."""
    if model_size is None and width is None:
        return None
    if model_size is None or width is None:
        missing, other = ("width", "model_size") if width is None else ("model_size", "width")
        raise ArgumentError(missing, f"is missing: {other} alone does not give a share")
    check_positive("model_size", model_size)
    return whole_number("width", width, 1) / model_size


def _checked_tokenizers(
    against: Mapping[str, Tokenizer] | None,
) -> Iterator[tuple[str, Tokenizer]]:
    """Yield the further tokenizers; raise unless they are a mapping of names to tokenizers, or None."""
    check_type("against", against, Mapping | None, "a mapping of names to tokenizers")
    for name, tokenizer in (against or {}).items():
        check_tokenizer(tokenizer, f"against[{name!r}]")
        yield name, tokenizer


def _learned(
    plans: _Plans,
    learner: str,
    counts: tuple[Counts, Counts | None],
    folder: _Folder | None,
    how: Mapping[str, Any],
) -> Iterator[tuple[_Cell, Tokenizer]]:
    """Yield the tokenizers of all sizes of a learner, from all counts and from half of them."""
    plan = plans.of[learner]
    for is_half, counted_words in zip((False, True), counts, strict=True):
        if counted_words is None:
            continue
        cells = [_Cell(learner, size, is_half) for size in plans.sizes]
        found = folder.tokenizers(cells) if folder else {}
        if not found:
            with warnings.catch_warnings():
                if is_half:
                    warnings.simplefilter("ignore", TrainingWarning)
                own = folder.path / f"learning-{learner}-{is_half}" if folder else None
                specs = learn_specs(
                    counted_words, plan.trainer, plans.sizes, plan.preset, checkpoint=own, **how
                )
            found = {cell: Tokenizer.from_spec(specs[cell.size]) for cell in cells}
            if folder:
                folder.save_tokenizers(found)
        yield from found.items()


# ---- documents


_HELD_OUT = -1


@dataclass
class _Documents:
    """The documents of the sources, and which of them are held out."""

    sources: Mapping[str | None, Texts]
    hold_out: float
    seed: int
    how: Mapping[str, Any]

    def part(self, text: str) -> int:
        """Return `_HELD_OUT`, or the half of the training text: 0 or 1. Equal texts are in one part."""
        digest = blake2b(text.encode(), digest_size=8, key=str(self.seed).encode()).digest()
        number = int.from_bytes(digest, "big")
        return _HELD_OUT if number < self.hold_out * 2**64 else number & 1

    def counts(self, plan: Plan, folder: _Folder | None) -> tuple[Counts, Counts | None]:
        """Return the words of the training text, and of one half, None if a half has no words."""
        halves = folder.counts() if folder else None
        if halves is None:
            every = list(self.sources.values())
            with reading("counting", [*every, *every], self.how["progress"]) as rows_of:
                halves = [self._half(number, plan, rows_of) for number in range(2)]
            if folder:
                folder.save_counts(halves)
        total = halves[0] + halves[1]
        if not len(total):
            raise CorpusError("corpus", "has no words to learn from besides the held-out documents")
        return total, halves[0] if all(map(len, halves)) else None

    def _half(self, number: int, plan: Plan, rows_of: Any) -> Counts:
        """Count one half; raise `CorpusError` for a source of which nothing is held out."""
        documents: Counter[str | None] = Counter()
        held_out: Counter[str | None] = Counter()

        def texts() -> Iterator[str]:
            for name, source in self.sources.items():
                for text in chain.from_iterable(map(_documents_of, rows_of(source))):
                    part = self.part(text)
                    documents[name] += 1
                    held_out[name] += part == _HELD_OUT
                    if part == number:
                        yield text

        how = {name: self.how[name] for name in ("num_threads", "memory")}
        counts = count_texts(texts(), preset=plan.pipeline, source=number, **how)
        for name in self.sources:
            if not held_out[name]:
                place = "corpus" if name is None else f"source {name!r}"
                raise CorpusError(place, _problem_of_hold_out(documents[name]))
        return counts

    def measured(self, tokenizers: Sequence[Tokenizer]) -> _Measured:
        """Encode the held-out documents with each tokenizer."""
        found = _Measured(tokenizers, self.how["num_threads"])
        with reading("measuring", list(self.sources.values()), self.how["progress"]) as rows_of:
            for source in self.sources.values():
                for rows in rows_of(source):
                    texts = _documents_of(rows)
                    found.documents += len(texts)
                    found.replacements += rows.replacements
                    found.add([text for text in texts if self.part(text) == _HELD_OUT])
                found.end_source()
        return found


def _documents_of(rows: Rows) -> list[str]:
    """Return the texts that are not only whitespace."""
    return list(filter(str.strip, rows.to_list()))


def _problem_of_hold_out(documents: int) -> str:
    if not documents:
        return "has no texts"
    found = counted(documents, "document")
    advice = "hold out a larger share, or read shorter documents"
    return f"has {found}, none of which is held out; {advice}"


class _Measured:
    """Sums over the held-out documents: words, bytes, and the charged tokens of each tokenizer."""

    def __init__(self, tokenizers: Sequence[Tokenizer], num_threads: int | None) -> None:
        self.counts = list(map(CorpusCounts, tokenizers))
        self.sums = TokenSums(_FIXED_ROWS + len(tokenizers))
        self.documents = self.held_out = self.replacements = 0
        self.words = FrequentWords()
        self.samples = [TextSample()]
        self.by_source: list[list[int]] = []
        self._before = list(self.sums.tokens)
        self._num_threads = num_threads
        self._words = Tokenizer(WordLevel({"[UNK]": 0}), pre_tokenizer=WhitespaceSplit())

    def add(self, texts: Sequence[str]) -> None:
        """Add held-out documents."""
        if not texts:
            return
        self.held_out += len(texts)
        self.samples[-1].add(texts)
        self.words.add(count_texts(texts, preset=_WORDS, num_threads=self._num_threads))
        words = self._words.encode_batch(texts, num_threads=self._num_threads, **PLAIN_TEXT).lengths
        sizes = [len(text.encode()) for text in texts]
        tokens = [one.add_charged(texts, self._num_threads) for one in self.counts]
        self.sums.add(np.stack([words, sizes, *tokens]).astype(np.int64))

    def end_source(self) -> None:
        """Note the sums of the documents since the last call."""
        now = list(self.sums.tokens)
        self.by_source.append(
            [total - before for total, before in zip(now, self._before, strict=True)]
        )
        self._before = now
        self.samples.append(TextSample())


# ---- figures


@dataclass
class _Result:
    """Computes the figures of the cells from the sums over the held-out documents."""

    plans: _Plans
    cells: Mapping[_Cell, Tokenizer]
    measured: _Measured
    counts: Counts
    limits: _Limits
    num_threads: int | None

    @cached_property
    def _rows(self) -> dict[_Cell, int]:
        return {cell: at for at, cell in enumerate(self.cells, _FIXED_ROWS)}

    @cached_property
    def _words(self) -> list[str]:
        return [word for word, _ in self.measured.words.most_common()]

    def choice(self, sources: tuple[str, ...], against: Mapping[str, Tokenizer]) -> Choice:
        """Return the figures of the documents, of each size and learner, and of further tokenizers."""
        first, measured = self.plans.first, self.measured
        assert first.preset is not None  # only SentencePiece trainers have none
        return Choice(
            model=first.trainer.kind,
            preset=first.preset.name,
            sources=sources,
            documents=measured.documents,
            held_out=measured.held_out,
            words=measured.sums.tokens[0],
            bytes=measured.sums.tokens[1],
            replacements=measured.replacements,
            min_uses=self.limits.min_uses,
            least_gain=self.limits.least_gain,
            candidates=tuple(self._candidates()),
            losses=tuple(self._losses(against)),
        )

    def _candidates(self) -> Iterator[Candidate]:
        for size, larger in zip(self.plans.sizes, (*self.plans.sizes[1:], None), strict=True):
            for learner in self.plans.of:
                yield self._candidate(_Cell(learner, size, is_half=False), larger)

    def _candidate(self, cell: _Cell, larger: int | None) -> Candidate:
        row, sums = self._rows[cell], self.measured.sums
        counts = self.measured.counts[row - _FIXED_ROWS]
        words, size = sums.tokens[:_FIXED_ROWS]
        entries = self._entries(cell)
        share = self.limits.embedding_share
        return Candidate(
            learner=cell.learner,
            vocab_size=cell.size,
            entries=entries,
            tokens=sums.tokens[row],
            tokens_per_word=ratio(sums.tokens[row], words),
            word_interval=self._interval(row, 0),
            tokens_per_byte=ratio(sums.tokens[row], size),
            byte_interval=self._interval(row, 1),
            more=self._more(cell),
            gain=None if larger is None else self._gain(cell, larger),
            unknown_share=ratio(counts.unknown_bytes, size),
            single_token_rate=single_token_rate(counts.tokenizer, self._words, self.num_threads),
            rare_share=self._rare_share(counts.tokenizer),
            embedding_share=None if share is None else entries * share,
            parity=self._parity(row),
        )

    def _entries(self, cell: _Cell) -> int:
        return self.cells[cell].get_vocab_size()

    def _more(self, cell: _Cell) -> Estimate:
        """Return how many more tokens a learner needs than the one with the fewest at its size."""
        return self._estimate(cell, self._fewest(cell.size), 1.0)

    def _fewest(self, size: int) -> _Cell:
        """Return the cell of a size that needs the fewest tokens."""
        tokens = self.measured.sums.tokens
        cells = [_Cell(learner, size, is_half=False) for learner in self.plans.of]
        return min(cells, key=lambda cell: tokens[self._rows[cell]])

    def _gain(self, cell: _Cell, larger: int) -> Estimate | None:
        """Return the share of the tokens that a thousand entries save, None without further entries."""
        next_size = cell._replace(size=larger)
        added = self._entries(next_size) - self._entries(cell)
        return self._estimate(next_size, cell, -_PER / added) if added else None

    def _estimate(self, cell: _Cell, base: _Cell, scale: float) -> Estimate:
        """Return `scale` times the share of tokens that one cell needs more than another."""
        sums = self.measured.sums

        def share(cell: _Cell, base: _Cell) -> float:
            row, base_row = self._rows[cell], self._rows[base]
            return scale * (ratio(sums.tokens[row], sums.tokens[base_row]) - 1)

        margin = sums.margin(self._rows[cell], self._rows[base])
        halves = [one._replace(is_half=True) for one in (cell, base)]
        return Estimate(
            share(cell, base),
            _around(share(cell, base), None if margin is None else abs(scale) * margin),
            share(*halves) if halves[0] in self._rows else None,
        )

    def _interval(self, row: int, base: int) -> Interval:
        sums = self.measured.sums
        return _around(ratio(sums.tokens[row], sums.tokens[base]), sums.margin(row, base))

    def _parity(self, row: int) -> float | None:
        if len(self.measured.by_source) < 2:
            return None
        return parity([ratio(sums[row], sums[1]) for sums in self.measured.by_source])

    def _rare_share(self, tokenizer: Tokenizer) -> float:
        """Return the share of the entries that the training text uses fewer than `min_uses` times."""
        model = Tokenizer.from_spec(TokenizerSpec(tokenizer.spec.model))
        uses = np.zeros(1 + max(tokenizer.get_vocab().values()))
        words, counts = self.counts.words, self.counts.counts
        for start in range(0, len(words), _WORDS_AT_ONCE):
            some = slice(start, start + _WORDS_AT_ONCE)
            batch = model.encode_batch(words[some], num_threads=self.num_threads, **PLAIN_TEXT)
            weights = np.repeat(counts[some], batch.lengths)
            uses += np.bincount(batch.ids, weights, minlength=len(uses))
        special = {token.content for token in tokenizer.added_tokens}
        ids = [id for token, id in tokenizer.get_vocab().items() if token not in special]
        return ratio(int((uses[ids] < self.limits.min_uses).sum()), len(ids))

    def _losses(self, against: Mapping[str, Tokenizer]) -> Iterator[Loss]:
        """Yield what the best candidate at the largest size loses, then what the other tokenizers lose."""
        sums, size = self.measured.sums, self.plans.sizes[-1]
        best = self._fewest(size)
        rows = {f"{best.learner} {size:,}": self._rows[best]}
        rows |= dict(
            zip(against, range(_FIXED_ROWS + len(self.cells), len(sums.tokens)), strict=True)
        )
        texts = [text for sample in self.measured.samples for text in sample.texts]
        for name, row in rows.items():
            tokenizer = self.measured.counts[row - _FIXED_ROWS].tokenizer
            yield Loss(
                name=name,
                family=family(tokenizer.spec),
                entries=tokenizer.get_vocab_size(),
                tokens_per_byte=ratio(sums.tokens[row], sums.tokens[1]),
                interval=self._interval(row, 1),
                round_trip=measure_round_trip(tokenizer, texts, num_threads=self.num_threads),
            )


def _around(value: float, margin: float | None) -> Interval:
    return None if margin is None else (value - margin, value + margin)


# ---- the folder of an interrupted run

_STATE = "choosing"
_SETTINGS_FILE = "settings.json"


@dataclass(frozen=True)
class _Folder:
    """The counts and tokenizers of a run that are finished."""

    path: Path

    def counts(self) -> list[Counts] | None:
        """Return the counts of both halves, None if they are not finished."""
        paths = [self.path / f"half-{number}.tsv" for number in range(2)]
        return [Counts.load(path) for path in paths] if paths[-1].exists() else None

    def save_counts(self, halves: Sequence[Counts]) -> None:
        """Write the counts of both halves."""
        for number, counts in enumerate(halves):
            counts.save(self.path / f"half-{number}.tsv")

    def tokenizers(self, cells: Sequence[_Cell]) -> dict[_Cell, Tokenizer]:
        """Return the tokenizers of the cells, none unless all are finished."""
        paths = {cell: self._file(cell) for cell in cells}
        if not all(path.exists() for path in paths.values()):
            return {}
        return {cell: Tokenizer.load(path) for cell, path in paths.items()}

    def save_tokenizers(self, found: Mapping[_Cell, Tokenizer]) -> None:
        """Write the tokenizers of cells."""
        for cell, tokenizer in found.items():
            tokenizer.save(self._file(cell))

    def _file(self, cell: _Cell) -> Path:
        return self.path / f"{cell.learner}-{cell.size}{'-half' if cell.is_half else ''}.json"


@contextmanager
def _work_folder(
    checkpoint: PathLike | None, documents: _Documents, plans: _Plans
) -> Iterator[_Folder | None]:
    """Yield the folder of an interrupted run, or a new one; delete it if the body succeeds."""
    if checkpoint is None:
        yield None
        return
    parent = Path(path_text(checkpoint, "checkpoint"))
    folder = _Folder(parent / _STATE)
    settings = _settings_of(documents, plans)
    with locked_folder(folder.path, "a checkpoint that another process is using"):
        _check_settings(folder.path / _SETTINGS_FILE, settings)
        yield folder
    shutil.rmtree(folder.path)
    with suppress(OSError):  # other files stay
        parent.rmdir()


def _settings_of(documents: _Documents, plans: _Plans) -> dict[str, Any]:
    """Return what decides counts and tokenizers, as JSON data."""
    sources = {}
    for name, source in documents.sources.items():
        if not isinstance(source, Corpus):
            raise ArgumentError("checkpoint", "needs texts of files: corpus.read_corpus")
        sources[name or ""] = source.identity
    trainers = {name: repr(plan.trainer) for name, plan in plans.of.items()}
    settings = {"hold_out": documents.hold_out, "seed": documents.seed, "sizes": list(plans.sizes)}
    pipeline = plans.first.pipeline.to_json()
    return {"files": sources, "learners": trainers, "pipeline": pipeline, **settings}


def _check_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Write the settings of a new run; raise `ArgumentError` for a run with others."""
    text = json.dumps(settings, sort_keys=True)
    if not path.exists():
        with atomic_file(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
        return
    if file_bytes(path, "a checkpoint").decode(errors="replace") != text:
        problem = f"{path.parent} has a run with other files or settings"
        hint = "use the same files and settings, or another folder"
        raise ArgumentError("checkpoint", problem, hint=hint)
