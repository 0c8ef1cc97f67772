"""Warn at the line that called the package."""

from __future__ import annotations

import sys
import warnings

# Frames of these modules lie between frames of the package: context managers and cached properties.
_BETWEEN = frozenset({"contextlib", "functools"})


def warn(message: str, category: type[Warning]) -> None:
    """Warn with the file and line of the first frame outside the package.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warn("2 words were skipped", UserWarning)
    >>> str(caught[0].message)
    '2 words were skipped'
    """
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_inside(module: str) -> bool:
    return module in _BETWEEN or module.partition(".")[0] == "piecework"
