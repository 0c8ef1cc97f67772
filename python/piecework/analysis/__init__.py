"""Study tokenizers: explain one text, compare vocabularies on a corpus, inspect entries, measure speed.

>>> import piecework as pw
>>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
>>> [one] = compare({"characters": tok}, ["abba", "abc"]).measures
>>> one.tokens, one.unknown_tokens
(7, 1)
"""

from typing import TYPE_CHECKING

from piecework._internal.renamed_arguments import moved_names
from piecework.analysis.bench import bench, bench_files
from piecework.analysis.charts import Chart, charts
from piecework.analysis.compare import Comparison, compare
from piecework.analysis.explain import explain
from piecework.analysis.explanation import ExplainedToken, ExplainedWord, Explanation
from piecework.analysis.gold import BoundaryScores, Gold, boundary_scores, read_gold
from piecework.analysis.lineage import Lineage, LineageMerge, lineage
from piecework.analysis.measures import ComparedSource, Measures, SourceMeasures, TokenCosts
from piecework.analysis.merge_steps import MergeStep
from piecework.analysis.metrics import SequenceLengths
from piecework.analysis.plots import save_plots
from piecework.analysis.prune_plan import PrunePlan, RemovedToken, plan_prune
from piecework.analysis.ranking import TokenRank
from piecework.analysis.report import html_report
from piecework.analysis.round_trip import RoundTrip, measure_round_trip
from piecework.analysis.side_by_side import Side, SideBySide, SideToken, side_by_side
from piecework.analysis.speed import Benchmark, PeerSpeeds, Speed
from piecework.analysis.training import (
    EXAMPLES,
    EntryLoss,
    LengthCount,
    PairScore,
    PieceEstimate,
    PieceLoss,
    SplitChange,
    TrainingEstimate,
    TrainingExample,
    TrainingLattice,
    TrainingMerge,
    TrainingPruning,
    TrainingRemoval,
    TrainingThreshold,
    TrainingTrace,
    explain_training,
    training_example,
)
from piecework.analysis.unigram_lattice import LatticeEdge, WordLattice
from piecework.analysis.usage import token_counts
from piecework.analysis.verification import EncodedText, IdDifference, Verification
from piecework.analysis.verify import verify, verify_files
from piecework.analysis.vocabulary_report import Inspection, inspect
from piecework.analysis.word_differences import DifferingWord, WordBand, WordDifferences, WordGroup
from piecework.analysis.word_search import PrefixSearch, WordSearch

if not TYPE_CHECKING:
    __getattr__ = moved_names(
        __name__,
        {
            "compare_files": "compare(tokenizers, piecework.corpus.read_corpus(paths))",
            "plan_prune_files": "plan_prune(tokenizer, piecework.corpus.read_corpus(paths))",
        },
    )

__all__ = [
    "EXAMPLES",
    "Benchmark",
    "BoundaryScores",
    "Chart",
    "ComparedSource",
    "Comparison",
    "DifferingWord",
    "EncodedText",
    "EntryLoss",
    "ExplainedToken",
    "ExplainedWord",
    "Explanation",
    "Gold",
    "IdDifference",
    "Inspection",
    "LatticeEdge",
    "LengthCount",
    "Lineage",
    "LineageMerge",
    "Measures",
    "MergeStep",
    "PairScore",
    "PeerSpeeds",
    "PieceEstimate",
    "PieceLoss",
    "PrefixSearch",
    "PrunePlan",
    "RemovedToken",
    "RoundTrip",
    "SequenceLengths",
    "Side",
    "SideBySide",
    "SideToken",
    "SourceMeasures",
    "Speed",
    "SplitChange",
    "TokenCosts",
    "TokenRank",
    "TrainingEstimate",
    "TrainingExample",
    "TrainingLattice",
    "TrainingMerge",
    "TrainingPruning",
    "TrainingRemoval",
    "TrainingThreshold",
    "TrainingTrace",
    "Verification",
    "WordBand",
    "WordDifferences",
    "WordGroup",
    "WordLattice",
    "WordSearch",
    "bench",
    "bench_files",
    "boundary_scores",
    "charts",
    "compare",
    "explain",
    "explain_training",
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
