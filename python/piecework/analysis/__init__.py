"""Study tokenizers: explain one text, compare vocabularies on a corpus, inspect and check one, measure speed.

>>> import piecework as pw
>>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
>>> [one] = compare({"characters": tok}, ["abba", "abc"]).measures
>>> one.tokens, one.unknown_tokens
(7, 1)
"""

from piecework.analysis.bench import bench, bench_files
from piecework.analysis.charts import charts, save_plots
from piecework.analysis.check import check
from piecework.analysis.choose import choose
from piecework.analysis.compare import compare
from piecework.analysis.corpus_counts import token_counts
from piecework.analysis.explain import explain
from piecework.analysis.gold import Gold, boundary_scores, read_gold
from piecework.analysis.golden import Golden, GoldenCheck, check_golden, golden
from piecework.analysis.lineage import lineage
from piecework.analysis.prune_plan import plan_prune
from piecework.analysis.report import html_report
from piecework.analysis.round_trip import measure_round_trip
from piecework.analysis.side_by_side import side_by_side
from piecework.analysis.training import EXAMPLES, explain_training, training_example
from piecework.analysis.verify import verify, verify_files
from piecework.analysis.vocabulary_report import inspect

__all__ = [
    "EXAMPLES",
    "Gold",
    "Golden",
    "GoldenCheck",
    "bench",
    "bench_files",
    "boundary_scores",
    "charts",
    "check",
    "check_golden",
    "choose",
    "compare",
    "explain",
    "explain_training",
    "golden",
    "html_report",
    "inspect",
    "lineage",
    "measure_round_trip",
    "plan_prune",
    "read_gold",
    "save_plots",
    "side_by_side",
    "token_counts",
    "training_example",
    "verify",
    "verify_files",
]
