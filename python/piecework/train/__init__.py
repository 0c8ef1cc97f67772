"""Training in two steps: count words (`count_files`, `count_texts`), then learn (the trainers).

Counts of shards can be made on many machines, merged, saved, and used again with other settings.
`Tokenizer.train` runs both steps. A trainer returns a specification and never sees a `Tokenizer`, so it runs
and is tested without a compiled one.
"""

from piecework.io.normalization_rules import NormalizationRules
from piecework.train.boundaries import read_boundaries
from piecework.train.counting import count_files, count_files_to, count_texts
from piecework.train.counts import Counts
from piecework.train.counts_files import recorded_pipeline
from piecework.train.learn import (
    estimated_memory,
    learn_spec,
    learn_specs,
    pipeline_of,
)
from piecework.train.learned import LearnedVocabulary
from piecework.train.learners import LEARNERS, Learner, Merges, Pruning, TopDown
from piecework.train.presets import PRESETS, Pipeline, Preset
from piecework.train.sentencepiece_presets import SENTENCEPIECE_PRESETS, SentencePiecePreset
from piecework.train.sentences import Sentences
from piecework.train.settings import RetrainSettings, TrainOptions
from piecework.train.source_balance import balance_sources, count_sources
from piecework.train.source_counts import SourceCounts
from piecework.train.trainer import Trainer
from piecework.train.trainers.bpe import BPETrainer, ByteBPETrainer
from piecework.train.trainers.ranking import CharTrainer, WordLevelTrainer
from piecework.train.trainers.sentencepiece import SentencePieceTrainer
from piecework.train.trainers.unigram import ByteUnigramTrainer, UnigramTrainer
from piecework.train.trainers.wordpiece import WordPieceTrainer

__all__ = [
    "LEARNERS",
    "PRESETS",
    "SENTENCEPIECE_PRESETS",
    "BPETrainer",
    "ByteBPETrainer",
    "ByteUnigramTrainer",
    "CharTrainer",
    "Counts",
    "LearnedVocabulary",
    "Learner",
    "Merges",
    "NormalizationRules",
    "Pipeline",
    "Preset",
    "Pruning",
    "RetrainSettings",
    "SentencePiecePreset",
    "SentencePieceTrainer",
    "Sentences",
    "SourceCounts",
    "TopDown",
    "TrainOptions",
    "Trainer",
    "UnigramTrainer",
    "WordLevelTrainer",
    "WordPieceTrainer",
    "balance_sources",
    "count_files",
    "count_files_to",
    "count_sources",
    "count_texts",
    "estimated_memory",
    "learn_spec",
    "learn_specs",
    "pipeline_of",
    "read_boundaries",
    "recorded_pipeline",
]
