"""Golden files: texts that tell engines apart, with the ids of a tokenizer, and checks of engines."""

from piecework.analysis.golden.check import GoldenCheck, RowDifference, check_golden
from piecework.analysis.golden.file import Golden, GoldenRow
from piecework.analysis.golden.generate import golden

__all__ = ["Golden", "GoldenCheck", "GoldenRow", "RowDifference", "check_golden", "golden"]
