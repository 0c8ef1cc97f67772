"""Looking into tokenizers: why a text becomes the tokens it does, how vocabularies compare, how fast."""

from piecework.analysis.bench import bench, bench_files
from piecework.analysis.compare import Comparison, Measures, compare, compare_files
from piecework.analysis.explain import ExplainedToken, ExplainedWord, Explanation, explain
from piecework.analysis.gold import BoundaryScores, Gold, boundary_scores, read_gold
from piecework.analysis.merge_steps import MergeStep
from piecework.analysis.metrics import (
    SequenceLengths,
    frequency_at_95,
    mean_rank,
    renyi_efficiency,
    tail_share,
    used_share,
)
from piecework.analysis.peers import Peer, read_peer
from piecework.analysis.plots import check_plots, save_plots
from piecework.analysis.readable_tokens import is_byte_level, text_of_bytes
from piecework.analysis.report import html_report
from piecework.analysis.speed import Benchmark, PeerSpeeds, Speed, speed_table
from piecework.analysis.text_tables import Table, headline, tables
from piecework.analysis.usage import token_counts
from piecework.analysis.vocabulary_report import Inspection, inspect
from piecework.io.format_detection import file_format

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
    "Peer",
    "PeerSpeeds",
    "SequenceLengths",
    "Speed",
    "Table",
    "bench",
    "bench_files",
    "boundary_scores",
    "check_plots",
    "compare",
    "compare_files",
    "explain",
    "file_format",
    "frequency_at_95",
    "headline",
    "html_report",
    "inspect",
    "is_byte_level",
    "mean_rank",
    "read_gold",
    "read_peer",
    "renyi_efficiency",
    "save_plots",
    "speed_table",
    "tables",
    "tail_share",
    "text_of_bytes",
    "token_counts",
    "used_share",
]
