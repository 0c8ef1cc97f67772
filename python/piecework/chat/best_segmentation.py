"""Sampling settings that turn randomness off, also for a model with `dropout`."""

from __future__ import annotations

from piecework._internal.lazy import pw


def best_only() -> pw.Sampling:
    """Return the sampling settings that always give the best segmentation."""
    return pw.Sampling(nbest_size=1)
