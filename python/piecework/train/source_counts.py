"""Word counts that keep the counts of each source, such as a language, for learners that compare sources.

Each source is a `Counts` of its own, so counting, files and clusters know nothing of sources. A language
costs the tokens of its parallel text: tokens a byte or a character would compare scripts, not languages.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property, reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from piecework._internal._core import RawCounts
from piecework._internal.validation import PathLike
from piecework.errors import ArgumentError, CorpusError, InputTypeError
from piecework.train.counts import Counts, word_counts
from piecework.train.presets import Pipeline

if TYPE_CHECKING:
    import numpy.typing as npt

_ONE_FOR_EACH = (
    'count each language by itself and pass SourceCounts({"en": counts, ...}); on the command line, '
    "give each language as one CORPUS argument"
)


class SourceCounts(Counts):
    """The counts of a corpus, kept for each source: a language, a script or a kind of text.

    >>> counts = SourceCounts({"en": Counts(["hug"], [9]), "cs": Counts(["kočka"], [2])})
    >>> counts
    SourceCounts(en: 1 word, 9 in total; cs: 1 word, 2 in total)
    >>> counts.most_common()
    [('hug', 9), ('kočka', 2)]

    As `Counts`, they are the sum of their sources. `parallel` has the counts of a text for each source, which
    say the same, such as translations of one book: their tokens are the costs of the languages for
    `BPETrainer(parity=True)`. They are measured, and nothing is learned from them.

    A sum of `SourceCounts` adds the sources of one name. A sum with plain `Counts` is plain: it has lost the
    sources, as one counts file has; save the `Counts` of each source instead. Raises `ArgumentError` for
    fewer than two sources, sources without a parallel text if others have one, and counts of different
    pipelines; `CorpusError` for a source without words.
    """

    def __init__(
        self,
        sources: Mapping[str, Counts | Mapping[str, int]],
        *,
        parallel: Mapping[str, Counts | Mapping[str, int]] | None = None,
    ) -> None:
        self.sources: Mapping[str, Counts] = MappingProxyType(_checked("sources", sources))
        texts = _checked("parallel", parallel or {})
        check_names(self.sources, texts)
        self.parallel: Mapping[str, Counts] = MappingProxyType(
            {name: texts[name] for name in self.sources if texts}
        )
        self.replacements = sum(counts.replacements for counts in self.sources.values())
        self.pipeline = self._common_pipeline()

    def _common_pipeline(self) -> Pipeline | None:
        """Return the pipeline of all sources and texts; raise `ArgumentError` if there are two."""
        pipeline: Pipeline | None = None
        for kind, group in (("sources", self.sources), ("parallel", self.parallel)):
            for name, counts in group.items():
                if pipeline is None:
                    pipeline = counts.pipeline
                elif counts.pipeline is not None and not counts.pipeline.agrees_with(pipeline):
                    problem = f"has counts of another pipeline: {counts.pipeline}, not {pipeline}"
                    raise ArgumentError(f"{kind}[{name!r}]", problem)
        return pipeline

    @cached_property
    def _raw(self) -> RawCounts:  # type: ignore[override]
        return reduce(RawCounts.merge, (counts._raw for counts in self.sources.values()))

    def merged(self) -> Counts:
        """Return the sum of the sources, without the parallel texts.

        >>> counts = SourceCounts({"en": Counts(["hug"], [9]), "cs": Counts(["hug"], [2])})
        >>> counts.merged()
        Counts(1 word, 11 in total)
        """
        return Counts._of(self._raw, self.pipeline, self.replacements)

    def merge(self, other: Counts) -> Counts:
        """Return the sum of both, as `+` does; plain `Counts` unless both have sources.

        >>> one = SourceCounts({"en": Counts(["hug"], [9]), "cs": Counts(["kočka"], [2])})
        >>> one.merge(one)
        SourceCounts(en: 1 word, 18 in total; cs: 1 word, 4 in total)
        """
        if not isinstance(other, SourceCounts):
            return self.merged().merge(other)
        return SourceCounts(
            _sums(self.sources, other.sources), parallel=_sums(self.parallel, other.parallel)
        )

    def save(self, path: PathLike) -> None:
        """Raise `ArgumentError`: a counts file has no sources, so save each of `sources` in a file."""
        raise ArgumentError("path", f"{str(path)!r}: {_NO_FILE}")

    def write_tsv(self, stream: BinaryIO) -> None:
        """Raise `ArgumentError`, as `save` does."""
        raise ArgumentError("stream", f"{_NO_FILE}")

    # ---- what learners read

    @property
    def has_boundaries(self) -> bool:
        """Return False: sources have none, and the sum, which takes memory, is not needed to know it."""
        return False

    def _of_pipeline(self, pipeline: Pipeline) -> Counts:
        return self

    def _digest(self) -> str:
        rows = (*self.sources.values(), *self.parallel.values())
        return ", ".join(counts._digest() for counts in rows)

    def _word_sizes(self) -> tuple[npt.NDArray[Any], ...]:
        import numpy as np

        columns = [counts._word_sizes() for counts in self.sources.values()]
        for counts in self.parallel.values():
            text, chars, numbers = counts._word_sizes()
            columns.append((text, chars, np.full_like(numbers, np.iinfo(np.uint64).max)))  # kept
        return tuple(np.concatenate(column) for column in zip(*columns, strict=True))

    def _at_least(self, least: int) -> Counts:
        sources = {name: counts._at_least(least) for name, counts in self.sources.items()}
        return SourceCounts(sources, parallel=self.parallel)

    # ---- Python protocols

    def __bool__(self) -> bool:
        """Return True, as every source has words; the length would need the sum."""
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SourceCounts):
            return NotImplemented if not isinstance(other, Counts) else self.merged() == other
        mine, theirs = dict(self.sources), dict(other.sources)
        return mine == theirs and dict(self.parallel) == dict(other.parallel)

    __hash__ = None

    def __copy__(self) -> SourceCounts:
        return SourceCounts(self.sources, parallel=self.parallel)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (dict(self.sources), dict(self.parallel))

    def __repr__(self) -> str:
        sources = (
            f"{name}: {repr(counts)[len('Counts(') : -1]}" for name, counts in self.sources.items()
        )
        texts = "; with parallel texts" if self.parallel else ""
        return f"SourceCounts({'; '.join(sources)}{texts})"


_NO_FILE = "a counts file has no sources; save the counts of each of `sources` in a file of its own"


def measured_sources(counts: Counts, parity_unit: str | None) -> SourceCounts:
    """Return counts with sources whose costs can be compared; raise `ArgumentError` for others.

    >>> counts = SourceCounts({"en": Counts(["hug"], [9]), "cs": Counts(["ahoj"], [2])})
    >>> measured_sources(counts, "bytes") is counts
    True
    """
    if not isinstance(counts, SourceCounts):
        problem = "have no sources, which parity needs; sums and files of counts lose them: "
        raise ArgumentError("counts", problem + _ONE_FOR_EACH)
    if not counts.parallel and parity_unit is None:
        problem = (
            "have no parallel texts: give a text in each language that says the same, parallel, or, for "
            "languages of one script, a parity_unit"
        )
        raise ArgumentError("counts", problem)
    if counts.parallel and parity_unit is not None:
        problem = (
            f"{parity_unit!r} does not apply to counts with parallel texts, whose "
            "tokens are compared"
        )
        raise ArgumentError("parity_unit", problem)
    return counts


def _sums(one: Mapping[str, Counts], two: Mapping[str, Counts]) -> dict[str, Counts]:
    """Return the sum of the counts of each name."""
    sums = dict(one)
    for name, counts in two.items():
        sums[name] = sums[name].merge(counts) if name in sums else counts
    return sums


def _checked(name: str, given: Mapping[str, Counts | Mapping[str, int]]) -> dict[str, Counts]:
    """Return named counts; raise for other types, and `CorpusError` for counts without words."""
    if not isinstance(given, Mapping):
        raise InputTypeError(
            name, f"must be a mapping from names to Counts, not {type(given).__name__}"
        )
    counts = {key: word_counts(value, f"{name}[{key!r}]") for key, value in given.items()}
    for key, value in counts.items():
        place = f"{name}[{key!r}]"
        if not key:
            raise ArgumentError(name, f"has the name {key!r}; use strings such as 'en'")
        if type(value) is not Counts:
            raise InputTypeError(
                place,
                f"must be Counts, from count_files or count_texts, not {type(value).__name__}",
            )
        if value.has_boundaries:
            raise ArgumentError(
                place, "has words with boundaries, which counts by source cannot have"
            )
        if not len(value):
            problem = "has no words; leave the language out, or give text in it"
            raise CorpusError(place, problem)
    return dict(counts)


def check_names(sources: Collection[str], parallel: Collection[str]) -> None:
    """Raise `ArgumentError` for fewer than two sources, and for texts that are not one for each.

    >>> check_names(["en", "cs"], ["cs", "en"])
    """
    if len(sources) < 2:
        found = f"has {len(sources)}: with one source, train without parity"
        raise ArgumentError("sources", f"{found}, or {_ONE_FOR_EACH}")
    if parallel and set(parallel) != set(sources):
        missing = [name for name in sources if name not in parallel]
        unknown = [name for name in parallel if name not in sources]
        found = (
            f"no text for {', '.join(missing)}"
            if missing
            else f"the text of no source: {', '.join(unknown)}"
        )
        raise ArgumentError("parallel", f"has {found}; give one for each of {', '.join(sources)}")


def _rebuild(sources: Mapping[str, Counts], parallel: Mapping[str, Counts]) -> SourceCounts:
    return SourceCounts(sources, parallel=parallel)
