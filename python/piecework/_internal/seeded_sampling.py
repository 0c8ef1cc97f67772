"""The settings of random segmentation as the core reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SeededSampling:
    """The settings of random segmentation for the texts of one call, with every value resolved."""

    alpha: float
    """The probability that a merge is skipped (BPE), or the exponent of the scores (Unigram)."""
    seed: int
    nbest_size: int | None = None
    """The number of best segmentations to sample from; None for all."""
    text_index: int = 0
    """The index of the first text; seed and index determine how a text is segmented."""

    def at(self, text_index: int) -> SeededSampling:
        """Return the same settings for the text with another index."""
        return replace(self, text_index=text_index)
