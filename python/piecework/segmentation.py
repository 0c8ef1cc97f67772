"""What listing and drawing segmentations gives."""

from __future__ import annotations

from dataclasses import dataclass

from piecework.encoding import Encoding


@dataclass(frozen=True)
class Segmentation:
    """One segmentation of a text, with what the model thinks of it.

    `score` is the sum of the scores, which are log-probabilities, of its pieces; a character that is not
    in the vocabulary has the lowest score there is less 10. `log_probability` is the natural logarithm
    of its share of all segmentations of the text, at the alpha it was drawn with, else at 1: at 1,
    `score - log_probability` is the log-probability of the text itself. `log_inclusion`, when it was
    drawn without replacement, is that of the probability to be drawn, given the noise that decided on
    the others (`encode_samples`); else None.
    """

    encoding: Encoding
    score: float
    log_probability: float
    log_inclusion: float | None = None

    def __repr__(self) -> str:
        return f"Segmentation({' '.join(self.encoding.tokens)}, score={self.score:.6g})"
