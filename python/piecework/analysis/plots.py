"""Plots of a comparison as PNG files, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from piecework._internal.extras import import_extra
from piecework._internal.validation import PathLike, path_text
from piecework.analysis.compare import Comparison, Measures
from piecework.errors import FileError
from piecework.io.atomic_files import atomic_file
from piecework.io.read_file import reason


def save_plots(comparison: Comparison, directory: PathLike) -> list[Path]:
    """Write plots to a directory and return their paths.

    >>> import tempfile
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> try:
    ...     paths = save_plots(found, tempfile.mkdtemp())
    ... except pw.errors.MissingExtraError:  # matplotlib is an optional dependency
    ...     paths = []
    >>> {path.suffix for path in paths} <= {".png"}
    True

    The files are `measures.png`, `entry_lengths.png`, `token_lengths.png`, `frequencies.png`, and
    `boundaries.png` if the comparison has a gold standard. The directory is created if it does not exist.

    Raises `MissingExtraError` if matplotlib is not installed, and `FileError`.
    """
    figure_class = _figure_class()
    target = Path(path_text(directory))
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(str(target), reason(error), "a directory that can be written") from error
    return [
        _save(figure_class, draw, comparison.measures, target / f"{name}.png")
        for name, draw in _PLOTS.items()
        if name != "boundaries" or comparison.gold_words is not None
    ]


def check_plots() -> None:
    """Raise `MissingExtraError` if matplotlib is not installed."""
    _figure_class()


def _save(
    figure_class: Any,
    draw: Callable[[Any, Sequence[Measures]], None],
    measures: Sequence[Measures],
    path: Path,
) -> Path:
    figure = figure_class(figsize=(8, 4.5), layout="constrained")
    draw(figure, measures)
    with atomic_file(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
    return path


def _draw_measures(figure: Any, measures: Sequence[Measures]) -> None:
    names = [_escape_dollars(one.name) for one in measures]
    values = {
        "tokens per word": [one.fertility for one in measures],
        "unknown %": [100 * one.unknown_rate for one in measures],
        "used %": [100 * one.used_share for one in measures],
        "Rényi efficiency": [one.renyi_efficiency for one in measures],
    }
    for axes, (title, heights) in zip(figure.subplots(2, 2).flat, values.items(), strict=True):
        axes.barh(names, heights)
        axes.invert_yaxis()
        axes.set_title(title)


def _draw_lengths(attribute: str, what: str) -> Callable[[Any, Sequence[Measures]], None]:
    def draw(figure: Any, measures: Sequence[Measures]) -> None:
        axes = figure.subplots()
        for one in measures:
            lengths, many = zip(*getattr(one, attribute) or [(0, 0)], strict=True)
            total = sum(many) or 1
            axes.plot(
                lengths,
                [count / total for count in many],
                marker=".",
                label=_escape_dollars(one.name),
            )
        axes.set(xlabel="characters", ylabel=f"share of the {what}")
        axes.legend()

    return draw


def _draw_frequencies(figure: Any, measures: Sequence[Measures]) -> None:
    axes = figure.subplots()
    for one in measures:
        if one.rank_frequencies:
            axes.loglog(*zip(*one.rank_frequencies, strict=True), label=_escape_dollars(one.name))
    axes.set(xlabel="frequency rank of the entry", ylabel="share of the tokens")
    axes.legend()


def _draw_boundaries(figure: Any, measures: Sequence[Measures]) -> None:
    axes = figure.subplots()
    scored = [
        (_escape_dollars(one.name), one.boundaries)
        for one in measures
        if one.boundaries is not None
    ]
    for place, kind in enumerate(("precision", "recall", "f1")):
        at = [row + 0.25 * (place - 1) for row in range(len(scored))]
        axes.bar(at, [getattr(scores, kind) for _, scores in scored], width=0.25, label=kind)
    axes.set_xticks(range(len(scored)), [name for name, _ in scored])
    axes.set_ylabel("agreement with the gold boundaries")
    axes.legend()


_PLOTS: dict[str, Callable[[Any, Sequence[Measures]], None]] = {
    "measures": _draw_measures,
    "entry_lengths": _draw_lengths("entry_lengths", "vocabulary"),
    "token_lengths": _draw_lengths("token_lengths", "tokens"),
    "frequencies": _draw_frequencies,
    "boundaries": _draw_boundaries,
}


def _escape_dollars(name: str) -> str:
    """Escape dollar signs, which start a formula in matplotlib."""
    return name.replace("$", r"\$")


def _figure_class() -> Any:
    """Return matplotlib's figure, which needs no window and changes no global state."""
    return import_extra("matplotlib.figure", "plot").Figure
