"""Study tokenizers: explain one text, compare vocabularies on a corpus, inspect entries, measure speed.

>>> import piecework as pw
>>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
>>> [one] = compare({"characters": tok}, ["abba", "abc"]).measures
>>> one.tokens, one.unknown_tokens
(7, 1)
"""

from piecework.analysis.bench import bench, bench_files
from piecework.analysis.compare import Comparison, Measures, compare, compare_files
from piecework.analysis.explain import ExplainedToken, ExplainedWord, Explanation, explain
from piecework.analysis.gold import BoundaryScores, Gold, boundary_scores, read_gold
from piecework.analysis.merge_steps import MergeStep
from piecework.analysis.metrics import SequenceLengths
from piecework.analysis.plots import save_plots
from piecework.analysis.prune_plan import PrunePlan, RemovedToken, plan_prune, plan_prune_files
from piecework.analysis.report import html_report
from piecework.analysis.speed import Benchmark, PeerSpeeds, Speed
from piecework.analysis.usage import token_counts
from piecework.analysis.vocabulary_report import Inspection, inspect

__all__ = [
    "Benchmark",
    "BoundaryScores",
    "Comparison",
    "ExplainedToken",
    "ExplainedWord",
    "Explanation",
    "Gold",
    "Inspection",
    "Measures",
    "MergeStep",
    "PeerSpeeds",
    "PrunePlan",
    "RemovedToken",
    "SequenceLengths",
    "Speed",
    "bench",
    "bench_files",
    "boundary_scores",
    "compare",
    "compare_files",
    "explain",
    "html_report",
    "inspect",
    "plan_prune",
    "plan_prune_files",
    "read_gold",
    "save_plots",
    "token_counts",
]
