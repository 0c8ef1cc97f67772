"""Sampling settings that turn randomness off, also for a model with `dropout`."""

from __future__ import annotations

from piecework.sampling import Sampling


def best_only() -> Sampling:
    """Return the sampling settings that always give the best segmentation."""
    return Sampling(nbest_size=1)
