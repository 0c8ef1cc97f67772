"""The charts of a comparison as PNG files. Requires `piecework[charts]`."""

from __future__ import annotations

from pathlib import Path

from piecework._internal.extras import import_extra
from piecework._internal.validation import PathLike, path_text
from piecework.analysis.charts import charts
from piecework.analysis.compare import Comparison
from piecework.errors import FileError
from piecework.io.atomic_files import atomic_stream

_SCALE = 2


def save_plots(comparison: Comparison, directory: PathLike) -> list[Path]:
    """Write the charts of a comparison to a directory and return their paths.

    >>> import tempfile
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> try:
    ...     paths = save_plots(found, tempfile.mkdtemp())
    ... except pw.errors.MissingExtraError:  # Altair and vl-convert are optional dependencies
    ...     paths = []
    >>> {path.suffix for path in paths} <= {".png"}
    True

    Each file has the name of a chart: `measures.png`, `splits.png`, `frequency.png`, `length.png`,
    `token_lengths.png`, `entry_lengths.png` and `frequencies.png`, with named sources also `sources.png`, and
    with a gold standard `boundaries.png`. The directory is created if it does not exist.

    Raises `MissingExtraError` if Altair or vl-convert is not installed, and `FileError`.
    """
    check_plots()
    vl_convert = import_extra("vl_convert", "charts", "plot")
    target = Path(path_text(directory))
    with FileError.while_writing(target, "a directory that can be written"):
        target.mkdir(parents=True, exist_ok=True)
    paths = []
    for one in charts(comparison):
        path = target / f"{one.name}.png"
        with atomic_stream(str(path)) as stream:
            stream.write(vl_convert.vegalite_to_png(one.chart.to_dict(), scale=_SCALE))
        paths.append(path)
    return paths


def check_plots() -> None:
    """Raise `MissingExtraError` if what the charts need is not installed."""
    import_extra("altair", "charts", "plot")
    import_extra("vl_convert", "charts", "plot")
